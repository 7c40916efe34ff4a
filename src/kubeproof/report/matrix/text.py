"""The text report of a survival matrix: what was assumed, the matrix, one block per cause, what to do first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from shlex import quote

from kubeproof.manifests.loaded import ASSUMED_NODES
from kubeproof.report.escape import escape
from kubeproof.report.matrix.causes import MatrixFinding, finding_of, is_news, matrix_findings
from kubeproof.report.matrix.words import (
    COUNTED,
    Line,
    depth_of,
    heads_of,
    legend,
    lines_of,
    list_names,
    names_of,
    titles_of,
    when_of,
)
from kubeproof.report.sentences import count
from kubeproof.report.style import Style
from kubeproof.report.verification.brief import brief_lines, ending_lines
from kubeproof.report.verification.causes import anonymous, gather, numberless
from kubeproof.report.verification.checks import place
from kubeproof.report.verification.explained import cause_lines, why_lines
from kubeproof.report.verification.trace import trace_lines
from kubeproof.values import complete, dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Cell, Grade, Matrix, Row
from kubeproof.verify.result import IntentResult, Trace, VerifyResult

WIDTH = 100  # of a table where nobody says how much room there is
MOST_ROWS = 30  # of the table, blocks, and lines of other lists; -v shows all
MANY_ROWS = 12  # from which on rows are told together although they differ in times
MOST_REASONS = 2  # of a run: why nobody helps
MOST_BLOCKS = 4
MOST_LINES = 5
_MOST_NAMES = 8  # of rows that are shown as one
_FEWEST_ALIKE = 3  # rows that are shown as one
_NAME = 24
VERDICTS = complete(
    Grade,
    {
        Grade.STEADY: Verdict.HOLDS,
        Grade.DIPS: Verdict.UNKNOWN,
        Grade.STUCK: Verdict.VIOLATED,
        Grade.UNKNOWN: Verdict.UNKNOWN,
    },
)  # by whose colour a grade is shown


@dataclass(frozen=True, slots=True)
class _Shown:
    """A result with its matrix, and what all parts of the report need of it."""

    result: VerifyResult
    matrix: Matrix
    names: Mapping[str, str]
    rows: Mapping[str, Row]
    findings: tuple[MatrixFinding, ...]
    style: Style

    def of(self, grade: Grade) -> list[MatrixFinding]:
        """The findings of a grade."""
        return [one for one in self.findings if one.grade == grade]

    def whom(self, targets: Sequence[str], most: int = 6) -> str:
        """The workloads by their short names."""
        return escape(list_names([self.names.get(target, target) for target in targets], most))


def _show(result: VerifyResult, matrix: Matrix, style: Style) -> _Shown:
    rows = {row.target: row for row in matrix.rows}
    return _Shown(result, matrix, names_of(matrix), rows, matrix_findings(result, matrix), style)


def matrix_lines(result: VerifyResult, matrix: Matrix, style: Style) -> Iterator[str]:
    """All of the report that is about the matrix, what to do first last."""
    shown = _show(result, matrix, style)
    yield from _head(shown)
    yield from ("", style.heading("What each workload survives, one fault at a time"))
    yield from table_lines(matrix, style)
    for part in (_list_stuck(shown), _dips(shown), _open(shown), _pairs(shown)):
        yield from part


def first_line(result: VerifyResult, matrix: Matrix, style: Style) -> Iterator[str]:
    """What to do first: the advice of the worst finding, and where."""
    told = first_advice(result, matrix)
    if told:
        yield from style.fold(f"{style.heading('First')}: ", escape(told))


def first_advice(result: VerifyResult, matrix: Matrix) -> str:
    """Who or what to see to first: what no API server takes, what may never recover, what is down for a while."""
    shown = _show(result, matrix, Style())
    wrong = [one for one in result.checks if one.severity == "error" and one.suppression is None]
    if wrong:
        whose = f"{wrong[0].target}: " if wrong[0].target else ""
        return f"{whose}{wrong[0].message}. {wrong[0].remedy} ({place(wrong[0])})"
    for finding in shown.findings:
        one = finding_of(result, finding.example)
        if one is not None and one.remedy:
            return f"{shown.names.get(one.target, one.target)}: {_advise(shown, finding, one)}"
    return ""


def _head(shown: _Shown) -> Iterator[str]:
    scope, style = dict(shown.result.scope), shown.style
    files = {row.source.file for row in shown.matrix.rows}
    told = f"{count(len(shown.matrix.rows), 'workload')} in {count(len(files), 'file')}"
    told += f", Kubernetes {scope['kubernetes']}" if "kubernetes" in scope else ""
    yield from style.fold(f"{style.heading('Read')}     ", escape(told))
    for key in (ASSUMED_NODES, "given nodes", "nodes"):
        if key in scope:
            yield from style.fold(f"{style.heading('Nodes')}    ", escape(_of_nodes(key, scope[key])))
            return


def _of_nodes(key: str, told: str) -> str:
    return f"assumed: {told}" if key == ASSUMED_NODES else told


# -- the table ---------------------------------------------------------------------------------------


def table_lines(matrix: Matrix, style: Style) -> Iterator[str]:
    """The matrix with a line per workload, or for several that fare alike, and what its words mean."""
    names, lines = names_of(matrix), [*_split(lines_of(matrix, None if style.verbose else MANY_ROWS), style)]
    heads = [column.head.split(" ", 1) for column in matrix.columns]
    widths = [
        max(4, *map(len, head), *(len(line.words[number]) for line in lines)) for number, head in enumerate(heads)
    ]
    room = (style.width or WIDTH) - sum(width + 1 for width in widths) - 8
    labels = [_label(line, names, style) for line in lines]
    name = max(8, min(room, _NAME, max(map(len, labels), default=0)))
    for level, first in ((0, ""), (1, "pods")):
        told = [escape(head[level] if level < len(head) else "") for head in heads]
        yield _row("", first, told, widths, name)
    for line, label in [*zip(lines, labels, strict=True)][: None if style.verbose else MOST_ROWS]:
        yield _row(_cut(label, name, style), _pods(line), _paint_row(line, widths, style), widths, name)
        if len(line.rows) > 1:
            yield from _name_line(line, names, style)
    if len(lines) > MOST_ROWS and not style.verbose:
        rest = sum(len(line.rows) for line in lines[MOST_ROWS:])
        yield f"  {style.faint(f'{rest} more that fare no worse; -v shows all')}"
    yield from style.fold("  ", " | ".join(legend(matrix)), faint=True)


def _split(lines: Iterable[Line], style: Style) -> Iterator[Line]:
    """The lines; those of few rows, or all where everything is asked for, with a line of its own for each row."""
    for line in lines:
        if len(line.rows) >= _FEWEST_ALIKE and not style.verbose:
            yield line
        else:
            yield from (Line((row,), line.cells, line.words) for row in line.rows)


def _label(line: Line, names: Mapping[str, str], style: Style) -> str:
    return f"{len(line.rows)} workloads" if len(line.rows) > 1 else escape(names[line.rows[0].target])


def _pods(line: Line) -> str:
    wanted = sorted({row.replicas for row in line.rows})
    if wanted == [0]:
        return ""
    return str(wanted[0]) if len(wanted) == 1 else f"{wanted[0]}-{wanted[-1]}"


def _name_line(line: Line, names: Mapping[str, str], style: Style) -> Iterator[str]:
    """The workloads that a line stands for: the first of many, and with -v each has a line of its own."""
    told = list_names([names[row.target] for row in line.rows], _MOST_NAMES)
    yield from style.fold("    ", escape(told), faint=True)


def _paint_row(line: Line, widths: Sequence[int], style: Style) -> list[str]:
    pairs = zip(line.cells, line.words, widths, strict=True)
    return [_paint(cell, f"{said:<{width}}", style) for cell, said, width in pairs]


def _paint(cell: Cell | None, said: str, style: Style) -> str:
    return said if cell is None else style.in_colour_of(VERDICTS[cell.grade], said)


def _row(name: str, pods: str, cells: Sequence[str], widths: Sequence[int], room: int) -> str:
    """A line of the table; cells that are painted have their width already."""
    told = " ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"  {name:<{room}} {pods:>4} {told}".rstrip()


def _cut(name: str, room: int, style: Style) -> str:
    """The name, cut in the middle if it is too long: both of its ends tell it apart from others."""
    if len(name) <= room:
        return name
    left = room - len(style.ellipsis)
    return f"{name[: left - left // 2]}{style.ellipsis}{name[len(name) - left // 2 :]}"


# -- findings ----------------------------------------------------------------------------------------


def _list_stuck(shown: _Shown) -> Iterator[str]:
    found = shown.of(Grade.STUCK)
    most = len(found) if shown.style.verbose else MOST_BLOCKS
    for one in found[:most]:
        yield ""
        yield from _title(shown, one, "STUCK")
        yield from (f"  {line}".rstrip() for line in _run(shown, one, shown.style.indent(2)))
    if len(found) > most:
        yield ""
        told = (f"{shown.whom(one.targets, 2)} ({_faults(shown, one)})" for one in found[most:])
        yield from shown.style.fold(f"{_sign(shown, Grade.STUCK)}  ", f"also {'; '.join(told)}; -v shows all")


def _dips(shown: _Shown) -> Iterator[str]:
    found, told = shown.of(Grade.DIPS), ""
    yield from [""] if found else []
    most = len(found) if shown.style.verbose else MOST_LINES
    for finding in found[:most]:
        yield from _title(shown, finding, "DIPS")
        one = finding_of(shown.result, finding.example)
        if shown.style.verbose:
            yield from (f"  {line}".rstrip() for line in _run(shown, finding, shown.style.indent(2)))
        elif one is not None and one.remedy and one.remedy != told:
            told = one.remedy
            advice = _advise(shown, finding, one)
            yield from shown.style.fold(f"  {shown.style.heading('What to change')}: ", escape(advice))
    if len(found) > most:
        yield f"DIPS   {count(len(found) - most, 'more finding')} of this kind; -v shows all"


def _sign(shown: _Shown, grade: Grade) -> str:
    return shown.style.in_colour_of(VERDICTS[grade], f"{grade.upper():<5}")


def _title(shown: _Shown, finding: MatrixFinding, sign: str) -> Iterator[str]:
    """Who, with how much, under which faults."""
    style = shown.style
    head = f"{_sign(shown, finding.grade)}  "
    groups = finding.whom_by_faults
    told = f"{_whom(shown, finding.targets)}{depth_of(finding.cells)}"
    if len(groups) == 1:
        yield from style.fold(head, f"{told} {escape(when_of(shown.matrix, finding.cells))}")
        return
    yield from style.fold(head, told)
    for faults, targets in groups:
        own = [cell for cell in finding.cells if cell.faults in faults]
        yield from style.fold("  ", f"{_whom(shown, targets)} {escape(when_of(shown.matrix, own))}")


def _whom(shown: _Shown, targets: Sequence[str]) -> str:
    if len(targets) == len(shown.matrix.rows) > 2:
        return f"all {len(targets)} workloads"
    told = shown.whom(targets)
    return told if len(targets) < 3 else f"{len(targets)} workloads ({told})"


def _faults(shown: _Shown, finding: MatrixFinding) -> str:
    """What happens: in a clause where it is one thing, otherwise by the heads of columns."""
    keys = [*dict.fromkeys(cell.faults for cell in finding.cells)]
    if len(keys) == 1:
        return escape(titles_of(shown.matrix, keys[0]))
    heads = [heads_of(shown.matrix, one) for one in keys]
    return escape(", ".join(heads) if shown.style.verbose else list_names(heads, 4))


def _run(shown: _Shown, finding: MatrixFinding, style: Style) -> Iterator[str]:
    one = finding_of(shown.result, finding.example)
    assert one is not None
    assert one.trace is not None
    when = titles_of(shown.matrix, finding.example.faults)
    whose = f" of {shown.names.get(one.target, one.target)}" if len(finding.targets) > 1 else ""
    steps = len(one.trace.steps) - one.trace.deployed_steps
    told = f"A run{whose} ({escape(when)}; {count(steps, 'step')})"
    if one.explanation is not None:
        yield from style.fold(f"{style.heading('What happens')}: ", escape(one.explanation.happens))
        yield from why_lines(one.explanation.why[:MOST_REASONS], style)
    if one.remedy:
        yield from style.fold(f"{style.heading('What to change')}: ", escape(_advise(shown, finding, one)))
    if one.causes is not None:
        yield from cause_lines(one.causes, style)
    if one.repairs:
        from kubeproof.report.verification.repairs import repair_lines

        yield from repair_lines(one.repairs, style)
    yield from style.fold(style.heading(escape(told)), "")
    if style.verbose:
        yield from _in_full(one.trace, style)
    else:
        deployed = f"{count(one.pods, 'pod')} on {count(one.nodes, 'node')}"
        yield from brief_lines(one.trace, one.target, style, deployed)
        yield from [style.heading("In the end")] if one.trace.final else []
        yield from ending_lines(one.trace.final, style)
    if style.replay_command:
        cell = f"{one.target} {'+'.join(one.faults)}"
        yield f"{style.heading('Replay')}: {escape(style.replay_command)} --intent {escape(quote(cell))}"


def _in_full(trace: Trace, style: Style) -> Iterator[str]:
    """Every step with its reasons, and all that is told of the end."""
    certainty, deployed = trace.loop_certainty, trace.deployed_steps
    yield from trace_lines(trace.steps, trace.loop_start, style, certainty=certainty, deployed_steps=deployed)
    yield from [style.heading("In the end")] if trace.final else []
    for line in trace.final:
        yield from style.fold("  ", escape(line))


def _advise(shown: _Shown, finding: MatrixFinding, one: IntentResult) -> str:
    """What to change about the workload whose run is shown, and whom it helps likewise."""
    others = [shown.names.get(target, target) for target in finding.targets if target != one.target]
    return f"{one.remedy} The same for {list_names(others)}." if others else one.remedy


def _open(shown: _Shown) -> Iterator[str]:
    """What is not known, cells with one reason together."""
    cells = [cell for cell in shown.matrix.cells if cell.grade == Grade.UNKNOWN]
    groups = [*gather(cells, lambda cell: numberless(anonymous(cell.detail, cell.target))).values()]
    yield from [""] if groups else []
    most = len(groups) if shown.style.verbose else 3
    for group in groups[:most]:
        whom = shown.whom([*dict.fromkeys(cell.target for cell in group)], 3)
        heads = list_names([*dict.fromkeys(heads_of(shown.matrix, cell.faults) for cell in group)], 3)
        head = f"{shown.style.in_colour_of(Verdict.UNKNOWN, '?    ')}  "
        told = group[0].detail.replace(group[0].target, "it") if len(group) > 1 else group[0].detail
        yield from shown.style.fold(head, f"{whom} ({escape(heads)}): {escape(told)}")
    if len(groups) > most:
        rest = sum(len(group) for group in groups[most:])
        yield f"?      {count(rest, 'more cell')} not decided; -v shows all"


def _pairs(shown: _Shown) -> Iterator[str]:
    matrix = shown.matrix
    if not matrix.pairs and not matrix.pairs_left:
        return
    numbers = Counter(cell.grade for cell in matrix.pairs)
    news = sum(is_news(matrix, pair) for pair in matrix.pairs)
    old = numbers[Grade.STUCK] - news
    known = "" if not old else f" ({f'{old:,} of them' if news else 'all'} by one of the faults alone)"
    words = {**COUNTED, Grade.STUCK: f"{COUNTED[Grade.STUCK]}{known}"}
    parts = [f"{numbers[grade]:,} {words[grade]}" for grade in Grade if numbers[grade]]
    parts += [f"{matrix.pairs_left:,} not looked at (--timeout gives more time)"] if matrix.pairs_left else []
    told = ", ".join(parts)
    yield ""
    yield from shown.style.fold(f"{shown.style.heading('Two faults at once')}: ", told)


def quiet_lines(matrix: Matrix, style: Style) -> Iterator[str]:
    """The bad cells, one a line: they are the verdicts."""
    for cell in (*matrix.cells, *matrix.pairs):
        if cell.grade != Grade.STEADY:
            sign = style.in_colour_of(VERDICTS[cell.grade], cell.grade)
            yield f"{sign} {escape(cell.target)} {escape(' + '.join(cell.faults))}"
