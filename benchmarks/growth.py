"""Exhaustive search of single clusters as they grow: `python benchmarks/growth.py [--nodes N...] [--json FILE]`.

Safe variants of C1, C3, C6 and C8 at 3 to 300 nodes. The cluster keeps the ratios of its case: pods per node, kinds of
nodes, and whatever else follows the pods (bounds of an autoscaler, of a property). It is written as manifests, a file
with an object for each node, and verified by the command line in a process of its own: CPU time and memory include the
start of the interpreter, reading, checks and the report, and nothing of another run.

Bars at 100 nodes: a fifth of the CPU time that Kivi (81e6c25, SPIN 6.5.2) needs for one such setup on the same kind of
machine. Kivi always takes the first of tied nodes; here every tie is followed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded

NODES = (3, 10, 20, 50, 100, 300)
BARS_S = {"c1": 12.4 / 5, "c3": 6.6 / 5, "c6": 5.1 / 5, "c8": 8.5 / 5}  # CPU seconds at 100 nodes
BAR_NODES = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """How a case grows: shares of the kinds of nodes, most pods per node, and the pods at the start."""

    kinds: tuple[tuple[str, int], ...]
    pods_per_node: int
    begun: Callable[[int], int]  # replicas at the start, by nodes; an autoscaler goes from these to the most


RULES = {
    "c1": Rule((("node-1", 1),), 2, lambda nodes: max(1, round(nodes / 3))),  # 1 replica, up to 6, on 3 nodes
    "c3": Rule((("node-a1", 2), ("node-b1", 1)), 2, lambda nodes: 2 * nodes - 1),  # 5 replicas, up to 6, on 2 and 1
    "c6": Rule((("node-1", 1),), 1, lambda nodes: nodes),  # 3 replicas on 3
    "c8": Rule((("on-demand-1", 1), ("spot-1", 2)), 2, lambda nodes: 2 * nodes),  # 6 replicas on 1 and 2
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One run."""

    case: str
    nodes: int
    pods: int
    verdict: str
    states: int
    transitions: int
    start_states: int  # of the search for a deployed start, not among `states`
    cpu_s: float
    memory_mib: int


def main() -> int:
    """Runs every size of every case and prints a row for each; 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description="Single clusters as they grow.")
    parser.add_argument("--nodes", type=int, nargs="*", default=list(NODES))
    parser.add_argument("--cases", nargs="*", default=list(RULES), choices=list(RULES))
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--one", nargs=2, metavar=("CASE", "NODES"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(asdict(measure(arguments.one[0], int(arguments.one[1])))))
        return 0
    rows = []
    print("case nodes pods  verdict    states  transitions  start   CPU s   MiB  bar")
    for case in arguments.cases:
        for nodes in arguments.nodes:
            rows.append(_measured_apart(case, nodes))
            print(_row(rows[-1]), flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([asdict(row) for row in rows], indent=2), encoding="utf-8")
    return int(any(row.verdict != "HOLDS" or _misses(row) for row in rows))


def _row(row: Figures) -> str:
    bar = ""
    if row.nodes == BAR_NODES:
        bar = f"{'NOT MET' if _misses(row) else 'met'}: at most {BARS_S[row.case]:.2f}"
    numbers = f"{row.states:9,} {row.transitions:12,} {row.start_states:6,} {row.cpu_s:7.2f} {row.memory_mib:5}"
    return f"{row.case:4} {row.nodes:5} {row.pods:4}  {row.verdict:7} {numbers}  {bar}".rstrip()


def _misses(row: Figures) -> bool:
    return row.nodes == BAR_NODES and row.cpu_s > BARS_S[row.case]


def _measured_apart(case: str, nodes: int) -> Figures:
    command = [sys.executable, __file__, "--one", case, str(nodes)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Figures(**json.loads(answer))


def measure(case: str, nodes: int) -> Figures:
    """Verifies the case with so many nodes as a user does: its manifests are read, and a report is written."""
    with TemporaryDirectory() as folder:
        for name, text in write_manifests(case, nodes).items():
            Path(folder, name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "kubeproof.cli.main", "verify", folder, "-o", "json"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(run.stdout)
    numbers = report["statistics"]
    stopped = numbers["stopped_by"]
    return Figures(
        case=case,
        nodes=nodes,
        pods=RULES[case].pods_per_node * nodes,
        verdict=f"{report['verdict']} ({stopped})" if stopped else report["verdict"],
        states=numbers["states"],
        transitions=numbers["transitions"],
        start_states=numbers["start_states"],
        cpu_s=round(used.ru_utime + used.ru_stime, 2),
        memory_mib=used.ru_maxrss // 1024,
    )


def write_manifests(case: str, nodes: int) -> dict[str, str]:
    """The manifests of the case with so many nodes, by name of the file: each node is an object of its own."""
    import yaml

    from kubeproof.cases.library import SAFE, load_case

    loaded = grown(case, nodes)
    found: dict[str, str] = {}
    for path in sorted(file for one in load_case(case, SAFE) for file in _list_files(Path(one))):
        documents = [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]
        resized = [
            *_write_nodes(documents, loaded),
            *(_resize(one, loaded) for one in documents if one["kind"] != "Node"),
        ]
        found[path.name] = yaml.safe_dump_all(resized, sort_keys=False)
    return found


def _list_files(path: Path) -> list[Path]:
    return sorted(path.glob("*.yaml")) if path.is_dir() else [path]


def _write_nodes(documents: list[dict[str, Any]], loaded: Loaded) -> Iterator[dict[str, Any]]:
    """The objects of all nodes, each after that of the node that it is like."""
    like = {one["metadata"]["name"]: one for one in documents if one["kind"] == "Node"}
    for node in loaded.setup.nodes if like else ():
        document = deepcopy(like[node.name.partition("-copy")[0]])
        document["metadata"] |= {"name": node.name, "labels": dict(node.labels)}
        yield document


def _resize(document: dict[str, Any], loaded: Loaded) -> dict[str, Any]:
    """An object with the numbers that follow the size."""
    spec, setup, scenario = document.get("spec", {}), loaded.setup, loaded.scenario
    if document["kind"] == "Deployment":
        spec["replicas"] = setup.workloads[0].replicas
    if document["kind"] == "HorizontalPodAutoscaler":
        (scaler,) = setup.autoscalers
        spec |= {"minReplicas": scaler.min_replicas, "maxReplicas": scaler.max_replicas}
    if document["kind"] == "Scenario":
        del spec["scale"]
        spec["start"] = scenario.start.mode
        for declared, intent in zip(spec["intents"], scenario.intents, strict=True):
            ((_, fields),) = declared.items()
            if intent.count is not None:
                fields["count"] = intent.count.number
    return document


def grown(case: str, nodes: int) -> Loaded:
    """The case with so many nodes: kinds in the case's shares, the last kind takes what rounding leaves."""
    from kubeproof.cases.library import SAFE, load_case
    from kubeproof.cluster.scale import Following, Term
    from kubeproof.manifests.load import load
    from kubeproof.verify.resize import Size, resize

    rule = RULES[case]
    shares = sum(share for _, share in rule.kinds)
    counts = [(name, round(nodes * share / shares)) for name, share in rule.kinds[:-1]]
    counts.append((rule.kinds[-1][0], nodes - sum(count for _, count in counts)))
    loaded = load(load_case(case, SAFE))
    assert loaded.scenario.scale is not None
    (grows,) = loaded.scenario.scale.workloads
    most = Following((Term(nodes=rule.pods_per_node),))
    scale = replace(loaded.scenario.scale, workloads=(replace(grows, autoscaler_max=most),))
    return resize(loaded, scale, Size(tuple(counts), ((grows.target, rule.begun(nodes)),)))


if __name__ == "__main__":
    sys.exit(main())
