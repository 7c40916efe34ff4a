"""Why traffic goes to pods that were told to stop, or to some pods more than to others."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.services import is_stopped, select_by, splits_by_node
from kubeproof.cluster.state import NEVER, Phase
from kubeproof.verify.explained import Inaction
from kubeproof.verify.reasons.scene import Scene

PROXIES = Actor(ActorKind.OTHER, "proxies")


def why_routed(scene: Scene) -> Iterator[Inaction]:
    """Why pods that were told to stop get traffic."""
    from kubeproof.controllers.traffic_inaction import why_still_routed

    for node in scene.last.nodes:
        for pod in node.pods:
            if pod.workload in scene.concerned and is_stopped(pod.kind) and pod.kind.route_s != NEVER:
                declared = scene.model.setup.workloads[pod.workload]
                yield scene.tell(PROXIES, why_still_routed(declared, pod.name, pod.kind.route_s), declared.ref)


def why_shared(scene: Scene) -> Iterator[Inaction]:
    """Why ready pods get different loads; nothing unless the intent is about loads."""
    if not scene.monitor.intent.skew or scene.monitor.intent.topology_key:
        return
    if not splits_by_node(scene.model.setup, scene.concerned):
        return
    from kubeproof.controllers.traffic_inaction import why_uneven

    for service in scene.model.setup.services:
        chosen = set(select_by(scene.model.setup, service)) if service.is_split_by_node else set()
        if chosen & set(scene.concerned):
            counts = [
                (name, sum(pod.workload in chosen and pod.phase == Phase.READY for pod in node.pods))
                for name, node in zip(scene.model.names, scene.last.nodes, strict=True)
            ]
            for idle in why_uneven(service, [(name, count) for name, count in counts if count]):
                yield scene.tell(PROXIES, idle, f"Service/{service.namespace}/{service.name}")
