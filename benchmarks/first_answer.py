"""The first answer on ordinary manifests: `python benchmarks/first_answer.py [--services N...] [--json FILE]`.

Shops of 1, 5, 11 and 30 services without Node objects and without a Scenario, as a repository has them: Deployments of
one to three replicas, every third with an autoscaler, every second with a budget, a StatefulSet in five, a DaemonSet
and a Job beside them. Measured for `kubeproof verify` as a user starts it, a process of its own with workers: cells
decided, cells per CPU second, wall time until the first finding is told, and until the end.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

SERVICES = (1, 5, 11, 30)
BUDGET_S = 60


@dataclass(frozen=True, slots=True)
class Figures:
    """One run."""

    services: int
    cells: int
    decided: int
    findings: int
    first_finding_s: float | None  # None: nothing to find
    wall_s: float
    cpu_s: float

    @property
    def cells_per_cpu_s(self) -> float:
        return self.decided / self.cpu_s if self.cpu_s else 0.0


def shop(services: int) -> str:
    """The manifests of a shop with so many services."""
    parts = [part for number in range(services) for part in _service(number)]
    if services > 1:
        parts.append(_workload("DaemonSet", "logs", 0))
    if services > 4:
        parts.append(_job("migrate"))
    return "---\n".join(parts)


def _service(number: int) -> list[str]:
    name, replicas = f"service-{number}", 1 + number % 3
    parts = [_workload("StatefulSet" if number % 5 == 4 else "Deployment", name, replicas)]
    if number % 2 and replicas > 1:
        parts.append(_budget(name))
    if number % 3 == 2 and number % 5 != 4:
        parts.append(_autoscaler(name))
    return parts


def _workload(kind: str, name: str, replicas: int) -> str:
    size = f"  replicas: {replicas}\n" if replicas else ""
    named = f"  serviceName: {name}\n" if kind == "StatefulSet" else ""
    return f"""apiVersion: apps/v1
kind: {kind}
metadata: {{name: {name}, namespace: shop}}
spec:
{size}{named}  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
      - {{name: main, image: shop/{name}, resources: {{requests: {{cpu: 100m, memory: 128Mi}}}}}}
"""


def _budget(name: str) -> str:
    return f"""apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}, namespace: shop}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: {name}}}}}}}
"""


def _autoscaler(name: str) -> str:
    return f"""apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}, namespace: shop}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}
  minReplicas: 3
  maxReplicas: 5
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 70}}}}}}]
"""


def _job(name: str) -> str:
    return f"""apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: shop}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{{name: main, image: shop/{name}, resources: {{requests: {{cpu: 100m, memory: 64Mi}}}}}}]
"""


def measure(services: int, *, pairs: bool) -> Figures:
    with tempfile.TemporaryDirectory() as room:
        manifests = Path(room, "shop.yaml")
        manifests.write_text(shop(services), encoding="utf-8")
        return _measured(services, str(manifests), [] if pairs else ["--no-pairs"])


def _measured(services: int, path: str, flags: list[str]) -> Figures:
    command = [sys.executable, "-c", "from kubeproof.cli.main import main; raise SystemExit(main())"]
    command += ["verify", path, "-o", "json", "--timeout", str(BUDGET_S), *flags]
    before, begun = _cpu_s(), time.monotonic()
    with tempfile.TemporaryFile() as answer:
        run = subprocess.Popen(command, stdout=answer, stderr=subprocess.PIPE, env=os.environ)
        assert run.stderr is not None
        first = next((time.monotonic() - begun for line in run.stderr if b"still searching" in line), None)
        run.stderr.read()
        run.wait()
        wall_s, cpu_s = time.monotonic() - begun, _cpu_s() - before
        answer.seek(0)
        cells = json.load(answer)["matrix"]
    grades = [cell["grade"] for cell in cells]
    found = sum(grade in ("dips", "stuck") for grade in grades)
    return Figures(
        services=services,
        cells=len(cells),
        decided=sum(grade != "unknown" for grade in grades),
        findings=found,
        first_finding_s=first if first is not None else wall_s if found else None,
        wall_s=wall_s,
        cpu_s=cpu_s,
    )


def _cpu_s() -> float:
    """CPU seconds of all processes that this one has waited for, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--services", type=int, nargs="+", default=SERVICES)
    parser.add_argument("--pairs", action="store_true", help="pairs of faults, too, as far as the time goes")
    parser.add_argument("--json", help="write the figures to this file")
    chosen = parser.parse_args()
    figures = []
    print(f"{'services':>8} {'cells':>6} {'decided':>8} {'cells/s':>8} {'first':>7} {'wall':>7} {'CPU':>7}")
    for services in chosen.services:
        one = measure(services, pairs=chosen.pairs)
        first = "-" if one.first_finding_s is None else f"{one.first_finding_s:.1f} s"
        print(
            f"{services:>8} {one.cells:>6} {one.decided:>8} {one.cells_per_cpu_s:>8.1f} {first:>7} "
            f"{one.wall_s:>5.1f} s {one.cpu_s:>5.1f} s",
            flush=True,
        )
        figures.append(asdict(one))
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
