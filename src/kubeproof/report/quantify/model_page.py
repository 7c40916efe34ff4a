"""Answers of probabilistic models as charts (SVG) and as a page (HTML)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubeproof.quantify.prism.strategies import list_variables
from kubeproof.report.charts.page import Page, Table, write_page
from kubeproof.report.charts.plots import Cell, Curve, Labels, draw_bars, draw_cells, draw_curves, draw_front
from kubeproof.report.charts.scene import Chart, write_svg
from kubeproof.report.quantify.models import as_text, number, show_answer
from kubeproof.report.quantify.tradeoffs import strategy_rows
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.quantify.prism.parametric import Varied
    from kubeproof.quantify.result import ModelResult, QuantifyResult

ROLES = {Verdict.HOLDS: "good", Verdict.VIOLATED: "bad", Verdict.UNKNOWN: "fair"}
MOST_ROWS = 500


def as_svg(result: QuantifyResult, *, is_log: bool = False) -> str:
    """All charts as one picture."""
    return write_svg(tuple(_charts(result, is_log)), "One value of each property is nothing to draw: give ranges.")


def as_html(result: QuantifyResult, *, is_log: bool = False) -> str:
    """All answers as one page."""
    first, models = result.models[0], result.models
    states = sum(model.states for model in models)
    subject = first.title if len(models) == 1 else f"{len(models)} models"
    facts = [(f"{states:,}", "states"), (f"{sum(m.build_s + m.check_s for m in models):.2f} s", "computing")]
    notes = list(dict.fromkeys(note for model in models for note in model.notes))
    notes += list(dict.fromkeys(f"{one.name}: {one.answer.method}" for model in models for one in model.results))
    page = Page(
        headline=str(result.verdict) or "Numbers",
        subject=subject,
        how=f"{first.kind}, answered by Storm",
        verdict=str(result.verdict),
        facts=tuple(facts),
        tables=tuple(_tables(result)),
        charts=tuple(_charts(result, is_log)),
        notes=tuple(notes),
    )
    return write_page(page, as_text(result))


# -- tables -------------------------------------------------------------------------------------


def _tables(result: QuantifyResult) -> Iterator[Table]:
    if any(model.results for model in result.models):
        yield _values(result)
    for model in result.models:
        for one in model.varied:
            yield Table(one.name, ("", ""), tuple(_varied_rows(one)))
        for front in model.fronts:
            rows = [tuple(f"{value:.9g}" for value in point) for point in front.points[:MOST_ROWS]]
            yield Table(front.name, tuple(each.text for each in front.objectives), tuple(rows))
        for strategy in model.strategies:
            names = list(list_variables(strategy))
            rows = [tuple(row) for row in strategy_rows(strategy, names)[:MOST_ROWS]]
            yield Table(f"Best decisions for {strategy.property}", (*names, "best", "possible"), tuple(rows))


def _values(result: QuantifyResult) -> Table:
    """A row per property of one model; a row per model of several."""
    if len(result.models) == 1:
        rows = [(one.name, str(one.verdict), show_answer(one.answer)) for one in result.models[0].results]
        return Table("Answers", ("property", "verdict", "value"), tuple(rows))
    names = tuple(dict.fromkeys(one.name for model in result.models for one in model.results))
    lines = []
    for model in result.models[:MOST_ROWS]:
        found = {one.name: one for one in model.results}
        told = ((one.verdict or show_answer(one.answer)) if (one := found.get(name)) else "" for name in names)
        lines.append((model.title, f"{model.states:,}", *told))
    return Table("Answers", ("model", "states", *names), tuple(lines))


def _varied_rows(one: Varied) -> Iterator[tuple[str, str]]:
    if one.function:
        yield "value", one.function
    if one.least is not None and one.greatest is not None:
        yield "over the ranges", f"{one.least:.9g} to {one.greatest:.9g}"
    for each in one.sensitivities:
        yield f"slope in {each.name}, in the middle", f"{each.slope:.6g}"
    for verdict in (Verdict.HOLDS, Verdict.VIOLATED, Verdict.UNKNOWN) if one.regions else ():
        yield f"{verdict}", f"{100 * one.share(verdict):.4g} % of the ranges"


# -- charts -------------------------------------------------------------------------------------


def _charts(result: QuantifyResult, is_log: bool) -> Iterator[Chart]:
    if result.swept:
        yield from _sweeps(result, is_log)
    for model in result.models:
        yield from _fronts(model)
        for one in model.varied:
            yield from _draw_varied(one, is_log)


def _sweeps(result: QuantifyResult, is_log: bool) -> Iterator[Chart]:
    """A chart per property, over the constant that takes most values; a curve for each choice of the others."""
    values = {name: {dict(model.parameters)[name] for model in result.models} for name in result.swept}
    across = max(result.swept, key=lambda name: len(values[name]))
    others = [name for name in result.swept if name != across]
    names = dict.fromkeys(one.name for model in result.models for one in model.results)
    for name in names:
        grouped: dict[str, list[tuple[float, float, float, float]]] = {}
        for model in result.models:
            constants = dict(model.parameters)
            group = ", ".join(f"{other}={constants[other]}" for other in others) or name
            for one in model.results:
                answer, at = one.answer, float(constants[across])
                if one.name == name and answer.value is not None and math.isfinite(answer.value):
                    low, high = (answer.value if b is None else b for b in (answer.lower, answer.upper))
                    grouped.setdefault(group, []).append((at, float(answer.value), float(low), float(high)))
        curves = [_swept_curve(group, points) for group, points in grouped.items()]
        if curves:
            labels = Labels(name, across, "value")
            whole = all(value.lstrip("-").isdigit() for value in values[across])
            yield draw_curves(labels, curves, is_log=is_log, is_whole_across=whole, is_dotted=True)


def _swept_curve(name: str, points: list[tuple[float, float, float, float]]) -> Curve:
    placed = sorted(points)
    return Curve(
        name,
        tuple((at, value) for at, value, _, _ in placed),
        tuple((at, low) for at, _, low, _ in placed),
        tuple((at, high) for at, _, _, high in placed),
    )


def _fronts(model: ModelResult) -> Iterator[Chart]:
    for front in model.fronts:
        if len(front.objectives) == 2 and front.points:
            across, upwards = front.objectives
            points = [(x, y) for x, y in front.points]
            names = [f"{across.text} {number(x)}, {upwards.text} {number(y)}" for x, y in points]
            labels = Labels(f"{model.title}: {front.name}", across.text, upwards.text)
            yield draw_front(labels, points, names, [(x, y) for x, y in front.limit])


def _draw_varied(one: Varied, is_log: bool) -> Iterator[Chart]:
    for curve in one.curves:
        labels = Labels(one.name, curve.name, "value")
        known = tuple((x, y) for x, y in curve.points if math.isfinite(y))
        yield draw_curves(labels, [Curve(one.name, known)], is_log=is_log)
    known_ones = [(each.name, each.elasticity) for each in one.sensitivities if each.elasticity is not None]
    if known_ones:
        labels = Labels(f"{one.name}: what matters", "percent of the value per percent of the constant", "")
        yield draw_bars(labels, known_ones)
    if one.regions and len(one.parameters) <= 2:
        yield _draw_regions(one)


def _draw_regions(one: Varied) -> Chart:
    names = [*one.parameters, ""]
    cells = []
    for region in one.regions:
        sides = [*((float(low), float(high)) for low, high in region.box), (0.0, 1.0)]
        told = ", ".join(
            f"{name} {low:.4g} to {high:.4g}" for name, (low, high) in zip(one.parameters, sides, strict=False)
        )
        cells.append(Cell(sides[0], sides[1], ROLES[region.verdict], f"{region.verdict}: {told}"))
    labels = Labels(f"Where {one.name} is met (green), and where not (red)", names[0], names[1])
    return draw_cells(labels, cells, has_height=len(one.parameters) == 2)
