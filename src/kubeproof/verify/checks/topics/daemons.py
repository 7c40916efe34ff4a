"""DaemonSets whose pods find their node full, that run nowhere, or that are replaced all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.nodes.daemons import eligibility, nodes_wanted
from kubeproof.cluster.objects import Node, Workload
from kubeproof.cluster.steering.priorities import may_preempt, priority_of
from kubeproof.controllers.scheduler.framework import Scheduler
from kubeproof.controllers.scheduler.protocol import NodeInfo, PodCount
from kubeproof.controllers.scheduler.requests import pod_requests
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.checks.declaration import INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene

_FIT = "NodeResourcesFit"
_MOST_PODS = 1_000  # put on one node, to see whether the daemon pod still fits
_SHOWN = 3


def _daemon_sets(scene: Scene) -> Iterator[tuple[int, Workload]]:
    """The DaemonSets, where the user told of the nodes."""
    for number, one in enumerate(scene.setup.workloads if not scene.loaded.assumed else ()):
        if one.rules.runs_per_node and one.owner is None:
            yield number, one


# -- nodes that others fill ---------------------------------------------------------------------------


class _Filled(NamedTuple):
    """Pods that fit a node together and leave too little for the daemon pod."""

    node: Node
    others: tuple[tuple[Workload, int], ...]


def _find_starved(scene: Scene) -> Iterator[Found]:
    """DaemonSets whose pod other pods may keep from its node, where it may preempt none of them."""
    for number, one in _daemon_sets(scene):
        filled = _find_filled(scene, number)
        if filled is None:
            continue
        pods = " and ".join(f"{count} of {other.ref}" for other, count in filled.others[:_SHOWN])
        told = f"its pod finds no room on {filled.node.name} beside {pods}, and goes before none of them"
        yield Found(one.ref, told, one.source, tuple((other.ref, other.source) for other, _ in filled.others))


def _find_filled(scene: Scene, number: int) -> _Filled | None:
    """The first node, of those that are different, that others may fill."""
    daemon = scene.setup.workloads[number]
    seen: set[Node] = set()
    for node in scene.setup.nodes:
        look = replace(node, name="", labels=tuple(pair for pair in node.labels if pair[1] != node.name))
        if look in seen or not eligibility(daemon.template, node, node.taints).should_run:
            continue
        seen.add(look)
        others = _fill(scene, number, node)
        if others:
            return _Filled(node, others)
    return None


def _fill(scene: Scene, number: int, node: Node) -> tuple[tuple[Workload, int], ...]:
    """Pods of others that the scheduler lets onto a node until it refuses the daemon pod; nothing if it never does.

    The largest come first, by one resource after the other: what is found is one way to fill the node, not all.
    """
    version = scene.setup.settings.kubernetes_version
    asked = [pod_requests(one.template, version).true for one in scene.setup.workloads]
    rivals = [other for other in range(len(asked)) if _stays(scene, number, other)]
    for resource in asked[number]:
        largest_first = sorted(rivals, key=lambda other: -asked[other].get(resource, 0))
        placed = _place(scene, number, node, largest_first)
        if placed:
            return tuple((scene.setup.workloads[other], count) for other, count in placed)
    return ()


def _stays(scene: Scene, number: int, other: int) -> bool:
    """True if pods of another workload come to nodes by the scheduler and the daemon pod does not preempt them."""
    daemon, rival = scene.setup.workloads[number], scene.setup.workloads[other]
    if (
        rival.rules.runs_per_node
        or rival.rules.runs_to_completion
        or rival.owner is not None
        or rival.template.node_name is not None
    ):
        return False
    return not may_preempt(daemon.template) or priority_of(rival.template) >= priority_of(daemon.template)


def _place(scene: Scene, number: int, node: Node, order: list[int]) -> list[tuple[int, int]]:
    schedulers = {other: Scheduler(scene.setup, other, frozenset()) for other in (number, *order)}
    empty = NodeInfo(node, 1, node.unschedulable, node.taints, ())
    counts: dict[int, int] = {}
    if schedulers[number].find_refusal([empty], 0):
        return []  # not the others' fault
    for other in order:
        for _ in range(min(scene.setup.workloads[other].replicas, _MOST_PODS)):
            pods = tuple(PodCount(index, count, 0) for index, count in sorted(counts.items()))
            if not schedulers[other].admits([empty._replace(pods=pods)], 0):
                break
            counts[other] = counts.get(other, 0) + 1
        pods = tuple(PodCount(index, count, 0) for index, count in sorted(counts.items()))
        if schedulers[number].find_refusal([empty._replace(pods=pods)], 0) == _FIT:
            return list(counts.items())
    return []


# -- nowhere, and everywhere at once ------------------------------------------------------------------


def _nowhere(scene: Scene) -> Iterator[Found]:
    for number, one in _daemon_sets(scene):
        if not nodes_wanted(scene.setup, number):
            told = (
                f"it runs on none of {len(scene.setup.nodes)} nodes: none has the labels it asks for and only taints "
            )
            yield Found(one.ref, f"{told}that it tolerates", one.source)


def _at_once(scene: Scene) -> Iterator[Found]:
    for number, one in _daemon_sets(scene):
        wanted = nodes_wanted(scene.setup, number)
        if one.strategy.rolling and wanted > 1 and one.strategy.unavailable_of(wanted) >= wanted:
            told = f"a rollout takes the pods of all {wanted} nodes away at once (maxUnavailable)"
            yield Found(one.ref, told, one.source)


CHECKS = (
    Check(
        id="K038",
        key="daemon-pod-starved",
        severity=INFO,
        title="a DaemonSet whose pod other pods may keep from its node for ever",
        explanation=(
            "A daemon pod may run on its node only. If pods of the same or a higher priority are there first, as "
            "after a drain of the other nodes or when a DaemonSet is added, or updated, later, nothing is preempted "
            "and nobody moves them. Told with pods that fit such a node together by the scheduler's own filters; "
            "found only for nodes of the input."
        ),
        remedy="Give it a priorityClassName above the others, such as system-node-critical",
        find=_find_starved,
    ),
    Check(
        id="K039",
        key="daemonset-without-nodes",
        severity=WARNING,
        title="a DaemonSet that runs on no node",
        explanation=(
            "It asks for labels that no node has, or tolerates the taints of none that has them. Its status says 0 of "
            "0, which looks complete. Found only for nodes of the input."
        ),
        remedy="Correct nodeSelector or affinity, or add the toleration",
        find=_nowhere,
    ),
    Check(
        id="K040",
        key="daemons-all-at-once",
        severity=INFO,
        title="a DaemonSet whose rollout takes the pods of all nodes away at once",
        explanation=(
            "maxUnavailable counts nodes. If it allows all of them, a new revision that does not start is noticed "
            "when no node has a daemon pod any longer. Found only for nodes of the input."
        ),
        remedy="Write a smaller maxUnavailable, such as 10%, or maxSurge: 1",
        find=_at_once,
    ),
)
