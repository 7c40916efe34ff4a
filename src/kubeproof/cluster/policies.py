"""Objects that steer control loops: autoscalers and the descheduler's policy."""

from __future__ import annotations

from dataclasses import dataclass, field

from kubeproof.cluster.objects import Source


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric of an autoscaler; `value` is percent for Utilization, otherwise thousandths."""

    type: str  # Resource, ContainerResource, Pods, Object, External
    name: str
    target_type: str  # Utilization, AverageValue, Value
    value: int
    container: str = ""


@dataclass(frozen=True, slots=True)
class ScalingPolicy:
    """One rate limit: at most `value` pods (or percent) in `period_s`."""

    type: str  # Pods, Percent
    value: int
    period_s: int


@dataclass(frozen=True, slots=True)
class ScalingRules:
    """One direction of an autoscaler's behavior, after defaulting."""

    policies: tuple[ScalingPolicy, ...]
    select: str = "Max"  # Max, Min, Disabled
    window_s: int | None = None  # None: the controller's flag
    tolerance_milli: int | None = None  # thousandths of the ratio; None: the controller's flag


@dataclass(frozen=True, slots=True)
class HorizontalPodAutoscaler:
    """An autoscaler; without behavior upstream takes another path, so None is kept apart."""

    namespace: str
    name: str
    target: str  # Workload.ref
    min_replicas: int
    max_replicas: int
    metrics: tuple[Metric, ...]
    scale_up: ScalingRules | None = None
    scale_down: ScalingRules | None = None
    source: Source = field(default=Source(), compare=False)


Plain = str | int | bool | tuple["Plain", ...] | tuple[tuple[str, "Plain"], ...] | None


@dataclass(frozen=True, slots=True)
class DeschedulerProfile:
    """One profile: enabled plugins per extension point, and plugin arguments by plugin name."""

    name: str
    enabled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    disabled: tuple[tuple[str, tuple[str, ...]], ...] = ()
    arguments: tuple[tuple[str, Plain], ...] = ()


@dataclass(frozen=True, slots=True)
class DeschedulerPolicy:
    """The descheduler's policy (v1alpha2)."""

    profiles: tuple[DeschedulerProfile, ...]
    node_selector: str = ""
    max_per_node: int | None = None
    max_per_namespace: int | None = None
    max_total: int | None = None
    source: Source = field(default=Source(), compare=False)
