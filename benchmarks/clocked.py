"""Clusters on a clock: `python benchmarks/clocked.py [--quick]`.

CPU seconds of a simulated day: 100 pods that an autoscaler looks at every 15 s, with 1,000 requests a second served and
without any, and how they grow with pods and requests. Where none are served, a stand-in says what pods use: the rest
is the control plane.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable

from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.simulate.control.clocked import ClockedRun, RunRecord
from kubeproof.simulate.control.planning import plan_input
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.serving.contract import DataPlane, Endpoints, PodSpan, Served, ServiceSpan
from kubeproof.simulate.spreading import data_plane

DAY_S, DAY_BAR_S = 24 * 3600, 60.0
CPU_S = 0.03  # of a request


class Rhythm:
    """Uses what so many requests a second would, with a daily rhythm."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._now_s = 0.0

    def advance(self, until_s: float, endpoints: Endpoints) -> Served:
        begin_s, self._now_s = self._now_s, until_s
        slots = endpoints.services["web"]
        rate = self._rate * (1 + 0.5 * math.sin(2 * math.pi * begin_s / DAY_S))
        span = PodSpan(rate * CPU_S * (until_s - begin_s) / max(1, len(slots)), 0)
        pods = {(slot.pod, slot.birth): span for slot in slots}
        return Served(begin_s, until_s, {"web": ServiceSpan(0, 0, 0, 0, 0)}, pods)


def main() -> None:
    """Prints a line for each run."""
    parser = argparse.ArgumentParser(description="CPU seconds of clusters on a clock.")
    parser.add_argument("--quick", action="store_true", help="six minutes in place of a day")
    clocked(quick=parser.parse_args().quick)


def clocked(*, quick: bool) -> None:
    """All runs."""
    length_s = 360 if quick else DAY_S
    bar_s = None if quick else DAY_BAR_S
    hours = f"{length_s / 3600:g} h"
    measure(f"cluster, 100 pods, 1,000/s, {hours}, served", 1000.0, length_s, bar_s=bar_s, serves=True)
    for pods in (10, 100, 1000):
        measure(f"cluster, {pods:,} pods, {hours}, controllers alone", 10.0 * pods, length_s)
    for pods in (10, 100, 1000):
        measure(f"cluster, {pods:,} pods, {10 * pods:,}/s, 0.1 h, served", 10.0 * pods, 360, serves=True)


def measure(what: str, rate: float, length_s: int, *, bar_s: float | None = None, serves: bool = False) -> None:
    """Prints what one run took."""
    loaded, options = cluster(rate), SimulateOptions(duration_s=length_s)
    plane: Callable[[], DataPlane | None] = lambda: data_plane(loaded, options, 0) if serves else Rhythm(rate)  # noqa: E731
    begun = time.process_time()
    record = ClockedRun(loaded, plan_input(loaded), options, 0, plane()).run()
    spent_s = time.process_time() - begun
    met = "" if bar_s is None else f"  {'met' if spent_s <= bar_s else 'NOT MET'}: at most {bar_s:g} s"
    print(f"{what:52} {told(record)} {spent_s:8.2f} s CPU{met}", flush=True)


def told(record: RunRecord) -> str:
    """Requests, pods and steps."""
    most = max(value or 0 for value in record.timeline.of("web", "pods").values)
    return f"{record.services[0].arrived:12,} requests, at most {most:5,.0f} pods, {record.steps:8,} steps"


def cluster(rate: float) -> Loaded:
    """Nodes for what the requests need, and an autoscaler: about one pod for ten requests a second."""
    pods = max(1, round(rate / 10))
    nodes = [
        f"- {{apiVersion: v1, kind: Node, metadata: {{name: n{number}, labels: {{kubernetes.io/hostname: n{number}}}}},"
        f' status: {{allocatable: {{cpu: "16", memory: 64Gi, pods: "110"}}}}}}'
        for number in range(max(2, pods // 10))
    ]
    text = (
        INPUT.replace("NODES", "\n".join(nodes))
        .replace("PODS", str(pods))
        .replace("AMPLITUDE", f"{rate / 2:g}")
        .replace("RATE", f"{rate:g}")
    )
    return load_texts([("input.yaml", text.replace("LEAST", str(max(1, pods // 4))).replace("MOST", str(2 * pods)))])


INPUT = """
apiVersion: v1
kind: List
items:
NODES
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: PODS
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec:
        containers:
        - {name: web, image: web, resources: {requests: {cpu: 500m, memory: 64Mi}, limits: {cpu: "1"}}}
- apiVersion: autoscaling/v2
  kind: HorizontalPodAutoscaler
  metadata: {name: web}
  spec:
    scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
    minReplicas: LEAST
    maxReplicas: MOST
    metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: day}
spec:
  start: deployed
  intents: [{minReady: {target: Deployment/web, count: 1}}, {settles: {}}]
  workload:
    services:
    - target: Deployment/web
      arrivals: {sinusoid: {mean: RATE, amplitude: AMPLITUDE, period: 24h, random: true}}
      cpuPerRequest: 30m
      deadline: 1s
"""


if __name__ == "__main__":
    main()
