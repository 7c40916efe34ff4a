"""The heat map of a sweep: as characters and as SVG."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.report.html.picture import LETTER, Canvas
from kubeproof.report.style import Style
from kubeproof.verdicts import Verdict
from kubeproof.verify.scaling.heatmap import HeatCell, HeatMap, heat_map
from kubeproof.verify.scaling.result import Skipped, Sweep

TEXT_ROWS = 36
SIGNS = {
    Verdict.VIOLATED: "X",
    Verdict.ERROR: "E",
    Verdict.UNKNOWN: "?",
    Skipped.NOT_TRIED: " ",
    Verdict.HOLDS: ".",
    Verdict.VACUOUS: "v",
    Skipped.TRIVIAL: "-",
}
COLOURS = {
    Verdict.VIOLATED: "#c0392b",
    Verdict.ERROR: "#8e44ad",
    Verdict.UNKNOWN: "#f39c12",
    Skipped.NOT_TRIED: "#ecf0f1",
    Verdict.HOLDS: "#2e9e5b",
    Verdict.VACUOUS: "#a9cce3",
    Skipped.TRIVIAL: "#bdc3c7",
}
WORDS = {
    Verdict.VIOLATED: "violated",
    Verdict.ERROR: "error",
    Verdict.UNKNOWN: "not decided",
    Skipped.NOT_TRIED: "not tried",
    Verdict.HOLDS: "holds",
    Verdict.VACUOUS: "vacuous",
    Skipped.TRIVIAL: "trivial",
}
_CELL, _LEFT, _TOP = 16, 40, 32  # pixels


def text_lines(sweep: Sweep, style: Style) -> Iterator[str]:
    """The map with nodes to the right and pods upwards, and what its signs mean."""
    chart = heat_map(sweep, TEXT_ROWS)
    cells = {(cell.nodes, cell.pods): cell for cell in chart.cells}
    ranges = {cell.pods: cell.range for cell in chart.cells}
    width = max(4, *(len(text) for text in ranges.values()))
    yield f"{'pods':>{width}}"
    tried = [cell.pods for cell in chart.cells if cell.verdict != Skipped.NOT_TRIED]
    for pods in reversed([pods for pods in chart.pods if pods <= max(tried, default=0)]):
        signs = " ".join(f"{_sign(cells.get((nodes, pods)), style)}" for nodes in chart.nodes)
        yield f"{ranges[pods]:>{width}} | {signs}".rstrip()
    yield f"{'':>{width}} +{'-' * (3 * len(chart.nodes))} nodes"
    yield f"{'':>{width}}   {' '.join(f'{nodes:>2}' for nodes in chart.nodes)}"
    yield ", ".join(f"{SIGNS[verdict].replace(' ', 'blank')} {WORDS[verdict]}" for verdict in chart.verdicts)


def _sign(cell: HeatCell | None, style: Style) -> str:
    if cell is None:
        return "  "
    sign = f"{SIGNS[cell.verdict]:>2}"
    return (
        sign
        if cell.verdict in (Skipped.NOT_TRIED, Skipped.TRIVIAL, Verdict.HOLDS)
        else style.in_colour_of(cell.verdict, sign)
    )


def _corner(chart: HeatMap, nodes: int, pods: int) -> tuple[int, int]:
    """The upper left corner of a cell; more pods are higher up."""
    column, row = chart.nodes.index(nodes), chart.pods.index(pods)
    return _LEFT + column * _CELL, _TOP + (len(chart.pods) - 1 - row) * _CELL


def _ticks(chart: HeatMap) -> tuple[int, ...]:
    every = 1 if len(chart.pods) <= 20 else 6
    return chart.pods[::every]


def svg(sweep: Sweep) -> str:
    """The map as an SVG picture: cells, axes with their names, and what the colours mean."""
    chart = heat_map(sweep)
    right, bottom = _LEFT + len(chart.nodes) * _CELL, _TOP + len(chart.pods) * _CELL
    words = [WORDS[verdict] for verdict in chart.verdicts]
    letters = max(len("nodes"), *(len(word) + 2 for word in words))
    canvas = Canvas(max(right, _LEFT + letters * LETTER) + 8, bottom + 48 + _CELL * len(words))
    for cell in chart.cells:
        x, y = _corner(chart, cell.nodes, cell.pods)
        canvas.fill(x, y, _CELL - 1, _CELL - 1, COLOURS[cell.verdict])
    for nodes in chart.nodes:
        x, _ = _corner(chart, nodes, chart.pods[0])
        canvas.write(x + (2 if nodes < 10 else 0), bottom + 4, str(nodes))
    for pods in _ticks(chart):
        _, y = _corner(chart, chart.nodes[0], pods)
        text = str(pods)
        canvas.write(_LEFT - 6 - LETTER * len(text), y + 3, text)
    canvas.write(4, _TOP - 20, "pods")
    canvas.write(_LEFT, bottom + 22, "nodes")
    for row, verdict in enumerate(chart.verdicts):
        y = bottom + 44 + _CELL * row
        canvas.fill(_LEFT, y, 10, 10, COLOURS[verdict])
        canvas.write(_LEFT + 2 * LETTER, y, WORDS[verdict])
    return canvas.encode()
