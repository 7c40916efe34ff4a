"""Short names for autoscalers and samples in tests."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric, ScalingPolicy, ScalingRules
from kubeproof.controllers.hpa.history import History, Recommendation, ScaleEvent
from kubeproof.controllers.hpa.samples import IGNORED, MISSING, READY, UNREADY, Sample

Pairs = Iterable[tuple[int, int]]

CPU_50 = Metric("Resource", "cpu", "Utilization", 50)


def ready(pods: int, usage: int, request: int | None = 100) -> Sample:
    return Sample(pods, usage, request, READY)


def unready(pods: int, request: int | None = 100) -> Sample:
    return Sample(pods, None, request, UNREADY)


def missing(pods: int, request: int | None = 100) -> Sample:
    return Sample(pods, None, request, MISSING)


def ignored(pods: int, request: int | None = 100) -> Sample:
    return Sample(pods, None, request, IGNORED)


def rules(
    *policies: tuple[str, int, int], select: str = "Max", window_s: int | None = 0, tolerance_milli: int | None = None
) -> ScalingRules:
    return ScalingRules(tuple(ScalingPolicy(*policy) for policy in policies), select, window_s, tolerance_milli)


def autoscaler(
    least: int = 1,
    most: int = 10,
    *metrics: Metric,
    up: ScalingRules | None = None,
    down: ScalingRules | None = None,
) -> HorizontalPodAutoscaler:
    return HorizontalPodAutoscaler(
        "shop", "web", "Deployment/shop/web", least, most, metrics or (CPU_50,), scale_up=up, scale_down=down
    )


def memory(recommendations: Pairs | None, events: Pairs = ()) -> History:
    """A memory out of plain pairs of age and value."""
    typed = None if recommendations is None else tuple(Recommendation(*pair) for pair in recommendations)
    return History(typed, tuple(ScaleEvent(*pair) for pair in events))
