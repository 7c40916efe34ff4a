"""What every state of an explored cluster holds and draws: pods, nodes, watts, ready pods; in bulk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kubeproof.cluster.objects import family
from kubeproof.cluster.state import KUBELET_LIVES, Health, NodeCell, Nodes, Phase, Work
from kubeproof.cluster.usage import (
    CPU,
    Pod,
    UsageRule,
    containers_of,
    find_shared_rule,
    memories_read,
    pod_usage,
    rules_about,
    share_of,
)
from kubeproof.model.expansion.used import usage_rules

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.cluster.objects import Node
    from kubeproof.events.declarations import Event
    from kubeproof.events.quantities import Power
    from kubeproof.quantify.clusters.space import Space

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

ROWS = 65536  # states that the store hands out at once
RUNS = (Phase.RUNNING, Phase.READY, Phase.UNREADY)


class StateValues:
    """Sums over the cells of every state."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._slots = space.system.slots
        self._places = space.plan.layout.places
        self._cells: list[Any] = space.store.cells.values
        self._rows = _rows(space)

    def pods(self) -> Floats:
        """Pods that have a node, from binding until they are gone."""
        return self._sum(lambda nodes: sum(n * sum(count for _, count in cell.pods) for cell, n in nodes))

    def nodes(self) -> Floats:
        """Nodes that are there and whose kubelet lives."""
        return self._sum(lambda nodes: sum(n for cell, n in nodes if _runs(cell)))

    def ready(self, workload: int) -> Floats:
        """Ready pods of a workload, all its revisions."""
        members = family(self._space.plan.setup, workload)
        return self._sum(lambda nodes: _count(nodes, members, (Phase.READY,)))

    def read_desired(self, workload: int) -> Ints:
        """What a workload asks for."""
        column = self._rows[:, self._slots.workload(workload)]
        return self._table(column, lambda cell: cell.desired)[column].astype(np.int64)

    def watts(self, powers: tuple[Power, ...], events: tuple[Event, ...]) -> Floats:
        """What all nodes draw together: idle, and in proportion to the CPU that their pods use."""
        rules = tuple(rule for rule in usage_rules(self._space.plan.setup, events) if rule.resource == CPU)
        read = [self._rows[:, self._slots.memory(memory)] for memory in memories_read(rules)]
        shared = tuple(sorted({rule.workload for rule in rules if rule.is_shared}))
        sharers = [self._sum(lambda nodes, w=w: _sharers(nodes, w)).astype(np.int64) for w in shared]  # type: ignore[misc]
        total = np.zeros(len(self._rows))
        for place, declared in enumerate(self._places):
            power = next((p for p in powers if p.nodes.admits(declared.sample)), None)
            if power is not None:
                own = self._rows[:, self._slots.place(place)]
                kinds, which = np.unique(np.stack((own, *read, *sharers), axis=1), axis=0, return_inverse=True)
                draws = [self._measure_power(declared.sample, power, rules, shared, kind) for kind in kinds.tolist()]
                total += np.array(draws)[which.reshape(-1)]
        return total

    def _measure_power(
        self, node: Node, power: Power, rules: tuple[UsageRule, ...], shared: tuple[int, ...], kind: list[int]
    ) -> float:
        """Watts of the nodes of one place."""
        named = memories_read(rules)
        memories = {memory: self._cells[cell] for memory, cell in zip(named, kind[1:], strict=False)}
        sharers = dict(zip(shared, kind[1 + len(named) :], strict=True))
        nodes: Nodes = self._cells[kind[0]]
        watts = 0.0
        for cell, count in nodes:
            if _runs(cell):
                used = sum(
                    n * self._use(k.workload, k.age_s, rules, memories, sharers)
                    for k, n in cell.pods
                    if k.phase in RUNS
                )
                load = min(1.0, used / node.cpu_milli) if node.cpu_milli else 0.0
                watts += count * (power.idle_w + (power.max_w - power.idle_w) * load)
        return watts

    def _use(
        self, workload: int, age_s: int, rules: tuple[UsageRule, ...], memories: dict[int, Any], sharers: dict[int, int]
    ) -> int:
        """Millicores of one running pod; a shared load is divided among all that run."""
        setup = self._space.plan.setup
        own = rules_about(rules, CPU, workload)
        pod = Pod(containers_of(setup.workloads[workload].template, setup.settings.kubernetes_version), age_s)
        load = find_shared_rule(own, memories)
        if load is None:
            return pod_usage(own, pod, CPU, memories)
        together = sum(sharers[r.workload] for r in rules if r.is_shared and r.memory == load.memory)
        return pod_usage(own, pod, CPU, memories, share_of(load, age_s, memories, together))

    def _sum(self, value: Callable[[Nodes], float]) -> Floats:
        """Per state, the sum of a value over all places."""
        total = np.zeros(len(self._rows))
        for place in range(len(self._places)):
            column = self._rows[:, self._slots.place(place)]
            total += self._table(column, value)[column]
        return total

    def _table(self, column: Ints, value: Callable[[Any], float]) -> Floats:
        """Per number of a cell its value; only those in the column are asked for."""
        table = np.zeros(len(self._cells))
        for number in np.unique(column).tolist():
            table[number] = value(self._cells[number])
        return table


def _rows(space: Space) -> Ints:
    """The numbers of the cells of every state."""
    parts = []
    for first in range(0, space.states, ROWS):
        last = min(first + ROWS, space.states)
        width, content = space.store.rows(first, last)
        parts.append(np.frombuffer(content, dtype=np.uint16 if width == 2 else np.int32).reshape(last - first, -1))
    return np.concatenate(parts).astype(np.int64)


def _runs(cell: NodeCell) -> bool:
    """True for a node that is there and not down."""
    return cell.health in KUBELET_LIVES and cell.health != Health.ABSENT and cell.work != Work.DOWN


def _count(nodes: Nodes, members: tuple[int, ...], phases: tuple[Phase, ...]) -> int:
    return sum(
        n * count for cell, n in nodes for kind, count in cell.pods if kind.workload in members and kind.phase in phases
    )


def _sharers(nodes: Nodes, workload: int) -> int:
    """Running pods of a workload, on nodes whose kubelet lives."""
    return _count(tuple((cell, n) for cell, n in nodes if cell.health in KUBELET_LIVES), (workload,), RUNS)
