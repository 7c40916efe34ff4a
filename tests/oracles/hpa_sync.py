"""One whole sync of one autoscaler, as `reconcileAutoscaler` of `horizontal.go` does it: both parts in one call."""

from __future__ import annotations

from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.combine import find_forced
from kubeproof.controllers.hpa.decide import ScaleDecision, conclude, judge
from kubeproof.controllers.hpa.history import History
from kubeproof.controllers.hpa.samples import Sample
from kubeproof.controllers.hpa.settings import AutoscalerSettings


def decide(
    autoscaler: HorizontalPodAutoscaler,
    current: int,
    metrics: tuple[tuple[Sample, ...] | Failure, ...],
    history: History,
    settings: AutoscalerSettings = AutoscalerSettings(),
    *,
    is_ambiguous: bool = False,
    is_bounded: bool = True,
) -> ScaleDecision:
    """The outcome of one sync; `metrics` holds the samples for each of the autoscaler's metrics, in its order.

    `current` is the target's spec.replicas. Ambiguity stops the metrics only: bounds are enforced before. A memory that
    is not bounded keeps recommendations beyond the bounds: the same replicas for ever, but the reasons of later syncs
    name the very limit that upstream's conditions name.
    """
    judged = None
    if not is_ambiguous and find_forced(current, autoscaler.min_replicas, autoscaler.max_replicas) is None:
        judged = judge(autoscaler, current, metrics, settings)
    proposal = None if judged is None else judged.proposal
    outcome = conclude(autoscaler, current, proposal, history, settings, is_bounded=is_bounded)
    return outcome if judged is None else outcome._replace(reasons=judged.words + outcome.reasons)
