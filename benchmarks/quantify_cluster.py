"""From an explored cluster to Storm: `python benchmarks/quantify_cluster.py [--quick] [--rates] [--json FILE]`.

Two nodes that fail and recover again and again, two pods: clocks of failures run side by side, which makes many
states. Measured is CPU time of this process: exploring, as `verify --without unison,por,slicing,abstraction` does it;
then weighing steps, building the matrix, and handing it over. The last line compares with the bar: a million states
are in Storm within twice the time that exploring took.

With `--rates`, clusters in continuous time: nodes that fail any number of times (MTBF 90 days, MTTR one hour), half as
many pods and a budget, all questions, growing with nodes and with the horizon. Bars: three nodes for a year 5 s, twenty
30 s, the command as a whole. The threads of the linear algebra are held at one: set before NumPy is imported.
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
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.quantify.chains.arrays import model_from_arrays
from kubeproof.quantify.chains.chain import build_chain
from kubeproof.quantify.chains.steps import effects_of, steps_of
from kubeproof.quantify.clusters.space import explore_space

FAILURES, QUICK_FAILURES = 10, 5
BAR = 2.0
INPUT = """
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
- {apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: 2
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 500m, memory: 64Mi}}}]}
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: failures}
spec:
  start: deployed
  events: [{nodeFailure: {max: FAILURES, probability: 0.001, recovery: {probability: 0.1}}}]
  intents: [{minReady: {target: Deployment/web, count: 1, when: always}}]
"""


def read(failures: int) -> Loaded:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "input.yaml"
        file.write_text(INPUT.replace("FAILURES", str(failures)), encoding="utf-8")
        return load((str(file),))


def measure(failures: int) -> dict[str, Any]:
    loaded = read(failures)
    settings = loaded.scenario.quantify
    marks = [time.process_time()]
    space = explore_space(loaded)
    marks.append(time.process_time())
    steps = steps_of(space)
    effects = effects_of(space, steps, settings.tick_s)
    marks.append(time.process_time())
    chain = build_chain(space, steps, effects, settings)
    marks.append(time.process_time())
    per_choice = np.repeat(chain.duration_s, np.diff(chain.arrays.choice_starts))
    model = model_from_arrays(replace(chain.arrays, rewards={"time": per_choice}))
    marks.append(time.process_time())
    explore_s, weigh_s, build_s, hand_over_s = np.diff(marks).tolist()
    return {
        "failures": failures,
        "states": space.states,
        "process_states": model.states,
        "choices": model.choices,
        "entries": model.transitions,
        "explore_s": explore_s,
        "weigh_s": weigh_s,
        "build_s": build_s,
        "hand_over_s": hand_over_s,
        "ratio": (weigh_s + build_s + hand_over_s) / explore_s,
    }


RATED = """
apiVersion: v1
kind: List
items:
NODES
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata: {name: web}
  spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec:
    replicas: PODS
    selector: {matchLabels: {app: web}}
    template:
      metadata: {labels: {app: web}}
      spec: {containers: [{name: web, image: web, resources: {requests: {cpu: 500m, memory: 64Mi}}}]}
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: rates}
spec:
  start: deployed
  events: [{nodeFailure: {max: unlimited, mtbf: 90d, mttr: 1h}}]
  intents: [{minReady: {target: Deployment/web, count: READY, when: always}}]
"""
NODE = "{apiVersion: v1, kind: Node, metadata: {name: nN}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '110'}}}"
RATED_BARS = {(3, "1y"): 5.0, (20, "1y"): 30.0}


def measure_rates(nodes: int, within: str) -> dict[str, Any]:
    """The command as a whole, with the least and the most that it prints for a violation."""
    pods = nodes if nodes < 5 else nodes // 2
    text = RATED.replace("NODES", "\n".join(f"- {NODE.replace('nN', f'n{n}')}" for n in range(nodes)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "input.yaml"
        file.write_text(text.replace("PODS", str(pods)).replace("READY", str(max(1, pods - 1))), encoding="utf-8")
        command = "import sys; from kubeproof.cli.main import main; sys.exit(main())"
        call = ["quantify", "cluster", str(file), "--rates", "--within", within, "-o", "json"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", command, *call], check=True, capture_output=True, env={**os.environ}, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = json.loads(done.stdout)
    chance = found["results"][0]["violated_within"]["max"]
    return {
        "nodes": nodes,
        "within": within,
        "timed_states": found["process"]["process_states"],
        "from": chance["lower"],
        "to": chance["upper"],
        "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def print_rates(quick: bool) -> list[dict[str, Any]]:
    rows = []
    for nodes in (1, 2, 3) if quick else (1, 2, 3, 5, 10, 20):
        for within in ("1y",) if quick else ("1d", "30d", "1y"):
            row = measure_rates(nodes, within)
            bar = RATED_BARS.get((nodes, within))
            met = "" if bar is None else f"  {'met' if row['cpu_s'] <= bar else 'NOT MET'}: at most {bar:g} s"
            ends = " to ".join("-" if row[end] is None else f"{row[end]:.4g}" for end in ("from", "to"))
            print(f"{nodes:3} nodes {within:>4}: {row['timed_states']:6,} states  {row['cpu_s']:6.2f} s  {ends}{met}")
            rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="From an explored cluster to Storm.")
    parser.add_argument("--quick", action="store_true", help="some ten thousand states only")
    parser.add_argument("--rates", action="store_true", help="in continuous time, over nodes and horizon")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    arguments = parser.parse_args()
    if arguments.rates:
        rows = print_rates(arguments.quick)
        if arguments.json:
            Path(arguments.json).write_text(json.dumps(rows, indent=2), encoding="utf-8")
        return
    row = measure(QUICK_FAILURES if arguments.quick else FAILURES)
    for name, value in row.items():
        print(f"{name:15} {value:,.2f}" if isinstance(value, float) else f"{name:15} {value:,}")
    met = "met    " if row["ratio"] <= BAR else "NOT MET"
    print(f"{met}  in Storm within {BAR:g} times the time of exploring: {row['ratio']:.2f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(row, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
