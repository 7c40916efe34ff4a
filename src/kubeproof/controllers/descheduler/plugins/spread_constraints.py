"""The spread constraints that the descheduler balances, and the arithmetic of balancing one of them.

Mirrors `plugins/removepodsviolatingtopologyspreadconstraint`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import LabelSelector, Requirement, Toleration
from kubeproof.cluster.objects import PodTemplate, SpreadConstraint
from kubeproof.controllers.descheduler.scene import Scene
from kubeproof.named_tuples import NamedTuple

INCLUSION_POLICIES_SINCE = versions.READS_INCLUSION_POLICIES.since
CONSTRAINTS_ARGUMENT_SINCE = versions.CONSTRAINTS_ARGUMENT.since
ONLY_HONOURED_FIELDS_SINCE = versions.ONLY_HONOURED_FIELDS.since

HARD, SOFT = "DoNotSchedule", "ScheduleAnyway"


class BalancedConstraint(NamedTuple):
    """A constraint of some workload, with what tells it apart from others."""

    namespace: str
    key: str
    max_skew: int
    selector: LabelSelector | None  # None matches nothing
    declared: SpreadConstraint
    affinity: tuple[object, ...]  # the pod's nodeSelector and required terms, if they matter
    tolerations: tuple[Toleration, ...]
    workload: int  # the first that brings it

    def matches(self, labels: dict[str, str]) -> bool:
        """True if a pod with these labels counts."""
        return self.selector is not None and self.selector.matches(labels)


def resolve(scene: Scene, workload: int, declared: SpreadConstraint) -> BalancedConstraint:
    """A workload's constraint as the version reads it."""
    template, namespace = scene.template(workload), scene.workload(workload).namespace
    if scene.version < INCLUSION_POLICIES_SINCE:
        return BalancedConstraint(
            namespace, declared.topology_key, declared.max_skew, declared.selector, declared, (), (), workload
        )
    always = scene.version < ONLY_HONOURED_FIELDS_SINCE
    return BalancedConstraint(
        namespace=namespace,
        key=declared.topology_key,
        max_skew=declared.max_skew,
        selector=_with_label_keys(declared, scene.labels(workload)),
        # whenUnsatisfiable, minDomains and the list of label keys are no part of the identity any more
        declared=SpreadConstraint(
            declared.topology_key,
            declared.max_skew,
            honor_affinity=declared.honor_affinity,
            honor_taints=declared.honor_taints,
        ),
        affinity=_affinity(template) if always or declared.honor_affinity else (),
        tolerations=template.tolerations if always or declared.honor_taints else (),
        workload=workload,
    )


def identity(constraint: BalancedConstraint) -> tuple[object, ...]:
    """Equal for constraints that upstream processes only once."""
    return constraint[:-1]


def includes(scene: Scene, constraint: BalancedConstraint, entry: int) -> bool:
    """True if the node passes the node inclusion policies, which are read since 0.29."""
    if scene.version < INCLUSION_POLICIES_SINCE:
        return True
    if constraint.declared.honor_affinity and not scene.matches_node(constraint.workload, entry):
        return False
    return not constraint.declared.honor_taints or scene.tolerates(constraint.workload, entry)


def is_balanced(sizes: list[int], max_skew: int) -> bool:
    """True if no two domains differ by more than the skew."""
    return not sizes or max(sizes) - min(sizes) <= max_skew


class Move(NamedTuple):
    """Pods moved, in upstream's simulation, from one place in the sorted sizes to another."""

    source: int
    target: int
    pods: int


def moves(sizes: list[int], max_skew: int) -> Iterator[Move]:
    """The simulated moves between domains of these sizes, given in ascending order.

    Two places close in on each other: the smallest domains receive, the largest give, neither beyond the ideal
    average (rounded up) nor more than half of what exceeds the skew.
    """
    sizes = list(sizes)
    ideal = sum(sizes) / len(sizes)
    low, high = 0, len(sizes) - 1
    while low < high:
        if sizes[high] <= ideal:
            high -= 1
        skew = sizes[high] - sizes[low]
        if skew <= max_skew:
            low += 1
            continue
        above, below = math.ceil(sizes[high] - ideal), math.ceil(ideal - sizes[low])
        pods = min(above, below, math.ceil((skew - max_skew) / 2))
        if pods <= 0:
            low += 1
            continue
        yield Move(high, low, pods)
        sizes[high] -= pods
        sizes[low] += pods


def _with_label_keys(declared: SpreadConstraint, labels: dict[str, str]) -> LabelSelector | None:
    if declared.selector is None:
        return None
    same = (Requirement(key, "In", (labels[key],)) for key in declared.match_label_keys if key in labels)
    return LabelSelector((*declared.selector.requirements, *same))


def _affinity(template: PodTemplate) -> tuple[object, ...]:
    return (template.node_selector, template.required_terms)
