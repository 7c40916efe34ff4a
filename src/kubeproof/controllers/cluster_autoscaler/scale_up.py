"""How many nodes of which group pods without a node would need.

Mirrors `ScaleUpOrchestrator.ScaleUp` of `core/scaleup/orchestrator` and `BinpackingNodeEstimator` of `estimator`: pods
are packed onto copies of a group's template, largest first, onto the first copy that takes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from kubeproof.cluster.nodes.node_groups import NodeGroup, slot_of
from kubeproof.cluster.objects import HOSTNAME, Node, Setup
from kubeproof.controllers.cluster_autoscaler.expanders import Option, Requests
from kubeproof.controllers.cluster_autoscaler.snapshot import Counts, Pods, Simulator, World, with_pod
from kubeproof.controllers.scheduler.framework import NodeInfo


class Estimate:
    """One estimation for one group: nodes are added while pods are put on them."""

    def __init__(
        self, setup: Setup, simulator: Simulator, world: World, group: NodeGroup, daemons: Pods, most: int
    ) -> None:
        """`daemons` are the pods that every new node gets by itself."""
        self._setup = setup
        self._simulator = simulator
        self._group = group
        self._daemons = daemons
        self._most = most
        self._standing = [simulator.info(spot, count) for spot, count in world]
        self._added: list[Pods] = []
        self._used: set[int] = set()
        self._scheduled: dict[int, int] = {}

    def take(self, workload: int, count: int) -> bool:
        """Puts pods of a workload on the added nodes and on new ones; False if no more nodes may be added."""
        while count and self._on_any(workload):
            count -= 1
        for _ in range(count):
            if self._on_last(workload) or self._elsewhere(workload):
                continue
            if self._added and len(self._added) - 1 not in self._used:
                return True  # an empty node did not take it, so another one would not, either
            if len(self._added) >= self._most:
                return False
            self._added.append(self._daemons)
            if not self._on_last(workload):
                break
        return True

    def _infos(self) -> list[NodeInfo]:
        new = [new_node(self._group, number, pods) for number, pods in enumerate(self._added)]
        return [*self._standing, *new]

    def _fits(self, workload: int, number: int) -> bool:
        return self._simulator.admits(self._infos(), len(self._standing) + number, workload)

    def _on_any(self, workload: int) -> bool:
        number = next((n for n in range(len(self._added)) if self._fits(workload, n)), None)
        return number is not None and self._put(workload, number)

    def _on_last(self, workload: int) -> bool:
        last = len(self._added) - 1
        return last >= 0 and self._fits(workload, last) and self._put(workload, last)

    def _elsewhere(self, workload: int) -> bool:
        """Where a spread over host names refused the last node, any other new node may do."""
        spread = self._setup.workloads[workload].template.spread
        if not any(constraint.topology_key == HOSTNAME and constraint.hard for constraint in spread):
            return False
        return bool(self._added) and self._on_any(workload)

    def _put(self, workload: int, number: int) -> bool:
        self._added[number] = with_pod(self._added[number], workload)
        self._used.add(number)
        self._scheduled[workload] = self._scheduled.get(workload, 0) + 1
        return True

    def result(self, group: int) -> Option:
        """The nodes that got pods, and the pods."""
        return Option(group, len(self._used), tuple(sorted(self._scheduled.items())))


def by_size(workloads: Sequence[int], template: Node, requests: Mapping[int, Requests]) -> list[int]:
    """Workloads by the part of a node that a pod takes, largest first (`DecreasingPodOrderer`)."""

    def score(workload: int) -> Fraction:
        cpu, memory = requests[workload]
        return _part(cpu, template.cpu_milli) + _part(memory, template.memory_bytes)

    return sorted(workloads, key=lambda workload: (-score(workload), workload))


def _part(amount: int, capacity: int) -> Fraction:
    return Fraction(amount, capacity) if capacity else Fraction(0)


def new_node(group: NodeGroup, number: int, pods: Pods) -> NodeInfo:
    """A node that a group could grow by, under a name that no node has."""
    node = slot_of(group, f"{group.name} plus {number + 1}")
    return NodeInfo(node, 1, node.unschedulable, node.taints, pods)


def fitting_template(simulator: Simulator, world: World, group: NodeGroup, daemons: Pods, pending: Counts) -> list[int]:
    """The workloads whose pods a new node would take (`SchedulablePodGroups`)."""
    infos = [simulator.info(spot, count) for spot, count in world]
    infos.append(new_node(group, 0, daemons))
    return [workload for workload, _ in pending if simulator.admits(infos, len(infos) - 1, workload)]


def balance(groups: Sequence[NodeGroup], sizes: Sequence[int], alike: Sequence[int], nodes: int) -> dict[int, int]:
    """How many nodes each of some similar groups grows by: always the smallest (`BalanceScaleUpBetweenGroups`)."""
    grown = {group: sizes[group] for group in alike}
    for _ in range(nodes):
        open_groups = [group for group in alike if grown[group] < groups[group].most]
        if not open_groups:
            break
        smallest = min(open_groups, key=lambda group: (grown[group], alike.index(group)))
        grown[smallest] += 1
    return {group: size - sizes[group] for group, size in grown.items() if size > sizes[group]}
