"""Which plugins run for a pod: upstream's order and weights, changed by the profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kubeproof.cluster.api import versions
from kubeproof.cluster.nodes.images import IMAGE_LOCALITY
from kubeproof.cluster.objects import SchedulerProfile
from kubeproof.cluster.steering.profiles import NODE_AFFINITY, NODE_UNSCHEDULABLE, TAINT_TOLERATION
from kubeproof.controllers.scheduler.plugins import (
    balanced_allocation,
    image_locality,
    inter_pod_affinity,
    node_affinity,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    pinned_nodes,
    pod_topology_spread,
    taint_toleration,
    volumes,
)
from kubeproof.controllers.scheduler.pod import IncomingPod
from kubeproof.controllers.scheduler.protocol import (
    MAX_NODE_SCORE,
    ClusterFilter,
    ClusterScore,
    ConstantScore,
    Declared,
    Judging,
    NodeFilter,
    NodeScore,
    find_declared,
)
from kubeproof.values import dataclass

NODE_NAME = "NodeName"
NODE_PORTS = "NodePorts"
NODE_RESOURCES_FIT = "NodeResourcesFit"
POD_TOPOLOGY_SPREAD = "PodTopologySpread"
INTER_POD_AFFINITY = "InterPodAffinity"
BALANCED_ALLOCATION = "NodeResourcesBalancedAllocation"

DEFAULT_WEIGHTS = {
    TAINT_TOLERATION: 3,
    NODE_AFFINITY: 2,
    NODE_RESOURCES_FIT: 1,
    POD_TOPOLOGY_SPREAD: 2,
    INTER_POD_AFFINITY: 2,
    BALANCED_ALLOCATION: 1,
    IMAGE_LOCALITY: 1,
    volumes.VOLUME_BINDING: 1,
}
SCORE_ORDER = tuple(DEFAULT_WEIGHTS)
# What plugins with nothing to do gave every node before the version in which upstream began to skip them.
IDLE_SCORES = (
    (NODE_AFFINITY, 0, versions.AFFINITY_SKIPS_SCORE.since),
    (POD_TOPOLOGY_SPREAD, MAX_NODE_SCORE, versions.SPREAD_SKIPS_SCORE.since),
    (INTER_POD_AFFINITY, 0, inter_pod_affinity.SKIPS_SCORE_SINCE),
)
NODE_NAME_FIRST_SINCE = versions.NODE_NAME_FIRST.since

NODE_FILTERS: tuple[tuple[str, Callable[[IncomingPod], NodeFilter | None]], ...] = (
    (NODE_NAME, node_name.build_filter),
    (NODE_UNSCHEDULABLE, node_unschedulable.build_filter),
    (TAINT_TOLERATION, taint_toleration.build_filter),
    (NODE_AFFINITY, node_affinity.build_filter),
    (NODE_PORTS, node_ports.build_filter),
    (NODE_RESOURCES_FIT, node_resources_fit.build_filter),
)
# Upstream orders every filter that compares nodes after those that judge a node by itself.
CLUSTER_FILTERS: tuple[tuple[str, Callable[[IncomingPod], ClusterFilter[Any, Any] | None]], ...] = (
    (volumes.VOLUME_RESTRICTIONS, volumes.build_restrictions),
    (volumes.VOLUME_BINDING, volumes.build_binding),
    (volumes.VOLUME_ZONE, volumes.build_zone),
    (POD_TOPOLOGY_SPREAD, pod_topology_spread.build_filter),
    (INTER_POD_AFFINITY, inter_pod_affinity.build_filter),
)
FILTERS = tuple(name for name, _ in (*NODE_FILTERS, *CLUSTER_FILTERS))
NODE_SCORES: tuple[tuple[str, Callable[[IncomingPod], NodeScore | None]], ...] = (
    (TAINT_TOLERATION, taint_toleration.build_score),
    (NODE_AFFINITY, node_affinity.build_score),
    (NODE_RESOURCES_FIT, node_resources_fit.build_score),
    (BALANCED_ALLOCATION, balanced_allocation.build_score),
    (volumes.VOLUME_BINDING, volumes.build_score),
)
CLUSTER_SCORES: tuple[tuple[str, Callable[[IncomingPod], ClusterScore[Any, Any] | None]], ...] = (
    (POD_TOPOLOGY_SPREAD, pod_topology_spread.build_score),
    (INTER_POD_AFFINITY, inter_pod_affinity.build_score),
    (IMAGE_LOCALITY, image_locality.build_score),
)


@dataclass(frozen=True, slots=True)
class Plugins:
    """The plugins that have something to do for a pod, with their names, scores also with their weights."""

    node_filters: tuple[tuple[str, NodeFilter], ...]
    cluster_filters: tuple[tuple[str, ClusterFilter[Any, Any]], ...]
    node_scores: tuple[tuple[str, int, NodeScore], ...]
    cluster_scores: tuple[tuple[str, int, ClusterScore[Any, Any]], ...]
    must_exist: frozenset[str] = frozenset()  # nodes without which the whole attempt fails


def plugins_for(pod: IncomingPod) -> Plugins:
    """The plugins that the pod's profile runs, built for this pod."""
    profile = pod.profile
    weights = DEFAULT_WEIGHTS | {name: weight or 1 for name, weight in profile.weights}  # 0 means unset
    unscored = profile.disabled | profile.disabled_score
    node_filters = [(n, build(pod)) for n, build in _order_filters(pod) if n not in profile.disabled]
    cluster_filters = [(n, build(pod)) for n, build in CLUSTER_FILTERS if n not in profile.disabled]
    node_scores = [(n, weights[n], build(pod)) for n, build in NODE_SCORES if n not in unscored]
    cluster_scores = [(n, weights[n], build(pod)) for n, build in CLUSTER_SCORES if n not in unscored]
    scoring = {name for name, _, plugin in (*node_scores, *cluster_scores) if plugin is not None}
    idle = [(n, weights[n], score) for n, score in _idle_scores(pod) if n not in unscored | scoring]
    pinned = pinned_nodes.pin(pod)
    if pinned is not None:  # PreFilter narrows the nodes before any filter runs
        node_filters.insert(0, (pinned.plugin, pinned.filter))
    barrier = volumes.barrier(pod)
    if barrier is not None and barrier[0] not in profile.disabled:
        node_filters.insert(0, barrier)
    return Plugins(
        tuple((name, plugin) for name, plugin in node_filters if plugin is not None),
        tuple((name, plugin) for name, plugin in cluster_filters if plugin is not None),
        (*((name, weight, plugin) for name, weight, plugin in node_scores if plugin is not None), *idle),
        tuple((name, weight, plugin) for name, weight, plugin in cluster_scores if plugin is not None),
        pinned.must_exist if pinned is not None else frozenset(),
    )


def list_declared() -> dict[str, Declared]:
    """What each filter says of itself, in the order in which they run."""
    return {name: find_declared(build) for name, build in (*NODE_FILTERS, *CLUSTER_FILTERS)}


def filters_judging(*by: Judging | None) -> frozenset[str]:
    """The filters that judge by this; None: those that do not say by what."""
    return frozenset(name for name, declared in list_declared().items() if declared.judging in by)


def find_unproven(profiles: Iterable[SchedulerProfile]) -> str:
    """A filter that runs in some profile and does not say by what it judges; "" if all of them do."""
    unknown = filters_judging(None)
    running = (unknown - profile.disabled for profile in (tuple(profiles) or (SchedulerProfile(),)))
    return min(frozenset().union(*running), default="") if unknown else ""


def _idle_scores(pod: IncomingPod) -> Iterator[tuple[str, NodeScore]]:
    """Constant scores of the plugins that the pod's version cannot skip."""
    for name, score, skipped_since in IDLE_SCORES:
        if pod.version < skipped_since:
            yield name, ConstantScore(score)


def _order_filters(pod: IncomingPod) -> tuple[tuple[str, Callable[[IncomingPod], NodeFilter | None]], ...]:
    """The node filters in the order of the pod's Kubernetes version."""
    if pod.version >= NODE_NAME_FIRST_SINCE:
        return NODE_FILTERS
    name, unschedulable, *others = NODE_FILTERS
    return (unschedulable, name, *others)
