"""Pods that no node takes, alone in the cluster as they are, and rollouts that find no room for one pod more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.objects import Workload
from kubeproof.controllers.scheduler.framework import Scheduler
from kubeproof.controllers.scheduler.protocol import Judging, NodeInfo, PodCount, Row
from kubeproof.controllers.scheduler.registry import (
    NODE_FILTERS,
    filters_judging,
)
from kubeproof.controllers.scheduler.requests import CPU, MEMORY, pod_requests
from kubeproof.verify.checks.declaration import ERROR, INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene

_OF_NODES = frozenset(name for name, _ in NODE_FILTERS)  # each judges a node by itself
# Filters that may refuse a pod because of others like it.
_AMONG_EQUALS = filters_judging(Judging.ROOM, Judging.PODS)  # that may refuse a node because of pods like this one
_LARGEST = {CPU: 192_000, MEMORY: 768 * 2**30}  # a machine that most providers have
_MOST_STEPS = 20_000  # nodes looked at, for all pods of a workload


def _has_own_nodes(scene: Scene) -> bool:
    """True if the user told of the nodes."""
    return not scene.loaded.assumed


def _empty(scene: Scene) -> list[NodeInfo]:
    return [NodeInfo(node, 1, node.unschedulable, node.taints, ()) for node in scene.setup.nodes]


def _list_scheduled(scene: Scene) -> Iterator[tuple[int, Workload]]:
    """The workloads whose pods a scheduler places one by one."""
    for number, one in enumerate(scene.setup.workloads):
        if (
            not one.rules.runs_per_node
            and one.template.node_name is None
            and one.owner is None
            and one.bound_to is None
        ):
            yield number, one


# -- not even one pod ---------------------------------------------------------------------------------


def _unplaceable(scene: Scene) -> Iterator[Found]:
    if not _has_own_nodes(scene):
        yield from _beyond_machines(scene)
        return
    nodes = _empty(scene)
    for number, one in _list_scheduled(scene):
        rows = Scheduler(scene.setup, number, frozenset()).refusals(nodes)
        if rows and one.replicas and all(row.rejected_by in _OF_NODES for row in rows):
            yield Found(one.ref, f"no node takes its pods: {_reasons(rows)}", one.source)


def _reasons(rows: Sequence[Row]) -> str:
    """How many nodes refuse for which reason."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.reason, []).append(row)
    return "; ".join(map(_reason, found.values()))


def _reason(equal: Sequence[Row]) -> str:
    told = f"{len(equal)} x {equal[0].words or equal[0].reason}"
    return f"{told} ({equal[0].detail})" if equal[0].detail else told


def _beyond_machines(scene: Scene) -> Iterator[Found]:
    """Pods that ask for more than any usual machine has; which nodes there are nobody told."""
    version = scene.setup.settings.kubernetes_version
    for one in scene.setup.workloads:
        asked = pod_requests(one.template, version).true
        for name, most in _LARGEST.items():
            if asked.get(name, 0) > most:
                told = f"a pod requests {_amount(name, asked[name])} of {name}, more than usual machines have"
                yield Found(one.ref, told, one.source, severity=WARNING)


def _amount(name: str, amount: int) -> str:
    return f"{amount / 1000:g} cores" if name == CPU else f"{amount / 2**30:g} GiB"


# -- all pods, and one more ---------------------------------------------------------------------------


def _room(scene: Scene, number: int, wanted: int) -> int | None:
    """How many of so many pods of a workload find a node, alone in the cluster; None if that depends on the order.

    Pods like each other that only need room, ports and distance find as many nodes in one order as in any other, and so
    do those that spread over the domains of one label: all others stop `maxSkew` above the domain that is full first.
    """
    pod = scene.setup.workloads[number].template
    hard = [constraint for constraint in pod.spread if constraint.hard]
    has_distance = any(term.topology_key for term in pod.pod_anti_affinity.required)
    if len(hard) > 1 or (hard and has_distance) or pod.claims or pod.pod_affinity.required:
        return None
    if scene.setup.workloads[number].claim_templates:
        return None
    nodes = _empty(scene)
    if wanted * len(nodes) > _MOST_STEPS:
        return None
    scheduler = Scheduler(scene.setup, number, frozenset())
    for placed in range(wanted):
        free = next((at for at in range(len(nodes)) if scheduler.admits(nodes, at)), None)
        if free is None:
            refused = {scheduler.find_refusal(nodes, at) for at in range(len(nodes))}
            return placed if refused & _AMONG_EQUALS else None
        before = nodes[free].pods[0].alive if nodes[free].pods else 0
        nodes[free] = nodes[free]._replace(pods=(PodCount(number, before + 1, 0),))
    return wanted


def _may_grow(scene: Scene) -> bool:
    """True if nodes may come, so that nobody knows how much room there will be."""
    return not _has_own_nodes(scene) or scene.setup.cluster_autoscaler is not None


def _find_crowded(scene: Scene) -> Iterator[Found]:
    if _may_grow(scene):
        return
    most = {one.target: one.max_replicas for one in scene.setup.autoscalers}
    for number, one in _list_scheduled(scene):
        if not one.rules.replaces_pods:
            continue
        wanted = max(one.replicas, most.get(one.ref, 0))
        room = _room(scene, number, wanted)
        if room is None or not 0 < room < wanted:
            continue
        told = f"even alone in the cluster, only {room} of its {one.replicas} pods find a node"
        if room >= one.replicas:
            told = f"an autoscaler may ask for {wanted} pods, and even alone in the cluster only {room} find a node"
        yield Found(one.ref, told, one.source, severity=INFO if room >= one.replicas else "")


def _find_stuck(scene: Scene) -> Iterator[Found]:
    """Rollouts that must add a pod before they may take one away, where none finds a node."""
    if _may_grow(scene):
        return
    for number, one in _list_scheduled(scene):
        size = one.replicas
        if not one.rules.owns_replica_sets or not size or not one.strategy.rolling or _tells_revisions_apart(one):
            continue
        if one.strategy.unavailable_of(size) or _room(scene, number, size + 1) != size:
            continue
        told = (
            f"a rollout never ends: it adds a pod before it takes one of {size} away "
            f"(maxUnavailable rounds down to 0), and no node takes one more"
        )
        yield Found(one.ref, told, one.source)


def _tells_revisions_apart(one: Workload) -> bool:
    """True if pods of a new revision may not count for those of the old one."""
    terms = one.template.pod_anti_affinity.required
    by_keys = any(term.match_label_keys or term.mismatch_label_keys for term in terms)
    return by_keys or any(constraint.match_label_keys for constraint in one.template.spread)


# -- pods that name their node ------------------------------------------------------------------------


def _find_pinned(scene: Scene) -> Iterator[Found]:
    for one in scene.setup.workloads:
        node = one.template.node_name
        if node is None or one.rules.is_pod or one.owner is not None:
            continue
        told = f"nodeName {node} passes by the scheduler: all pods go to that node, whether they fit or not"
        if not one.rules.runs_to_completion:
            told += ", and those that it refuses are created anew without end"
        yield Found(one.ref, told, one.source)


CHECKS = (
    Check(
        id="K023",
        key="no-node-fits",
        severity=ERROR,
        title="pods that no node takes, even if it is empty",
        explanation=(
            "Requests, nodeSelector and affinity, taints and ports are judged by the scheduler's own filters, for "
            "every node as it is when nothing runs there. Without nodes in the input only requests beyond usual "
            "machines are told, as a warning."
        ),
        remedy="Ask for less, correct the selector or the tolerations, or add such a node",
        find=_unplaceable,
    ),
    Check(
        id="K024",
        key="not-enough-nodes",
        severity=WARNING,
        title="a workload whose pods do not all find a node, even alone in the cluster",
        explanation=(
            "Required anti-affinity allows one pod per node or zone, ports and requests allow so many per node, and a "
            "hard spread over zones at most maxSkew more than in the zone that is full first. With more replicas than "
            "that, the rest is never scheduled; it is info if only an autoscaler may ask for so many. Found only for "
            "nodes of the input, without a cluster autoscaler, and for pods whose number does not depend on the order "
            "in which they come."
        ),
        remedy="Ask for fewer replicas, prefer distance instead of requiring it, or add nodes",
        find=_find_crowded,
    ),
    Check(
        id="K025",
        key="rollout-without-room",
        severity=WARNING,
        title="a rollout that needs one pod more than the nodes take, even alone in the cluster",
        explanation=(
            "With few replicas the default maxUnavailable of 25% rounds down to 0, so that a rollout first adds a pod. "
            "If anti-affinity or requests leave no node for it, the rollout waits for ever: no old pod may go."
        ),
        remedy="Write maxUnavailable: 1 (and maxSurge: 0), or add a node",
        find=_find_stuck,
    ),
    Check(
        id="K026",
        key="node-pinned",
        severity=WARNING,
        title="a workload whose pod template names a node",
        explanation=(
            "nodeName skips the scheduler with all its filters. The kubelet refuses what does not fit (OutOfcpu), the "
            "controller creates the pod again, and thousands of failed pods pile up; if the node fails, nothing moves."
        ),
        remedy="Select the node by a label (nodeSelector kubernetes.io/hostname) or by affinity",
        find=_find_pinned,
    ),
)
