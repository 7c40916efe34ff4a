"""What each reduction brings: `python benchmarks/reductions.py [--only NAME...] [--json FILE]`.

Every scenario is verified with all reductions, without each of them, and with none; each run is a process of its own
with a limit on time. `start` counts the states of the search for a deployed start.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubeproof.manifests.loaded import Loaded

LIMIT_S = 40.0
EVERYTHING = "symmetry,unison,por,slicing,abstraction"
WITHOUT = ("", "symmetry", "unison", "por", "slicing", "abstraction", EVERYTHING)
TITLES = {"": "all on", EVERYTHING: "all off"}

EQUAL, UNEVEN = "nodes-equal", "nodes-uneven"
MOST_RATIO = 1.5  # of the CPU time that nodes of nearly the same size take to that of equal ones

NODE = """apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, team: {team}}}}}
status: {{allocatable: {{cpu: "8", memory: {memory}, pods: "110"}}}}
"""
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      nodeSelector: {{team: {team}}}
      containers: [{{name: main, image: registry.example.com/main, resources: {{requests: {{cpu: "1", memory: 1Gi}}}}}}]
"""
SCENARIO = """apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {{name: {name}}}
spec:
  start: {start}
  events: [{events}]
  intents: [{intents}]
"""


def teams(count: int, nodes: int, replicas: int, *, start: str, events: str = "") -> str:
    """So many teams, each with nodes of its own and one Deployment, all of which must find nodes."""
    parts, intents = [], []
    for number in range(count):
        team = f"team-{number}"
        parts += [NODE.format(name=f"{team}-{node}", team=team, memory="16Gi") for node in range(nodes)]
        parts.append(DEPLOYMENT.format(name="web", namespace=team, replicas=replicas, team=team))
        intents.append(f"schedulable: {{target: Deployment/{team}/web}}")
    told = ", ".join(f"{{{intent}}}" for intent in [*intents, "settles: {}"])
    return "---\n".join([*parts, SCENARIO.format(name="teams", start=start, events=events, intents=told)])


def sharing(workloads: int, nodes: int, replicas: int) -> str:
    """So many Deployments on the same nodes, from an empty cluster."""
    parts = [NODE.format(name=f"node-{node}", team="all", memory="16Gi") for node in range(nodes)]
    names = [f"app-{chr(97 + number)}" for number in range(workloads)]
    parts += [DEPLOYMENT.format(name=name, namespace="shop", replicas=replicas, team="all") for name in names]
    intents = ", ".join(f"{{schedulable: {{target: Deployment/shop/{name}}}}}" for name in names)
    return "---\n".join([*parts, SCENARIO.format(name="sharing", start="empty", events="", intents=intents)])


def machines(nodes: int, replicas: int, *, differ_kib: int) -> str:
    """A Deployment on nodes of one machine type, whose memory differs by some KiB; one may fail."""
    sizes = [16_374_532 + 7 * node % 23 * differ_kib for node in range(nodes)]
    parts = [NODE.format(name=f"node-{n}", team="all", memory=f"{size}Ki") for n, size in enumerate(sizes)]
    parts.append(DEPLOYMENT.format(name="web", namespace="shop", replicas=replicas, team="all"))
    ready = f"minReady: {{target: Deployment/shop/web, count: {replicas}, when: eventuallyAlways}}"
    told = f"{{{ready}}}, {{settles: {{}}}}"
    events = "{nodeFailure: {max: 1}}"
    return "---\n".join([*parts, SCENARIO.format(name="machines", start="empty", events=events, intents=told)])


TEXTS = {
    EQUAL: lambda: machines(20, 20, differ_kib=0),
    UNEVEN: lambda: machines(20, 20, differ_kib=4),
    "teams-empty": lambda: teams(4, 2, 3, start="empty"),
    "teams-drained": lambda: teams(10, 10, 20, start="deployed", events="{drain: {after: stable, max: 2}}"),
    "teams-failure": lambda: teams(20, 15, 30, start="deployed", events="{nodeFailure: {max: 1}}"),
    "sharing": lambda: sharing(3, 3, 2),
}
CASES = {"c1-20": ("c1", 20), "c3-50": ("c3", 50), "c6-20": ("c6", 20), "c8-30": ("c8", 30)}


@dataclass(frozen=True, slots=True)
class Figures:
    """One run."""

    scenario: str
    without: str
    verdict: str
    states: int
    transitions: int
    start_states: int
    cpu_s: float
    memory_mib: int
    stopped_by: str


def main() -> int:
    """Runs every scenario with every choice of reductions and prints a row for each; 1 if a bar was missed."""
    parser = argparse.ArgumentParser(description="What each reduction brings.")
    parser.add_argument("--only", nargs="*", default=[*CASES, *TEXTS], choices=[*CASES, *TEXTS])
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--one", nargs=2, metavar=("SCENARIO", "WITHOUT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(asdict(measure(*arguments.one))))
        return 0
    rows = []
    print("scenario       without    verdict     states  transitions  start   CPU s    MiB")
    for scenario in arguments.only:
        for without in WITHOUT:
            rows.append(_measured_apart(scenario, without))
            print(_row(rows[-1]), flush=True)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps([asdict(row) for row in rows], indent=2), encoding="utf-8")
    return int(_misses(rows))


def _misses(rows: list[Figures]) -> bool:
    """Tells what nodes cost that differ a little; True if that is too much."""
    spent = {row.scenario: row.cpu_s for row in rows if not row.without}
    if not {EQUAL, UNEVEN} <= spent.keys():
        return False
    ratio = spent[UNEVEN] / spent[EQUAL]
    is_met = "met" if ratio <= MOST_RATIO else "NOT MET"
    print(f"20 nodes that differ by a few KiB : 20 equal ones = {ratio:.2f}; {is_met}: at most {MOST_RATIO}")
    return ratio > MOST_RATIO


def _row(row: Figures) -> str:
    numbers = f"{row.states:10,} {row.transitions:12,} {row.start_states:6,} {row.cpu_s:7.2f} {row.memory_mib:6}"
    title = TITLES.get(row.without, row.without)
    stopped = f"  stopped by {row.stopped_by}" if row.stopped_by else ""
    return f"{row.scenario:14} {title:9}  {row.verdict:8} {numbers}{stopped}"


def _measured_apart(scenario: str, without: str) -> Figures:
    command = [sys.executable, __file__, "--one", scenario, without]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=2 * LIMIT_S).stdout
    except subprocess.TimeoutExpired:
        return Figures(scenario, without, "UNKNOWN", 0, 0, 0, 0.0, 0, f"{2 * LIMIT_S:g} s without an answer")
    return Figures(**json.loads(answer))


def measure(scenario: str, without: str) -> Figures:
    """Verifies a scenario in this process."""
    import resource

    from kubeproof.verify.options import VerifyOptions
    from kubeproof.verify.run import verify

    options = VerifyOptions(without=tuple(without.split(",")) if without else (), timeout_s=LIMIT_S)
    result = verify(_loaded(scenario), options)
    used = resource.getrusage(resource.RUSAGE_SELF)
    numbers = result.statistics
    return Figures(
        scenario,
        without,
        result.verdict,
        numbers.states,
        numbers.transitions,
        numbers.start_states,
        round(used.ru_utime + used.ru_stime, 2),
        used.ru_maxrss // 1024,
        numbers.stopped_by,
    )


def _loaded(scenario: str) -> Loaded:
    from kubeproof.manifests.load import load_texts

    if scenario in TEXTS:
        return load_texts([(f"{scenario}.yaml", TEXTS[scenario]())])
    from growth import grown  # beside this file

    return grown(*CASES[scenario])


if __name__ == "__main__":
    sys.exit(main())
