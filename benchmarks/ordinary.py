"""Ordinary clusters as they grow: `python benchmarks/ordinary.py [--rows NAME...] [--timeout S] [--json FILE]`.

What a team has: a Deployment over three zones, one with an autoscaler, a rollout while a node fails, ten services with
budgets, nodes that differ by a few KiB, and every two default faults at once. A row is a process of its own, and its
processor time that of the whole process with the start of the interpreter. A bar is met by an answer to every question
within so many seconds. The table is written as Markdown; the exit code is 1 if a bar was missed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.verify.result import Statistics, VerifyResult

WEB = "Deployment/shop/web"
TIMEOUT_S = 600.0
MEMORY_KIB = 64 << 20
MAX_RATIO = 3.0  # of the time that nodes of nearly the same size take to that of equal ones
GROWS_FROM = 30  # nodes, from which on the time may at most grow as they do
PAIR_BAR_S, PAIR_STATES = 10.0, 400_000
FAULTS = ("rollout", "nodeFailure", "nodeLoss", "drain", "upgrade", "zoneFailure", "loadPeak", "podCrash")
OPEN = ("UNKNOWN", "ERROR", "unknown")

# -- manifests ----------------------------------------------------------------------------------------

NODE = """apiVersion: v1
kind: Node
metadata:
  name: node-{number}
  labels: {{kubernetes.io/hostname: node-{number}, topology.kubernetes.io/zone: zone-{zone}}}
status: {{allocatable: {{cpu: "16", memory: {memory}Ki, pods: "110"}}}}
"""
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: main, image: registry.example.com/main, resources: {{requests: {{cpu: "1", memory: 1Gi}}}}}}]
"""
SPREAD = """      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: ScheduleAnyway
        labelSelector: {matchLabels: {app: web}}
"""
BUDGET = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}, namespace: shop}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: {name}}}}}}}
"""
AUTOSCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}, namespace: shop}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}
  minReplicas: {least}
  maxReplicas: {most}
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: {aim}}}}}}}]
"""
SCENARIO = """apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: ordinary}}
spec:
  start: deployed
  events: [{events}]
"""
LASTING = ("settles: {}", f"noPendingForever: {{target: {WEB}}}")


def _nodes(count: int, differ_kib: int = 0) -> list[str]:
    """Nodes dealt over three zones; with a difference no two are of the same size."""
    sizes = [MEMORY_KIB - number * differ_kib for number in range(count)]
    return [NODE.format(number=n, zone="abc"[n % 3], memory=size) for n, size in enumerate(sizes)]


def _scenario(events: Sequence[str], intents: Sequence[str] = ()) -> str:
    """A Scenario of these events; without intents of its own it has the usual ones."""
    asked = f"  intents: [{_listed(intents)}]\n" if intents else ""
    return SCENARIO.format(events=_listed(events)) + asked


def _listed(entries: Sequence[str]) -> str:
    return ", ".join(f"{{{entry}}}" for entry in entries)


def _ready(count: int) -> str:
    return f"minReady: {{target: {WEB}, count: {count}, when: eventuallyAlways}}"


def _joined(*parts: str) -> str:
    return "---\n".join(parts)


def spread(nodes: int) -> str:
    """Two pods a node, softly spread; a node fails and may come back."""
    web = DEPLOYMENT.format(name="web", replicas=2 * nodes) + SPREAD
    return _joined(*_nodes(nodes), web, _scenario(["nodeFailure: {}"], [*LASTING, _ready(2 * nodes)]))


def autoscaled(nodes: int) -> str:
    """A pod a node, up to two, and load that changes between four levels as often as it likes."""
    web = DEPLOYMENT.format(name="web", replicas=nodes)
    scaler = AUTOSCALER.format(name="web", least=nodes, most=2 * nodes, aim=50)
    load = f"cpuChange: {{target: {WEB}, levels: [25%, 50%, 75%, 100%], initial: 50%}}"
    lasting = [*LASTING, f"minReplicas: {{target: {WEB}, count: {nodes}}}"]
    lasting.append(f"noOscillation: {{target: {WEB}, of: replicas}}")
    return _joined(*_nodes(nodes), web, scaler, _scenario([load], lasting))


def rollout(nodes: int) -> str:
    """A pod a node with a budget; a rollout and the failure of a node at any moment."""
    web, budget = DEPLOYMENT.format(name="web", replicas=nodes), BUDGET.format(name="web")
    events = [f"rollout: {{target: {WEB}}}", "nodeFailure: {}"]
    intents = [*LASTING, f"rolloutCompletes: {{target: {WEB}}}", _ready(nodes)]
    return _joined(*_nodes(nodes), web, budget, _scenario(events, intents))


def services(nodes: int, count: int) -> str:
    """So many Deployments of three with budgets and autoscalers; a zone fails, and load changes."""
    names = [f"service-{number}" for number in range(count)]
    parts = [DEPLOYMENT.format(name=name, replicas=3) for name in names]
    parts += [BUDGET.format(name=name) for name in names]
    parts += [AUTOSCALER.format(name=name, least=3, most=6, aim=50) for name in names]
    events = ["zoneFailure: {}", "cpuChange: {levels: [50%, 100%]}"]
    lasting = ["settles: {}", "noPendingForever: {}", "minReady: {count: 3, when: eventuallyAlways}"]
    return _joined(*_nodes(nodes), *parts, _scenario(events, lasting))


def troubled(nodes: int, replicas: int) -> str:
    """A Deployment with an autoscaler up to twice its size; a failure, a drain, and load without end."""
    web = DEPLOYMENT.format(name="web", replicas=replicas)
    scaler = AUTOSCALER.format(name="web", least=replicas, most=2 * replicas, aim=80)
    load = f"cpuChange: {{target: {WEB}, levels: [40%, 120%]}}"
    return _joined(*_nodes(nodes), web, scaler, _scenario(["nodeFailure: {}", "drain: {}", load]))


def lone(nodes: int, differ_kib: int) -> str:
    """One pod without a Scenario."""
    return _joined(*_nodes(nodes, differ_kib), DEPLOYMENT.format(name="web", replicas=1))


def guarded() -> str:
    """Two pods with a budget and an autoscaler on three nodes, without a Scenario."""
    scaler = AUTOSCALER.format(name="web", least=2, most=3, aim=80)
    web, budget = DEPLOYMENT.format(name="web", replicas=2), BUDGET.format(name="web")
    return _joined(*_nodes(3), web, budget, scaler)


# -- rows ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """One question: an input with its Scenario, or without one under all faults, or under two of them."""

    name: str  # as --rows takes it, with the others of its family
    family: str
    title: str
    nodes: int
    text: Callable[[], str]
    bar_s: float | None = None
    faults: tuple[str, ...] | None = None  # None: as its Scenario says; (): each by itself


def _families() -> Iterator[Row]:
    for nodes, bar_s in ((100, None), (200, None), (1000, 10.0)):
        title = f"(i) three zones, a node fails: {nodes} nodes"
        yield Row(f"spread-{nodes}", "spread", title, nodes, lambda nodes=nodes: spread(nodes), bar_s)
    for nodes, bar_s in ((8, None), (15, None), (30, None), (100, 10.0)):
        title = f"(ii) autoscaler under load: {nodes} nodes"
        yield Row(f"autoscaled-{nodes}", "autoscaled", title, nodes, lambda nodes=nodes: autoscaled(nodes), bar_s)
    for nodes, bar_s in ((4, None), (6, None), (30, 30.0), (100, None)):
        title = f"(iv) rollout, failure, budget: {nodes} nodes"
        yield Row(f"rollout-{nodes}", "rollout", title, nodes, lambda nodes=nodes: rollout(nodes), bar_s)
    for nodes, count, bar_s in ((20, 10, 60.0), (50, 30, 300.0)):
        title = f"(v) {count} services, a zone fails: {nodes} nodes"
        yield Row(f"services-{count}", "services", title, nodes, lambda n=nodes, c=count: services(n, c), bar_s)
    for nodes, replicas, bar_s in ((2, 1, 5.0), (20, 6, 30.0)):
        title = f"autoscaler {replicas} to {2 * replicas}, failure, drain, load: {nodes} nodes"
        yield Row(f"troubled-{nodes}", "troubled", title, nodes, lambda n=nodes, r=replicas: troubled(n, r), bar_s)
    for nodes in (20, 100):
        for word, kib in (("equal", 0), ("uneven", 137)):
            title = f"one pod, each fault by itself: {nodes} {word} nodes"
            yield Row(f"{word}-{nodes}", "uneven", title, nodes, lambda n=nodes, k=kib: lone(n, k), None, ())
    for faults in combinations(FAULTS, 2):
        title = f"two faults at once: {' and '.join(faults)}"
        yield Row(f"pair-{'-'.join(faults)}", "pairs", title, 3, guarded, PAIR_BAR_S, faults)


ROWS = {row.name: row for row in _families()}


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of a row."""

    row: str
    verdicts: str = ""  # "3 HOLDS, 1 VIOLATED"; "": it did not end
    states: int = 0
    stopped_by: str = ""
    cpu_s: float = 0.0

    @property
    def is_decided(self) -> bool:
        """True if nothing is open."""
        return bool(self.verdicts) and not any(word in self.verdicts for word in OPEN)


# -- measuring ----------------------------------------------------------------------------------------


def measure(name: str, timeout_s: float) -> Figures:
    """Answers the question of a row, in this process."""
    from kubeproof.manifests.load import load_texts
    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.run import verify

    row, options = ROWS[name], VerifyOptions(timeout_s=timeout_s)
    loaded = load_texts([(f"{name}.yaml", row.text())])
    if row.faults:
        return _measure_pair(row, loaded, options.timeout_s or 0.0)
    if row.faults is None:
        result = verify(loaded, options)
        return _figures(name, [one.verdict for one in result.results], result.statistics)
    return _figures_of_matrix(name, _survey(loaded, timeout_s))


def _survey(loaded: Loaded, timeout_s: float) -> VerifyResult:
    from kubeproof.verify.executors.inprocess import InProcess
    from kubeproof.verify.matrix.options import MatrixOptions
    from kubeproof.verify.matrix.run import run_matrix
    from kubeproof.verify.options import VerifyOptions

    chosen = MatrixOptions(pairs=False, executor=InProcess())
    return run_matrix(loaded, VerifyOptions(timeout_s=timeout_s), chosen)


def _measure_pair(row: Row, loaded: Loaded, timeout_s: float) -> Figures:
    from kubeproof.verify.matrix.questions import CellQuestion
    from kubeproof.verify.matrix.solve import Solver
    from kubeproof.verify.options import VerifyOptions

    assert row.faults
    question = CellQuestion(WEB, row.faults, PAIR_STATES, timeout_s, is_thorough=True)
    graded = Solver(loaded, VerifyOptions())(question)
    return _figures(row.name, [graded.cell.grade], graded.statistics)


def _figures_of_matrix(name: str, result: VerifyResult) -> Figures:
    assert result.matrix is not None
    return _figures(name, [cell.grade for cell in result.matrix.cells], result.statistics)


def _figures(name: str, verdicts: Sequence[str], spent: Statistics) -> Figures:
    counts = Counter(map(str, verdicts))
    told = ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))
    from kubeproof.verify.words.summary import describe_stop

    ended = describe_stop(spent) if spent.stopped_by else ""
    return Figures(name, told, spent.states + spent.start_states, ended)


def _measure_apart(name: str, timeout_s: float) -> Figures:
    """The figures of a process of its own, which is ended where it does not end by itself."""
    command = [sys.executable, __file__, "--timeout", f"{timeout_s:g}", "--one", name]
    before_s = _cpu_s()
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1.5 * timeout_s + 60)
    except subprocess.TimeoutExpired:
        return Figures(name, stopped_by="no end", cpu_s=round(_cpu_s() - before_s, 2))
    cpu_s = round(_cpu_s() - before_s, 2)
    if run.returncode:
        return Figures(name, stopped_by=run.stderr.strip().splitlines()[-1], cpu_s=cpu_s)
    return Figures(**{**json.loads(run.stdout), "cpu_s": cpu_s})


def _cpu_s() -> float:
    """Processor seconds of all processes that this one has waited for, with theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# -- telling ------------------------------------------------------------------------------------------


def main() -> int:
    """Asks every row that is chosen and writes the table; 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description="Ordinary clusters as they grow.")
    known = list(dict.fromkeys([*(row.family for row in ROWS.values()), *ROWS]))
    parser.add_argument("--rows", nargs="*", default=[], choices=known, metavar="NAME", help=", ".join(known))
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S, metavar="S", help="seconds that a row may take")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--one", metavar="NAME", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(asdict(measure(chosen.one, chosen.timeout))))
        return 0
    found: dict[str, Figures] = {}
    print("| row | verdicts | states | CPU s | bar |\n|---|---|---|---|---|")
    for row in ROWS.values():
        if not chosen.rows or not {row.name, row.family}.isdisjoint(chosen.rows):
            found[row.name] = _measure_apart(row.name, chosen.timeout)
            print(_line(row, found[row.name]), flush=True)
    is_missed = [_misses(ROWS[name], figures) for name, figures in found.items()]
    is_missed += [*_compare_sizes(found), *_compare_growth(found)]
    if chosen.json:
        told = json.dumps([asdict(figures) for figures in found.values()], indent=2)
        Path(chosen.json).write_text(told + "\n", encoding="utf-8")
    return int(any(is_missed))


def _line(row: Row, figures: Figures) -> str:
    bar = "" if row.bar_s is None else f"{_met(not _misses(row, figures))}: {row.bar_s:g} s"
    verdicts = figures.verdicts or "no answer"
    if not figures.is_decided and figures.stopped_by:
        verdicts += f" ({figures.stopped_by})"
    return f"| {row.title} | {verdicts} | {figures.states:,} | {figures.cpu_s:.1f} | {bar} |"


def _misses(row: Row, figures: Figures) -> bool:
    return row.bar_s is not None and (not figures.is_decided or figures.cpu_s > row.bar_s)


def _met(is_met: bool) -> str:
    return "met" if is_met else "NOT MET"


def _compare_sizes(found: dict[str, Figures]) -> Iterator[bool]:
    """Tells what nodes cost that differ a little; true where that is too much."""
    for nodes in sorted({row.nodes for row in ROWS.values() if row.family == "uneven"}):
        equal, uneven = found.get(f"equal-{nodes}"), found.get(f"uneven-{nodes}")
        if equal and uneven:
            ratio = uneven.cpu_s / equal.cpu_s
            is_met = ratio <= MAX_RATIO and uneven.is_decided
            print(f"| {nodes} nodes that differ : equal ones | | | {ratio:.2f} | {_met(is_met)}: {MAX_RATIO:g} times |")
            yield not is_met


def _compare_growth(found: dict[str, Figures]) -> Iterator[bool]:
    """Tells how the time grows with the nodes of a family; true where it grows faster than they do."""
    for family in ("spread", "autoscaled", "rollout"):
        sizes = [row for row in ROWS.values() if row.family == family and row.nodes >= GROWS_FROM and row.name in found]
        for small, large in pairwise(sizes):
            nodes, spent = large.nodes / small.nodes, found[large.name].cpu_s / found[small.name].cpu_s
            is_met = spent <= nodes and found[large.name].is_decided
            told = f"{family}, {small.nodes} to {large.nodes} nodes: {nodes:.1f} times the nodes"
            print(f"| {told} | | | {spent:.1f} times | {_met(is_met)}: at most linear |")
            yield not is_met


if __name__ == "__main__":
    sys.exit(main())
