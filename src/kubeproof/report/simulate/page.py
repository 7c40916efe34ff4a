"""The page of a timed run: verdicts, tables, curves to look into, and what happened when, in one offline file."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from kubeproof import __version__
from kubeproof.report.amounts import amount
from kubeproof.report.html.offline import offline_page
from kubeproof.report.html.panels import Drawing, Line, Panel, drawing_of, name_of
from kubeproof.report.simulate.variants import Table, comparison_table, not_sampled, requests_table
from kubeproof.simulate.outcome import Comparison, IntentOutcome, ServiceTotals, SimulationResult
from kubeproof.simulate.published.result import Curves, Responses
from kubeproof.verdicts import Verdict

SCRIPTS = ("dom.js", "theme.js", "frame.js", "plot.js", "simulation.js")
STYLES = ("base.css", "plot.css")
MOST_MOMENTS = 2000
_BAND = "Lines are means over the runs; bands reach from the 5th to the 95th percentile."
Plain = dict[str, object]


def page(result: SimulationResult | Comparison | Curves, text: str) -> str:
    """The result as one HTML document; `text` is the same for readers without scripts."""
    values = _values(result)
    title = f"{values['headline']}: {values['scenario']}"
    return offline_page(title, values, scripts=SCRIPTS, styles=STYLES, text=text)


def _values(result: SimulationResult | Comparison | Curves) -> Plain:
    drawn = _draw(drawing_of(result))
    if isinstance(result, Curves):
        return _base() | drawn | _curves(result)
    if isinstance(result, Comparison):
        return _base() | drawn | _comparison(result)
    return _base() | drawn | _simulation(result)


def empty_page() -> Plain:
    """The values of a page without curves."""
    return _base() | {"times": [], "groups": [], "marks": []}


def _base() -> Plain:
    return {
        "program": __version__, "intents": [], "comparison": None, "requests": _table(Table((), ())),
        "moments": [], "momentsLeftOut": 0, "notes": [], "band": "",
    }  # fmt: skip


# -- one variant --------------------------------------------------------------------------------------


def _simulation(result: SimulationResult) -> Plain:
    runs = "1 run" if result.runs == 1 else f"{result.runs:,} runs"
    return {
        "verdict": result.verdict,
        "headline": result.verdict,
        "scenario": result.scenario,
        "how": f"{runs} of {result.duration_s:,} s, seed {result.seed}, autoscaler {result.autoscaler}",
        "facts": list(_facts(result)),
        "intents": [_intent(one, result.runs) for one in result.intents],
        "requests": _table(requests_table(result.services)),
        "moments": [{"time": m.time_s, "actor": m.actor, "text": m.text} for m in result.moments[:MOST_MOMENTS]],
        "momentsLeftOut": max(len(result.moments) - MOST_MOMENTS, 0) + result.moments_left_out,
        "notes": [*result.notes, *(f"not modelled: {what}" for what in result.not_modelled)],
        "band": _BAND if result.runs > 1 else "",
    }


def _facts(result: SimulationResult) -> Iterator[tuple[str, str]]:
    arrived = sum(one.arrived for one in result.services)
    if arrived:
        in_time = sum(one.ok for one in result.services)
        yield f"{arrived:,}", "requests"
        yield f"{100 * in_time / arrived:.2f} %", "of them answered in time"
    yield amount(result.costs.pod_hours), "pod-hours"
    yield amount(result.costs.node_hours), "node-hours"
    if result.costs.energy_kwh is not None:
        yield amount(result.costs.energy_kwh), "kWh"
    if result.costs.cost is not None:
        yield amount(result.costs.cost), "cost"


def _intent(intent: IntentOutcome, runs: int) -> Plain:
    when = ""
    if intent.verdict == Verdict.VIOLATED and intent.at_s is not None:
        when = f"first at {intent.at_s:g} s"
        if runs > 1:
            when += f", in {intent.violated_runs} of {runs} runs; again with --seed {intent.seed}"
    place = f"{intent.source.file}:{intent.source.line}" if intent.source.file and intent.source.line else ""
    told = {"id": intent.id, "intent": intent.heading, "target": intent.target, "verdict": intent.verdict}
    return {**told, "detail": intent.detail, "when": when, "place": place}


# -- variants and experiments ---------------------------------------------------------------------------


def _comparison(comparison: Comparison) -> Plain:
    results = [variant.result for variant in comparison.variants]
    verdicts = {result.verdict for result in results}
    first = results[0]
    runs = "1 run" if first.runs == 1 else f"{first.runs:,} runs"
    return {
        "verdict": Verdict.VIOLATED if Verdict.VIOLATED in verdicts else first.verdict,
        "headline": f"{len(results)} variants",
        "scenario": first.scenario,
        "how": f"{runs} of {first.duration_s:,} s each, seed {first.seed}, autoscaler {first.autoscaler}",
        "facts": [],
        "comparison": _table(comparison_table(comparison)),
        "intents": [
            _intent(one, variant.result.runs) | {"target": f"{one.target} · {name_of(variant.settings)}"}
            for variant, one in not_sampled(comparison)
        ],
        "notes": list(dict.fromkeys(note for result in results for note in result.notes)),
        "band": _BAND if first.runs > 1 else "",
    }


def _curves(curves: Curves) -> Plain:
    return {
        "verdict": "RUN",
        "headline": "A published experiment",
        "scenario": curves.name,
        "how": f"{len(curves.readings) // len(curves.services):,} intervals of {curves.interval_s:g} s",
        "facts": [(f"{sum(one.finished for one in curves.responses):,}", "requests")],
        "requests": _table(requests_table([_totals(one, curves.interval_s) for one in curves.responses])),
    }


def _totals(responses: Responses, interval_s: float) -> ServiceTotals:
    """The requests of an experiment, which have no deadline."""
    times = _Scaled(responses, interval_s) if responses.finished else None
    arrived = responses.finished + responses.unfinished
    return ServiceTotals(responses.service, arrived, responses.finished, 0, 0, responses.unfinished, times)


class _Scaled:
    """Response times of an experiment in seconds."""

    def __init__(self, responses: Responses, interval_s: float) -> None:
        self._responses, self._interval_s = responses, interval_s
        self.count = responses.finished
        self.total_s = sum(intervals * count for intervals, count in responses.counts) * interval_s

    @property
    def mean_s(self) -> float:
        return self.total_s / self.count

    def bars(self) -> tuple[tuple[float, int], ...]:
        return tuple((intervals * self._interval_s, count) for intervals, count in self._responses.counts)

    def percentile(self, percent: float) -> float | None:
        intervals = self._responses.percentile(round(percent))
        return None if intervals is None else intervals * self._interval_s

    def merge(self, other: object) -> _Scaled:
        raise NotImplementedError("experiments are not added up")


# -- plain values -----------------------------------------------------------------------------------------


def _table(table: Table) -> Plain:
    return {"head": list(table.head), "rows": [list(row) for row in table.rows]}


def _draw(drawing: Drawing) -> Plain:
    groups = [{"name": group.name, "panels": [_panel(panel) for panel in group.panels]} for group in drawing.groups]
    marks = [{"time": one.time_s, "text": one.text, "bad": one.is_bad} for one in drawing.marks]
    return {"times": [_short(time) for time in drawing.times_s], "groups": groups, "marks": marks}


def _panel(panel: Panel) -> Plain:
    lines = [_line(line) for line in panel.lines]
    return {
        "title": panel.title, "unit": panel.unit, "note": panel.note, "steps": panel.has_steps, "whole": panel.is_whole,
        "lines": lines,
    }  # fmt: skip


def _line(line: Line) -> Plain:
    found: Plain = {"name": line.name, "values": [_short(value) for value in line.values]}
    if line.low:
        found |= {"low": [_short(value) for value in line.low], "high": [_short(value) for value in line.high]}
    return found


def _short(value: float | None) -> float | None:
    """Six digits are more than a picture shows; what is no number is a gap."""
    return None if value is None or not isfinite(value) else float(f"{value:.6g}")
