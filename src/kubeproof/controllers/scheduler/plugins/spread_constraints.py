"""The topology spread constraints that apply to a pod, resolved against the setup.

Mirrors constraint resolution and pod counting of `plugins/podtopologyspread` (common.go, plugin.go).
"""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.api import versions
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    PodTemplate,
    SpreadConstraint,
)
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.pod import POD_TEMPLATE_HASH, IncomingPod, pod_labels
from kubeproof.controllers.scheduler.protocol import NodeView, PodCount
from kubeproof.values import dataclass, replace

MIN_DOMAINS_SINCE = versions.MIN_DOMAINS.since
MATCH_LABEL_KEYS_SINCE = versions.MATCH_LABEL_KEYS.since
EMPTY_SELECTOR_COUNTS_NOTHING_SINCE = versions.EMPTY_SELECTOR_COUNTS_NOTHING.since

SYSTEM_DEFAULTS = (
    SpreadConstraint(HOSTNAME, max_skew=3, hard=False),
    SpreadConstraint(ZONE, max_skew=5, hard=False),
)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint with its selector applied to the workloads of the setup."""

    key: str
    max_skew: int
    min_domains: int
    honor_affinity: bool
    honor_taints: bool
    counted: frozenset[int]  # workloads whose pods count
    matches_self: bool  # the incoming pod matches the selector
    one_node_each: bool  # every node with the key is a domain of its own

    def count(self, pods: Iterable[PodCount]) -> int:
        """How many of the pods count; terminating ones never do."""
        return sum(pod.alive for pod in pods if pod.workload in self.counted)

    def includes(self, template: PodTemplate, view: NodeView) -> bool:
        """True if the node passes the constraint's node inclusion policies."""
        if self.honor_affinity and not required_affinity_matches(template, view.labels, view.node.name):
            return False
        return not (self.honor_taints and keeps_pods_off(view.taints, template.tolerations))


def constraints_of(pod: IncomingPod, *, hard: bool) -> tuple[Constraint, ...]:
    """The pod's hard or soft constraints; a pod without any of its own gets the profile's defaults."""
    declared = pod.template.spread or _default_constraints(pod)
    return tuple(_resolve(pod, constraint) for constraint in declared if constraint.hard == hard)


def requires_all_keys(pod: IncomingPod) -> bool:
    """True if scoring ignores nodes that lack a topology key: always, except under System defaults."""
    return bool(pod.template.spread) or pod.profile.default_spread is not None


def _default_constraints(pod: IncomingPod) -> tuple[SpreadConstraint, ...]:
    """The default constraints for what Services of the pod and its ReplicaSet select; none where nothing does.

    Mirrors `DefaultSelector` of `plugins/helper/spread.go`: all these selectors have to match.
    """
    selector = LabelSelector((*_of_services(pod), *_owner_selector(pod).requirements))
    if selector.is_empty:
        return ()
    defaults = SYSTEM_DEFAULTS if pod.profile.default_spread is None else pod.profile.default_spread
    # Default constraints may not bring a selector or matchLabelKeys that differ from the owner's.
    return tuple(replace(constraint, selector=selector, match_label_keys=()) for constraint in defaults)


def _of_services(pod: IncomingPod) -> tuple[Requirement, ...]:
    """What the Services that select the pod ask of labels, each once."""
    if not pod.setup.services:
        return ()
    labels = tuple(pod_labels(pod.setup, pod.index).items())
    found = [s.selector for s in pod.setup.services if s.selects(pod.workload.namespace, labels)]
    return tuple(Requirement(key, "In", (value,)) for key, value in sorted({pair for pairs in found for pair in pairs}))


def _owner_selector(pod: IncomingPod) -> LabelSelector:
    """The selector of the pod's ReplicaSet (a Deployment's adds pod-template-hash), empty for bare and daemon pods."""
    workload = pod.workload
    if not workload.rules.is_spread_by_owner:
        return LabelSelector()
    if workload.has_template_hash:
        own_hash = pod_labels(pod.setup, pod.index)[POD_TEMPLATE_HASH]
        revision = Requirement(POD_TEMPLATE_HASH, "In", (own_hash,))
        return LabelSelector((*workload.selector.requirements, revision))
    return workload.selector


def _resolve(pod: IncomingPod, constraint: SpreadConstraint) -> Constraint:
    """The constraint with its selector replaced by the workloads that it counts."""
    selector = _selector(pod, constraint)
    return Constraint(
        key=constraint.topology_key,
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains if pod.version >= MIN_DOMAINS_SINCE else 0,
        honor_affinity=constraint.honor_affinity,
        honor_taints=constraint.honor_taints,
        counted=_find_counted(pod, selector),
        matches_self=selector is not None and selector.matches(pod_labels(pod.setup, pod.index)),
        one_node_each=constraint.topology_key in pod.unique_keys,
    )


def _selector(pod: IncomingPod, constraint: SpreadConstraint) -> LabelSelector | None:
    """The constraint's selector with matchLabelKeys joined; None matches nothing."""
    if constraint.selector is None or pod.version < MATCH_LABEL_KEYS_SINCE:
        return constraint.selector
    labels = pod_labels(pod.setup, pod.index)
    same_values = (Requirement(k, "In", (labels[k],)) for k in constraint.match_label_keys if k in labels)
    return LabelSelector((*constraint.selector.requirements, *same_values))


def _find_counted(pod: IncomingPod, selector: LabelSelector | None) -> frozenset[int]:
    """The workloads of the pod's namespace that match; an empty selector counts none (all in 1.26)."""
    if selector is None:
        return frozenset()
    if selector.is_empty and pod.version >= EMPTY_SELECTOR_COUNTS_NOTHING_SINCE:
        return frozenset()
    return frozenset(
        index
        for index, other in enumerate(pod.setup.workloads)
        if other.namespace == pod.workload.namespace and selector.matches(pod_labels(pod.setup, index))
    )
