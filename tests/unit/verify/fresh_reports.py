"""Reports of inputs, each by a process that has verified nothing else.

python -m tests.unit.verify.fresh_reports NAME... writes them as one JSON document.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from kubeproof.api.verification import verify
from kubeproof.manifests.load import load, load_texts
from kubeproof.report.formats.json import document
from tests.unit.verify.inputs import node, scenario, web

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden"
CASES = (  # several with the same nodes, so that they share what schedulers and autoscalers remember
    "conflicting-spread-five-pods",
    "conflicting-spread-six-pods",
    "conflicting-spread-two-and-two",
    "cordon-after-stability",
    "cordon-then-scale-up",
    "zone-without-room-hard",
    "zone-without-room-soft",
    "daemon-pod-preempts-on-its-node",
    "two-autoscalers-fight-over-cpu",
    "autoscalers-on-different-metrics-agree",
    "a-job-completes-in-spite-of-a-failure",
    "a-deleted-dead-node-frees-its-ordinal",
    "an-ordinal-follows-its-claim",
    "packing-evictor-with-packing-scheduler",
)
EXAMPLES = ("01-conflicting-spread", "02-one-node-fails", "03-repaired-spread", "04-scale-down-breaks-spread")
SWEPT = {"swept, small nodes": "1", "swept, large nodes": "4"}  # CPUs, of which each pod takes one
GROWS = """  scale:
    nodes: [{like: n1, count: {min: 1, max: 3}}]
    workloads: [{target: Deployment/shop/web, replicas: {min: 1, max: 3}}]
"""
INPUTS = (*CASES, *EXAMPLES, *SWEPT)


def report(name: str) -> Any:
    """The JSON report of an input, without times."""
    if name in SWEPT:
        told = scenario("{settles: {}}", events="{nodeFailure: {}}") + GROWS
        text = "---\n".join([node("n1", cpu=SWEPT[name]), web(2), told])
        return _timeless(document(verify(load_texts([("in.yaml", text)]), scale=(2, 2))))
    folder = ROOT / "examples" / name if name in EXAMPLES else GOLDEN / name
    files = [str(file) for file in sorted(folder.glob("*.yaml")) if file.name != "expected.yaml"]
    return _timeless(document(verify(load(files), scale="none")))


def _timeless(value: Any) -> Any:
    """The values as JSON has them, without those that tell how long something took."""
    if isinstance(value, dict):
        return {key: _timeless(one) for key, one in value.items() if "elapsed" not in key}
    return [_timeless(one) for one in value] if isinstance(value, list | tuple) else value


def _fresh(name: str) -> Any:
    """The report by a child of this process, which itself never verifies anything."""
    source, target = os.pipe()
    if os.fork() == 0:
        with os.fdopen(target, "w") as pipe:
            json.dump(report(name), pipe)
        os._exit(0)
    os.close(target)
    with os.fdopen(source) as pipe:
        found = json.load(pipe)
    os.wait()
    return found


if __name__ == "__main__":
    json.dump({name: _fresh(name) for name in sys.argv[1:]}, sys.stdout)
