"""The survival matrix as JUnit: a test suite per fault, a test case per workload."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.report.formats.junit import attributes, body_lines, check_case, check_element, properties, safe, trail
from kubeproof.report.frame import Frame, physical
from kubeproof.report.matrix.causes import finding_of
from kubeproof.report.matrix.words import heads_of
from kubeproof.report.sentences import explain_suppressed
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Cell, Grade, Matrix
from kubeproof.verify.result import IntentResult, VerifyResult

PASSED, FAILURE, BROKEN, SKIPPED = "", "failure", "error", "skipped"


@dataclass(frozen=True, slots=True)
class _Case:
    """A test case: what it counts as, and its element."""

    outcome: str
    text: str


def render_matrix(result: VerifyResult, matrix: Matrix, frame: Frame) -> str:
    """The report as XML: dips that are good enough pass and say so, what is not decided is skipped."""
    suites = [
        (f"{column.key}: {column.title}", [cell for cell in matrix.cells if cell.faults == (column.key,)])
        for column in matrix.columns
    ]
    suites += [("pairs: two faults at once", list(matrix.pairs))] if matrix.pairs else []
    told = [(name, [_case(result, matrix, cell, frame) for cell in cells]) for name, cells in suites]
    if result.checks:
        told.append(("checks", [_Case(check_element(one), check_case(one, frame)) for one in result.checks]))
    everything = [case for _, cases in told for case in cases]
    head = attributes(name=result.scenario, **_counts(everything), time=f"{matrix.elapsed_s:.3f}")
    parts = "".join(_suite(name, cases, "") for name, cases in told)
    about = _suite("scope", (), f"{properties(result)}{trail(result)}")
    return f'<?xml version="1.0" encoding="utf-8"?>\n<testsuites{head}>\n{parts}{about}</testsuites>\n'


def _suite(name: str, cases: Sequence[_Case], more: str) -> str:
    texts = "".join(case.text for case in cases)
    return f"<testsuite{attributes(name=name, **_counts(cases))}>\n{texts}{more}</testsuite>\n"


def _counts(cases: Sequence[_Case]) -> dict[str, int]:
    outcomes = [case.outcome for case in cases]
    numbers = (outcomes.count(FAILURE), outcomes.count(BROKEN), outcomes.count(SKIPPED))
    return {"tests": len(cases), **dict(zip(("failures", "errors", "skipped"), numbers, strict=True))}


def _case(result: VerifyResult, matrix: Matrix, cell: Cell, frame: Frame) -> _Case:
    one = finding_of(result, cell)
    source = next((row.source for row in matrix.rows if row.target == cell.target), None)
    place = physical(source)
    where = {} if place is None else {"file": frame.path(place.file), "line": place.line}
    head = attributes(classname=heads_of(matrix, cell.faults), name=cell.target, **where)
    outcome = _outcome(cell, one)
    return _Case(outcome, f"<testcase{head}>{_inner(cell, one, outcome, frame)}</testcase>\n")


def _outcome(cell: Cell, one: IntentResult | None) -> str:
    if one is not None and one.verdict == Verdict.ERROR:
        return BROKEN
    if cell.grade == Grade.UNKNOWN or (one is not None and one.verdict == Verdict.SUPPRESSED):
        return SKIPPED
    is_single = len(cell.faults) == 1
    is_bad = cell.grade == Grade.STUCK or (cell.grade == Grade.DIPS and one is not None and one.severity == "error")
    return FAILURE if is_bad and is_single else PASSED


def _inner(cell: Cell, one: IntentResult | None, outcome: str, frame: Frame) -> str:
    said = cell.detail if one is None else explain_suppressed(one) or cell.detail
    if outcome == PASSED:
        return "" if cell.grade == Grade.STEADY else f"<system-out>{safe(f'{cell.grade}: {said}')}</system-out>"
    kind = {} if outcome == SKIPPED else {"type": str(cell.grade)}
    lines = [] if one is None or outcome == SKIPPED else body_lines(one, frame)
    body = "\n".join(map(safe, lines))
    return f"<{outcome}{attributes(message=f'{cell.grade}: {said}', **kind)}>{body}</{outcome}>"
