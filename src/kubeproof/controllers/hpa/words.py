"""The numbers behind a proposal as a reader sees them."""

from __future__ import annotations

from kubeproof.cluster.steering.policies import Metric
from kubeproof.controllers.hpa.calculator import (
    CEILING,
    OPPOSITE,
    OVERFLOWN,
    WITHIN_TOLERANCE,
    Assumed,
    Computed,
    Failure,
)
from kubeproof.controllers.hpa.samples import CPU, MEMORY


def metric_words(metric: Metric, computed: Computed | Failure) -> str:
    """One line: "cpu 80 % of request, target 50 %: ceil(1.6 x 4) = 7"."""
    name = f"{metric.name} of container {metric.container}" if metric.container else metric.name
    if isinstance(computed, Failure):
        return f"{name}: no proposal ({computed.reason})"
    measured = f"{name} {_amount(metric, computed.measured)}, target {_limit(metric)}"
    if computed.assumed is None:
        return f"{measured}: {_result(computed, computed.ratio)}"
    about = _describe_assumed(metric, computed.assumed, computed)
    return f"{measured}; {about}: {_result(computed, computed.assumed.ratio)}"


def _result(computed: Computed, ratio: float) -> str:
    if computed.replicas == OVERFLOWN:
        return f"ceil({ratio:.4g} x {computed.pods}) is beyond 32 bits, which upstream takes for less than nothing"
    if computed.rule == CEILING:
        return f"ceil({ratio:.4g} x {computed.pods}) = {computed.replicas}"
    if computed.rule == WITHIN_TOLERANCE:
        return f"ratio {ratio:.4g} is within tolerance, stays at {computed.replicas}"
    if computed.rule == OPPOSITE:
        return f"ceil({ratio:.4g} x {computed.pods}) would turn the direction, stays at {computed.replicas}"
    return f"ratio {ratio:.4g} would turn the direction, stays at {computed.replicas}"


def _describe_assumed(metric: Metric, assumed: Assumed, computed: Computed) -> str:
    """What was taken for which pods: "with 1 unready pod as idle 64 % of request"."""
    parts = []
    if assumed.missing:
        how = "at target" if metric.target_type != "Utilization" else "at full request"
        parts.append(f"{_pods(assumed.missing, 'without metric')} {how if computed.ratio < 1.0 else 'as idle'}")
    if assumed.unready:
        parts.append(f"{_pods(assumed.unready, 'unready')} as idle")
    return f"with {' and '.join(parts)} {_amount(metric, assumed.measured)}"


def _pods(count: int, which: str) -> str:
    return f"{count} pod{'' if count == 1 else 's'} {which}"


def _amount(metric: Metric, value: int) -> str:
    return (
        f"{value} % of request" if metric.target_type == "Utilization" else f"average {_quantity(metric.name, value)}"
    )


def _limit(metric: Metric) -> str:
    return f"{metric.value} %" if metric.target_type == "Utilization" else _quantity(metric.name, metric.value)


def _quantity(name: str, milli: int) -> str:
    if name == CPU:
        return f"{milli}m"
    if name == MEMORY:
        return f"{milli / 1000 / 2**20:.6g}Mi"
    return f"{milli / 1000:.6g}"
