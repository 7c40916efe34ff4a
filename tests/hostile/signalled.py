"""Commands to interrupt, what they need, and what the contract says of how they end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

from kubeproof.cli.main import cli
from kubeproof.monitor.alarms import Alarm, Kind, to_value
from tests.unit.live.api_server import Recorded, kubeconfig, serving
from tests.unit.live.objects import shop
from tests.unit.quantify.programs import COIN
from tests.unit.verify.inputs import node, scenario, web

ROOT = Path(__file__).parents[2]
EXAMPLES, CASES = ROOT / "examples", ROOT / "src" / "kubeproof" / "cases"
COMMANDS: dict[str, tuple[str, ...]] = {  # what is verified where it stands is small; "{}" is a folder of inputs
    "verify": ("verify", "{}/web.yaml", "-o", "json"),
    "verify in words": ("verify", "{}/web.yaml", "-o", "html={}/report.html", "-o", "text"),
    "verify in every order": ("verify", "{}/web.yaml", "--no-reductions", "--engine", "python", "-o", "json"),
    "verify by the reference": ("verify", "{}/small.yaml", "--engine", "reference", "-o", "json"),
    "verify workloads one by one": ("verify", str(EXAMPLES / "07-two-namespaces"), "-o", "json"),
    "verify all sizes": ("verify", str(CASES / "c8/safe"), "--scale", "1,2", "--workers", "1", "-o", "json"),
    "verify with a checkpoint": ("verify", "{}/web.yaml", "--checkpoint", "{}/run", "--resume", "-o", "json"),
    "cases list": ("cases", "list", "-o", "json"),
    "cases show": ("cases", "show", "c8"),
    "cases run": ("cases", "run", "c2", "c8", "--workers", "1", "-o", "json"),
    "cases run, smallest": ("cases", "run", "c8", "--minimal", "-o", "json"),
    "cases esc": ("cases", "esc", "{}/incidents", "--workers", "1", "-o", "json"),
    "completion": ("completion", "bash"),
    "diff": ("diff", "{}/web.yaml", "{}/other.yaml", "-o", "json"),
    "doctor": ("doctor",),
    "explain": ("explain", "S005"),
    "fix": ("fix", str(EXAMPLES / "01-conflicting-spread"), "--proposals", "1", "-o", "json"),
    "init": ("init", "{}/web.yaml"),
    "mine": ("mine", "{}/runs", "-o", "json"),
    "monitor run": ("monitor", "run", "--rules", "{}/rules.yaml", "{}/events.jsonl"),
    "monitor run with a state": (
        *("monitor", "run", "--rules", "{}/rules.yaml", "--state", "{}/state.db", "-o", "ndjson"),
        "{}/events.jsonl",
    ),
    "monitor run of a scenario": (
        *("monitor", "run", "--scenario", "{}/web.yaml", "--audit-log", "{}/audit.log", "-o", "ndjson"),
    ),
    "monitor evaluate": ("monitor", "evaluate", "--folds", "3", "--runs", "{}/runs", "-o", "json"),
    "monitor rules": ("monitor", "rules", "{}/rules.yaml"),
    "monitor incidents": ("monitor", "incidents", "{}/alarms.ndjson", "-o", "json"),
    "monitor generate": ("monitor", "generate", "{}/run", "--clean", "3", "--faulty", "2"),
    "network verify": ("network", "verify", "{}/home.yaml", "--ltl", 'F "DELIVERED"', "-o", "json"),
    "network verify of manifests": (
        *("network", "verify", "--from-manifests", str(EXAMPLES / "10-network-policies"), "-o", "json"),
        *("--cannot-reach", "world -> Deployment/shop/web", "--can-reach", "world -> Deployment/shop/web"),
    ),
    "network rollout": ("network", "rollout", "{}/ways.yaml", "{}/new-ways.yaml", "-o", "json"),
    "network plan": ("network", "plan", "{}/ways.yaml", "{}/new-ways.yaml", "-o", "json"),
    "network updates": ("network", "updates", "{}/ways.yaml", "{}/changes.jsonl", "-o", "ndjson"),
    "network packets": ("network", "packets", "{}/devices.yaml", "--from", "pc", "-o", "json"),
    "network matrix": ("network", "matrix", str(EXAMPLES / "10-network-policies"), "-o", "json"),
    "network properties": ("network", "properties"),
    "network generate": ("network", "generate", "fattree", "--k", "4"),
    "properties list": ("properties", "list"),
    "properties show": ("properties", "show", "S005"),
    "properties classify": ("properties", "classify", "G(pending -> F running)"),
    "properties decompose": ("properties", "decompose", "G(pending -> F running)"),
    "quantify cluster": (  # with a limit Storm is asked in a process of its own, also beside other threads
        *("quantify", "cluster", str(EXAMPLES / "12-how-likely"), "--ask", "within", "--timeout", "999", "-o", "json"),
    ),
    "quantify compare": (
        *("quantify", "compare", str(EXAMPLES / "12-how-likely"), str(EXAMPLES / "12-how-likely")),
        *("--ask", "within", "--timeout", "999", "-o", "json"),
    ),
    "quantify autoscaling": (
        *("quantify", "autoscaling", "--set", "horizon=8", "--steps", "3", "--timeout", "999", "-o", "json"),
    ),
    "quantify prism": (
        *("quantify", "prism", "{}/coin.prism", "--const", "p=0.4", "-p", 'Pmax=? [F "done"]', "--timeout", "999"),
    ),
    "replay": ("replay", "{}/trace.json", "-o", "html={}/replay.html", "-o", "text"),
    "report": ("report", "{}/trace.json", "-o", "html={}/again.html", "-o", "text"),
    "tune": (
        *("tune", str(EXAMPLES / "11-simulated-shop"), "--set", "nodes=2,3", "--set", "hpa.targetCPU=60,70"),
        *("--duration", "20s", "--runs", "2", "--settings", "3", "--verify-timeout", "0", "-o", "json"),
    ),
    "simulate": ("simulate", str(EXAMPLES / "11-simulated-shop"), "--duration", "20s", "--runs", "2", "-o", "json"),
    "simulate an experiment": ("simulate", "--experiment", "abs-1", "-o", "json"),
    **{
        f"what-if {' '.join(words[:1])}": ("what-if", *words, "--on", "{}/running.yaml", "-o", "json")
        for words in (
            ("drain", "n1"),
            ("remove", "n1"),
            ("fail", "n1"),
            ("cordon", "n1"),
            ("upgrade",),
            ("apply", "-f", "{}/other-web.yaml"),
            ("scale", "web=3"),
            ("load", "+50%"),
        )
    },
    "snapshot": ("snapshot", "-A", "--kubeconfig", "{}/kubeconfig"),
}
LONG = frozenset({"simulate", "cases run", "cases run, smallest", "cases esc", "quantify cluster", "quantify compare"})
ELSEWHERE = {  # what needs Redis: tests/brokers; what serves: tests/unit/cli
    ("monitor", "work"),
    ("mcp",),
    ("admit",),
}
DEVICES = """apiVersion: kubeproof.dev/v1alpha1
kind: Devices
metadata: {name: two}
spec:
  devices:
  - {name: pc, interfaces: {eth0: 10.0.1.10/24}, routes: "default via 10.0.1.1 dev eth0\\n"}
  - {name: web, interfaces: {eth0: 10.0.1.1/24}, routes: "blackhole default\\n"}
"""
WAYS = """apiVersion: kubeproof.dev/v1alpha1
kind: Network
metadata: {name: ways}
spec:
  nodes: [a, b, c, d]
  links: [[a, b], [a, c], [b, d], [c, d]]
  traffic: [{sources: [a], destinations: [d]}]
  snapshots: [{tables: {a: [{forward: %s}], b: [{forward: d}], c: [{forward: d}]}}]
  properties: [{reach: {}}]
"""
CHANGES = '{"add": {"node": "a", "rule": {"forward": "c", "priority": 1}}}\n'
ALARM = json.dumps(to_value(Alarm("r", Kind.MISSING, "answer", "late", 0, 5, 5, incident=1), 1)) + "\n"
SCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""
RULES = """apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec: {rules: [{name: answered, followedBy: {first: ask, then: answer, within: 5s}}]}
"""


class Ending(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def leaves() -> set[tuple[str, ...]]:
    """Every command that the program has."""

    def below(group: click.Group, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if isinstance(command, click.Group):
                yield from below(command, (*words, name))
            else:
                yield (*words, name)

    return set(below(cli, ()))


def words_of(name: str, folder: Path) -> list[str]:
    """The command as it is typed."""
    return [word.replace("{}", str(folder)) for word in COMMANDS[name]]


def inputs(folder: Path) -> Iterator[None]:
    """The files that the commands need, and a cluster to read while the block runs."""
    intents = ("{minReady: {target: Deployment/shop/web, count: 2}}", "{settles: {}}", "{noEvictionLoop: {}}")
    nodes = [node(name) for name in ("n1", "n2", "n3")]
    write = {
        "web.yaml": "---\n".join([*nodes, web(2), scenario(*intents, events="{nodeFailure: {}}")]),
        "small.yaml": "---\n".join([nodes[0], web(1), scenario(*intents, events="{nodeFailure: {}}")]),
        "other.yaml": "---\n".join([*nodes, web(3), scenario(*intents, events="{nodeFailure: {}}")]),
        "running.yaml": "---\n".join([*nodes, web(2), SCALER]),
        "other-web.yaml": web(3),
        "ways.yaml": WAYS % "b",
        "new-ways.yaml": WAYS % "c",
        "changes.jsonl": CHANGES,
        "devices.yaml": DEVICES,
        "alarms.ndjson": ALARM,
        "rules.yaml": RULES,
        "events.jsonl": "".join(_events()),
        "coin.prism": COIN,
        "audit.log": "",
        "incidents/one.yaml": "---\n".join(map(Path.read_text, sorted((CASES / "c8/violating").glob("*.yaml")))),
        "runs/runs.csv": "run,label,fault_type,api_error,first_symptom_s,workload_end_s\n"
        + "".join(f"r{number},NO_FAILURE,,,,60\n" for number in range(12)),
        "runs/events.csv": "run,time,name\n"
        + "".join(f"r{n},1,ask\nr{n},{2 + n / 100},answer\nr{n},10,end\n" for n in range(12)),
    }
    for name, text in write.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    with serving(Recorded(shop(full=True))) as recorded:
        Path(kubeconfig(folder, recorded.server)).rename(folder / "kubeconfig")
        yield


def _events() -> Iterator[str]:
    for second in range(1, 300, 3):
        yield f'{{"time": {second}, "name": "ask"}}\n'
        if second != 100:
            yield f'{{"time": {second + 1}, "name": "answer"}}\n'


def check(name: str, found: Ending, whole: Ending) -> None:
    """The contract: the whole answer, or a part of it that says nothing else, with 130 or the code of a violation."""
    told = f"{name}: {found}"
    assert "Traceback" not in found.err, told
    assert "internal error" not in found.err, told
    assert "Exception ignored" not in found.err, told
    assert found.code in (130, whole.code), told
    if found.code != 130 and found.code != 1:
        return
    assert found.out or "interrupted" in found.err, told
    if "json" in COMMANDS[name] and found.out:
        _check_verdicts(found, whole, told)


def _check_verdicts(found: Ending, whole: Ending, told: str) -> None:
    part, right = _verdicts(found.out), _verdicts(whole.out)
    for name, verdict in part.items():
        assert verdict in ("UNKNOWN", right[name]) or (verdict, right[name]) == ("SAMPLED-OK", "VIOLATED"), told
    if found.code == 1:
        assert "VIOLATED" in part.values() or part == right, told


def _verdicts(text: str) -> dict[str, str]:
    """Every verdict in a document, by what it is about."""
    document = json.loads(text)
    results = document.get("results") or document.get("runs") or document.get("intents") or ()
    keys = ("case", "variant", "id", "intent", "name", "target")
    rows = [row for row in results if isinstance(row, dict)] if isinstance(results, list) else []
    return {" ".join(str(row.get(key)) for key in keys): row.get("verdict", "") for row in rows}
