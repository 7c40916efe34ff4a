"""What must not matter to a verdict: names, order and packing of documents, ways to write a quantity, strangers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kubeproof.manifests.load import load_texts
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify

ROOT = Path(__file__).resolve().parents[2]
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
Document = dict[str, Any]

# Equal quantities; which of them is written is up to the test.
CPUS = {"1": ("1", "1000m", "1.0"), "100m": ("100m", "0.1", "1e-1"), "400m": ("400m", "0.4")}
MEMORIES = {
    "1Gi": ("1Gi", "1024Mi", "1073741824", "1048576Ki"),
    "128Mi": ("128Mi", "134217728", "0.125Gi"),
}
MOST_STATES = 5000
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


@dataclass(frozen=True)
class Spelling:
    """How one and the same cluster is written: names of objects, and which of several equal quantities."""

    names: dict[str, str] = field(default_factory=dict)
    pick: int = 0

    def name(self, plain: str) -> str:
        return self.names.get(plain, plain)

    def cpu(self, amount: str) -> str:
        return CPUS[amount][self.pick % len(CPUS[amount])]

    def memory(self, amount: str) -> str:
        return MEMORIES[amount][self.pick % len(MEMORIES[amount])]


PLAIN = Spelling()
RENAMED = Spelling(
    {"n1": "zz-first", "n2": "aa-second", "n3": "mm-third", "web": "api", "db": "zcache", "shop": "a-team", "lab": "z"}
)


@dataclass(frozen=True)
class Blueprint:
    """A drawn cluster that can be written in many ways."""

    zones: tuple[str, ...]
    cpus: tuple[str, ...]
    tainted: bool
    workloads: tuple[tuple[Any, ...], ...]  # kind, namespace, name, replicas, cpu, spread (key, hard), names its node
    events: tuple[Document, ...]
    intents: tuple[tuple[Any, ...], ...]  # key, number of the workload, when, count

    def documents(self, spelling: Spelling = PLAIN) -> list[Document]:
        """The cluster in one spelling."""
        return [*self._nodes(spelling), *self._workloads(spelling), self._scenario(spelling)]

    def _nodes(self, spelling: Spelling) -> Iterator[Document]:
        for index, zone in enumerate(self.zones):
            name = spelling.name(f"n{index + 1}")
            taints = [{"key": "spot", "effect": "NoSchedule"}] if self.tainted and index == 0 else []
            yield {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {HOST: name, ZONE: zone, "pool": "main"}},
                "spec": {"taints": taints},
                "status": {
                    "allocatable": {
                        "cpu": spelling.cpu(self.cpus[index]),
                        "memory": spelling.memory("1Gi"),
                        "pods": "110",
                    }
                },
            }

    def _workloads(self, spelling: Spelling) -> Iterator[Document]:
        for kind, namespace, name, replicas, cpu, spread, names_node in self.workloads:
            pod: Document = {
                "nodeSelector": {"pool": "main"},
                "terminationGracePeriodSeconds": 0,
                "containers": [
                    {
                        "name": "main",
                        "image": "example.com/app:1",
                        "resources": {"requests": {"cpu": spelling.cpu(cpu), "memory": spelling.memory("128Mi")}},
                    }
                ],
            }
            if spread is not None:
                pod["topologySpreadConstraints"] = [
                    {
                        "maxSkew": 1,
                        "topologyKey": spread[0],
                        "whenUnsatisfiable": "DoNotSchedule" if spread[1] else "ScheduleAnyway",
                        "labelSelector": {"matchLabels": {"app": name}},
                    }
                ]
            if names_node:
                pod["nodeName"] = spelling.name("n1")
            yield workload_document(kind, spelling.name(namespace), spelling.name(name), name, replicas, pod)

    def _scenario(self, spelling: Spelling) -> Document:
        refs = [
            f"{kind}/{spelling.name(namespace)}/{spelling.name(name)}" for kind, namespace, name, *_ in self.workloads
        ]
        return {
            "apiVersion": "kubeproof.dev/v1alpha1",
            "kind": "Scenario",
            "metadata": {"name": "random"},
            "spec": {
                "controllers": {"kubelet": {"startup": "1s"}},
                "events": [_event(event, refs, spelling) for event in self.events],
                "intents": [
                    _intent(number, key, refs[of % len(refs)], when, count)
                    for number, (key, of, when, count) in enumerate(self.intents)
                ],
            },
        }


def workload_document(kind: str, namespace: str, name: str, app: str, replicas: int, pod: Document) -> Document:
    """A Deployment, ReplicaSet or Pod whose pods are labelled `app`."""
    metadata = {"name": name, "namespace": namespace}
    if kind == "Pod":
        return {"apiVersion": "v1", "kind": kind, "metadata": {**metadata, "labels": {"app": app}}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": metadata,
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": app}},
            "template": {"metadata": {"labels": {"app": app}}, "spec": pod},
        },
    }


def _event(event: Document, refs: Sequence[str], spelling: Spelling) -> Document:
    """The event with the names of its spelling put in."""
    ((key, fields),) = event.items()
    named = dict(fields)
    if "names" in named.get("nodes", {}):
        named["nodes"] = {"names": [spelling.name(name) for name in named["nodes"]["names"]]}
    if key == "scale":
        named["target"] = next((ref for ref in refs if not ref.startswith("Pod/")), None)
        if named["target"] is None:
            return {"cordon": {"nodes": {"matchLabels": {"pool": "main"}}}}
    return {key: named}


def _intent(number: int, key: str, ref: str, when: str, count: int) -> Document:
    fields: Document = {"name": f"intent-{number}"}
    if key not in ("settles",):
        fields["target"] = ref
    if key in ("minReady", "minReplicas", "maxReplicas"):
        fields |= {"when": when, "count": count}
    if key == "maxSkew":
        fields |= {"when": when, "topologyKey": ZONE, "skew": count}
    return {key: fields}


MAIN = {"matchLabels": {"pool": "main"}}
EVENTS = st.sampled_from(
    [
        {"nodeFailure": {"nodes": MAIN, "recovers": False}},
        {"nodeFailure": {"nodes": {"names": ["n1"]}, "after": "stable"}},
        {"cordon": {"nodes": MAIN, "reversible": True}},
        {"cordon": {"nodes": {"names": ["n1"]}, "after": "stable"}},
        {"scale": {"replicas": [0, 2]}},
    ]
)


@st.composite
def blueprints(draw: st.DrawFn) -> Blueprint:
    """A small cluster with one or two workloads, at most one event and a few intents."""
    zones = draw(st.sampled_from([("a",), ("a", "b"), ("a", "a"), ("a", "a", "b")]))
    events = tuple(draw(st.lists(EVENTS, max_size=1)))
    first = (
        draw(st.sampled_from(["Deployment", "ReplicaSet"])),
        "shop",
        "web",
        draw(st.integers(0, 3 if len(zones) < 3 and not events else 2)),
        draw(st.sampled_from(["100m", "400m"])),
        draw(st.sampled_from([None, (ZONE, True), (HOST, True), (ZONE, False)])),
        draw(st.sampled_from([False, False, False, True])),
    )
    second = (draw(st.sampled_from(["Pod", "ReplicaSet"])), draw(st.sampled_from(["shop", "lab"])), "db", 1, "400m")
    both = draw(st.booleans()) and not events
    whens = st.sampled_from(["always", "alwaysOnceTrue", "stable", "eventually", "eventuallyAlways"])
    keys = st.sampled_from(
        ["settles", "minReady", "minReplicas", "maxReplicas", "maxSkew", "schedulable", "noPendingForever"]
    )
    return Blueprint(
        zones,
        tuple(draw(st.sampled_from(["1", "400m"])) for _ in zones),
        draw(st.sampled_from([False, False, True])),
        (first, (*second, None, False)) if both else (first,),
        events,
        tuple(draw(st.lists(st.tuples(keys, st.integers(0, 1), whens, st.integers(1, 2)), min_size=1, max_size=4))),
    )


# -- answers ------------------------------------------------------------------------------------------

Texts = Sequence[tuple[str, str]]


def one_file(documents: Sequence[Document]) -> Texts:
    """All documents in one file; JSON is YAML."""
    return [("all.yaml", "\n---\n".join(json.dumps(document, indent=1) for document in documents))]


def many_files(documents: Sequence[Document]) -> Texts:
    return [(f"{number:02}.yaml", json.dumps(document)) for number, document in enumerate(documents)]


def one_list(documents: Sequence[Document]) -> Texts:
    """Everything but the Scenario as one List."""
    items = [document for document in documents if document["kind"] != "Scenario"]
    rest = [document for document in documents if document["kind"] == "Scenario"]
    return [("list.yaml", json.dumps({"apiVersion": "v1", "kind": "List", "items": items})), *many_files(rest)]


def verdicts(texts: Texts) -> dict[str, str]:
    """The verdict by the name of the intent."""
    return answer(texts)[0]


def answer(texts: Texts) -> tuple[dict[str, str], int, int]:
    """Verdicts, states and transitions; a search that is cut off says nothing about equality and is dropped."""
    result = verify(load_texts(texts), VerifyOptions(max_states=MOST_STATES))
    assume(not result.statistics.stopped_by)
    by_name = {one.intent: one.verdict for one in result.results}
    return by_name, result.statistics.states, result.statistics.transitions


@settings(PATIENT, max_examples=100)
@given(blueprints())
def test_names_do_not_matter(blueprint: Blueprint) -> None:
    assert answer(one_file(blueprint.documents(RENAMED))) == answer(one_file(blueprint.documents()))


@settings(PATIENT, max_examples=100)
@given(blueprints(), st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(blueprint: Blueprint, random: Any) -> None:
    documents = blueprint.documents()
    shuffled = random.sample(documents, len(documents))

    assert answer(one_file(shuffled)) == answer(one_file(documents))


@pytest.mark.parametrize("packed", [many_files, one_list])
def test_the_packing_of_documents_does_not_matter(packed: Callable[[Sequence[Document]], Texts]) -> None:
    @settings(PATIENT, max_examples=50)
    @given(blueprints())
    def check(blueprint: Blueprint) -> None:
        documents = blueprint.documents()
        assert answer(packed(documents)) == answer(one_file(documents))

    check()


@settings(PATIENT, max_examples=100)
@given(blueprints(), st.integers(1, 3))
def test_equal_quantities_give_equal_answers(blueprint: Blueprint, pick: int) -> None:
    assert answer(one_file(blueprint.documents(Spelling(pick=pick)))) == answer(one_file(blueprint.documents()))


@settings(PATIENT, max_examples=100)
@given(blueprints(), st.integers(0, 2))
def test_a_namespace_that_cannot_interact_does_not_matter(blueprint: Blueprint, replicas: int) -> None:
    has_failure = any("nodeFailure" in event for event in blueprint.events)
    # Another living node would change the state of the zones, which decides about evictions.
    strangers = stranger_documents(replicas, with_node=not has_failure)
    documents = blueprint.documents()

    assert verdicts(one_file([*strangers, *documents])) == verdicts(one_file(documents))


def stranger_documents(replicas: int, *, with_node: bool) -> list[Document]:
    """A workload of another namespace that only runs in a pool of its own, and perhaps that pool."""
    pod = {
        "nodeSelector": {"pool": "island"},
        "tolerations": [{"key": "island", "operator": "Exists"}],
        "containers": [{"name": "main", "image": "example.com/app:1"}],
    }
    island = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "island", "labels": {HOST: "island", ZONE: "c", "pool": "island"}},
        "spec": {"taints": [{"key": "island", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}},
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "faraway"}}
    stranger = workload_document("Deployment", "faraway", "web", "web", replicas, pod)
    return [namespace, *([island] if with_node else []), stranger]


# -- determinism --------------------------------------------------------------------------------------

INPUTS = ("examples/01-conflicting-spread", "examples/02-one-node-fails", "examples/06-tainted-node-loop")


@pytest.mark.parametrize("path", INPUTS)
def test_the_report_does_not_depend_on_the_hash_seed(path: str) -> None:
    reports = [_report(path, seed) for seed in ("0", "1", "4242")]

    assert reports[1] == reports[0]
    assert reports[2] == reports[0]


def _report(path: str, seed: str) -> Document:
    """The JSON report of another process, times left out."""
    command = [sys.executable, "-c", "from kubeproof.cli.main import main; main()", "verify", path, "-o", "json"]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    report: Document = json.loads(done.stdout)
    report.pop("elapsed_s")
    report["statistics"].pop("elapsed_s")
    return report
