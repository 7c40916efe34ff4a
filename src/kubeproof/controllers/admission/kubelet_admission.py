"""Kubelet admission of pods that chose their node themselves."""

from __future__ import annotations

from collections.abc import Collection

from kubeproof.cluster.api.quantity import write_amount
from kubeproof.cluster.labels import NO_EXECUTE, tolerates_all
from kubeproof.cluster.nodes.near_nodes import agree_monotone
from kubeproof.cluster.nodes.places import taints_of
from kubeproof.cluster.objects import Node, Setup
from kubeproof.cluster.state import NEVER, NodeCell, Phase, PodKind, add_pods
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.node_ports import rivals
from kubeproof.controllers.scheduler.requests import allocatable, pod_requests

ADMITTED = (Phase.RUNNING, Phase.READY, Phase.UNREADY, Phase.TERMINATING)


def count_rejected(setup: Setup, node: Node, cell: NodeCell, kind: PodKind) -> tuple[int, int]:
    """How many of the kind's starting pods the kubelet rejects, of how many.

    Pods placed by the scheduler are admitted. For the others: all are rejected on an untolerated NoExecute taint
    or unmet node affinity; else as many as do not fit beside the pods already admitted, or want ports that these hold.
    """
    total = sum(count for other, count in cell.pods if other._replace(evict_s=0) == kind)
    template = setup.workloads[kind.workload].template
    if kind.phase != Phase.STARTING or template.node_name is None:
        return 0, total
    taints = tuple(taint for taint in taints_of(node, cell) if taint.effect == NO_EXECUTE)
    if not tolerates_all(template.tolerations, taints) or not required_affinity_matches(
        template, node.label_map, node.name
    ):
        return total, total
    room = agree_monotone(node, lambda size: _room(setup, size, cell, kind.workload))
    return total - min(total, room), total


def competing(setup: Setup, node: Node, cell: NodeCell, due: Collection[PodKind]) -> frozenset[PodKind]:
    """The starting kinds that name the node and have not room there together: who is admitted first decides."""
    named = [k for k in due if k.phase == Phase.STARTING and setup.workloads[k.workload].template.node_name is not None]
    if len(named) < 2:
        return frozenset()
    refused = [kind for kind in named if count_rejected(setup, node, _beside(cell, kind, named), kind)[0]]
    return frozenset(named) if refused else frozenset()


def _beside(cell: NodeCell, kind: PodKind, named: Collection[PodKind]) -> NodeCell:
    """The node as if all other pods that name it had been admitted."""
    others = {one for one in named if one != kind}
    pods: tuple[tuple[PodKind, int], ...] = ()
    for one, count in cell.pods:
        is_other = one._replace(evict_s=0, route_s=NEVER) in others
        pods = add_pods(pods, one._replace(phase=int(Phase.READY)) if is_other else one, count)
    return cell._replace(pods=pods)


def _find_free(node: Node) -> dict[str, int]:
    """What the node offers beside pods that nothing moves; of resources that it does not know nothing is kept."""
    free = allocatable(node)
    for resource, amount in node.held.requested:
        if resource in free:
            free[resource] -= amount
    return free


def _room(setup: Setup, node: Node, cell: NodeCell, workload: int) -> int:
    """How many more pods of the workload fit beside those already admitted.

    Extended resources that the node does not know are left out, as the kubelet does.
    """
    version = setup.settings.kubernetes_version
    free, slots = _find_free(node), node.pods - node.held.pods
    for kind, count in cell.pods:
        if kind.phase in ADMITTED:
            slots -= count
            for resource, amount in pod_requests(setup.workloads[kind.workload].template, version).true.items():
                free[resource] = free.get(resource, 0) - amount * count
    blocking = rivals(setup, workload)
    if any(kind.workload in blocking and kind.phase in ADMITTED for kind, _ in cell.pods):
        return 0
    slots = min(slots, 1) if workload in blocking else slots  # two pods of its own want the same port
    wanted = pod_requests(setup.workloads[workload].template, version).true
    limits = [free[resource] // amount for resource, amount in wanted.items() if amount and resource in free]
    return max(0, min([slots, *limits]))


def explain_rejection(setup: Setup, node: Node, cell: NodeCell, workload: int) -> str:
    """Why the kubelet rejects pods of the workload that name the node: what `count_rejected` goes by, in words."""
    template = setup.workloads[workload].template
    strange = [
        f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"
        for taint in taints_of(node, cell)
        if taint.effect == NO_EXECUTE and not tolerates_all(template.tolerations, (taint,))
    ]
    if strange:
        return f"its taint {', '.join(strange)} is not tolerated"
    if not required_affinity_matches(template, node.label_map, node.name):
        return "its labels are not those that nodeSelector or node affinity ask for"
    version = setup.settings.kubernetes_version
    there = [(kind, count) for kind, count in cell.pods if kind.phase in ADMITTED]
    if any(kind.workload in rivals(setup, workload) for kind, _ in there):
        return "a port of the node (hostPort) is taken"
    free, whole = _find_free(node), allocatable(node)
    for kind, count in there:
        for resource, amount in pod_requests(setup.workloads[kind.workload].template, version).true.items():
            free[resource] = free.get(resource, 0) - amount * count
    wanted = pod_requests(template, version).true
    short = [
        f"{name} {write_amount(name, amount)} asked for, {write_amount(name, free[name])} of "
        f"{write_amount(name, whole[name])} free"
        for name, amount in wanted.items()
        if amount and name in whole and free[name] < amount
    ]
    pods = sum(count for _, count in there) + node.held.pods
    return "; ".join(short) if short else f"{pods} of {node.pods} pods are there" if pods >= node.pods else ""
