"""Bad cells of a matrix with one cause are one finding."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.kinds import KINDS
from kubeproof.manifests.scenarios.matrix_columns import BY_KEY, FAULTS
from kubeproof.report.verification.causes import Shape, gather, shape
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Cell, Grade, Matrix
from kubeproof.verify.result import IntentResult, Trace, VerifyResult

WORST_FIRST = (Grade.STUCK, Grade.DIPS)
_MOST_RANK = max(fault.rank for fault in FAULTS)  # so that one fault comes before two


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
        return one.verdict, one.severity, *_list_asking(one)
    return (one.verdict, one.severity, *shape(one))


def _list_asking(one: IntentResult) -> tuple[str, ...]:
    """The rules by which loops ask for a change."""
    return tuple(change.rule for change in one.explanation.changes) if one.explanation is not None else ()


def _clearest(result: VerifyResult, cells: Sequence[Cell]) -> Cell:
    """The cell with the fewest faults and the shortest run."""

    def length(cell: Cell) -> tuple[int, int]:
        trace = _run(result, cell)
        return len(cell.faults), 0 if trace is None else len(trace.steps) - trace.deployed_steps

    return min(cells, key=length)
