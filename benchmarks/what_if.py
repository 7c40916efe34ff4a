"""What-if questions on a large running cluster: `python benchmarks/what_if.py [--nodes N] [--pods N] [--json FILE]`.

A snapshot of 1,000 nodes and 10,000 pods: Deployments of ten pods, some of three and of one, every second with a budget
that lets one go, nodes in three zones, pods wherever a shuffle puts them. Measured is a process of its own, reading
included, in seconds of the processor: `drain` of a node, and `upgrade` of all. Exit code 1 beyond the thresholds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MOST_CPU_S = {"drain": 10.0, "upgrade": 60.0}
SIZES = (10, 10, 10, 3, 1)  # replicas, in turn
Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Figures:
    """One question."""

    question: str
    sentence: str
    cpu_s: float
    peak_mib: float
    grades: dict[str, int]


def snapshot(nodes: int, pods: int) -> Iterator[Plain]:
    """The objects of the cluster."""
    rng, order, placed = random.Random(7), list(range(nodes)), 0
    for number in range(nodes):
        yield _node(number)
    service = 0
    while placed < pods:
        replicas = min(SIZES[service % len(SIZES)], pods - placed)
        yield from _service(service, replicas)
        for _ in range(replicas):
            if placed % nodes == 0:
                rng.shuffle(order)
            yield _pod(service, placed, order[placed % nodes])
            placed += 1
        service += 1


def _node(number: int) -> Plain:
    labels = {"kubernetes.io/hostname": f"node-{number}", "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    return {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{number}", "labels": labels},
        "status": {"allocatable": {"cpu": "8", "memory": "32Gi", "pods": "110"}},
    }  # fmt: skip


def _template(service: int) -> Plain:
    requests = {"cpu": "250m", "memory": "512Mi"}
    return {
        "metadata": {"labels": {"app": f"service-{service}"}},
        "spec": {
            "containers": [{"name": "main", "image": "registry.example/app:1", "resources": {"requests": requests}}]
        },
    }


def _meta(service: int, name: str) -> Plain:
    return {"name": name, "namespace": f"team-{service % 20}"}


def _service(service: int, replicas: int) -> Iterator[Plain]:
    name, selector = f"service-{service}", {"matchLabels": {"app": f"service-{service}"}}
    spec = {"replicas": replicas, "selector": selector, "template": _template(service)}
    yield {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": _meta(service, name), "spec": spec}
    if service % 2 == 0 and replicas > 1:
        rule = {"maxUnavailable": 1, "selector": selector}
        yield {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": _meta(service, name), "spec": rule,
        }  # fmt: skip


def _pod(service: int, number: int, node: int) -> Plain:
    template = _template(service)
    owner = {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"service-{service}-5d4f", "uid": str(service),
        "controller": True,
    }  # fmt: skip
    labels = {**template["metadata"]["labels"], "pod-template-hash": "5d4f"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            **_meta(service, f"service-{service}-5d4f-{number}"), "labels": labels, "ownerReferences": [owner],
        },
        "spec": {**template["spec"], "nodeName": f"node-{node}"},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }  # fmt: skip


def write_snapshot(file: Path, nodes: int, pods: int) -> None:
    """The cluster as `kubeproof snapshot` writes it: an object per document."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    with file.open("w", encoding="utf-8") as out:
        for one in snapshot(nodes, pods):
            out.write("---\n")
            yaml.dump(one, out, Dumper=dumper, sort_keys=False)


def measure(question: list[str], file: Path) -> Figures:
    """One question in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "kubeproof.cli.main", "what-if", *question, "--on", str(file), "-o", "json"]
    done = subprocess.run([*words, "--progress", "never", "--timeout", "600"], capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(done.stderr.decode())
    answer = json.loads(done.stdout)
    grades: dict[str, int] = {}
    for one in answer["workloads"]:
        grades[one["grade"]] = grades.get(one["grade"], 0) + 1
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Figures(" ".join(question), answer["sentence"], round(cpu_s, 2), round(after.ru_maxrss / 1024, 1), grades)


def main() -> int:
    """Measures and tells; exit code 1 beyond a threshold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "snap.yaml"
        write_snapshot(file, given.nodes, given.pods)
        size = os.path.getsize(file) / 2**20
        print(f"{given.nodes:,} nodes, {given.pods:,} pods, {size:.1f} MiB")
        found = [measure(["drain", "node-7"], file), measure(["upgrade"], file)]
    for one in found:
        print(f"{one.question:<14} {one.cpu_s:7.2f} CPU s  {one.peak_mib:7.1f} MiB  {one.grades}\n  {one.sentence}")
    if given.json is not None:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=2) + "\n", encoding="utf-8")
    return int(any(one.cpu_s > MOST_CPU_S[one.question.split()[0]] for one in found))


if __name__ == "__main__":
    sys.exit(main())
