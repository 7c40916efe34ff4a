"""Pictures as SVG files: rectangles, lines, areas, text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape as escape_html

from kubeproof.report.escape import escape

INK, WHITE = "#222222", "#ffffff"
LETTER = 8  # at most so wide is a letter
_FONT = 'font-family="monospace" font-size="12"'

Point = tuple[int, int]


class Canvas:
    """What is drawn, back to front, on white."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._parts: list[str] = []
        self.fill(0, 0, width, height, WHITE)

    def fill(self, x: int, y: int, width: int, height: int, colour: str) -> None:
        """A rectangle."""
        self._parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{colour}"/>')

    def line(self, points: Sequence[Point], colour: str) -> None:
        """Straight lines from point to point."""
        self._parts.append(
            f'<polyline points="{_list_points(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )

    def tint(self, points: Sequence[Point], colour: str) -> None:
        """An area through which what is behind is seen."""
        self._parts.append(f'<polygon points="{_list_points(points)}" fill="{colour}" fill-opacity="0.2"/>')

    def write(self, x: int, y: int, text: str, colour: str = INK) -> None:
        """Text whose upper left corner is here; names come from the input."""
        self._parts.append(f'<text x="{x}" y="{y + 10}" fill="{colour}">{escape_html(escape(text))}</text>')

    def encode(self) -> str:
        """The picture as an SVG file."""
        size = f'width="{self.width}" height="{self.height}" viewBox="0 0 {self.width} {self.height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT}>'
        return "\n".join((head, *self._parts, "</svg>\n"))


def _list_points(points: Sequence[Point]) -> str:
    return " ".join(f"{x},{y}" for x, y in points)
