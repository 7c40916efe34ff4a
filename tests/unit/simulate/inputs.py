"""Clusters for runs on a clock, and a data plane that does as it is told."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.control.clocked import ClockedRun, RunRecord
from kubeproof.simulate.control.planning import plan_input
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.serving.contract import Endpoints, PodSpan, Served, ServiceSpan
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB = "Deployment/shop/web"
REQUESTS = "resources: {requests: {cpu: 500m, memory: 64Mi}},"
AUTOSCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""
EXACT = "controllers: {kubelet: {startup: 2s}}"


def cluster(spec: str, *, nodes: int = 2, replicas: int = 2, objects: tuple[str, ...] = ()) -> Loaded:
    """Equal nodes and a Deployment."""
    web = deployment("web", spec=f"replicas: {replicas},", container=REQUESTS)
    return load_text(*(node(f"n{number + 1}") for number in range(nodes)), web, *objects, scenario(spec))


def run(loaded: Loaded, duration_s: int, *, seed: int = 0, plane: Steady | None = None, **options: str) -> RunRecord:
    """One run."""
    chosen = SimulateOptions(duration_s=duration_s, seed=seed, **options)  # type: ignore[arg-type]
    found = plan_input(loaded, autoscaler=chosen.autoscaler)
    return ClockedRun(loaded, found, chosen, seed, plane).run()


class Steady:
    """Serves nothing in particular; each pod uses what a function of time and pods says, in cores."""

    def __init__(self, use: Callable[[float, int], float]) -> None:
        self._use = use
        self._now_s = 0.0
        self.seen: list[Endpoints] = []

    def advance(self, until_s: float, endpoints: Endpoints) -> Served:
        begin_s, self._now_s = self._now_s, until_s
        self.seen.append(endpoints)
        pods = {}
        for slots in endpoints.services.values():
            for slot in slots:
                use = self._use(begin_s, len(slots)) if slot.is_ready else 0.0
                pods[slot.pod, slot.birth] = PodSpan(use * (until_s - begin_s), 0)
        seconds = round(until_s - begin_s)
        services = {name: ServiceSpan(seconds, seconds, 0, 0, 0) for name in endpoints.services}
        return Served(begin_s, until_s, services, pods)
