"""What a chart is made of: shapes with roles. A role is a colour by meaning, which each sink has its own values for."""

from __future__ import annotations

from html import escape as escape_html
from typing import Any

from kubeproof.named_tuples import NamedTuple
from kubeproof.report.escape import escape
from kubeproof.values import dataclass

Point = tuple[float, float]
COLOURS = ("#3b5bdb", "#c2410c", "#1d7a48", "#a21caf", "#8a6100", "#0f7490", "#b3261e", "#566072")
ROLES = {
    "ink": "#222222", "faint": "#566072", "grid": "#d9dee7", "good": "#1d7a48", "bad": "#b3261e", "fair": "#8a6100",
    **{f"colour-{number}": colour for number, colour in enumerate(COLOURS)},
}  # fmt: skip
_FONT = 'font-family="sans-serif" font-size="12"'
GAP = 24  # pixels between two charts of one file


class Shape(NamedTuple):
    """One shape: "line", "area", "box", "dot" or "text"; numbers are pixels from the upper left corner."""

    kind: str
    role: str
    points: tuple[Point, ...]  # of a box: corner and size; of a dot or a text: where it is
    text: str = ""  # what is written; of other shapes what is told about them
    anchor: str = "start"  # of a text
    is_upright: bool = False  # of a text


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with its name."""

    title: str
    width: int
    height: int
    shapes: tuple[Shape, ...]


def colour(number: int) -> str:
    """The role of the curve with this number."""
    return f"colour-{number % len(COLOURS)}"


def chart_values(chart: Chart) -> dict[str, Any]:
    """The chart as plain values, for the script that draws it in a page."""
    shapes = [
        {
            "kind": shape.kind, "role": shape.role, "points": [[round(x, 1), round(y, 1)] for x, y in shape.points],
            "text": shape.text, "anchor": shape.anchor, "upright": shape.is_upright,
        }
        for shape in chart.shapes
    ]  # fmt: skip
    return {"title": chart.title, "width": chart.width, "height": chart.height, "shapes": shapes}


def write_svg(charts: tuple[Chart, ...], nothing: str = "There is nothing to draw.") -> str:
    """All charts below each other, as one SVG file that needs nothing else."""
    if not charts:
        charts = (Chart("", 640, 60, (Shape("text", "ink", ((20, 30),), nothing),)),)
    width, height = max(chart.width for chart in charts), sum(chart.height + GAP for chart in charts) - GAP
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT}>']
    parts.append(f'<rect width="{width}" height="{height}" fill="#ffffff"/>')
    top = 0
    for chart in charts:
        parts += [f'<g transform="translate(0 {top})">', *map(_shape, chart.shapes), "</g>"]
        top += chart.height + GAP
    return "\n".join((*parts, "</svg>\n"))


def _shape(shape: Shape) -> str:
    """One element; names come from the input."""
    fill, told = ROLES[shape.role], f"<title>{_safe(shape.text)}</title>" if shape.text else ""
    (x, y), *_ = shape.points
    listed = " ".join(f"{left:.1f},{top:.1f}" for left, top in shape.points)
    if shape.kind == "line":
        width = 1 if shape.role == "grid" else 2
        return f'<polyline points="{listed}" fill="none" stroke="{fill}" stroke-width="{width}">{told}</polyline>'
    if shape.kind == "area":
        return f'<polygon points="{listed}" fill="{fill}" fill-opacity="0.18">{told}</polygon>'
    if shape.kind == "box":
        across, down = shape.points[1]
        size = f'width="{across:.1f}" height="{down:.1f}"'
        return f'<rect x="{x:.1f}" y="{y:.1f}" {size} fill="{fill}" fill-opacity="0.75">{told}</rect>'
    if shape.kind == "dot":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}">{told}</circle>'
    return _text(shape, fill, x, y)


def _text(shape: Shape, fill: str, x: float, y: float) -> str:
    place = f'transform="translate({x:.1f} {y:.1f}) rotate(-90)"' if shape.is_upright else f'x="{x:.1f}" y="{y:.1f}"'
    return f'<text {place} fill="{fill}" text-anchor="{shape.anchor}">{_safe(shape.text)}</text>'


def _safe(text: str) -> str:
    return escape_html(escape(text))
