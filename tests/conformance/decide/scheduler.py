"""Our scheduler's decisions on recorded cases."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from kubeproof.cluster.kinds import REPLICA_SET
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.nodes.images import IMAGE_LOCALITY
from kubeproof.cluster.objects import Node, SchedulerProfile, Settings, Setup, Workload
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Row, Scheduler
from kubeproof.controllers.scheduler.plugins.volumes import VOLUME_BINDING
from kubeproof.controllers.scheduler.registry import SCORE_ORDER
from kubeproof.manifests.components.scheduler_config import read_scheduler_profiles
from kubeproof.manifests.kinds.nodes import read_node
from kubeproof.manifests.kinds.storage import read_claim, read_storage_class, read_volume
from kubeproof.manifests.kinds.workloads import read_pod
from kubeproof.manifests.pods.selectors import selector_of
from tests.conformance.corpus import Case, Decision, compact, version_of
from tests.conformance.objects import fields

NAMED_BY_NO_PLUGIN = "node(s) didn't satisfy plugin(s)"  # the framework's own words about nodes that PreFilter left out
Json = Any


def decide(case: Case, upstream: str) -> Decision:
    """What the scheduler says about every node, and the nodes that it may choose."""
    board = Board(case, upstream)
    scheduler, infos = board.scheduler(case["pod"]), board.infos()
    evaluation = scheduler.evaluate(infos)
    if any(row.rejected_by == "PreFilter" for row in evaluation.rows):
        return {"c": list(scheduler.choose(infos)), "e": 1}
    return {"n": [_row(row) for row in evaluation.rows], "c": list(scheduler.choose(infos))}


def decide_with_images(case: Case, upstream: str) -> Decision:
    """The same, with the score that images give in each row."""
    return _decide_with(case, upstream, IMAGE_LOCALITY)


def decide_with_volumes(case: Case, upstream: str) -> Decision:
    """The same, with the score that volumes give in each row."""
    return _decide_with(case, upstream, VOLUME_BINDING)


def _decide_with(case: Case, upstream: str, extra: str) -> Decision:
    board = Board(case, upstream)
    scheduler, infos = board.scheduler(case["pod"]), board.infos()
    rows = [_row(row, extra) for row in scheduler.evaluate(infos).rows]
    return {"n": rows, "c": list(scheduler.choose(infos))}


def decide_sequence(case: Case, upstream: str) -> Decision:
    """The nodes that may be chosen for each pod of the queue; each is bound to the first of them."""
    board = Board(case, upstream)
    steps = []
    for pod in case["queue"]:
        chosen = board.scheduler(pod).choose(board.infos())
        steps.append(list(chosen))
        if chosen:
            board.bind(pod, case["nodes"][chosen[0]]["metadata"]["name"])
    return steps


class Board:
    """A case as our model has it: pods that are alike are pods of one workload."""

    def __init__(self, case: Case, upstream: str) -> None:
        version = version_of(upstream)
        self._nodes = [_node(compact(node)) for node in case["nodes"]]
        self._unique_keys = _unique_keys(self._nodes)
        self._workloads: dict[str, int] = {}  # by kind of pod, in the setup's order
        self._counts: dict[str, dict[int, list[int]]] = {node.name: {} for node in self._nodes}
        for pod in case["pods"]:
            spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
            self.bind({"metadata": pod["metadata"], "spec": spec}, pod["spec"]["nodeName"])
        for pod in case.get("queue") or [case["pod"]]:
            self._index(pod)
        self._setup = Setup(
            nodes=tuple(self._nodes),
            workloads=tuple(_workload(kind, _selectors(case)) for kind in self._workloads),
            profiles=_profiles(compact(case["profile"]), version) if "profile" in case else (SchedulerProfile(),),
            settings=Settings(kubernetes_version=version),
            namespaces=tuple(_namespace(one) for one in case.get("namespaces", ())),
            volumes=tuple(read_volume(fields(one)) for one in case.get("volumes", ())),
            claims=tuple(read_claim(fields(one)) for one in case.get("claims", ())),
            storage_classes=tuple(read_storage_class(fields(one)) for one in case.get("classes", ())),
        )

    def _index(self, pod: Json) -> int:
        """The workload of pods like this one."""
        return self._workloads.setdefault(_kind(pod), len(self._workloads))

    def index_of(self, pod: Json) -> int:
        """The workload of a pod that is bound."""
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        return self._index({"metadata": pod["metadata"], "spec": spec})

    def bind(self, pod: Json, node: str) -> None:
        """Counts the pod on the node."""
        counts = self._counts[node].setdefault(self._index(pod), [0, 0])
        counts["deletionTimestamp" in pod["metadata"]] += 1

    def scheduler(self, pod: Json) -> Scheduler:
        """The scheduler of pods like this one."""
        return Scheduler(self._setup, self._index(pod), self._unique_keys)

    def infos(self) -> list[NodeInfo]:
        """The nodes with the pods that are bound now."""
        return [NodeInfo(node, 1, node.unschedulable, node.taints, self._pods(node.name)) for node in self._nodes]

    def _pods(self, node: str) -> tuple[PodCount, ...]:
        return tuple(PodCount(workload, *counts) for workload, counts in sorted(self._counts[node].items()))


def _row(row: Row, extra: str = "") -> Json:
    """A refusal (plugin, reason, unresolvable), scores, or 0 for the only feasible node."""
    if row.rejected_by:
        if not row.reason:
            return None
        plugin = "" if row.reason.startswith(NAMED_BY_NO_PLUGIN) else row.rejected_by
        return [plugin, ", ".join(sorted(row.reason.split(", "))), int(row.unresolvable)]
    if not row.scores:
        return 0
    scores = dict(row.scores)
    usual = [scores.get(name) for name in SCORE_ORDER if name not in (IMAGE_LOCALITY, VOLUME_BINDING)]
    return [row.total, *usual, *([scores.get(extra, 0)] if extra else ())]


def _kind(pod: Json) -> str:
    """What makes pods alike: everything but their names and whether they are being deleted."""
    metadata = pod["metadata"]
    owner = metadata["ownerReferences"][0]["name"] if "ownerReferences" in metadata else ""
    return compact([owner, metadata["namespace"], metadata["labels"], pod["spec"]])


def _workload(kind: str, selectors: dict[str, LabelSelector]) -> Workload:
    """The workload that pods of this kind are of: their ReplicaSet, or a bare pod."""
    owner, found = _read_kind(kind)
    return replace(found, kind=REPLICA_SET, selector=selectors[owner]) if owner else found


@cache
def _read_kind(kind: str) -> tuple[str, Workload]:
    owner, namespace, labels, spec = json.loads(kind)
    metadata = {"name": "p", "namespace": namespace, "labels": labels}
    return owner, read_pod(fields({"metadata": metadata, "spec": spec})).workload


@cache
def _node(text: str) -> Node:
    return read_node(fields(json.loads(text)))


def _selectors(case: Case) -> dict[str, LabelSelector]:
    """The selectors of the ReplicaSets, by name."""
    return {
        one["metadata"]["name"]: selector_of(fields(one["spec"]["selector"])) for one in case.get("replicaSets", ())
    }


@cache
def _profiles(text: str, version: tuple[int, int]) -> tuple[SchedulerProfile, ...]:
    """The profiles; 1.26 has no argument to leave preferred terms of existing pods aside."""
    found = read_scheduler_profiles(fields({"profiles": [json.loads(text)]}))
    if version >= (1, 27):
        return found
    return tuple(replace(one, ignore_preferred_of_existing=False) for one in found)


def _namespace(json: Json) -> tuple[str, tuple[tuple[str, str], ...]]:
    return json["metadata"]["name"], tuple(sorted(json["metadata"].get("labels", {}).items()))


def _unique_keys(nodes: Iterable[Node]) -> frozenset[str]:
    """The label keys whose value no two nodes share."""
    seen: dict[str, list[str]] = {}
    for node in nodes:
        for key, value in node.labels:
            seen.setdefault(key, []).append(value)
    return frozenset(key for key, values in seen.items() if len(set(values)) == len(values))
