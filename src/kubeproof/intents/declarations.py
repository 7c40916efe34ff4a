"""Intents as a Scenario declares them; what each means is in the module named after it."""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass

ALWAYS = "always"
ALWAYS_ONCE_TRUE = "alwaysOnceTrue"
STABLE = "stable"
EVENTUALLY = "eventually"
EVENTUALLY_ALWAYS = "eventuallyAlways"
WHENS = (ALWAYS, ALWAYS_ONCE_TRUE, STABLE, EVENTUALLY, EVENTUALLY_ALWAYS)

ANY_EVICTOR = "any"
BY_DESCHEDULER = "descheduler"
BY_DRAIN = "drain"  # of a drain or maintenance event, through the eviction API
BY_TAINT = "taint"  # a NoExecute taint, also that of a failed node
BY_PREEMPTION = "preemption"  # the scheduler made room for a pod of higher priority
BY_VPA = "vpa"  # the vertical pod autoscaler's updater
BY_KERNEL_PANIC = "kernelPanic"  # the node went down under its pods' load
EVICTORS = (ANY_EVICTOR, BY_DESCHEDULER, BY_DRAIN, BY_TAINT, BY_PREEMPTION, BY_VPA, BY_KERNEL_PANIC)

POD_PHASES = ("Pending", "Running", "Terminating", "Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of pods, or a percentage of the desired replicas (rounded up)."""

    number: int
    percent: bool = False

    def of(self, desired: int) -> int:
        """The number of pods this amounts to."""
        return -(-self.number * desired // 100) if self.percent else self.number

    def __str__(self) -> str:
        return f"{self.number}%" if self.percent else str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One property to check; fields that its key does not use stay at their defaults."""

    key: str  # minReady, minReplicas, maxReplicas, maxSkew, schedulable, ...
    name: str  # unique in the Scenario; given, or made from key and target
    target: str | None = None  # Workload.ref; None: every workload
    when: str = ALWAYS
    severity: str = "error"
    count: Amount | None = None
    topology_key: str = ""
    skew: int = 1
    selector: LabelSelector | None = None  # maxSkew: pods by label instead of by target; notColocated: the others
    namespace: str | None = None  # of the pods that `selector` means; notColocated: None is the target's
    of: str = "any"  # noOscillation: replicas, placement, any
    by: str = ANY_EVICTOR  # noEviction, noEvictionLoop: whose evictions count
    nodes: LabelSelector | None = None  # maxNodes: which nodes count; onlyOn: which nodes are allowed
    node_names: tuple[str, ...] | None = None  # the same by name
    phases: tuple[str, ...] = ()  # maxPodObjects: which pods count; (): all
    domains: int = 2  # spread: at least so many values of the topology key
    formula: str = ""  # ltl
    where: tuple[tuple[str, str], ...] = ()  # ltl: the propositions of the formula, each with its predicate
    of_level: bool = False  # it is what of a service level is a bound on states; nobody wrote it
    source: Source = field(default=Source(), compare=False)
