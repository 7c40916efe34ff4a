"""Priorities of pods, as admission has set them."""

from __future__ import annotations

from kubeproof.cluster.objects import PodTemplate, Setup
from kubeproof.cluster.steering.policies import PREEMPT_NEVER, PriorityClass

SYSTEM_CRITICAL = 2_000_000_000
LARGEST_OF_USERS = 1_000_000_000
SYSTEM_CLASSES = (
    PriorityClass("system-cluster-critical", SYSTEM_CRITICAL),
    PriorityClass("system-node-critical", SYSTEM_CRITICAL + 1000),
)


def priority_of(template: PodTemplate) -> int:
    """The priority of pods of this template; 0 if nothing says otherwise."""
    return template.priority or 0


def may_preempt(template: PodTemplate) -> bool:
    """True unless the pods wait for room instead of making it."""
    return template.preemption_policy != PREEMPT_NEVER


def has_priorities(setup: Setup) -> bool:
    """True if pods of some workload go before those of another."""
    return len({priority_of(workload.template) for workload in setup.workloads}) > 1


def preemptible(setup: Setup) -> frozenset[int]:
    """The workloads whose pods a pod of another may preempt."""
    strongest = [priority_of(w.template) for w in setup.workloads if may_preempt(w.template)]
    top = max(strongest, default=0)
    return frozenset(i for i, w in enumerate(setup.workloads) if strongest and priority_of(w.template) < top)


def class_values(setup: Setup) -> dict[str, int]:
    """The values of all priority classes by name."""
    return {one.name: one.value for one in (*SYSTEM_CLASSES, *setup.priority_classes)}
