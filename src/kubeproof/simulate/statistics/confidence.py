"""What many runs of one input are sure of: shares of runs, response times, shares in time, costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kubeproof.simulate.control.measuring.readings import merge
from kubeproof.simulate.serving.times import PARTS, Histogram, bucket_of
from kubeproof.simulate.statistics.intervals import (
    Interval,
    mean_interval,
    quantile_interval,
    ratio_interval,
    share_interval,
)
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from kubeproof.simulate.control.clocked import RunRecord
    from kubeproof.simulate.outcome import ServiceTotals

PERCENTS = (50, 95, 99)
COARSE = 1 / (2 * PARTS)  # relative: half a bucket of response times
LEAST_RUNS = 20  # before it is asked whether there are enough
GROWTH = 4  # a quarter more runs from one look to the next


@dataclass(frozen=True, slots=True)
class ServiceConfidence:
    """Of one service; None where no request says anything."""

    name: str
    in_time: Interval | None  # share of all requests
    mean_s: Interval | None  # response time of those answered
    percentiles_s: tuple[tuple[int, Interval | None], ...]


@dataclass(frozen=True, slots=True)
class Confidence:
    """Intervals over all runs."""

    level: float
    violated: tuple[Interval, ...]  # per intent, the share of runs that violate it
    services: tuple[ServiceConfidence, ...]
    amounts: tuple[tuple[str, Interval], ...]  # "pod-hours", "node-hours", "kWh", "cost"

    def worst(self) -> float:
        """How wide the widest interval is: shares by half their width, times and amounts relative to their values."""
        shares = [*self.violated, *(one.in_time for one in self.services if one.in_time is not None)]
        sizes = [one.mean_s for one in self.services] + [p for one in self.services for _, p in one.percentiles_s]
        known = [each for each in (*sizes, *(each for _, each in self.amounts)) if each is not None and each.value > 0]
        return max((*(share.half_width for share in shares), *(k.half_width / k.value for k in known)), default=0.0)


def confidence_of(records: Sequence[RunRecord], level: float) -> Confidence | None:
    """What the runs are sure of; None for a single one."""
    if len(records) < 2:
        return None
    verdicts = zip(*(record.verdicts for record in records), strict=True)
    return Confidence(
        level,
        tuple(
            share_interval(sum(verdict == Verdict.VIOLATED for verdict, *_ in each), len(records), level)
            for each in verdicts
        ),
        tuple(_service(each, level) for each in zip(*(record.services for record in records), strict=True)),
        tuple(_amounts(records, level)),
    )


def percentile_of_runs(percent: float, runs: Sequence[ServiceTotals], level: float) -> Interval | None:
    """A percentile of the response times over all runs; of a single one without width, None without answers."""
    known = _times(runs)
    counts = [0.0 if each is None else float(each.count) for each in known]
    if len(runs) == 1 and known[0] is not None:
        value = known[0].percentile(percent) or 0.0
        return Interval(value, value, value)
    return _percentile(percent, known, counts, level)


def _times(runs: Sequence[ServiceTotals]) -> list[Histogram | None]:
    times = [run.times if isinstance(run.times, Histogram) else None for run in runs]
    return [each if each is not None and each.count else None for each in times]


def _service(runs: Sequence[ServiceTotals], level: float) -> ServiceConfidence:
    known = _times(runs)
    counts = [0.0 if each is None else float(each.count) for each in known]
    sums = [0.0 if each is None else each.total_s for each in known]
    arrived = [float(run.arrived) for run in runs]
    return ServiceConfidence(
        runs[0].name,
        _clip(ratio_interval([float(run.ok) for run in runs], arrived, level)),
        ratio_interval(sums, counts, level),
        tuple((percent, _percentile(percent, known, counts, level)) for percent in PERCENTS),
    )


def _percentile(
    percent: float, runs: Sequence[Histogram | None], counts: Sequence[float], level: float
) -> Interval | None:
    whole: Histogram | None = None
    for each in runs:
        if each is not None:
            merged = merge(whole, each)
            whole = merged if isinstance(merged, Histogram) else whole
    if whole is None:
        return None
    pooled = whole

    def below(value: float) -> list[float]:
        last = bucket_of(value)
        return [0.0 if run is None else float(sum(n for bucket, n in run.counts if bucket <= last)) for run in runs]

    found = quantile_interval(percent / 100, below, counts, lambda share: pooled.percentile(100 * share) or 0.0, level)
    return found and Interval(found.value, found.lower * (1 - COARSE), found.upper * (1 + COARSE))


def _clip(found: Interval | None) -> Interval | None:
    return None if found is None else Interval(found.value, max(0.0, found.lower), min(1.0, found.upper))


def _amounts(records: Sequence[RunRecord], level: float) -> Iterator[tuple[str, Interval]]:
    units = (("pod-hours", "pod_hours"), ("node-hours", "node_hours"), ("kWh", "energy_kwh"), ("cost", "cost"))
    for unit, field in units:
        values = [getattr(record.costs, field) for record in records]
        found = None if None in values else mean_interval(values, level)
        if found is not None:
            yield unit, found


def next_runs(done: int, most: int) -> int:
    """How many runs there are at the next look: seldom enough that looking again and again decides little."""
    return min(most, max(LEAST_RUNS, done + max(1, done // GROWTH)))
