"""The curves of a timed run as an SVG picture: a panel for each quantity, two side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, floor, log10

from kubeproof.named_tuples import NamedTuple
from kubeproof.report.html.panels import Drawing, Line, Panel, drawing_of
from kubeproof.report.html.picture import INK, LETTER, Canvas, Point
from kubeproof.simulate.outcome import Comparison, SimulationResult
from kubeproof.simulate.published.result import Curves

COLOURS = (
    *("#3b5bdb", "#c2410c", "#1d7a48", "#a21caf", "#8a6100", "#0f7490", "#b3261e", "#566072"),
    *("#f08fc0", "#8fce00", "#00b8d9", "#111111"),
)  # one for each line of a panel
GRID, FAINT, BAD = "#d9dee7", "#566072", "#b42318"
WIDTH, HEIGHT, COLUMNS = 640, 300, 2
LEFT, RIGHT, TOP, BOTTOM = 76, 16, 58, 34
MOST_PANELS = 24
_ROW = 14  # pixels between two rows of a legend
_STEPS = (1, 2, 5, 10)
_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def svg(result: SimulationResult | Comparison | Curves) -> str:
    """The first panels of a result."""
    drawing = drawing_of(result)
    panels = [(group.name, panel) for group in drawing.groups for panel in group.panels]
    shown = panels[:MOST_PANELS]
    rows = [shown[at : at + COLUMNS] for at in range(0, len(shown), COLUMNS)] or [[]]
    extras = [_ROW * max((_legend_rows(panel) - 1 for _, panel in row), default=0) for row in rows]
    height = HEIGHT * len(rows) + sum(extras)
    note = 24 if len(panels) > MOST_PANELS else 0
    canvas = Canvas(WIDTH * COLUMNS, height + note)
    y = 0
    for row, extra in zip(rows, extras, strict=True):
        for column, (name, panel) in enumerate(row):
            _Panel(canvas, column * WIDTH, y, drawing, panel, extra).draw(name)
        y += HEIGHT + extra
    if note:
        canvas.write(LEFT, height + 6, f"{len(panels) - MOST_PANELS} more panels are in the other formats", FAINT)
    return canvas.encode()


class Entry(NamedTuple):
    """One name of a legend, at a row and so many pixels to the right; a long one goes on in the rows below."""

    row: int
    x: int
    lines: tuple[str, ...]


def legend_of(names: Iterable[str]) -> list[Entry]:
    """Where the names of a legend stand: one after the other, as many in a row as fit, none cut."""
    room = WIDTH - LEFT - RIGHT
    most = (room - 16) // LETTER
    found, row, x = [], 0, 0
    for name in names:
        lines = tuple(name[at : at + most] for at in range(0, len(name), most)) or ("",)
        width = 16 + LETTER * len(lines[0])
        if x and x + width > room:
            row, x = row + 1, 0
        found.append(Entry(row, x, lines))
        row, x = row + len(lines) - 1, (x + width + 2 * LETTER if len(lines) == 1 else room)
    return found


def _legend_rows(panel: Panel) -> int:
    entries = legend_of(line.name for line in panel.lines)
    return entries[-1].row + len(entries[-1].lines) if entries else 1


class _Panel:
    """One panel with its corner at x, y, and so many pixels more for its legend."""

    def __init__(self, canvas: Canvas, x: int, y: int, drawing: Drawing, panel: Panel, extra: int) -> None:
        self._canvas, self._panel, self._times = canvas, panel, drawing.times_s
        self._marks = drawing.marks
        self._left, self._right = x + LEFT, x + WIDTH - RIGHT
        self._top, self._bottom = y + TOP + extra, y + HEIGHT + extra - BOTTOM
        self._title = (x + LEFT, y + 14)
        values = [v for line in panel.lines for part in (line.values, line.high) for v in part if v is not None]
        self._ticks = list_ticks(max(values, default=0.0), is_whole=panel.is_whole)

    def draw(self, subject: str) -> None:
        unit = f" ({self._panel.unit})" if self._panel.unit else ""
        room = (self._right - self._left) // LETTER
        note = f", {self._panel.note}" if self._panel.note else ""
        self._canvas.write(*self._title, f"{subject} - {self._panel.title}{unit}{note}"[:room])
        self._legend()
        self._grid()
        self._mark()
        for place, line in enumerate(self._panel.lines):
            self._band(line, COLOURS[place % len(COLOURS)])
        for place, line in enumerate(self._panel.lines):
            self._line(line, COLOURS[place % len(COLOURS)])

    def _legend(self) -> None:
        for place, entry in enumerate(legend_of(line.name for line in self._panel.lines)):
            x, y = self._left + entry.x, self._title[1] + 20 + _ROW * entry.row
            self._canvas.fill(x, y + 3, 12, 4, COLOURS[place % len(COLOURS)])
            for below, text in enumerate(entry.lines):
                self._canvas.write(x + 16, y + _ROW * below, text, FAINT)

    def _grid(self) -> None:
        for tick in self._ticks:
            y, text = self._y(tick), write_tick(tick)
            self._canvas.fill(self._left, y, self._right - self._left, 1, GRID)
            self._canvas.write(self._left - 8 - LETTER * len(text), y - 5, text, FAINT)
        first, last = self._times[0], self._times[-1]
        for part in range(5):
            time = first + (last - first) * part / 4
            text = _clock(time)
            x = min(max(self._x(time) - LETTER * len(text) // 2, self._left), self._right - LETTER * len(text))
            self._canvas.write(x, self._bottom + 10, text, FAINT)
        self._canvas.fill(self._left, self._top, 1, self._bottom - self._top, INK)

    def _mark(self) -> None:
        """Upright lines where something happened."""
        for mark in self._marks:
            if self._times[0] <= mark.time_s <= self._times[-1]:
                colour = BAD if mark.is_bad else FAINT
                self._canvas.fill(self._x(mark.time_s), self._top, 1, self._bottom - self._top, colour)

    def _x(self, time: float) -> int:
        span = self._times[-1] - self._times[0]
        part = (time - self._times[0]) / span if span else 0.0
        return self._left + round(part * (self._right - self._left))

    def _y(self, value: float) -> int:
        return self._bottom - round(value / self._ticks[-1] * (self._bottom - self._top))

    def _line(self, line: Line, colour: str) -> None:
        for run in _runs(self._times, line.values):
            points: list[Point] = []
            for time, (value,) in run:
                x, y = self._x(time), self._y(value)
                if points and self._panel.has_steps:
                    points.append((x, points[-1][1]))
                points.append((x, y))
            if len(points) > 1:
                self._canvas.line(points, colour)

    def _band(self, line: Line, colour: str) -> None:
        for run in _runs(self._times, line.low, line.high):
            lower = [(self._x(time), self._y(low)) for time, (low, _) in run]
            upper = [(self._x(time), self._y(high)) for time, (_, high) in run]
            self._canvas.tint((*lower, *reversed(upper)), colour)


def _runs(times: Iterable[float], *series: Iterable[float | None]) -> Iterator[list[tuple[float, tuple[float, ...]]]]:
    """The stretches of time in which all series have values."""
    run: list[tuple[float, tuple[float, ...]]] = []
    for time, values in zip(times, zip(*series, strict=True), strict=False):
        known = tuple(value for value in values if value is not None)
        if len(known) == len(values):
            run.append((time, known))
        elif run:
            yield run
            run = []
    if run:
        yield run


def list_ticks(most: float, *, is_whole: bool = False) -> list[float]:
    """Up to five round numbers from 0 on, whole ones of what is counted, the last one not below the most."""
    most = most if most > 0 else 1.0
    power = 10.0 ** floor(log10(most / 4))
    step = next(one * power for one in _STEPS if one * power * 5 >= most)
    step = max(1.0, step) if is_whole else step
    return [step * count for count in range(ceil(most / step - 1e-9) + 1)]


def write_tick(value: float) -> str:
    """The number in few letters, so that nothing is cut off: 134M."""
    for size, sign in _LARGE:
        if abs(value) >= size:
            return f"{value / size:.4g}{sign}"
    return f"{value:.4g}"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    if whole >= 24 * 3600:
        return f"{whole // 86400}D {whole // 3600 % 24:02}:{whole // 60 % 60:02}"
    return (
        f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}" if whole >= 3600 else f"{whole // 60}:{whole % 60:02}"
    )
