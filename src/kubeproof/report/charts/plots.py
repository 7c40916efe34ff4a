"""Charts of numbers: curves with what they lie between, fronts, regions, bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.report.charts.axes import Axis, make_axis
from kubeproof.report.charts.scene import Chart, Point, Shape, colour
from kubeproof.values import dataclass

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 92, 24, 64, 56
ROW = 18  # pixels of a line of a legend, or of a bar
LETTER = 6.6  # pixels of a letter, on average
MOST_NAMES = 12
LEAST_SIDE = 8.0  # pixels of a box that stands for one number


@dataclass(frozen=True, slots=True)
class Labels:
    """What is written around a chart."""

    title: str
    across: str
    upwards: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One line; `lower` and `upper` are what it lies between, where that is known."""

    name: str
    points: tuple[Point, ...]
    lower: tuple[Point, ...] = ()
    upper: tuple[Point, ...] = ()


def draw_curves(
    labels: Labels, curves: Sequence[Curve], *, is_log: bool = False, is_whole_across: bool = False,
    is_whole: bool = False, is_dotted: bool = False,
) -> Chart:  # fmt: skip
    """Curves over the same axis; with `is_log` the upright axis has powers of ten."""
    legend = len(curves) > 1
    room = ROW * (min(len(curves), MOST_NAMES) if legend else 0)
    every = [point for one in curves for point in (*one.points, *one.lower, *one.upper)]
    across = make_axis([x for x, _ in every], LEFT, WIDTH - RIGHT, is_whole=is_whole_across, is_tight=True)
    upwards = make_axis([y for _, y in every], HEIGHT + room - BOTTOM, TOP + room, is_whole=is_whole, is_log=is_log)
    shapes = [*_frame(labels, across, upwards, room)]
    for number, one in enumerate(curves):
        shapes += _curve(one, colour(number), across, upwards, is_dotted=is_dotted)
    if legend:
        shapes += _legend([one.name for one in curves])
    return Chart(labels.title, WIDTH, HEIGHT + room, tuple(shapes))


def draw_front(labels: Labels, points: Sequence[Point], names: Sequence[str], limit: Sequence[Point] = ()) -> Chart:
    """Points that trade one number for another, joined; beyond the faint ones nothing goes."""
    every = [*points, *limit]
    across = make_axis([x for x, _ in every], LEFT, WIDTH - RIGHT, is_tight=True)
    upwards = make_axis([y for _, y in every], HEIGHT - BOTTOM, TOP, is_tight=True)
    shapes = [*_frame(labels, across, upwards, 0)]
    for role, listed in (("faint", sorted(limit)), (colour(0), sorted(points))):
        placed = tuple((across.at(x), upwards.at(y)) for x, y in listed)
        shapes += [Shape("line", role, placed)] if len(placed) > 1 else []
    for (x, y), name in zip(points, names, strict=True):
        shapes.append(Shape("dot", colour(0), ((across.at(x), upwards.at(y)),), name))
    return Chart(labels.title, WIDTH, HEIGHT, tuple(shapes))


@dataclass(frozen=True, slots=True)
class Spot:
    """One thing with two numbers, each from least to greatest."""

    name: str
    across: tuple[float, float]
    upwards: tuple[float, float]
    text: str


def draw_spots(labels: Labels, spots: Sequence[Spot], front: Sequence[Point] = ()) -> Chart:
    """A box per thing, wide enough to be seen; `front` joins those that nothing else beats."""
    across = make_axis([x for one in spots for x in one.across], LEFT, WIDTH - RIGHT, is_tight=True)
    upwards = make_axis([y for one in spots for y in one.upwards], HEIGHT - BOTTOM, TOP, is_tight=True)
    shapes = [*_frame(labels, across, upwards)]
    if len(front) > 1:
        shapes.append(Shape("line", "faint", tuple((across.at(x), upwards.at(y)) for x, y in sorted(front))))
    for number, one in enumerate(spots):
        left, width = _widen(across.at(one.across[0]), across.at(one.across[1]), LEFT, WIDTH - RIGHT)
        top, height = _widen(upwards.at(one.upwards[1]), upwards.at(one.upwards[0]), TOP, HEIGHT - BOTTOM)
        shapes.append(Shape("box", colour(number), ((left, top), (width, height)), one.text))
        is_right = left + width > WIDTH / 2
        at, anchor = (left - 6, "end") if is_right else (left + width + 6, "start")
        shapes.append(Shape("text", "ink", ((at, top + height / 2 + 4),), shorten(one.name, WIDTH / 2), anchor))
    return Chart(labels.title, WIDTH, HEIGHT, tuple(shapes))


def _widen(begin: float, end: float, first: float, last: float) -> tuple[float, float]:
    """Begin and length, at least as long as can be seen, within the picture."""
    length = max(LEAST_SIDE, end - begin)
    return min(max((begin + end - length) / 2, first), last - length), length


@dataclass(frozen=True, slots=True)
class Cell:
    """A box of two numbers (or of one, whose other side is the whole height) with a meaning."""

    across: tuple[float, float]
    upwards: tuple[float, float]
    role: str
    text: str


def draw_cells(labels: Labels, cells: Sequence[Cell], *, has_height: bool = True) -> Chart:
    """Boxes over one or two numbers, coloured by what is known of them."""
    height = HEIGHT if has_height else TOP + BOTTOM + 60
    across = make_axis([x for cell in cells for x in cell.across], LEFT, WIDTH - RIGHT, is_tight=True)
    upwards = make_axis([y for cell in cells for y in cell.upwards], height - BOTTOM, TOP, is_tight=True)
    shapes = [*_frame(labels, across, upwards if has_height else None, height=height)]
    for cell in cells:
        left, right = map(across.at, cell.across)
        top, bottom = (upwards.at(cell.upwards[1]), upwards.at(cell.upwards[0])) if has_height else (TOP, TOP + 60)
        shapes.append(Shape("box", cell.role, ((left, top), (right - left, bottom - top)), cell.text))
    return Chart(labels.title, WIDTH, height, tuple(shapes))


def draw_bars(labels: Labels, bars: Sequence[tuple[str, float]]) -> Chart:
    """One bar per name, to the right for more and to the left for less."""
    left = min(260.0, max((LETTER * len(name) for name, _ in bars), default=0.0) + 24)
    height = TOP + BOTTOM + ROW * 2 * len(bars)
    across = make_axis([value for _, value in bars], left, WIDTH - RIGHT - 40)
    shapes = [*_frame(labels, across, None, height=height)]
    for number, (name, value) in enumerate(bars):
        top = TOP + ROW * 2 * number
        begin, end = sorted((across.at(0.0), across.at(value)))
        role = "bad" if value > 0 else "good"
        shapes.append(Shape("box", role, ((begin, top), (max(1.0, end - begin), ROW)), f"{name}: {value:.4g}"))
        shapes.append(Shape("text", "ink", ((left - 10, top + 13),), shorten(name, left), "end"))
        shapes.append(Shape("text", "faint", ((end + 6, top + 13),), f"{value:.3g}"))
    return Chart(labels.title, WIDTH, height, tuple(shapes))


def shorten(text: str, pixels: float) -> str:
    """The text, with an ellipsis where it is wider."""
    most = max(4, int(pixels / LETTER))
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _curve(one: Curve, role: str, across: Axis, upwards: Axis, *, is_dotted: bool) -> Iterator[Shape]:
    if one.lower:
        around = [*_shown(one.lower, across, upwards), *reversed(_shown(one.upper, across, upwards))]
        yield from [Shape("area", role, tuple(around))] if len(around) > 2 else []
    placed = _shown(one.points, across, upwards)
    if len(placed) > 1:
        yield Shape("line", role, tuple(placed), one.name)
    if is_dotted or len(placed) == 1:
        known = [(x, y) for x, y in one.points if upwards.admits(y)]
        for (x, y), place in zip(known, placed, strict=True):
            yield Shape("dot", role, (place,), f"{one.name}: {x:g}, {y:.6g}")


def _shown(points: Sequence[Point], across: Axis, upwards: Axis) -> list[Point]:
    return [(across.at(x), upwards.at(y)) for x, y in points if upwards.admits(y)]


def _frame(labels: Labels, across: Axis, upwards: Axis | None, room: int = 0, height: int = 0) -> Iterator[Shape]:
    """Title, grid, ticks and what the axes are."""
    bottom, top = (height or HEIGHT + room) - BOTTOM, TOP + room
    yield Shape("text", "ink", ((LEFT if upwards else 16, 24),), shorten(labels.title, WIDTH - LEFT - RIGHT))
    for tick, text in zip(across.ticks, across.labels, strict=True):
        x = across.at(tick)
        yield Shape("line", "grid", ((x, top), (x, bottom)))
        yield Shape("text", "faint", ((x, bottom + 18),), text, "middle")
    middle = (across.begin + across.end) / 2
    yield Shape("text", "ink", ((middle, bottom + 42),), shorten(labels.across, WIDTH - 40), "middle")
    if upwards is None:
        return
    for tick, text in zip(upwards.ticks, upwards.labels, strict=True):
        y = upwards.at(tick)
        yield Shape("line", "grid", ((LEFT, y), (WIDTH - RIGHT, y)))
        yield Shape("text", "faint", ((LEFT - 8, y + 4),), text, "end")
    yield Shape(
        "text", "ink", ((18, (top + bottom) / 2),), shorten(labels.upwards, bottom - top), "middle", is_upright=True
    )


def _legend(names: Sequence[str]) -> Iterator[Shape]:
    shown = list(names[:MOST_NAMES])
    for number, name in enumerate(shown):
        y = 34 + ROW * number
        left = len(names) - MOST_NAMES
        more = f" and {left} more" if left > 0 and number == MOST_NAMES - 1 else ""
        yield Shape("box", colour(number), ((LEFT, y + 4), (12, 4)))
        yield Shape("text", "faint", ((LEFT + 18, y + 10),), shorten(name, WIDTH - LEFT - RIGHT - 90) + more)
