"""Simulated clusters in all formats."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kubeproof.report.amounts import amount
from kubeproof.report.escape import escape
from kubeproof.report.html.panels import name_of
from kubeproof.report.simulate.confidence import confidence_document, tell_confidence
from kubeproof.report.simulate.published import sparkline
from kubeproof.report.simulate.variants import align, comparison_table, duration, not_sampled
from kubeproof.simulate.outcome import (
    CPU_REQUESTED,
    CPU_USED,
    NODES,
    P95,
    PENDING,
    PODS,
    READY,
    SERVICE,
    Comparison,
    Costs,
    IntentOutcome,
    ServiceTotals,
    SimulationResult,
    Timeline,
    Variant,
)
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.simulate.outcome import Series

MOST_MOMENTS = 12  # shown in text
DRAWN = ((PODS, "pods", ".0f", ""), (READY, "ready", ".0f", ""), (PENDING, "pending", ".0f", ""))
CURVES = ((CPU_USED, "CPU used", ".2f", " cores"), (CPU_REQUESTED, "CPU requested", ".2f", " cores"))
Result = SimulationResult | Comparison


# -- text -------------------------------------------------------------------------------------------


def as_text(result: Result) -> str:
    """A summary for people."""
    lines = _compare(result) if isinstance(result, Comparison) else _tell(result)
    return "".join(f"{escape(line).rstrip()}\n" for line in lines)


def _tell(result: SimulationResult) -> Iterator[str]:
    runs = f"{result.runs} runs" if result.runs > 1 else "1 run"
    how = f"seed {result.seed}, autoscaler {result.autoscaler}"
    yield f"{result.scenario}: {runs} of {duration(result.duration_s)}, {how}"
    for subject in result.timeline.subjects(SERVICE):
        yield ""
        yield from _service(result, subject)
    yield ""
    yield from _costs(result.costs, result.timeline)
    if result.moments:
        yield ""
        yield from _moments(result)
    yield ""
    for intent in result.intents:
        yield from _intent(intent, result.runs)
    if result.confidence is not None:
        yield from ("", *tell_confidence(result, result.confidence), "")
    for note in (*result.notes, *(f"not modelled: {what}" for what in result.not_modelled)):
        yield f"Note: {note}"
    yield f"{result.verdict}: {_say_sampled(len(result.intents))} in {runs}"


def _say_sampled(intents: int) -> str:
    return (
        "no property declared, none sampled"
        if not intents
        else f"{intents} propert{'y' if intents == 1 else 'ies'} sampled"
    )


def _service(result: SimulationResult, subject: str) -> Iterator[str]:
    yield subject
    for quantity, name, shape, unit in (*DRAWN, *CURVES):
        series = result.timeline.of(subject, quantity)
        known = [value for value in series.values if value is not None]
        if known:
            band = _band(series, max(known), shape, unit)
            yield f"  {name:<14}{sparkline(known)}  most {max(known):{shape}}{unit}{band}"
    for totals in result.services:
        if totals.name == subject:
            yield from _requests(totals, result.timeline)


def _band(series: Series, most: float, shape: str, unit: str) -> str:
    """What nine of ten runs had when their mean was greatest."""
    at = series.values.index(most)
    if not series.low or series.low[at] is None:
        return ""
    return f" ({series.low[at]:{shape}} to {series.high[at]:{shape}}{unit} in 90 % of the runs)"


def _requests(totals: ServiceTotals, timeline: Timeline) -> Iterator[str]:
    slow = [value or 0.0 for value in timeline.of(totals.name, P95).values]
    if any(slow):
        yield f"  {'p95':<14}{sparkline(slow)}  most {max(slow):.3f} s"
    rate = totals.success_rate
    success = "" if rate is None else f"; {100 * rate:.2f} % of all answered in time"
    still = f", {totals.waiting:,} open at the end" if totals.waiting else ""
    told = f"{totals.ok:,} ok, {totals.late:,} late, {totals.failed:,} failed{still}"
    yield f"  requests: {totals.arrived:,}; {told}{success}"
    if totals.times is not None and totals.times.count:
        told = ", ".join(f"p{percent} {totals.times.percentile(percent) or 0.0:.3f} s" for percent in (50, 95, 99))
        told = f"mean {totals.times.mean_s:.3f} s, {told}"
        of_answered = f" (of the {totals.times.count:,} answered)" if totals.waiting or totals.failed else ""
        yield f"  response time: {told}{of_answered}"


def _costs(costs: Costs, timeline: Timeline) -> Iterator[str]:
    nodes = [value or 0 for value in timeline.of("cluster", NODES).values]
    hours = f"{amount(costs.pod_hours)} pod-hours, {amount(costs.node_hours)} node-hours"
    yield f"{hours}, {min(nodes):g} to {max(nodes):g} nodes up"
    if costs.energy_kwh is not None:
        yield f"{amount(costs.energy_kwh)} kWh"
    if costs.cost is not None:
        yield f"cost {amount(costs.cost)}"


def _moments(result: SimulationResult) -> Iterator[str]:
    for moment in result.moments[:MOST_MOMENTS]:
        yield f"{moment.time_s:>9.0f}s  {moment.actor}  {moment.text}"
    left = len(result.moments) - MOST_MOMENTS + result.moments_left_out
    if left > 0:
        yield f"  … {left} more"


def _intent(intent: IntentOutcome, runs: int) -> Iterator[str]:
    yield f"{intent.verdict} {intent.title}"
    if intent.verdict == Verdict.VIOLATED and intent.at_s is None:
        yield f"  {intent.detail}"
        yield f"  declared at {intent.source}"
    elif intent.verdict == Verdict.VIOLATED:
        share = f", in {intent.violated_runs} of {runs} runs; first with --seed {intent.seed}" if runs > 1 else ""
        yield f"  at {duration(intent.at_s or 0)}: {intent.detail}{share}"
        yield f"  declared at {intent.source}"
    elif intent.detail:
        yield f"  {intent.detail}"


def _compare(comparison: Comparison) -> Iterator[str]:
    first = comparison.variants[0].result
    runs = "1 run" if first.runs == 1 else f"{first.runs} runs"
    yield f"{first.scenario}: {len(comparison.variants)} variants, {runs} of {duration(first.duration_s)} each"
    yield ""
    yield from align(comparison_table(comparison))
    yield from _tell_of_variants(comparison)
    for variant in comparison.variants:
        yield from _draw_variant(variant)


def _tell_of_variants(comparison: Comparison) -> Iterator[str]:
    """Which intents each variant violates, and when; which have nothing to say."""
    told = not_sampled(comparison)
    if told:
        yield ""
    for variant, intent in told:
        when = f" at {duration(intent.at_s)}" if intent.at_s is not None else ""
        detail = f": {intent.detail}" if intent.detail else ""
        yield f"{name_of(variant.settings)}: {intent.verdict} {intent.title}{when}{detail}"


def _draw_variant(variant: Variant) -> Iterator[str]:
    """The pods of each service, as bars."""
    for totals in variant.result.services:
        pods = [value or 0.0 for value in variant.result.timeline.of(totals.name, PODS).values]
        yield ""
        yield f"{name_of(variant.settings)}: pods of {totals.name}"
        yield f"  {sparkline(pods)}  most {max(pods):g}"


# -- CSV and JSON -------------------------------------------------------------------------------------


def as_csv(result: Result) -> str:
    """One line per time, subject and quantity."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    keys = [key for key, _ in result.variants[0].settings] if isinstance(result, Comparison) else []
    writer.writerow([*keys, "time_s", "scope", "subject", "quantity", "value", "low", "high"])
    variants = result.variants if isinstance(result, Comparison) else (Variant((), result),)
    for variant in variants:
        given = [value for _, value in variant.settings]
        timeline = variant.result.timeline
        for series in timeline.series:
            for at, time_s in enumerate(timeline.times_s):
                band = [_show(series.low[at]), _show(series.high[at])] if series.low else ["", ""]
                what = [series.scope, series.subject, series.quantity, _show(series.values[at])]
                writer.writerow([*given, f"{time_s:g}", *what, *band])
    return out.getvalue()


def _show(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def as_json(result: Result) -> str:
    """The whole result."""
    if isinstance(result, Comparison):
        variants = [{"settings": dict(v.settings), "result": _document(v.result)} for v in result.variants]
        return json.dumps({"version": 1, "variants": variants}, indent=2) + "\n"
    return json.dumps(_document(result), indent=2) + "\n"


def _document(result: SimulationResult) -> dict[str, Any]:
    return {
        "version": 1,
        "scenario": result.scenario,
        "verdict": result.verdict,
        "duration_s": result.duration_s,
        "seed": result.seed,
        "runs": result.runs,
        "autoscaler": result.autoscaler,
        "services": [_totals(totals) for totals in result.services],
        "intents": [_outcome(intent) for intent in result.intents],
        "costs": {
            "pod_hours": result.costs.pod_hours,
            "node_hours": result.costs.node_hours,
            "energy_kwh": result.costs.energy_kwh,
            "cost": result.costs.cost,
        },
        "confidence": None if result.confidence is None else confidence_document(result, result.confidence),
        "times_s": list(result.timeline.times_s),
        "series": [_series(series) for series in result.timeline.series],
        "moments": [{"time_s": m.time_s, "actor": m.actor, "text": m.text} for m in result.moments],
        "moments_left_out": result.moments_left_out,
        "notes": list(result.notes),
        "not_modelled": list(result.not_modelled),
        "files": list(result.files),
    }


def _series(series: Series) -> dict[str, Any]:
    found: dict[str, Any] = {
        "scope": series.scope,
        "subject": series.subject,
        "quantity": series.quantity,
        "values": list(series.values),
    }
    return found | {"low": list(series.low), "high": list(series.high)} if series.low else found


def _totals(totals: ServiceTotals) -> dict[str, Any]:
    times = totals.times
    return {
        "name": totals.name,
        "arrived": totals.arrived,
        "ok": totals.ok,
        "late": totals.late,
        "failed": totals.failed,
        "waiting": totals.waiting,
        "success_rate": totals.success_rate,
        "response_s": None
        if times is None
        else {"mean": times.mean_s if times.count else None, **{f"p{p}": times.percentile(p) for p in (50, 95, 99)}},
        "response_histogram": None if times is None else [list(bar) for bar in times.bars()],
    }


def _outcome(intent: IntentOutcome) -> dict[str, Any]:
    return {
        "id": intent.id,
        "key": intent.key,
        "intent": intent.intent,
        "target": intent.target,
        "verdict": intent.verdict,
        "detail": intent.detail,
        "at_s": intent.at_s,
        "run": intent.run,
        "seed": intent.seed,
        "violated_runs": intent.violated_runs,
        "location": {"file": intent.source.file, "line": intent.source.line},
    }


# -- plots --------------------------------------------------------------------------------------------


def as_html(result: Result) -> str:
    """A page with plots to look into."""
    from kubeproof.report.simulate.page import page

    return page(result, as_text(result))


def as_svg(result: Result) -> str:
    """A picture of all plots."""
    from kubeproof.report.simulate.picture import svg

    return svg(result)


RENDERERS: dict[str, Callable[[Result], str]] = {
    "text": as_text, "csv": as_csv, "json": as_json, "html": as_html, "svg": as_svg,
}  # fmt: skip
