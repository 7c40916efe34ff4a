"""One sync of one autoscaler, in its two parts: what the metrics ask for, and what its history makes of that.

Mirrors `reconcileAutoscaler` of `horizontal.go`: seed the memory, the bounds, the metrics, normalisation.
"""

from __future__ import annotations

from functools import partial

from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.controllers.hpa.behavior import behavior_of, tolerance_of
from kubeproof.controllers.hpa.calculator import Computed, Failure, Target, compute
from kubeproof.controllers.hpa.combine import combine, find_forced
from kubeproof.controllers.hpa.history import History, prune, rescale, seed
from kubeproof.controllers.hpa.normalise import normalise
from kubeproof.controllers.hpa.samples import Sample
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from kubeproof.controllers.hpa.words import metric_words
from kubeproof.errors import InternalError
from kubeproof.named_tuples import NamedTuple

MODELLED = frozenset({"Resource", "ContainerResource", "Pods"})
AMBIGUOUS = "AmbiguousSelector: more than one autoscaler selects these pods"


class ScaleDecision(NamedTuple):
    """What the sync writes (the current count: nothing), the memory after it, and why."""

    replicas: int
    history: History
    reasons: tuple[str, ...]


class Judged(NamedTuple):
    """What the metrics ask for, whatever happened before, and the numbers behind it."""

    proposal: int | Failure
    metrics: tuple[Metric, ...]
    computed: tuple[Computed | Failure, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The numbers as a reader sees them; a search never asks."""
        return tuple(map(metric_words, self.metrics, self.computed))


def judge(
    autoscaler: HorizontalPodAutoscaler,
    current: int,
    metrics: tuple[tuple[Sample, ...] | Failure, ...],
    settings: AutoscalerSettings,
) -> Judged:
    """The part of a sync that does not depend on its history."""
    computed = proposals(autoscaler, current, metrics, settings)
    proposal = combine(current, [each if isinstance(each, Failure) else each.replicas for each in computed])
    return Judged(proposal, tuple(autoscaler.metrics), tuple(computed))


def conclude(
    autoscaler: HorizontalPodAutoscaler,
    current: int,
    proposal: int | Failure | None,
    history: History,
    settings: AutoscalerSettings,
    *,
    is_bounded: bool = True,
) -> ScaleDecision:
    """The part that does: bounds, stabilization, rates. No proposal at all: the metrics were not looked at."""
    behavior = behavior_of(autoscaler)
    minimum, maximum = autoscaler.min_replicas, autoscaler.max_replicas
    window_s = settings.downscale_stabilization_s
    bounds = (minimum, maximum) if is_bounded else None
    kept = partial(prune, behavior=behavior, downscale_stabilization_s=window_s, bounds=bounds)
    start = seed(history, current)
    decision = find_forced(current, minimum, maximum)
    if decision is not None:
        changed = rescale(start, behavior, decision.replicas - current)
        return ScaleDecision(decision.replicas, kept(changed), (decision.reason,))
    if proposal is None or isinstance(proposal, Failure):
        reason = AMBIGUOUS if proposal is None else f"stays at {current}: {proposal.reason}"
        return ScaleDecision(current, kept(start), (reason,))
    result = normalise(
        current,
        max(proposal, 0),  # upstream never goes below: an overflown proposal asks for nothing
        minimum,
        maximum,
        behavior,
        start,
        downscale_stabilization_s=window_s,
        is_bounded=is_bounded,
    )
    return ScaleDecision(result.replicas, result.history, result.reasons)


def never_acts(autoscaler: HorizontalPodAutoscaler, current: int, proposal: int | Failure | None) -> bool:
    """True if no history makes a sync change the size, as long as the metrics ask for the same.

    With behavior, the windows lead from the proposal towards the current count and never past it, and the bounds stop
    what would lead beyond them. Without, an old recommendation may lead above both.
    """
    minimum, maximum = autoscaler.min_replicas, autoscaler.max_replicas
    if find_forced(current, minimum, maximum) is not None:
        return False
    if proposal is None or isinstance(proposal, Failure):
        return True
    wanted = min(max(proposal, minimum), maximum)
    return wanted == current and behavior_of(autoscaler) is not None


def proposals(
    autoscaler: HorizontalPodAutoscaler,
    current: int,
    metrics: tuple[tuple[Sample, ...] | Failure, ...],
    settings: AutoscalerSettings = AutoscalerSettings(),
) -> list[Computed | Failure]:
    """What each of the autoscaler's metrics asks for, in its order."""
    tolerance = tolerance_of(behavior_of(autoscaler), settings)
    pairs = zip(autoscaler.metrics, metrics, strict=True)
    return [m if isinstance(m, Failure) else compute(current, m, _target(spec), tolerance) for spec, m in pairs]


def _target(metric: Metric) -> Target:
    if metric.type not in MODELLED:
        raise InternalError(f"{metric.type} metric {metric.name} reached the autoscaler, which does not model it")
    return Target(metric.value, is_percent=metric.target_type == "Utilization")
