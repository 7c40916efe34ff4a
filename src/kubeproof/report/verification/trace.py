"""Lines of a counterexample: numbered steps, long runs folded, loops drawn as loops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actions import Verb
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.report.escape import escape
from kubeproof.report.style import Style
from kubeproof.values import dataclass
from kubeproof.verify.explained import Inaction
from kubeproof.verify.result import TraceStep

FOLD_BEYOND = 40  # traces up to this length are shown step by step
_SHORTEST_FOLD = 4  # fewer steps take less room than the line that stands for them

_LOOPS = (  # each has the name of its workload
    ActorKind.DEPLOYMENT,
    ActorKind.REPLICA_SET,
    ActorKind.STATEFUL_SET,
    ActorKind.DAEMON_SET,
    ActorKind.SCHEDULER,
    ActorKind.JOB,
)
_PART = re.compile(r"-(?:rev)?[0-9]+$", re.ASCII)  # of a StatefulSet's ordinal, or a later revision
_OTHERS = "others"

_CERTAINTY = {
    "inevitable": "inevitable: from here on the cluster can never become stable",
    "possible": "possible: some choice among equals keeps it going",
}


@dataclass(frozen=True, slots=True)
class _Run:
    """Steps first..last (counted from 0) of one actor, shown as one line."""

    first: int
    last: int


def trace_lines(
    steps: tuple[TraceStep, ...],
    loop_start: int | None,
    style: Style,
    *,
    certainty: str = "",
    changes: bool = False,
    deployed_steps: int = 0,
    propositions: tuple[str, ...] = (),
    begins_with: tuple[str, ...] = (),
    about: str | None = None,
    inaction: Sequence[Inaction] = (),
) -> Iterator[str]:
    """The trace's lines; `changes` adds what each step changed, `style.verbose` why it was taken.

    The first `deployed_steps` steps only lead to the start of the run, which is marked. Of an `ltl` intent the
    `propositions` are shown after every step that changes them, `!` before those that are false. In long traces what
    the loops of other workloads do, if the property is `about` one, is told in one line.
    """
    begun = f"at the start: {_letter(propositions, begins_with)}" if propositions else ""
    if begun and not deployed_steps:
        yield f"{style.margin('')} {style.faint(begun)}"
    folding = len(steps) > FOLD_BEYOND and not style.verbose and not changes
    runs = (
        _runs(steps, (loop_start, deployed_steps), about)
        if folding
        else [_Run(index, index) for index in range(len(steps))]
    )
    width = max((len(escape(step.actor)) for step in steps), default=0)
    digits = max((len(_number(run)) for run in runs), default=0)
    for run in runs:
        if deployed_steps and run.first == deployed_steps:
            for said in ("deployed: the run begins here", *([begun] if begun else ())):
                yield f"{style.margin('')} {'':{digits}}          {style.faint(said)}"
        margin = style.margin(_part(run.first, loop_start))
        below = style.margin("" if loop_start is None or run.first < loop_start else "inside")
        head, said = _head(run, steps, width, style)
        yield from (
            line.rstrip() for line in style.fold(f"{margin} {_number(run):>{digits}}  {head}", said, below=below)
        )
        holds = steps[run.last].holds
        if holds is not None and holds != _find_held_before(steps, run.first, begins_with):
            yield f"{below} {'':{digits}}          {style.faint(f'now: {_letter(propositions, holds)}')}"
        if steps[run.last].counts:
            yield f"{below} {'':{digits}}          {style.faint(f'now: {escape(steps[run.last].counts)}')}"
        if run.first == run.last:
            for one in (one for one in inaction if one.step == run.first + 1):
                said = escape(f"{one.actor} {one.says}")
                yield from style.fold(f"{below} {'':{digits}}          though ", said, below=below, faint=True)
        for note in _notes(steps[run.first], style, changes) if run.first == run.last else ():
            yield from style.fold(f"{below} {'':{digits}}          ", escape(note), below=below, faint=True)
    if loop_start is not None:
        yield from style.fold(f"{style.margin('close')} ", closing(loop_start, certainty))


def _find_held_before(steps: tuple[TraceStep, ...], index: int, begins_with: tuple[str, ...]) -> tuple[str, ...]:
    before = steps[index - 1].holds if index else None
    return begins_with if before is None else before


def _letter(propositions: tuple[str, ...], true: tuple[str, ...]) -> str:
    """`ready, !settled`: which propositions are true."""
    return escape(", ".join(name if name in true else f"!{name}" for name in propositions))


def _runs(steps: tuple[TraceStep, ...], cuts: tuple[int | None, ...], about: str | None) -> list[_Run]:
    """Consecutive steps of one actor together, cut where a loop or the run begins; short runs stay single steps."""
    runs: list[_Run] = []
    actors = [_OTHERS if is_aside(step.actor, about) else step.actor for step in steps]
    first = 0
    for index in range(1, len(steps) + 1):
        ends = index == len(steps) or index in cuts or actors[index] != actors[first]
        ends = ends or steps[index].holds != steps[index - 1].holds
        if not ends:
            continue
        if index - first >= _SHORTEST_FOLD:
            runs.append(_Run(first, index - 1))
        else:
            runs.extend(_Run(one, one) for one in range(first, index))
        first = index
    return runs


def is_aside(actor: Actor, about: str | None) -> bool:
    """True for a loop that looks after another workload than the property is about."""
    name = actor.object
    if about is None or actor.kind not in _LOOPS or not name:
        return False
    return not f"/{about}".endswith((f"/{name}", f"/{_PART.sub('', name)}"))


def _number(run: _Run) -> str:
    return str(run.first + 1) if run.first == run.last else f"{run.first + 1}-{run.last + 1}"


def _head(run: _Run, steps: tuple[TraceStep, ...], width: int, style: Style) -> tuple[str, str]:
    """Time and actor in their columns, and the sentence."""
    first, last = steps[run.first], steps[run.last]
    said = escape(first.action)
    if run.first != run.last:
        names = dict.fromkeys(step.actor.object for step in steps[run.first : run.last + 1])
        others = f" for {len(names)} other workloads" if len(names) > 1 else ""
        said = f"{run.last - run.first + 1} steps{others}: {said} {style.ellipsis} {escape(last.action)}"
        actor = "others" if others else first.actor
    else:
        actor = first.actor
    return f"{f'{first.time_s}s':>6}  {escape(actor):<{width}}  ", said


def _notes(step: TraceStep, style: Style, changes: bool) -> Iterator[str]:
    if changes:
        yield from map(str, step.changes)
    is_plain = step.actor.kind == ActorKind.SCHEDULER and Verb.PREEMPT not in step.verbs  # a line for each node
    if style.verbose or not is_plain:
        yield from (f"because {reason}" for reason in step.why)


def _part(index: int, loop_start: int | None) -> str:
    if loop_start is None or index < loop_start:
        return ""
    return "open" if index == loop_start else "inside"


def closing(loop_start: int, certainty: str) -> str:
    """What is said where a loop ends."""
    said = _CERTAINTY.get(certainty, escape(certainty))
    return f"back to step {loop_start + 1}, for ever" + (f" ({said})" if said else "")
