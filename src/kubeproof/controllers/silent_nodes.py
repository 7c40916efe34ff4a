"""What nobody does about a node that is down: pods that do not end, taints that are not put, and by which rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.inaction import Idle, Rule, Trouble, pod_field
from kubeproof.cluster.objects import HOSTNAME, ZONE, Workload
from kubeproof.controllers.node_lifecycle import FULL, LARGE_CLUSTER, PARTIAL, UNHEALTHY_FRACTION_PERCENT, zone_state

NOBODY_CONFIRMS = Rule(
    "silent-kubelet",
    "A pod that is deleted stays, terminating, until its kubelet confirms that it has ended. That of a node which is "
    "down never does: only the deletion of the node, or the taint node.kubernetes.io/out-of-service, ends such pods.",
    "pkg/kubelet/status/status_manager.go",
    (Trouble.DEAD_NODE, Trouble.NOT_READY, Trouble.PENDING, Trouble.ROLLOUT),
)
ZONE_STOPS = Rule(
    "zone-stops-eviction",
    f"In a zone of at most {LARGE_CLUSTER} nodes of which more than two, and at least {UNHEALTHY_FRACTION_PERCENT} %, "
    "are not ready, no node is tainted NoExecute, so that nobody is evicted. If every zone is fully down, existing "
    "taints are taken away, too.",
    "pkg/controller/nodelifecycle/node_lifecycle_controller.go",
    (Trouble.DEAD_NODE,),
)
LOST_TOGETHER = Rule(
    "lost-with-their-node",
    "With a node all of its pods are lost to their Services at once. How many pods of a workload share a node, or "
    "are on nodes that fail together, is limited by hard spread constraints and required anti-affinity alone.",
    "pkg/controller/nodelifecycle/node_lifecycle_controller.go",
    (Trouble.TAKEN,),
)
NOT_READY_YET = Rule(
    "not-ready-yet",
    "A pod counts as ready when its containers have started and their readiness probes succeed; until then it is no "
    "part of a Service, and rollouts and budgets do not count it as available.",
    "pkg/kubelet/status/generate.go",
    (Trouble.NOT_READY,),
)
RULES = (NOBODY_CONFIRMS, ZONE_STOPS, LOST_TOGETHER, NOT_READY_YET)


def why_no_end(node: str, pods: Sequence[str], ref: str) -> Idle:
    """Why terminating pods stay on a node that is down."""
    says = f"of {node} is silent, so that nobody confirms the end of {', '.join(pods)}"
    change = f"delete node {node}, or taint it node.kubernetes.io/out-of-service"
    return Idle(NOBODY_CONFIRMS, says, change, (("pods", len(pods)),), ref)


def why_not_ready(node: str, pods: Sequence[str], ref: str, *, is_final: bool) -> Idle:
    """Pods on a node that is up which are not ready; `is_final`: nothing makes them ready any more."""
    says = f"of {node} does not find {', '.join(pods)} ready{'' if is_final else ' yet'}"
    change = f"see why {', '.join(pods)} of {ref} do not become ready: image, configuration, readiness probe"
    change = change if is_final else ""
    return Idle(NOT_READY_YET, says, change, (("pods", len(pods)),), ref)


def why_lost(declared: Workload, nodes: Sequence[tuple[str, int]], ready: int, needed: int) -> Idle:
    """Why pods stop being ready with their nodes; of each its ready pods before, and how many there were in all."""
    ref, lost = declared.declared_as, sum(count for _, count in nodes)
    told = ", ".join(f"{count} on {name}" for name, count in nodes)
    says = f"takes {lost} of {ready} ready pods of {ref} out of service at once: {told}"
    most = max(count for _, count in nodes)
    change = f"run {needed + lost} pods of {ref}, {lost} more than have to be ready"
    if most > 1:
        change = _spread_them(declared, HOSTNAME, f"fewer than {most} pods of {ref} share a node")
    elif lost > 1:
        change = _spread_them(declared, ZONE, f"fewer than {lost} pods of {ref} be on nodes that fail together")
    numbers = (("lost", lost), ("ready", ready), ("most on a node", most))
    return Idle(LOST_TOGETHER, says, change, numbers, ref, (pod_field(ref, "topologySpreadConstraints"),))


def _spread_them(declared: Workload, key: str, aim: str) -> str:
    """A hard constraint where there is none, or a smaller skew where there is one."""
    own = next((one for one in declared.template.spread if one.topology_key == key), None)
    if own is None:
        return f"let {aim}: a spread over {key} with whenUnsatisfiable: DoNotSchedule"
    if not own.hard:
        return f"let {aim}: whenUnsatisfiable: DoNotSchedule in place of ScheduleAnyway for its spread over {key}"
    return f"let {aim}: a smaller maxSkew than {own.max_skew} for its spread over {key}, or more domains"


def why_no_taint(zone: str, ready: int, not_ready: int, *, all_full: bool) -> Iterator[Idle]:
    """Why nodes of a zone that are down get no NoExecute taint; nothing if they do."""
    state, total = zone_state(ready, not_ready), ready + not_ready
    told = f"{not_ready} of {total} nodes of {zone or 'the only zone'} are not ready"
    numbers = (("not ready", not_ready), ("nodes", total))
    if all_full and state == FULL:
        says = f"taints no node NoExecute: {told}, and every zone is fully down"
        yield Idle(ZONE_STOPS, says, f"bring nodes of {zone or 'the zone'} back: {told}", numbers)
    elif state == PARTIAL and total <= LARGE_CLUSTER:
        share = (
            f"{100 * not_ready // total} % >= {UNHEALTHY_FRACTION_PERCENT} %, and no more than {LARGE_CLUSTER} nodes"
        )
        change = f"bring nodes of {zone or 'the zone'} back, or delete them: {told}"
        yield Idle(ZONE_STOPS, f"taints no node NoExecute: {told} ({share})", change, numbers)
