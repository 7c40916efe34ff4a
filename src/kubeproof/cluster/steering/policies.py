"""Objects that steer control loops: autoscalers, disruption budgets, priorities, the descheduler's policy."""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass

SAMPLED_METRICS = ("Resource", "ContainerResource")  # types that are worked out from the pods' usage


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


IF_HEALTHY_BUDGET = "IfHealthyBudget"
ALWAYS_ALLOW = "AlwaysAllow"


@dataclass(frozen=True, slots=True)
class PodDisruptionBudget:
    """How many pods evictions may take away at a time; amounts are (number, is percent).

    At most one of the amounts is set; with neither, upstream allows no disruption.
    """

    namespace: str
    name: str
    selector: LabelSelector | None = None  # None selects no pod, an empty one all pods of the namespace
    min_available: tuple[int, bool] | None = None
    max_unavailable: tuple[int, bool] | None = None
    unhealthy_policy: str = IF_HEALTHY_BUDGET
    source: Source = field(default=Source(), compare=False)


PREEMPT_LOWER = "PreemptLowerPriority"
PREEMPT_NEVER = "Never"


@dataclass(frozen=True, slots=True)
class PriorityClass:
    """A name for a priority; pods that name no class have that of the global default."""

    name: str
    value: int
    is_default: bool = False
    preemption_policy: str = PREEMPT_LOWER
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
