"""Variants side by side, and what became of requests, as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.simulate.outcome import PODS, Comparison, ServiceTotals, SimulationResult, Variant
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A head and rows of cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def comparison_table(comparison: Comparison) -> Table:
    """One row per variant: its settings, its verdict, what it cost, and how each service fared."""
    keys = tuple(key for key, _ in comparison.variants[0].settings)
    columns = [_row(variant) for variant in comparison.variants]
    names = tuple(dict.fromkeys(name for row in columns for name in row))
    rows = tuple(
        (*(value for _, value in variant.settings), *(row.get(name, "") for name in names))
        for variant, row in zip(comparison.variants, columns, strict=True)
    )
    return Table((*keys, *names), rows)


def _row(variant: Variant) -> dict[str, str]:
    result = variant.result
    violated = sum(intent.verdict == "VIOLATED" for intent in result.intents)
    row = {"verdict": result.verdict, "violated": f"{violated} of {len(result.intents)}"}
    row |= {"pod-hours": f"{result.costs.pod_hours:.2f}", "node-hours": f"{result.costs.node_hours:.2f}"}
    if result.costs.energy_kwh is not None:
        row["kWh"] = f"{result.costs.energy_kwh:.3f}"
    if result.costs.cost is not None:
        row["cost"] = f"{result.costs.cost:.2f}"
    for totals in result.services:
        row |= {f"{totals.name} {name}": value for name, value in _fared(result, totals).items()}
    return row


def _fared(result: SimulationResult, totals: ServiceTotals) -> dict[str, str]:
    pods = [value for value in _values(result, totals.name, PODS) if value is not None]
    found = {"most pods": f"{max(pods):g}"} if pods else {}
    if totals.success_rate is not None:
        found["in time %"] = f"{100 * totals.success_rate:.2f}"
    if totals.times is not None and totals.times.count:
        found |= {f"p{percent} s": f"{totals.times.percentile(percent) or 0.0:.3f}" for percent in (50, 95, 99)}
    return found


def _values(result: SimulationResult, subject: str, quantity: str) -> Sequence[float | None]:
    try:
        return result.timeline.of(subject, quantity).values
    except KeyError:
        return ()


def requests_table(services: Sequence[ServiceTotals]) -> Table:
    """One row per service that got requests."""
    head = (
        "service",
        "requests",
        "in time",
        "late",
        "failed",
        "open at the end",
        "in time %",
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


def aligned(table: Table) -> list[str]:
    """The table in lines of text, columns under each other; the first one to the left."""
    columns = list(zip(table.head, *table.rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    return [
        "  ".join(f"{cell:<{width}}" if not place else f"{cell:>{width}}" for place, (cell, width) in enumerate(row))
        for row in (list(zip(line, widths, strict=True)) for line in (table.head, *table.rows))
    ]
