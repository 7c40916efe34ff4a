"""Results with one cause are one finding: the same kind of run to the same kind of end, whatever the names."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from kubeproof.cluster.actors import ActorKind
from kubeproof.cluster.kinds import KINDS
from kubeproof.manifests.scenarios.faults import BY_KEY, FAULTS
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.facts import Fact
from kubeproof.verify.matrix.result import Cell, Grade, Matrix
from kubeproof.verify.result import IntentResult, Trace, TraceStep, VerifyResult
from kubeproof.verify.words.obstacles import DEAD_NODE, NOT_READY, STAYS

_BESIDE = (NOT_READY, DEAD_NODE, STAYS)  # what is so of some pods while others wait for something else
WORST_FIRST = (Grade.STUCK, Grade.DIPS)
_ASIDE = re.compile(r" ?\((?:[^()]|\([^()]*\))*\)")  # with others inside
_NUMBER = re.compile(r"\d[\d,]*")
_PARTS = re.compile(r"-(?:rev)?\d+\Z", re.ASCII)  # of a pod, an ordinal, a later revision
_MOST_RANK = max(fault.rank for fault in FAULTS)  # so that one fault comes before two
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
Shape = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What one cause does: the results, by number, and the one whose run is shown."""

    numbers: tuple[int, ...]
    example: int


@dataclass(frozen=True, slots=True)
class MatrixFinding:
    """What one cause does to a matrix: the cells, and the one whose run is shown."""

    grade: Grade
    cells: tuple[Cell, ...]
    example: Cell

    @property
    def targets(self) -> tuple[str, ...]:
        """The workloads, in the order of the rows."""
        return tuple(dict.fromkeys(cell.target for cell in self.cells))

    @property
    def whom_by_faults(self) -> tuple[tuple[tuple[tuple[str, ...], ...], tuple[str, ...]], ...]:
        """Which faults do it to which workloads; faults that do it to the same ones together."""
        hit: dict[tuple[str, ...], list[str]] = {}
        for cell in self.cells:
            hit.setdefault(cell.faults, []).append(cell.target)
        alike = gather(hit.items(), lambda pair: tuple(pair[1]))
        return tuple((tuple(faults for faults, _ in pairs), targets) for targets, pairs in alike.items())


def gather(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by key, keys in the order of their first item."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


# -- of a matrix -------------------------------------------------------------------------------------


def matrix_findings(result: VerifyResult, matrix: Matrix) -> tuple[MatrixFinding, ...]:
    """The causes of bad cells, worst first; pairs of faults only where they are news.

    Of what is stuck, the likely faults come first, of what dips, those that hit most.
    """
    news = [pair for pair in matrix.pairs if is_news(matrix, pair)]
    bad = [cell for cell in (*matrix.cells, *news) if cell.grade in WORST_FIRST and _run(result, cell)]
    single = {row.target for row in matrix.rows if 0 < row.replicas <= row.floor}  # every pod is missed
    groups = gather(bad, lambda cell: (cell.grade, *_shape_of_cell(result, cell, cell.target in single)))
    found = [MatrixFinding(cells[0].grade, tuple(cells), _clearest(result, cells)) for cells in groups.values()]
    return tuple(sorted(found, key=_urgency))


def _urgency(one: MatrixFinding) -> tuple[int, int, int]:
    """A key to sort by."""
    rank = min(sum(BY_KEY[fault].rank for fault in cell.faults) + _MOST_RANK * len(cell.faults) for cell in one.cells)
    return WORST_FIRST.index(one.grade), rank if one.grade == Grade.STUCK else 0, -len(one.cells)


def is_news(matrix: Matrix, pair: Cell) -> bool:
    """True for two faults that are worse for a workload than each of them alone."""
    grades = [cell.grade for cell in matrix.cells if cell.target == pair.target and cell.faults[0] in pair.faults]
    return pair.grade == Grade.STUCK and Grade.STUCK not in grades


def _run(result: VerifyResult, cell: Cell) -> Trace | None:
    """The run of a cell that nobody accepted."""
    one = finding_of(result, cell)
    return None if one is None or one.verdict == Verdict.SUPPRESSED else one.trace


def finding_of(result: VerifyResult, cell: Cell) -> IntentResult | None:
    """The result that stands for a cell."""
    is_there = cell.finding is not None and 0 <= cell.finding < len(result.results)
    return result.results[cell.finding] if is_there and cell.finding is not None else None


def _shape_of_cell(result: VerifyResult, cell: Cell, is_single: bool) -> Shape:
    """What cells with one cause have in common; a single pod is missed whatever takes it away.

    So is a bare Pod, or one of a Job that allows for no failure.
    """
    one = finding_of(result, cell)
    assert one is not None
    is_unreplaced = not KINDS[cell.target.partition("/")[0]].replaces_pods
    if (cell.grade == Grade.DIPS and is_single) or is_unreplaced:
        return one.verdict, one.severity, anonymous(one.remedy, one.target)
    return (one.verdict, one.severity, *shape(one))


def _clearest(result: VerifyResult, cells: Sequence[Cell]) -> Cell:
    """The cell with the fewest faults and the shortest run."""

    def length(cell: Cell) -> tuple[int, int]:
        trace = _run(result, cell)
        return len(cell.faults), 0 if trace is None else len(trace.steps) - trace.deployed_steps

    return min(cells, key=length)


# -- of any results ----------------------------------------------------------------------------------


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
    if held_back and trace.loop_start is None:
        return held_back, anonymous(one.remedy, one.target)
    nodes = _nodes(trace)
    ends = tuple(sorted({_ending(line, one.target, nodes) for line in trace.final}))
    if trace.loop_start is not None:
        loop = trace.steps[trace.loop_start :]
        told: tuple[str, ...] = tuple(sorted({_deed(step) for step in loop}))
    else:
        told = () if any(fact.node for fact in trace.final) else _last_deed(trace)
    return ends, told, trace.loop_start is not None, anonymous(one.remedy, one.target)


def _telling(obstacles: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """What holds pods back; that others of them still end on a dead node only where nothing else does."""
    found = tuple(obstacle for obstacle in obstacles if obstacle[0] not in _BESIDE)
    return found or tuple(obstacle for obstacle in obstacles if obstacle[0] in (DEAD_NODE, STAYS))


def _nodes(trace: Trace) -> re.Pattern[str] | None:
    """The names of nodes that a run speaks of, the longest first."""
    names = {step.object.partition("/")[2] for step in trace.steps if step.object.startswith("Node/")}
    ordered = sorted(names - {""}, key=lambda name: (-len(name), name))
    return re.compile("|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])" for name in ordered)) if ordered else None


def _ending(fact: Fact, target: str, nodes: re.Pattern[str] | None) -> str:
    """What is said about the end, with nothing in it that only this workload has."""
    return fact.shape or numberless(_unnamed(_ASIDE.sub("", fact), target, nodes))


def _last_deed(trace: Trace) -> tuple[str, ...]:
    deeds = [step for step in trace.steps[trace.deployed_steps :] if step.actor.kind != ActorKind.TIME]
    return (_deed(deeds[-1]),) if deeds else ()


def _deed(step: TraceStep) -> str:
    """Who does what to which fields, whatever the names."""
    phases = {change.value for change in step.changes if change.field == "status.phase"}
    fields = {change.field for change in step.changes}
    return " ".join((step.actor.kind, *step.verbs, *sorted(fields), *sorted(phases)))


def _unnamed(text: str, target: str, nodes: re.Pattern[str] | None) -> str:
    told = anonymous(text, target)
    return nodes.sub("NODE", told) if nodes is not None else told


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
