"""Results with one cause are one finding: the same kind of run to the same kind of end, whatever the names."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult, Trace, TraceStep

_NUMBER = re.compile(r"\d[\d,]*")
_PARTS = re.compile(r"-(?:rev)?\d+\Z", re.ASCII)  # of a pod, an ordinal, a later revision
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Shape = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one cause does: the results, by number, and the one whose run is shown."""

    numbers: tuple[int, ...]
    example: int


def gather(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by key, keys in the order of their first item."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def findings(results: Sequence[IntentResult]) -> tuple[Finding, ...]:
    """The results by cause, in the order of the first of each."""
    runs = gather(range(len(results)), lambda number: _same_run(results, number))
    causes = gather(runs.values(), lambda numbers: _cause(results, numbers))
    found = []
    for groups in causes.values():
        numbers = sorted(number for group in groups for number in group)
        found.append(Finding(tuple(numbers), min(groups, key=lambda group: _length(results[group[0]]))[0]))
    return tuple(sorted(found, key=lambda one: one.numbers))


def _length(one: IntentResult) -> int:
    return 0 if one.trace is None else len(one.trace.steps)


def _same_run(results: Sequence[IntentResult], number: int) -> Shape:
    """What is equal for two intents of one run."""
    one = results[number]
    if one.trace is None or one.verdict == Verdict.SUPPRESSED or not one.trace.steps:
        return (number,)
    codes = tuple((step.actor, step.code, step.action) for step in one.trace.steps)
    return one.verdict, one.severity, one.size, one.trace.loop_start, codes


def _cause(results: Sequence[IntentResult], numbers: Sequence[int]) -> Shape:
    first = results[numbers[0]]
    if first.verdict == Verdict.SUPPRESSED:
        return ("accepted", numbers[0])
    return tuple(_part(results[number]) for number in numbers)


def _part(one: IntentResult) -> Shape:
    head = (one.verdict, one.severity, one.id, one.key, one.size)
    return (*head, *(shape(one) if one.verdict == Verdict.VIOLATED else (anonymous(one.detail, one.target),)))


def shape(one: IntentResult) -> Shape:
    """What runs with one cause have in common: how they end, and what to change; names and numbers aside."""
    trace = one.trace
    if trace is None:
        return one.id, anonymous(one.detail, one.target)
    held_back = _telling(trace.obstacles)
    rules = _list_rules(one, trace)
    if held_back and trace.loop_start is None:
        return held_back, rules
    ends = tuple(sorted({fact.shape or str(fact) for fact in trace.final}))
    if trace.loop_start is not None:
        loop = trace.steps[trace.loop_start :]
        told: tuple[str, ...] = tuple(sorted({_deed(step) for step in loop}))
    else:
        told = () if any(fact.node for fact in trace.final) else _last_deed(trace)
    return ends, told, trace.loop_start is not None, rules


def _list_rules(one: IntentResult, trace: Trace) -> tuple[str, ...]:
    """By which rules nobody helps; of a cell of the matrix what to change, which is told there in place of them."""
    if one.faults:
        changes = one.explanation.changes if one.explanation is not None else ()
        return tuple(numberless(anonymous(change.says, one.target)) for change in changes)
    return tuple(sorted({told.rule for told in trace.inaction}))


def _telling(obstacles: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """What holds pods back; that others of them still end on a dead node only where nothing else does."""
    from kubeproof.verify.words.obstacles import DEAD_NODE, NOT_READY, STAYS

    beside = (NOT_READY, DEAD_NODE, STAYS)  # what is so of some pods while others wait for something else
    found = tuple(obstacle for obstacle in obstacles if obstacle[0] not in beside)
    return found or tuple(obstacle for obstacle in obstacles if obstacle[0] in (DEAD_NODE, STAYS))


def _last_deed(trace: Trace) -> tuple[str, ...]:
    deeds = [step for step in trace.steps[trace.deployed_steps :] if step.actor.kind != ActorKind.TIME]
    return (_deed(deeds[-1]),) if deeds else ()


def _deed(step: TraceStep) -> str:
    """Who does what to which fields, whatever the names."""
    phases = {change.value for change in step.changes if change.field == "status.phase"}
    fields = {change.field for change in step.changes}
    return " ".join((step.actor.kind, *step.verbs, *sorted(fields), *sorted(phases)))


def numberless(text: str) -> str:
    """The text with a sign in place of every number."""
    return _NUMBER.sub("#", text)


def anonymous(text: str, target: str) -> str:
    """The text without the target's name, alone or as the beginning of a pod's."""
    if not target:
        return text
    name = target.rpartition("/")[2]
    told = text.replace(target, "TARGET")
    return re.sub(rf"(?<![\w./-])(?:[\w.-]+/)?{re.escape(name)}(?=-(?:rev)?\d|[^\w.-]|$)[-\w]*", "TARGET", told)


def belongs_to(pod: str, target: str) -> bool:
    """True if a pod, by its reference, is one of the workload's."""
    kind, _, name = pod.partition("/")
    wanted = target.partition("/")[2]
    if kind != "Pod":
        return pod == target
    while name != wanted:
        shorter = _PARTS.sub("", name)
        if shorter == name:
            return False
        name = shorter
    return True
