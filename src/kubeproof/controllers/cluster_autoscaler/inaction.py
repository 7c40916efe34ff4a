"""Why the cluster autoscaler adds no node for pods that wait, and keeps nodes that are hardly used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.inaction import Idle, Rule, Trouble
from kubeproof.controllers.cluster_autoscaler.round import AT_MAXIMUM

NO_GROUP_HELPS = Rule(
    "no-group-helps",
    "A node is added only if the group has fewer than its maximum, is healthy and not backed off, and if the scheduler "
    "would put a pod that waits on a new node made from the group's template.",
    "cluster-autoscaler/core/scaleup/orchestrator",
    (Trouble.PENDING,),
)
TOO_MANY_UNREADY = Rule(
    "too-many-unready",
    "With more than 3, and more than 45 %, of the nodes not ready the cluster autoscaler does nothing at all.",
    "cluster-autoscaler/clusterstate",
    (Trouble.PENDING,),
)
NODE_IS_KEPT = Rule(
    "node-is-kept",
    "A node is deleted only if it is used below the threshold and each of its pods may be moved and fits elsewhere: "
    "not one without a controller, with local storage (emptyDir), declared unsafe, or under a budget that is used up.",
    "cluster-autoscaler/simulator/drainability",
    (Trouble.PLACES, Trouble.REPLICAS),
)
RULES = (NO_GROUP_HELPS, TOO_MANY_UNREADY, NODE_IS_KEPT)


def why_nothing_grows(groups: Sequence[tuple[str, int, int, str]], pods: Sequence[str]) -> Iterator[Idle]:
    """Why no group grows; of each its name, nodes, maximum, and what is in the way."""
    told = "; ".join(f"{name} ({size} of at most {most}): {why}" for name, size, most, why in groups)
    at_most = [name for name, _, _, why in groups if why == AT_MAXIMUM]
    waiting = ", ".join(pods)
    change = f"add a group whose nodes would take {waiting}"
    if at_most:
        change = f"raise the maximum of {', '.join(at_most)}"
    if groups:
        says = f"adds no node for {waiting}: {told}"
        yield Idle(NO_GROUP_HELPS, says, change, tuple((name, size) for name, size, _, _ in groups))


def why_kept(nodes: Sequence[tuple[str, str]]) -> Iterator[Idle]:
    """Why nodes are not taken away; of each its name and what keeps it."""
    for name, why in nodes:
        yield Idle(NODE_IS_KEPT, f"keeps node {name}: {why}", object=f"Node/{name}")


def why_nothing_at_all(unready: int, nodes: int) -> Idle:
    """That too many nodes are not ready."""
    told = f"{unready} of {nodes} nodes are not ready"
    numbers = (("not ready", unready), ("nodes", nodes))
    return Idle(TOO_MANY_UNREADY, f"does nothing: {told}", f"bring nodes back: {told}", numbers)
