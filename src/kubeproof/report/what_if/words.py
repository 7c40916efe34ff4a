"""Words about answers that every format shares."""

from __future__ import annotations

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.report.matrix.words import span
from kubeproof.values import dataclass
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.result import TraceStep
from kubeproof.verify.what_if.answer import Answer, Effect, OrdinaryRun, PodMove

FEWEST_ALIKE = 3  # steps of one actor at one moment that become a line


@dataclass(frozen=True, slots=True)
class Group:
    """Workloads that fare alike."""

    grade: Grade
    state: str
    said: str
    targets: tuple[str, ...]
    remedy: str


def group_effects(answer: Answer) -> list[Group]:
    """The workloads, those that fare alike together, the worst first."""
    found: dict[tuple[Grade, str, str, str], list[str]] = {}
    for effect in answer.effects:
        state, said = state_of(effect)
        said = said.replace(effect.target, "it")
        remedy = effect.result.remedy if effect.grade in (Grade.STUCK, Grade.DIPS) else ""
        found.setdefault((effect.grade, state, said, remedy), []).append(effect.target)
    return [
        Group(grade, state, said, tuple(targets), remedy) for (grade, state, said, remedy), targets in found.items()
    ]


def list_targets(answer: Answer) -> list[str]:
    """All workloads that the answer speaks of."""
    run = answer.ordinary
    told = [one.target for one in answer.effects]
    return told if run is None else [*told, *(one.target for one in run.moves), *(one.target for one in run.spells)]


def state_of(effect: Effect) -> tuple[str, str]:
    """A word for how it fares, and what that means in numbers."""
    least = f"minimum {effect.floor} of {effect.replicas}"
    least += ", by its PodDisruptionBudget" if effect.floor_from else ""
    if effect.grade == Grade.STEADY:
        return "ok", f"never below its minimum ({least})" if effect.floor else "complete in the end"
    if effect.grade == Grade.DIPS:
        lowest = "" if effect.lowest is None else f"down to {effect.lowest} ready"
        lasting = "" if effect.longest_s is None else f" for up to {span(effect.longest_s)}"
        return "dips", f"{lowest or 'below its minimum'}{lasting} ({least}), then complete"
    if effect.grade == Grade.STUCK:
        return "STUCK", effect.detail
    return "?", effect.detail


def fate_of(move: PodMove, run: OrdinaryRun) -> str:
    """When a pod goes, in the ordinary run."""
    if move.leaves_s is None:
        return "stays" if move.stays else "stays: nothing lets it go" if run.is_whole else "not followed so far"
    gone = "" if move.gone_s is None or move.gone_s == move.leaves_s else f", gone at {move.gone_s}s"
    return f"told to go at {move.leaves_s}s{gone}"


@dataclass(frozen=True, slots=True)
class Item:
    """A line of a timeline."""

    time_s: int
    actor: str
    said: str


def ordinary_items(run: OrdinaryRun) -> list[Item]:
    """The steps of a run as lines; what one kind of actor does within a moment, between two events, is one line."""
    groups: dict[tuple[int, int, str], list[TraceStep]] = {}
    events = 0
    for step in run.steps:
        is_event = step.actor.kind == ActorKind.EVENT
        events += is_event
        groups.setdefault((step.time_s, events, step.actor.kind.value), []).append(step)
        events += is_event
    return [item for steps in groups.values() for item in _tell(steps)]


def _tell(steps: list[TraceStep]) -> list[Item]:
    if len(steps) < FEWEST_ALIKE:
        return [Item(one.time_s, str(one.actor), one.action) for one in steps]
    first, last = steps[0], steps[-1]
    same = all(one.actor == first.actor for one in steps)
    actor = str(first.actor) if same else f"{len({str(one.actor) for one in steps})} x {first.actor.kind.value}"
    return [Item(first.time_s, actor, f"{len(steps)} steps: {first.action} ... {last.action}")]
