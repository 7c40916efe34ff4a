"""Variants side by side, and what became of requests, as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.report.amounts import amounts
from kubeproof.simulate.outcome import (
    PODS,
    Comparison,
    IntentOutcome,
    ServiceTotals,
    SimulationResult,
    Variant,
)
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Table:
    """A head and rows of cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def comparison_table(comparison: Comparison) -> Table:
    """One row per variant: its settings, its verdict, what it cost, and how each service fared."""
    keys = tuple(key for key, _ in comparison.variants[0].settings)
    costs = _costs(comparison)
    has_vacuous = any(
        intent.verdict == Verdict.VACUOUS for variant in comparison.variants for intent in variant.result.intents
    )
    columns = [
        _row(variant, own, has_vacuous=has_vacuous) for variant, own in zip(comparison.variants, costs, strict=True)
    ]
    names = tuple(dict.fromkeys(name for row in columns for name in row))
    rows = tuple(
        (*(value for _, value in variant.settings), *(row.get(name, "") for name in names))
        for variant, row in zip(comparison.variants, columns, strict=True)
    )
    return Table((*keys, *names), rows)


def _costs(comparison: Comparison) -> list[dict[str, str]]:
    """What each variant cost, with as many digits as tell them apart."""
    every = [variant.result.costs for variant in comparison.variants]
    columns = {
        "pod-hours": amounts([costs.pod_hours for costs in every]),
        "node-hours": amounts([costs.node_hours for costs in every]),
        "kWh": amounts([costs.energy_kwh for costs in every]),
        "cost": amounts([costs.cost for costs in every]),
    }
    return [{name: column[at] for name, column in columns.items() if column[at]} for at in range(len(every))]


def _row(variant: Variant, costs: dict[str, str], *, has_vacuous: bool) -> dict[str, str]:
    result = variant.result
    violated = sum(intent.verdict == Verdict.VIOLATED for intent in result.intents)
    row = {"verdict": result.verdict, "violated": f"{violated} of {len(result.intents)}"}
    if has_vacuous:
        row["vacuous"] = (
            f"{sum(intent.verdict == Verdict.VACUOUS for intent in result.intents)} of {len(result.intents)}"
        )
    row |= costs
    for totals in result.services:
        row |= {f"{totals.name} {name}": value for name, value in _describe_fate(result, totals).items()}
    return row


def _describe_fate(result: SimulationResult, totals: ServiceTotals) -> dict[str, str]:
    pods = [value for value in _values(result, totals.name, PODS) if value is not None]
    found = {"most pods": f"{max(pods):g}"} if pods else {}
    if totals.success_rate is not None:
        found["% of all in time"] = f"{100 * totals.success_rate:.2f}"
    if totals.times is not None and totals.times.count:
        found |= {f"p{percent} s": f"{totals.times.percentile(percent) or 0.0:.3f}" for percent in (50, 95, 99)}
    return found


def _values(result: SimulationResult, subject: str, quantity: str) -> Sequence[float | None]:
    try:
        return result.timeline.of(subject, quantity).values
    except KeyError:
        return ()


def not_sampled(comparison: Comparison) -> list[tuple[Variant, IntentOutcome]]:
    """The intents that a variant violates or has nothing to say about."""
    return [
        (variant, intent)
        for variant in comparison.variants
        for intent in variant.result.intents
        if intent.verdict != Verdict.SAMPLED_OK
    ]


def duration(seconds: float) -> str:
    """1h30m, 40s."""
    whole = int(seconds)
    parts = ((whole // 3600, "h"), (whole % 3600 // 60, "m"), (whole % 60, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number) or "0s"


def requests_table(services: Sequence[ServiceTotals]) -> Table:
    """One row per service that got requests."""
    head = (
        "service",
        "requests",
        "in time",
        "late",
        "failed",
        "open at the end",
        "% of all in time",
        "p50 s",
        "p95 s",
        "p99 s",
    )
    return Table(head, tuple(_totals(totals) for totals in services if totals.arrived))


def _totals(totals: ServiceTotals) -> tuple[str, ...]:
    rate, times = totals.success_rate, totals.times
    numbers = (totals.arrived, totals.ok, totals.late, totals.failed, totals.waiting)
    told = [f"{times.percentile(percent) or 0.0:.3f}" if times is not None else "" for percent in (50, 95, 99)]
    return (totals.name, *(f"{one:,}" for one in numbers), "" if rate is None else f"{100 * rate:.2f}", *told)


def align(table: Table) -> list[str]:
    """The table in lines of text, columns under each other; the first one to the left."""
    columns = list(zip(table.head, *table.rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(f"{cell:<{width}}" if not place else f"{cell:>{width}}" for place, (cell, width) in enumerate(row))
        for row in (list(zip(line, widths, strict=True)) for line in (table.head, *table.rows))
    ]
