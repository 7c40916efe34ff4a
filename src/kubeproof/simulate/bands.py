"""Several runs as one: means, with the band between the 5th and the 95th percentile at every time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from kubeproof.simulate.control.measuring.readings import merge
from kubeproof.simulate.outcome import Costs, Series, ServiceTotals, Timeline

LOW, HIGH = 0.05, 0.95


def together(timelines: Sequence[Timeline]) -> Timeline:
    """The timelines of runs of one plan as one; one alone stays as it is."""
    if len(timelines) == 1:
        return timelines[0]
    first = timelines[0]
    return Timeline(
        first.times_s,
        tuple(
            _band(one, [timeline.series[at].values for timeline in timelines]) for at, one in enumerate(first.series)
        ),
    )


def _band(series: Series, runs: list[tuple[float | None, ...]]) -> Series:
    means, low, high = [], [], []
    for column in zip(*runs, strict=True):
        known = sorted(value for value in column if value is not None)
        means.append(sum(known) / len(known) if known else None)
        low.append(_quantile(known, LOW))
        high.append(_quantile(known, HIGH))
    return Series(series.scope, series.subject, series.quantity, tuple(means), tuple(low), tuple(high))


def _quantile(known: list[float], share: float) -> float | None:
    """Between the two values next to it, on a straight line."""
    if not known:
        return None
    place = share * (len(known) - 1)
    below = int(place)
    above = min(below + 1, len(known) - 1)
    return known[below] + (place - below) * (known[above] - known[below])


def totals(runs: Sequence[tuple[ServiceTotals, ...]]) -> tuple[ServiceTotals, ...]:
    """What became of the requests of all runs."""
    return tuple(reduce(_add, each) for each in zip(*runs, strict=True))


def _add(one: ServiceTotals, other: ServiceTotals) -> ServiceTotals:
    return ServiceTotals(
        one.name,
        one.arrived + other.arrived,
        one.ok + other.ok,
        one.late + other.late,
        one.failed + other.failed,
        one.waiting + other.waiting,
        merge(one.times, other.times),
    )


def mean_costs(runs: Sequence[Costs]) -> Costs:
    """The means of what runs took."""
    return Costs(
        _mean([run.pod_hours for run in runs]) or 0.0,
        _mean([run.node_hours for run in runs]) or 0.0,
        _mean([run.energy_kwh for run in runs]),
        _mean([run.cost for run in runs]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
