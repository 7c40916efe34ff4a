"""What our descheduler may evict in a recorded case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from kubeproof.cluster.objects import Node, Settings, Setup, Workload
from kubeproof.cluster.steering.policies import DeschedulerPolicy
from kubeproof.controllers.descheduler import NodeEntry, Outcome, PodGroup, Version, evictions
from kubeproof.controllers.descheduler.cycle import BALANCE, DESCHEDULE, PLUGINS
from kubeproof.manifests.components.descheduler_policy import read_descheduler_policy
from kubeproof.manifests.kinds.nodes import read_node
from kubeproof.manifests.kinds.workloads import read_replica_set
from tests.conformance.corpus import Case, Decision, version_of
from tests.conformance.inputs.descheduler import EVICTOR, OLD_S
from tests.conformance.objects import fields

SPREAD = "RemovePodsViolatingTopologySpreadConstraint"
SEVERAL = "more outcomes with several spread constraints"
DIFFERENCES = (
    (
        SEVERAL,
        "all constraints of a namespace go through one list of pods, whose order is random; our model lets each "
        "constraint draw nodes anew, so it has every outcome of upstream and a few that upstream cannot have",
    ),
)
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def decide(case: Case, upstream: str) -> Decision:
    """All outcomes of a cycle, sorted: one digit a group of pods, zeros at the end left out."""
    version = version_of(upstream)
    given = setup(case, version)
    entries, numbers, unbound = grouped(case, given.nodes)
    unique = unique_keys(given.nodes)
    outcomes = evictions(given, policy(case, version), entries, version, unique, unbound=tuple(unbound.items()))
    return sorted({_written(outcome, numbers, len(case["pods"])) for outcome in outcomes})


def unique_keys(nodes: tuple[Node, ...]) -> frozenset[str]:
    """The labels whose value no two nodes share, which runs know, too."""
    values: dict[str, list[str]] = {}
    for node in nodes:
        for key, value in node.labels:
            values.setdefault(key, []).append(value)
    return frozenset(key for key, found in values.items() if len(set(found)) == len(found))


def unseen(case: Case, upstream: str, recorded: Decision, ours: Decision) -> str | None:
    """Names outcomes that only we have, where they are known; a recorded one that we lack is never explained."""
    templates = (workload["template"]["spec"] for workload in case["workloads"])
    constraints = sum(len(spec.get("topologySpreadConstraints", ())) for spec in templates)
    is_spread = any(name == SPREAD for plugins in case["profiles"] for name, _ in plugins)
    return SEVERAL if constraints > 1 and is_spread and set(recorded) < set(ours) else None


def setup(case: Case, version: Version) -> Setup:
    """The case's nodes and workloads."""
    return Setup(
        nodes=tuple(_once(_NODES, node, _node) for node in case["nodes"]),
        workloads=tuple(_once(_WORKLOADS, workload, _workload) for workload in case["workloads"]),
        settings=Settings(descheduler_version=version),
    )


def grouped(case: Case, nodes: tuple[Node, ...]) -> tuple[tuple[NodeEntry, ...], list[list[int]], dict[int, int]]:
    """Each node with its pods, the numbers of its groups in the case, and pods without a node by workload."""
    numbers: list[list[int]] = [[] for _ in case["nodes"]]
    unbound: dict[int, int] = {}
    for number, (workload, node, count, *_) in enumerate(case["pods"]):
        if node < 0:
            unbound[workload] = unbound.get(workload, 0) + count
        else:
            numbers[node].append(number)
    entries = []
    for given, node, own in zip(case["nodes"], nodes, numbers, strict=True):
        pods = tuple(_group(case["pods"][number]) for number in own)
        is_ready = not any(one["type"] == "Ready" for one in given["status"].get("conditions", ()))
        entries.append(NodeEntry(node, 1, is_ready, node.unschedulable, node.taints, pods))
    return tuple(entries), numbers, unbound


def _group(given: list[Any]) -> PodGroup:
    defaults: list[Any] = ["", 0, OLD_S]
    workload, _, count, state, restarts, age = [*given, *defaults[len(given) - 3 :]]
    return PodGroup(workload, count, "t" in state, "f" in state, age, restarts, ready=True)


# What was read, by its text: many cases have the same nodes, and both versions the same workloads.
_NODES: dict[str, Node] = {}
_WORKLOADS: dict[str, Workload] = {}

Read = TypeVar("Read")


def _once(known: dict[str, Read], given: dict[str, Any], read: Callable[[dict[str, Any]], Read]) -> Read:
    text = repr(given)
    if text not in known:
        known[text] = read(given)
    return known[text]


def _node(given: dict[str, Any]) -> Node:
    return read_node(fields({"apiVersion": "v1", "kind": "Node", **given}))


def _workload(given: dict[str, Any]) -> Workload:
    """Any kind of owner has a template like a ReplicaSet's."""
    document = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": given["name"], "namespace": given["namespace"]},
        "spec": {"selector": {"matchLabels": given["template"]["metadata"]["labels"]}, "template": given["template"]},
    }
    return replace(read_replica_set(fields(document)).workload, kind=given["kind"])


def policy(case: Case, version: Version) -> DeschedulerPolicy:
    """The policy as its file would state it to that version."""
    additions = case.get("older" if version == (0, 27) else "newer", {})
    document = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [_profile(f"p{n}", plugins, additions) for n, plugins in enumerate(case["profiles"])],
        **case.get("policy", {}),
        **additions.get("policy", {}),
    }
    return read_descheduler_policy(fields(document))


def _profile(name: str, plugins: list[Any], additions: dict[str, Any]) -> dict[str, Any]:
    points: dict[str, list[str]] = {DESCHEDULE: [], BALANCE: []}
    for plugin, _ in plugins:
        if plugin != EVICTOR:
            points[PLUGINS[plugin].point].append(plugin)
    return {
        "name": name,
        "pluginConfig": [{"name": plugin, "args": args | additions.get(plugin, {})} for plugin, args in plugins],
        "plugins": {point: {"enabled": enabled} for point, enabled in points.items()},
    }


def _written(outcome: Outcome, numbers: list[list[int]], groups: int) -> str:
    lost = ["0"] * groups
    for loss in outcome:
        for group, pods in loss.losses:
            lost[numbers[loss.entry][group]] = DIGITS[pods]
    return "".join(lost).rstrip("0")
