"""Judges service levels along runs: green only if the interval lies on the good side of the limit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from kubeproof.intents.library.service_levels import (
    ANSWERED_IN_TIME,
    COST_PER_HOUR,
    ERROR_SHARE,
    READY_SHARE,
    RECOVERY_TIME,
    RESPONSE_TIME,
    THROUGHPUT,
    ServiceLevel,
    Side,
    Unit,
)
from kubeproof.simulate.outcome import READY, IntentOutcome
from kubeproof.simulate.statistics.confidence import percentile_of_runs
from kubeproof.simulate.statistics.intervals import Interval, mean_interval, ratio_interval, share_interval
from kubeproof.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubeproof.events.workload import WorkloadSpec
    from kubeproof.simulate.control.clocked import RunRecord
    from kubeproof.simulate.outcome import ServiceTotals

    Totals = Sequence[ServiceTotals | None]
    Measure = Callable[[ServiceLevel, Totals, Sequence[RunRecord], int, float], Interval | None]

HOUR_S = 3600


def judge_levels(
    levels: Sequence[ServiceLevel],
    workload: WorkloadSpec | None,
    records: Sequence[RunRecord],
    duration_s: int,
    confidence: float,
) -> tuple[IntentOutcome, ...]:
    """How the service levels fared, in their order."""
    names = {} if workload is None else {service.target: service.name for service in workload.services}
    found = []
    for level in levels:
        totals = [_of(record.services, names.get(level.target, "")) for record in records]
        interval = _MEASURES[level.kind.key](level, totals, records, duration_s, confidence)
        found.append(_outcome(level, interval, len(records), confidence))
    return tuple(found)


def _of(services: Sequence[ServiceTotals], name: str) -> ServiceTotals | None:
    return next((totals for totals in services if totals.name == name), None)


def _outcome(level: ServiceLevel, interval: Interval | None, runs: int, confidence: float) -> IntentOutcome:
    verdict, detail = (
        Verdict.VACUOUS,
        "nothing was measured: no request came, it never came to that, or the Scenario gives no prices",
    )
    if interval is not None:
        verdict = _judge(level, interval)
        ends = f"{_show(level, interval.lower)} to {_show(level, interval.upper)}"
        sure = "in one run" if runs < 2 else f"({ends} with {100 * confidence:g} % confidence)"
        word = "at most" if level.kind.side is Side.AT_MOST else "at least"
        detail = f"{_show(level, interval.value)} {sure}, {word} {_show(level, level.limit)} wanted"
    return IntentOutcome(
        id=level.kind.id,
        intent=level.name,
        target=level.target,
        verdict=verdict,
        detail=detail,
        source=level.source,
        key=level.kind.key,
        measured=interval,
        limit=level.limit,
    )


def _judge(level: ServiceLevel, interval: Interval) -> Verdict:
    """SAMPLED-OK or VIOLATED where the whole interval says so, else UNKNOWN."""
    is_upper = level.kind.side is Side.AT_MOST
    good, bad = (interval.upper, interval.lower) if is_upper else (interval.lower, interval.upper)
    if good <= level.limit if is_upper else good >= level.limit:
        return Verdict.SAMPLED_OK
    return Verdict.VIOLATED if (bad > level.limit if is_upper else bad < level.limit) else Verdict.UNKNOWN


def _show(level: ServiceLevel, value: float) -> str:
    if level.kind.unit is Unit.SECONDS:
        return f"{value:.4g} s"
    return f"{100 * value:.6g} %" if level.kind.unit is Unit.SHARE else f"{value:.6g}"


# -- what is measured -----------------------------------------------------------------------------


def _response_time(
    level: ServiceLevel, totals: Totals, records: Sequence[RunRecord], duration_s: int, confidence: float
) -> Interval | None:
    return percentile_of_runs(level.percentile, [each for each in totals if each is not None], confidence)


def _in_time(
    level: ServiceLevel, totals: Totals, records: Sequence[RunRecord], duration_s: int, confidence: float
) -> Interval | None:
    return _share([0 if one is None else one.ok for one in totals], totals, confidence)


def _errors(
    level: ServiceLevel, totals: Totals, records: Sequence[RunRecord], duration_s: int, confidence: float
) -> Interval | None:
    return _share([0 if one is None else one.failed for one in totals], totals, confidence)


def _throughput(
    level: ServiceLevel, totals: Totals, records: Sequence[RunRecord], duration_s: int, confidence: float
) -> Interval | None:
    return _mean([0.0 if one is None else one.ok / duration_s for one in totals], confidence)


def _cost(
    level: ServiceLevel, totals: Totals, records: Sequence[RunRecord], duration_s: int, confidence: float
) -> Interval | None:
    costs = [record.costs.cost for record in records]
    known = [cost * HOUR_S / duration_s for cost in costs if cost is not None]
    return _mean(known, confidence) if len(known) == len(costs) else None


def _ready(
    level: ServiceLevel, totals: Totals, records: Sequence[RunRecord], duration_s: int, confidence: float
) -> Interval | None:
    """The share of readings with enough ready pods; the series is that of the service, where it gets requests."""
    readings = [_list_ready(level, own, record) for own, record in zip(totals, records, strict=True)]
    shares = [sum(value >= level.count for value in known) / max(1, len(known)) for known in readings]
    if len(shares) > 1 and min(shares) == 1.0:  # no run says how long a dip takes: it may take the whole of one
        return share_interval(len(shares), len(shares), confidence)
    found = _mean(shares, confidence)
    return found and Interval(found.value, max(0.0, found.lower), min(1.0, found.upper))


def _list_ready(level: ServiceLevel, own: ServiceTotals | None, record: RunRecord) -> list[float]:
    """All readings of the number of ready pods; the series is that of the service, where it gets requests."""
    values = record.timeline.of(level.target if own is None else own.name, READY).values
    return [value for value in values if value is not None]


def _recovery(
    level: ServiceLevel, totals: Totals, records: Sequence[RunRecord], duration_s: int, confidence: float
) -> Interval | None:
    """The time with too few ready pods by the number of times that it came to that; None where it never did."""
    seconds, times = [], []
    for own, record in zip(totals, records, strict=True):
        enough = [value >= level.count for value in _list_ready(level, own, record)]
        seconds.append(enough.count(False) * duration_s / max(1, len(enough)))
        times.append(float(sum(before and not now for before, now in pairwise([True, *enough]))))
    if not sum(times):
        return None
    found = ratio_interval(seconds, times, confidence)
    mean = sum(seconds) / sum(times)
    return Interval(mean, mean, mean) if found is None else Interval(mean, max(0.0, found.lower), found.upper)


def _share(parts: Sequence[int], totals: Totals, confidence: float) -> Interval | None:
    wholes = [0.0 if one is None else float(one.arrived) for one in totals]
    total = round(sum(wholes))
    if not total:
        return None
    found = ratio_interval([float(part) for part in parts], wholes, confidence)
    if found is None:
        share = sum(parts) / total
        return Interval(share, share, share)
    if found.half_width == 0:  # all runs agree: what is rarer than all their requests together may still be
        return share_interval(sum(parts), total, confidence)
    return Interval(found.value, max(0.0, found.lower), min(1.0, found.upper))


def _mean(values: Sequence[float], confidence: float) -> Interval | None:
    if len(values) == 1:
        return Interval(values[0], values[0], values[0])
    return mean_interval(values, confidence)


_MEASURES: dict[str, Measure] = {
    RESPONSE_TIME.key: _response_time,
    ANSWERED_IN_TIME.key: _in_time,
    ERROR_SHARE.key: _errors,
    THROUGHPUT.key: _throughput,
    COST_PER_HOUR.key: _cost,
    READY_SHARE.key: _ready,
    RECOVERY_TIME.key: _recovery,
}
