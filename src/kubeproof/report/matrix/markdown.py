"""The survival matrix for a pull request: the table first, what to do first, one folded run per cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.report.formats.safe_markdown import code, fence, html, plain
from kubeproof.report.frame import Frame, is_file
from kubeproof.report.matrix.causes import MatrixFinding, finding_of, matrix_findings
from kubeproof.report.matrix.text import first_advice
from kubeproof.report.matrix.words import Line, depth_of, lines_of, list_names, names_of, titles_of, when_of, word
from kubeproof.report.sentences import count
from kubeproof.report.style import Style
from kubeproof.report.verification.brief import brief_lines, ending_lines
from kubeproof.values import complete
from kubeproof.verify.matrix.result import Cell, Grade, Matrix
from kubeproof.verify.result import IntentResult, Trace, VerifyResult

MARKS = complete(Grade, {Grade.STEADY: "🟢", Grade.DIPS: "🟡", Grade.STUCK: "🔴", Grade.UNKNOWN: "❔"})
MOST_ROWS = 40
MANY_ROWS = 15
_LEGEND = (
    "🟢 never below its minimum of ready pods · 🟡 `0 40s` down to 0 ready, up to 40 s in runs explored, then "
    "complete again · 🔴 some run never recovers · ❔ not decided"
)


def matrix_head(result: VerifyResult, matrix: Matrix) -> Iterator[str]:
    """What to do first, the table, and what its signs mean."""
    first = first_advice(result, matrix)
    yield from [f"**First:** {plain(first)}", ""] if first else []
    yield f"| workload | pods | {' | '.join(plain(column.head) for column in matrix.columns)} |"
    yield f"|---|---|{'---|' * len(matrix.columns)}"
    names, lines = names_of(matrix), lines_of(matrix, MANY_ROWS)
    yield from (_row(line, [names[row.target] for row in line.rows]) for line in lines[:MOST_ROWS])
    yield ""
    left_out = sum(len(line.rows) for line in lines[MOST_ROWS:])
    yield from [f"{count(left_out, 'more workload')} no worse than these.", ""] if left_out else []
    yield _LEGEND


def _row(line: Line, names: Sequence[str]) -> str:
    pods = sorted({row.replicas for row in line.rows} - {0})
    told = "" if not pods else str(pods[0]) if len(pods) == 1 else f"{pods[0]} to {pods[-1]}"
    whom = ", ".join(code(name) for name in names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"| {' | '.join((whom, told, *map(_sign, line.cells)))} |"


def _sign(cell: Cell | None) -> str:
    if cell is None:
        return ""
    said = word(cell) if cell.grade == Grade.DIPS else "stuck" if cell.grade == Grade.STUCK else ""
    return f"{MARKS[cell.grade]} {said}".rstrip()


def matrix_parts(result: VerifyResult, matrix: Matrix, frame: Frame) -> Iterator[str]:
    """One folded part per cause, the worst first."""
    for finding in matrix_findings(result, matrix):
        one = finding_of(result, finding.example)
        if one is not None and one.trace is not None:
            yield "\n".join(_part(matrix, finding, one, one.trace, frame)) + "\n"


def _part(matrix: Matrix, finding: MatrixFinding, one: IntentResult, trace: Trace, frame: Frame) -> Iterator[str]:
    names = names_of(matrix)
    whom = list_names([names.get(target, target) for target in finding.targets])
    yield ""
    told = html(f"{whom}{depth_of(finding.cells)} {when_of(matrix, finding.cells)}")
    yield f"<details><summary>{MARKS[finding.grade]} {told}</summary>"
    yield ""
    yield f"A run of {code(one.target)}: {plain(titles_of(matrix, finding.example.faults))}."
    yield ""
    deployed = f"{count(one.pods, 'pod')} on {count(one.nodes, 'node')}"
    lines = [*brief_lines(trace, one.target, Style(), deployed)]
    lines += ["", "In the end", *ending_lines(trace.final, Style())] if trace.final else []
    yield fence("\n".join(lines), "text")
    yield ""
    yield from [f"- **What to change:** {plain(one.remedy)}"] if one.remedy else []
    yield from [f"- **Where:** {', '.join(places)}"] if (places := [*_places(matrix, finding, frame)]) else []
    yield from ["", "</details>"]


def _places(matrix: Matrix, finding: MatrixFinding, frame: Frame) -> Iterator[str]:
    own = [row for row in matrix.rows if row.target in finding.targets and is_file(row.source)]
    yield from (code(f"{frame.path(row.source.file)}:{row.source.line}") for row in own[:8])
    if len(own) > 8:
        yield f"{len(own) - 8} more"
