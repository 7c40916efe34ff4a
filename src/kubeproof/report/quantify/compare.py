"""Variants of a cluster side by side: as text, JSON, and a plot (SVG, HTML) that needs nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from html import escape as escape_html
from typing import TYPE_CHECKING, Any

from kubeproof.report.escape import escape
from kubeproof.report.quantify.cluster import document, duration, number

if TYPE_CHECKING:
    from kubeproof.quantify.clusters.compare_result import Comparison, Line
    from kubeproof.quantify.clusters.result import Span

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = (
    "body{font:15px/1.4 sans-serif;margin:2em;max-width:70em;color:#222}table{border-collapse:collapse}"
    "td,th{border:1px solid #ccc;padding:.3em .6em;text-align:left}"
)
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b", "#17becf", "#7f7f7f")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 400, 90, 60, 20, 20  # pixels
TICKS = 5
LEAST_SIDE = 6.0  # pixels of a rectangle that stands for one number


def as_text(found: Comparison) -> str:
    """A table with a column per variant, least and greatest value in each."""
    horizon = duration(found.variants[0].result.horizon_s)
    rows = [["", *(variant.name for variant in found.variants)]]
    rows += [[title(line, horizon), *(show_span(span, line.unit) for span in line.spans)] for line in found.lines]
    sizes = [f"{variant.result.size.states:,}" for variant in found.variants]
    rows.append(["states", *sizes])
    lines = [*_table(rows), *_list_skipped(found)]
    return "".join(f"{escape(line).rstrip()}\n" for line in lines)


def _table(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield f"{row[0]:<{widths[0]}}  {'  '.join(cells)}"


def _list_skipped(found: Comparison) -> Iterator[str]:
    for line in found.lines:
        for variant, span in zip(found.variants, line.spans, strict=True):
            if span.skipped:
                yield f"not computed: {line.name} of {variant.name}: {span.skipped}"


def title(line: Line, horizon: str) -> str:
    """What a line is about."""
    return {
        "within": f"P({line.name} is violated within {horizon})",
        "ever": f"P({line.name} is ever violated)",
        "first": f"expected time to the first violation of {line.name}",
        "amounts": f"expected {line.unit} over {horizon}",
        "short": f"expected share of {horizon} in which {line.name} fails",
        "recovery": f"mean time until {line.name} holds again",
        "long-run": f"long-run share of time in which {line.name} fails",
    }[line.question]


def show_span(span: Span, unit: str) -> str:
    """Least and greatest value, or the one value that both are."""
    if span.least is None or span.greatest is None:
        return "-"
    said = [duration(value.value) if unit == "s" else number(value.value) for value in (span.least, span.greatest)]
    return said[0] if said[0] == said[1] else f"{said[0]} to {said[1]}"


def as_json(found: Comparison) -> str:
    """All answers of all variants as one JSON document."""
    variants = [{"name": variant.name, **document(variant.result)} for variant in found.variants]
    plot: dict[str, Any] = {"risk": found.risk and found.risk.name, "against": found.against and found.against.name}
    return json.dumps({"version": 1, "plot": plot, "variants": variants}, indent=2) + "\n"


def as_html(found: Comparison) -> str:
    """The table and the plot as one page without scripts; names from the input are escaped."""
    horizon = duration(found.variants[0].result.horizon_s)
    head = "".join(f"<th>{_safe(variant.name)}</th>" for variant in found.variants)
    rows = "".join(
        f"<tr><td>{_safe(title(line, horizon))}</td>"
        + "".join(f"<td>{_safe(show_span(span, line.unit))}</td>" for span in line.spans)
        + "</tr>"
        for line in found.lines
    )
    left_out = "".join(f"<p>{_safe(line)}</p>" for line in _list_skipped(found))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>Variants compared</title><style>{STYLE}</style></head><body><h1>Variants compared</h1>"
        f"<table><tr><th></th>{head}</tr>{rows}</table>{left_out}{as_svg(found)}</body></html>\n"
    )


def as_svg(found: Comparison) -> str:
    """The plot: a rectangle per variant, from least to greatest risk and from least to greatest amount."""
    boxes = list(_boxes(found))
    space = 'xmlns="http://www.w3.org/2000/svg"'
    head = f'<svg {space} viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">'
    if found.risk is None or found.against is None or not boxes:
        return f'{head}<text x="20" y="30">There is no risk or no amount to plot.</text></svg>\n'
    horizon = duration(found.variants[0].result.horizon_s)
    across = Axis.over([side for box in boxes for side in box[1]], LEFT, WIDTH - RIGHT)
    upwards = Axis.over([side for box in boxes for side in box[2]], HEIGHT - BOTTOM, TOP)
    parts = [*_frame(across, upwards, title(found.risk, horizon), title(found.against, horizon))]
    parts += [_box(place, name, across, upwards, risk, amount) for place, (name, risk, amount) in enumerate(boxes)]
    return head + "".join(parts) + "</svg>\n"


def _boxes(found: Comparison) -> Iterator[tuple[str, tuple[float, float], tuple[float, float]]]:
    """Name, risk and amount of every variant that has both."""
    if found.risk is None or found.against is None:
        return
    for place, variant in enumerate(found.variants):
        sides = [_side(line.spans[place]) for line in (found.risk, found.against)]
        if sides[0] is not None and sides[1] is not None:
            yield variant.name, sides[0], sides[1]


def _side(span: Span) -> tuple[float, float] | None:
    if span.least is None or span.greatest is None:
        return None
    return span.least.value, span.greatest.value


class Axis:
    """Values on one axis of the plot, a little room on both sides."""

    def __init__(self, least: float, greatest: float, begin: float, end: float) -> None:
        self.least, self.greatest = least, greatest
        self._begin, self._end = begin, end

    @classmethod
    def over(cls, values: list[float], begin: float, end: float) -> Axis:
        """The axis that shows all of these values."""
        least, greatest = min(values), max(values)
        room = (greatest - least) * 0.1 or abs(greatest) * 0.1 or 1.0
        return cls(max(0.0, least - room), greatest + room, begin, end)

    def at(self, value: float) -> float:
        """Where a value is, in pixels."""
        return self._begin + (value - self.least) / (self.greatest - self.least) * (self._end - self._begin)

    def ticks(self) -> list[float]:
        """Some round values on the axis."""
        rough = (self.greatest - self.least) / TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        first = math.ceil(self.least / step)
        return [n * step for n in range(first, math.floor(self.greatest / step) + 1)]


def _frame(across: Axis, upwards: Axis, below: str, beside: str) -> Iterator[str]:
    left, right, bottom, top = LEFT, WIDTH - RIGHT, HEIGHT - BOTTOM, TOP
    yield f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#222"/>'
    for value in across.ticks():
        yield f'<text x="{across.at(value):.1f}" y="{bottom + 18}" text-anchor="middle">{value:.4g}</text>'
    for value in upwards.ticks():
        yield f'<text x="{left - 8}" y="{upwards.at(value) + 4:.1f}" text-anchor="end">{value:.4g}</text>'
    yield f'<text x="{(left + right) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{_safe(below)}</text>'
    middle = (top + bottom) / 2
    yield f'<text transform="translate(18 {middle}) rotate(-90)" text-anchor="middle">{_safe(beside)}</text>'


def _box(
    place: int, name: str, across: Axis, upwards: Axis, risk: tuple[float, float], amount: tuple[float, float]
) -> str:
    colour = COLOURS[place % len(COLOURS)]
    left, width = _wide_enough(across.at(risk[0]), across.at(risk[1]))
    top, height = _wide_enough(upwards.at(amount[1]), upwards.at(amount[0]))
    told = _safe(f"{name}: risk {risk[0]:.6g} to {risk[1]:.6g}, amount {amount[0]:.6g} to {amount[1]:.6g}")
    right = left + width > WIDTH / 2
    at, anchor = (left - 6, "end") if right else (left + width + 6, "start")
    return (
        f'<g fill="{colour}"><title>{told}</title>'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'fill-opacity="0.5" stroke="{colour}"/>'
        f'<text x="{at:.1f}" y="{top + height / 2 + 4:.1f}" text-anchor="{anchor}">{_safe(name)}</text></g>'
    )


def _wide_enough(begin: float, end: float) -> tuple[float, float]:
    """Begin and length, at least as long as can be seen."""
    length = max(LEAST_SIDE, end - begin)
    return (begin + end - length) / 2, length


def _safe(text: str) -> str:
    return escape_html(escape(text))
