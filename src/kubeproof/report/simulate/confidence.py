"""How sure the numbers of many runs are, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kubeproof.report.amounts import amount

if TYPE_CHECKING:
    from kubeproof.simulate.outcome import SimulationResult
    from kubeproof.simulate.statistics.confidence import Confidence, ServiceConfidence
    from kubeproof.simulate.statistics.intervals import Interval


def tell_confidence(result: SimulationResult, found: Confidence) -> Iterator[str]:
    """The intervals, a line each."""
    yield f"With {100 * found.level:g} % confidence, from {result.runs:,} runs"
    for intent, share in zip(result.intents, found.violated, strict=False):  # service levels follow
        yield f"  {_percent(share)} of runs violate {intent.title}"
    for service in found.services:
        yield from (f"  {service.name}: {line}" for line in _service(service))
    for unit, mean in found.amounts:
        yield f"  {amount(mean.value)} {unit} ({amount(mean.lower)} to {amount(mean.upper)})"


def _service(service: ServiceConfidence) -> Iterator[str]:
    if service.in_time is not None:
        yield f"{_percent(service.in_time)} of requests answered in time"
    if service.mean_s is not None:
        yield f"mean response time {_seconds(service.mean_s)}"
    for percent, interval in service.percentiles_s:
        if interval is not None:
            yield f"p{percent} {_seconds(interval)}"


def _percent(share: Interval) -> str:
    return f"{100 * share.value:.4g} % ({100 * share.lower:.4g} to {100 * share.upper:.4g})"


def _seconds(interval: Interval) -> str:
    return f"{interval.value:.4g} s ({interval.lower:.4g} to {interval.upper:.4g})"


def confidence_document(result: SimulationResult, found: Confidence) -> dict[str, Any]:
    """The intervals as plain values."""
    return {
        "level": found.level,
        "intents": [
            {"intent": intent.intent, **_interval(share)}
            for intent, share in zip(result.intents, found.violated, strict=False)
        ],
        "services": [
            {
                "name": one.name,
                "in_time": None if one.in_time is None else _interval(one.in_time),
                "mean_s": None if one.mean_s is None else _interval(one.mean_s),
                **{f"p{p}_s": None if each is None else _interval(each) for p, each in one.percentiles_s},
            }
            for one in found.services
        ],
        "amounts": {unit: _interval(mean) for unit, mean in found.amounts},
    }


def _interval(interval: Interval) -> dict[str, float]:
    return {"value": interval.value, "lower": interval.lower, "upper": interval.upper}
