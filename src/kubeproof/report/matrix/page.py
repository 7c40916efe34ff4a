"""The survival matrix as the plain values that the page's scripts read: a heat map, and a finding per cause."""

from __future__ import annotations

from collections import Counter

from kubeproof.report.frame import Frame, is_file
from kubeproof.report.matrix.causes import MatrixFinding, finding_of, matrix_findings
from kubeproof.report.matrix.text import first_advice
from kubeproof.report.matrix.words import RANKS, depth_words, heads_of, names_of, titles_of, when_of, word
from kubeproof.report.verification.explained import told
from kubeproof.report.verification.repairs import repair_document
from kubeproof.values import complete
from kubeproof.verify.matrix.result import Cell, Grade, Matrix, Row
from kubeproof.verify.result import IntentResult, VerifyResult

FEW_RUNS = 24  # up to which all runs are drawn
MOST_DRAWN = 16  # runs that are drawn where there are more; of all others the steps are listed
OTHER_RUN = "a run like it, of another workload, is drawn: see Findings. Of this one the steps are listed"
SIGNS = complete(Grade, {Grade.STEADY: "✓", Grade.DIPS: "↓", Grade.STUCK: "✗", Grade.UNKNOWN: "?"})
LEGEND = complete(
    Grade,
    {
        Grade.STUCK: "some run never recovers",
        Grade.DIPS: "too few ready pods for a while (0 40s: down to 0, up to 40 s in runs explored), then complete",
        Grade.STEADY: "never below its minimum of ready pods",
        Grade.UNKNOWN: "not decided",
    },
)
Plain = dict[str, object]


def choose_drawn(result: VerifyResult) -> frozenset[int] | None:
    """The results whose runs are worth drawing; None: all.

    Of a large matrix one for each cause, the worst first, then one for each cause and fault.
    """
    if result.matrix is None or sum(one.trace is not None for one in result.results) <= FEW_RUNS:
        return None
    found = matrix_findings(result, result.matrix)
    firsts = {(number, cell.faults): cell for number, one in enumerate(found) for cell in reversed(one.cells)}
    ordered = [one.example.finding for one in found]
    ordered += [firsts[key].finding for key in sorted(firsts)]
    wanted = [number for number in dict.fromkeys(ordered) if number is not None]
    return frozenset(wanted[:MOST_DRAWN])


def matrix_values(result: VerifyResult, matrix: Matrix, frame: Frame) -> Plain:
    """All that the page shows of the matrix; cells name the number of the property whose run they play."""
    names = names_of(matrix)
    rows = sorted(matrix.rows, key=lambda row: _rank(matrix, row))
    grades = {cell.grade for cell in matrix.cells}
    return {
        "columns": [(column.head, column.title) for column in matrix.columns],
        "rows": [_row(result, matrix, row, names[row.target], frame) for row in rows],
        "legend": [(grade.value, SIGNS[grade], words) for grade, words in LEGEND.items() if grade in grades],
        "findings": [_finding(result, matrix, one, frame) for one in matrix_findings(result, matrix)],
        "first": first_advice(result, matrix),
        "pairs": _pairs(matrix),
        "open": sum(cell.grade == Grade.UNKNOWN for cell in matrix.cells),
    }


def run_words(result: VerifyResult, number: int) -> Plain:
    """What a run of a cell is called: whose it is, what happens, how it ends."""
    matrix, one = result.matrix, result.results[number]
    if matrix is None:
        return {}
    cell = next((cell for cell in (*matrix.cells, *matrix.pairs) if cell.finding == number), None)
    if cell is None:
        return {}
    name = names_of(matrix).get(one.target, one.target)
    return {"when": f"{name}: {titles_of(matrix, one.faults)}", "grade": cell.grade.value, "sign": SIGNS[cell.grade]}


def _rank(matrix: Matrix, row: Row) -> int:
    """How bad the worst cell of a row is, 0 for the worst."""
    return min((RANKS[cell.grade] for cell in matrix.cells if cell.target == row.target), default=len(RANKS))


def _row(result: VerifyResult, matrix: Matrix, row: Row, name: str, frame: Frame) -> Plain:
    cells = [matrix.cell(row.target, column.key) for column in matrix.columns]
    floor = f"at least {row.floor} ready" + (f", as {row.floor_from} asks for" if row.floor_from else "")
    return {
        "name": name,
        "target": row.target,
        "pods": row.replicas,
        "floor": floor if row.floor else "",
        "place": f"{frame.path(row.source.file)}:{row.source.line}" if is_file(row.source) else "",
        "cells": [None if cell is None else _cell(result, cell) for cell in cells],
    }


def _cell(result: VerifyResult, cell: Cell) -> Plain:
    one = finding_of(result, cell)
    return {
        "grade": cell.grade.value,
        "sign": SIGNS[cell.grade],
        "word": word(cell),
        "detail": cell.detail,
        "run": cell.finding if one is not None and one.trace is not None else -1,
    }


def _finding(result: VerifyResult, matrix: Matrix, finding: MatrixFinding, frame: Frame) -> Plain:
    names = names_of(matrix)
    one = finding_of(result, finding.example)
    places = [row.source for row in matrix.rows if row.target in finding.targets and is_file(row.source)]
    return {
        "grade": finding.grade.value,
        "sign": SIGNS[finding.grade],
        "targets": [names.get(target, target) for target in finding.targets],
        "depth": depth_words(finding.cells),
        "faults": when_of(matrix, finding.cells)[1:-1],
        "when": titles_of(matrix, finding.example.faults),
        "ends": _ends(one),
        "remedy": "" if one is None else one.remedy,
        "explained": [] if one is None else [list(pair) for pair in told(one)],
        "repairs": [] if one is None or not one.repairs else [repair_document(repair) for repair in one.repairs],
        "places": [f"{frame.path(source.file)}:{source.line}" for source in places],
        "run": -1 if finding.example.finding is None else finding.example.finding,
        "cells": [
            [names.get(cell.target, cell.target), heads_of(matrix, cell.faults), word(cell), cell.finding]
            for cell in finding.cells
        ],
    }


def _ends(one: IntentResult | None) -> list[str]:
    """The first lines about how the run ends."""
    return [] if one is None or one.trace is None else list(one.trace.final[:3])


def _pairs(matrix: Matrix) -> str:
    if not matrix.pairs and not matrix.pairs_left:
        return ""
    numbers = Counter(cell.grade for cell in matrix.pairs)
    counted = ", ".join(f"{numbers[grade]} {grade.value}" for grade in Grade if numbers[grade])
    left = f"{matrix.pairs_left:,} not looked at for lack of time" if matrix.pairs_left else ""
    return "; ".join(part for part in (counted, left) if part)
