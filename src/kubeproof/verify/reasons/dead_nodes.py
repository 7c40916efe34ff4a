"""Why pods stay on nodes that are down."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kubeproof.cluster.loops.actors import KUBELET, Actor, ActorKind
from kubeproof.cluster.nodes.places import taints_of
from kubeproof.cluster.state import Health, Phase
from kubeproof.controllers.evictions.inaction import why_pods_stay
from kubeproof.controllers.silent_nodes import why_no_end, why_not_ready
from kubeproof.model.by_name.state import node_cell
from kubeproof.verify.explained import Inaction
from kubeproof.verify.reasons.scene import Scene

WAITING = (Phase.STARTING, Phase.RUNNING, Phase.UNREADY)
TAINT_EVICTION = Actor(ActorKind.TAINT_EVICTION)


def why_stuck(scene: Scene, down: Collection[int]) -> Iterator[Inaction]:
    """Of each such node and workload: who does not confirm the end of pods, and why others are not evicted."""
    for index, node in enumerate(scene.last.nodes):
        for workload in scene.concerned if node.health in down else ():
            yield from _of_node(scene, workload, index)


def why_unready(scene: Scene) -> Iterator[Inaction]:
    """Pods on nodes that are up which are not ready."""
    is_final = scene.model.is_stable(scene.last)
    for name, node in zip(scene.model.names, scene.last.nodes, strict=True):
        for workload in scene.concerned if node.health == Health.UP else ():
            own = [pod.name for pod in node.pods if pod.workload == workload and pod.phase in WAITING]
            if own:
                ref = scene.ref(workload)
                yield scene.tell(KUBELET, why_not_ready(name, own, ref, is_final=is_final), ref)


def _of_node(scene: Scene, workload: int, index: int) -> Iterator[Inaction]:
    node, name = scene.last.nodes[index], scene.model.names[index]
    declared = scene.model.setup.workloads[workload]
    own = [pod for pod in node.pods if pod.workload == workload]
    ending = [pod.name for pod in own if pod.phase == Phase.TERMINATING]
    if ending:
        yield scene.tell(KUBELET, why_no_end(name, ending, declared.ref), declared.ref)
    clocks: dict[int, list[str]] = {}
    for pod in own:
        if pod.phase != Phase.TERMINATING:
            clocks.setdefault(pod.kind.evict_s, []).append(pod.name)
    taints = taints_of(scene.model.setup.nodes[index], node_cell(node))
    for left_s, pods in clocks.items():
        for idle in why_pods_stay(declared.ref, pods, name, declared.template.tolerations, taints, left_s):
            yield scene.tell(TAINT_EVICTION, idle, declared.ref)
