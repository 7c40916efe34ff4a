"""Answers about a cluster's chances as charts (SVG) and as a page (HTML): the probability of a violation over time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubeproof.report.charts.page import Page, Table, write_page
from kubeproof.report.charts.plots import Curve, Labels, draw_bars, draw_curves
from kubeproof.report.charts.scene import Chart, write_svg
from kubeproof.report.quantify.cluster import as_text, duration, list_rows

if TYPE_CHECKING:
    from kubeproof.quantify.clusters.result import ClusterResult, Span

UNITS = (("days", 2 * 86400, 86400), ("hours", 2 * 3600, 3600), ("minutes", 0, 60))  # from so many seconds on


def as_svg(result: ClusterResult, *, is_log: bool = False) -> str:
    """All charts as one picture."""
    return write_svg(tuple(_charts(result, is_log)), "There is no safety intent whose chances could be drawn.")


def as_html(result: ClusterResult, *, is_log: bool = False) -> str:
    """All answers as one page."""
    size = result.size
    head, *rows = list_rows(result)
    levels = tuple(
        (f"{one.id} {one.name}", str(one.verdict), "-" if one.value is None else f"{one.value:.8g}", f"{one.limit:.8g}")
        for one in result.levels
    )
    page = Page(
        headline=str(result.verdict) or "Chances",
        subject=result.scenario,
        how=f"over {duration(result.horizon_s)}, {'in steps' if result.waits is None else 'at rates'}",
        verdict=str(result.verdict),
        facts=((f"{size.states:,}", "states"), (f"{size.process_states:,}", "in which time passes")),
        tables=(
            Table("Answers", tuple(head), tuple(map(tuple, rows))),
            Table("Service levels", ("level", "verdict", "value", "limit"), levels),
        ),
        charts=tuple(_charts(result, is_log)),
        notes=(
            *(f"{name}: {value}" for name, value in result.scope),
            *result.not_quantified,
            *(f"not modelled: {what}" for what in result.not_modelled),
        ),
    )
    return write_page(page, as_text(result))


def _charts(result: ClusterResult, is_log: bool) -> Iterator[Chart]:
    curves = [curve for one in result.intents if (curve := _curve(one.intent, _moments(result, one), result.horizon_s))]
    if curves:
        unit, _ = unit_of(result.horizon_s)
        labels = Labels("Violated by then", unit, "probability")
        yield draw_curves(labels, curves, is_log=is_log)
    for varied in result.variations:
        unit, length = unit_of(max(at for at, _ in varied.points))
        curve = _trace(result.intents[0].intent, list(varied.points), length)
        if curve is not None:
            labels = Labels(f"Violated within {duration(result.horizon_s)}", f"{varied.title}, {unit}", "probability")
            yield draw_curves(labels, [curve], is_log=is_log, is_dotted=True)
    shown = [(name, each) for name, each in result.sensitivities if math.isfinite(each)]
    if shown:
        told = "percent of the probability of a violation, per percent of the rate"
        yield draw_bars(Labels("What matters", told, ""), shown)


def _moments(result: ClusterResult, one: object) -> list[tuple[int, Span | None]]:
    over_time: tuple[tuple[int, Span | None], ...] = getattr(one, "over_time", ())
    return [*over_time, (result.horizon_s, getattr(one, "within", None))]


def _curve(name: str, moments: list[tuple[int, Span | None]], horizon_s: int) -> Curve | None:
    """The chance over time, from 0 on."""
    found = _trace(name, moments, unit_of(horizon_s)[1])
    first = ((0.0, 0.0),)
    return found and Curve(name, first + found.points, first + found.lower, first + found.upper)


def _trace(name: str, spans: list[tuple[int, Span | None]], unit_s: int) -> Curve | None:
    """The middle of least and greatest, between what is certain of both."""
    points, lower, upper = [], [], []
    for seconds, span in spans:
        if span is not None and span.least is not None and span.greatest is not None:
            at, low, high = seconds / unit_s, span.least, span.greatest
            points.append((at, (low.value + high.value) / 2))
            lower.append((at, low.value if low.lower is None else low.lower))
            upper.append((at, high.value if high.upper is None else high.upper))
    return Curve(name, tuple(points), tuple(lower), tuple(upper)) if points else None


def unit_of(horizon_s: int) -> tuple[str, int]:
    """The unit in which a horizon is drawn, and its seconds."""
    return next((unit, length) for unit, least, length in UNITS if horizon_s >= least)
