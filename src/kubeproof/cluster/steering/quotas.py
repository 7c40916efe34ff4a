"""Objects that limit what a namespace may ask for: ResourceQuota and LimitRange."""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass

Amounts = tuple[tuple[str, int], ...]  # by resource name; CPU in milli, everything else in units; sorted


@dataclass(frozen=True, slots=True)
class Scope:
    """One requirement on the pods that a quota counts."""

    name: str  # BestEffort, NotBestEffort, Terminating, NotTerminating, PriorityClass, CrossNamespacePodAffinity
    operator: str = "Exists"  # In, NotIn, Exists, DoesNotExist
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceQuota:
    """How much the pods of a namespace may ask for together."""

    namespace: str
    name: str
    hard: Amounts
    scopes: tuple[Scope, ...] = ()
    source: Source = field(default=Source(), compare=False)


CONTAINER = "Container"
WHOLE_POD = "Pod"


@dataclass(frozen=True, slots=True)
class LimitItem:
    """What one container, or one pod, may ask for, after the defaulting of the LimitRange itself."""

    type: str  # Container, Pod
    default_limits: Amounts = ()
    default_requests: Amounts = ()
    least: Amounts = ()
    most: Amounts = ()
    most_ratio_milli: Amounts = ()  # limit divided by request, in thousandths


@dataclass(frozen=True, slots=True)
class LimitRange:
    """Defaults and bounds for the pods of a namespace."""

    namespace: str
    name: str
    items: tuple[LimitItem, ...]
    source: Source = field(default=Source(), compare=False)
