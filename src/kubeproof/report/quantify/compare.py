"""Variants of a cluster side by side: as text, JSON, and a plot (SVG, HTML) that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kubeproof.report.charts.page import Page, Table, write_page
from kubeproof.report.charts.plots import Labels, Spot, draw_spots
from kubeproof.report.charts.scene import Chart, write_svg
from kubeproof.report.escape import escape
from kubeproof.report.quantify.cluster import document, duration, number

if TYPE_CHECKING:
    from kubeproof.quantify.clusters.compare_result import Comparison, Line
    from kubeproof.quantify.clusters.result import Span


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
    """The table and the plot as one page."""
    horizon = duration(found.variants[0].result.horizon_s)
    head = ("", *(variant.name for variant in found.variants))
    rows = tuple((title(line, horizon), *(show_span(span, line.unit) for span in line.spans)) for line in found.lines)
    page = Page(
        headline=f"{len(found.variants)} variants",
        subject=found.variants[0].result.scenario,
        how=f"over {horizon}",
        tables=(Table("Variants compared", head, rows),),
        charts=tuple(_charts(found)),
        notes=(*_list_skipped(found), *_tell_front(found)),
    )
    return write_page(page, as_text(found))


def as_svg(found: Comparison) -> str:
    """The plot: a rectangle per variant, from least to greatest risk and from least to greatest amount."""
    return write_svg(tuple(_charts(found)), "There is no risk or no amount to plot.")


def _charts(found: Comparison) -> Iterator[Chart]:
    spots = list(_spots(found))
    if found.risk is not None and found.against is not None and spots:
        horizon = duration(found.variants[0].result.horizon_s)
        labels = Labels("What each variant risks and takes", title(found.risk, horizon), title(found.against, horizon))
        front = [(one.across[1], one.upwards[1]) for one in find_best(spots)]
        yield draw_spots(labels, spots, front)


def find_best(spots: Sequence[Spot]) -> list[Spot]:
    """Those that no other beats: with no more risk and no more of the amount, at their worst, and less of one."""
    worst = [(one.across[1], one.upwards[1]) for one in spots]
    return [
        spot
        for spot, (risk, amount) in zip(spots, worst, strict=True)
        if not any(r <= risk and a <= amount and (r, a) != (risk, amount) for r, a in worst)
    ]


def _tell_front(found: Comparison) -> Iterator[str]:
    spots = list(_spots(found))
    if len(spots) > 1:
        names = ", ".join(one.name for one in find_best(spots))
        yield f"Nothing has both less risk and a smaller amount than: {names}"


def _spots(found: Comparison) -> Iterator[Spot]:
    """Name, risk and amount of every variant that has both."""
    if found.risk is None or found.against is None:
        return
    for place, variant in enumerate(found.variants):
        risk, amount = (_side(line.spans[place]) for line in (found.risk, found.against))
        if risk is not None and amount is not None:
            told = f"risk {risk[0]:.6g} to {risk[1]:.6g}, amount {amount[0]:.6g} to {amount[1]:.6g}"
            yield Spot(variant.name, risk, amount, f"{variant.name}: {told}")


def _side(span: Span) -> tuple[float, float] | None:
    if span.least is None or span.greatest is None:
        return None
    return span.least.value, span.greatest.value
