"""From graded cells to one result: the matrix, a result per cell, the scope of it all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.errors import InternalError
from kubeproof.intents.catalogue import entry
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import BY_KEY, DEPLOY, NODE_ADDED, Fault, under_faults
from kubeproof.model.plan import Plan
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.executors.task import TaskError
from kubeproof.verify.findings.left_out import find_left_out, group_omitted, list_omissions
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.questions import CellQuestion, Cells, columns_of, rows_shown
from kubeproof.verify.matrix.result import Cell, Grade, Matrix
from kubeproof.verify.matrix.solve import Graded
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.reasons.citing import cite_lines
from kubeproof.verify.result import IntentResult, Statistics, VerifyResult
from kubeproof.verify.words.summary import abstractions, combine, scope

Answers = Mapping[tuple[str, tuple[str, ...]], Graded]
PER_CELL = ("scenario", "events", "explored")  # parts of a scope that differ from cell to cell


def conclude(
    loaded: Loaded,
    options: VerifyOptions,
    chosen: MatrixOptions,
    cells: Cells,
    pairs: Cells,
    graded: Answers,
    elapsed_s: float,
    stop: Stop,
) -> VerifyResult:
    """The result of a matrix; cells that were not reached are open."""
    stuck = {
        target for (target, faults), one in graded.items() if faults == (DEPLOY,) and one.cell.grade == Grade.STUCK
    }
    never = [cell for cell in cells if cell[0] in stuck and cell[1] != (DEPLOY,)]
    singles = [graded.get(cell) or not_reached(loaded, cell, chosen.by_key) for cell in cells if cell not in never]
    doubles = [graded[cell] for cell in pairs if cell in graded]
    rows = {row.target: row for row in rows_shown(loaded)}
    told = (cite_lines(loaded.texts, one.result) for one in (*singles, *doubles))
    results = tuple(_severe(one, chosen.least_grade) for one in told)
    numbered = tuple(replace(one.cell, finding=number) for number, one in enumerate((*singles, *doubles)))
    shown = {(one.target, one.faults): one for one in numbered}
    shown |= {cell: _as_deployed(shown[cell[0], (DEPLOY,)], cell) for cell in never}
    matrix = Matrix(
        columns=columns_of(cells, chosen.columns),
        rows=tuple(rows.values()),
        cells=tuple(shown[cell] for cell in cells),
        pairs=numbered[len(singles) :],
        pairs_left=len(pairs) - len(doubles),
        least_grade=chosen.least_grade,
        elapsed_s=elapsed_s,
    )
    statistics = _sum_spent([*singles, *doubles], elapsed_s, stop)
    last = [cell for cell in cells if cell[1] != (NODE_ADDED,)][-1:] or cells[-1:]  # on the nodes of the input
    any_cell = under_faults(loaded, last[0][1], last[0][0], chosen.by_key)
    plan = plan_input(any_cell, options)
    common = _scope(any_cell, plan, matrix, statistics)
    aside = list_omissions(loaded)
    return VerifyResult(
        scenario="survival matrix",
        verdict=overall_of(results),
        scope=(*common, *(("abstraction", note) for note in abstractions(any_cell, plan))),
        results=results,
        not_modelled=(*aside, *find_left_out(plan)),
        statistics=statistics,
        inputs=loaded.texts,
        omitted=group_omitted(loaded, plan),
        matrix=matrix,
        checks=run_checks(loaded) if chosen.has_checks else (),
    )


def _as_deployed(first: Cell, cell: tuple[str, tuple[str, ...]]) -> Cell:
    """The cell of a workload that may never be complete, whether the fault comes or not."""
    told = "a run never comes that far: already its first deployment may get stuck"
    return Cell(*cell, Grade.STUCK, told, finding=first.finding)


def overall_of(results: Sequence[IntentResult]) -> Verdict:
    """The verdict of a matrix: a violation is a cell that is worse than the grade asked for."""
    found = {one.verdict for one in results if one.is_decisive}
    return next(
        (verdict for verdict in (Verdict.VIOLATED, Verdict.ERROR, Verdict.UNKNOWN) if verdict in found), Verdict.HOLDS
    )


def _severe(result: IntentResult, least: Grade) -> IntentResult:
    """A dip is worth knowing, and an error only where steadiness is asked for; so are two faults at once."""
    if result.verdict != Verdict.VIOLATED:
        return result
    if len(result.faults) > 1:
        return replace(result, severity="warning" if result.severity == "error" else result.severity)
    is_dip = result.severity == "info"
    return replace(result, severity="error") if is_dip and least == Grade.STEADY else result


def not_reached(loaded: Loaded, cell: tuple[str, tuple[str, ...]], columns: Mapping[str, Fault] = BY_KEY) -> Graded:
    """The cell that there was no time for."""
    told = "not reached within the time: --timeout gives more, --faults asks for less"
    return _open(loaded, cell, told, Verdict.UNKNOWN, columns)


def fail_cell(
    loaded: Loaded, question: CellQuestion, error: TaskError, columns: Mapping[str, Fault] = BY_KEY
) -> Graded:
    """The cell whose search went wrong."""
    return _open(
        loaded,
        question.cell,
        f"not judged: {error}",
        Verdict.ERROR if error.code == InternalError.code else Verdict.UNKNOWN,
        columns,
    )


def _open(
    loaded: Loaded, cell: tuple[str, tuple[str, ...]], why: str, verdict: Verdict, columns: Mapping[str, Fault]
) -> Graded:
    target, faults = cell
    faulty = under_faults(loaded, faults, target, columns)
    intent = faulty.scenario.intents[0]
    result = IntentResult(
        id=entry(intent.key).id, intent=intent.name, key=intent.key, target=target, verdict=verdict, detail=why,
        nodes=len(faulty.setup.nodes), pods=0, states=0, transitions=0, location=intent.source, faults=faults,
    )  # fmt: skip
    return Graded(Cell(target, faults, Grade.UNKNOWN, why), result, Statistics())


def _sum_spent(graded: Sequence[Graded], elapsed_s: float, stop: Stop) -> Statistics:
    found = [one.statistics for one in graded if one.statistics.engine]
    total = replace(combine(found) if found else Statistics(), elapsed_s=elapsed_s, stopped_by=None)
    return replace(total, stopped_by=INTERRUPTED) if stop.is_asked else total


def _scope(any_cell: Loaded, plan: Plan, matrix: Matrix, statistics: Statistics) -> Iterator[tuple[str, str]]:
    """What all cells have in common, and what they are."""
    yield "question", "what does each workload survive, one fault at a time?"
    yield from (pair for pair in scope(any_cell, plan, statistics) if pair[0] not in PER_CELL)
    yield "faults", "; ".join(f"{column.head}: {column.title}" for column in matrix.columns)
    decided = sum(cell.grade != Grade.UNKNOWN for cell in matrix.cells)
    yield "explored", f"{decided} of {len(matrix.cells)} cells decided, {statistics.states:,} states"
    if matrix.pairs or matrix.pairs_left:
        yield "pairs", f"{len(matrix.pairs)} pairs of faults looked at, {matrix.pairs_left} left"
