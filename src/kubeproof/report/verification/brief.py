"""A counterexample by its essential steps: what happens to one workload and to nodes, all else in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.report.escape import escape
from kubeproof.report.style import Style
from kubeproof.report.verification.causes import belongs_to
from kubeproof.report.verification.trace import closing, is_aside
from kubeproof.values import dataclass
from kubeproof.verify.facts import Fact
from kubeproof.verify.result import Trace, TraceStep

MOST_STEPS = 12  # that are shown; of more the first and the last ones
MOST_ENDINGS = 5  # lines about the end
_FEWEST_ALIKE = 3  # steps of one actor that become one line


@dataclass(frozen=True, slots=True)
class _Item:
    """Steps first..last as one line; without an actor they are told of only."""

    first: int
    last: int
    actor: str
    said: str


def brief_lines(trace: Trace, target: str, style: Style, deployed: str = "") -> Iterator[str]:
    """The essential steps with their numbers and times; steps that only deploy are told in one line."""
    items = _shorten([*_items(trace, target, style)], trace.loop_start, style)
    if trace.deployed_steps:
        told = f"deployed: {deployed}" if deployed else "deployed"
        items.insert(0, _Item(0, trace.deployed_steps - 1, "", told))
    width = max((len(item.actor) for item in items), default=0)
    digits = max((len(_number(item)) for item in items), default=0)
    for item in items:
        is_inside = trace.loop_start is not None and item.first >= trace.loop_start
        margin = style.margin("open" if item.first == trace.loop_start else "inside" if is_inside else "")
        time = f"{trace.steps[item.last].time_s}s"
        head = f"{margin} {_number(item):>{digits}}  {time:>6}  {item.actor:<{width}}  "
        below = style.margin("inside" if is_inside else "")
        yield from (line.rstrip() for line in style.fold(head, item.said, below=below, faint=not item.actor))
    if trace.loop_start is not None:
        yield from style.fold(f"{style.margin('close')} ", closing(trace.loop_start, trace.loop_certainty))


def _number(item: _Item) -> str:
    return str(item.first + 1) if item.first == item.last else f"{item.first + 1}-{item.last + 1}"


def _items(trace: Trace, target: str, style: Style) -> Iterator[_Item]:
    """Steps of the target, of nodes and of events; what others do between them in one line, time in none."""
    steps = trace.steps
    asides: list[int] = []
    alike: list[int] = []
    for index in range(trace.deployed_steps, len(steps)):
        step = steps[index]
        is_cut = index == trace.loop_start
        if is_cut or not _is_aside(step, target):
            yield from _tell_others(asides, steps)
            asides = []
        if is_cut or not alike or step.actor != steps[alike[0]].actor or step.actor.kind == ActorKind.TIME:
            yield from _tell(alike, steps, style)
            alike = []
        if step.actor.kind == ActorKind.TIME:
            continue
        (asides if _is_aside(step, target) else alike).append(index)
    yield from _tell(alike, steps, style)
    yield from _tell_others(asides, steps)


def _is_aside(step: TraceStep, target: str) -> bool:
    """True for what concerns neither the target nor a node."""
    if step.actor.kind == ActorKind.TIME:
        return True
    if not target or step.actor.kind == ActorKind.EVENT:
        return False
    pods = {change.object for change in step.changes if change.object.startswith("Pod/")}
    pods |= {step.object} if step.object.startswith("Pod/") else set()
    if pods:
        return not any(belongs_to(pod, target) for pod in pods)
    return is_aside(step.actor, target)


def _tell_others(indices: Sequence[int], steps: Sequence[TraceStep]) -> Iterator[_Item]:
    """One line for what others do."""
    if indices:
        number = len(indices)
        said = "1 step of others" if number == 1 else f"{number} steps of others"
        yield _Item(indices[0], indices[-1], "", said)


def _tell(indices: Sequence[int], steps: Sequence[TraceStep], style: Style) -> Iterator[_Item]:
    if len(indices) < _FEWEST_ALIKE:
        yield from (_Item(i, i, escape(steps[i].actor), escape(steps[i].action)) for i in indices)
        return
    first, last = steps[indices[0]], steps[indices[-1]]
    said = f"{len(indices)} steps: {escape(first.action)} {style.ellipsis} {escape(last.action)}"
    yield _Item(indices[0], indices[-1], escape(first.actor), said)


def _shorten(items: list[_Item], loop_start: int | None, style: Style) -> list[_Item]:
    """The first and the last ones of many; the first step of a loop is always among them."""
    if len(items) <= MOST_STEPS:
        return items
    kept = [*range(4), *range(len(items) - MOST_STEPS + 5, len(items))]
    kept += [number for number, item in enumerate(items) if item.first == loop_start]
    shown: list[_Item] = []
    hidden: list[_Item] = []
    for number, item in enumerate(items):
        if number not in kept:
            hidden.append(item)
            continue
        if hidden:
            steps = hidden[-1].last - hidden[0].first + 1
            shown.append(_Item(hidden[0].first, hidden[-1].last, "", f"{steps} steps {style.ellipsis}"))
            hidden = []
        shown.append(item)
    return shown


def ending_lines(final: Sequence[Fact], style: Style) -> Iterator[str]:
    """What is wrong in the end, nodes with one reason together, the most telling lines first."""
    alike: dict[str, list[str]] = {}
    whole: dict[str, str] = {}
    for fact in final:
        if fact.node:
            alike.setdefault(fact.shape, []).append(fact.node)
            whole.setdefault(fact.shape, fact)
        else:
            alike[fact] = []
    lines = [escape(whole[said] if len(nodes) == 1 else _place(said, nodes)) for said, nodes in alike.items()]
    for line in lines[:MOST_ENDINGS]:
        yield from style.fold("  ", line)
    if len(lines) > MOST_ENDINGS:
        yield f"  and {len(lines) - MOST_ENDINGS} more; -v shows all"


def _place(said: str, nodes: Sequence[str]) -> str:
    if not nodes:
        return said
    shown = ", ".join(nodes) if len(nodes) <= 3 else f"{', '.join(nodes[:2])} and {len(nodes) - 2} more"
    return f"{shown}: {said}"
