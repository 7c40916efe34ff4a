"""Follows the intents of a Scenario along a run, with the monitors that `verify` uses."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.loops.control import Seen, View
from kubeproof.cluster.state import NodeCell, Nodes, present
from kubeproof.intents.facts.words import describe_found
from kubeproof.intents.monitor import FRESH, Memory, Monitor
from kubeproof.model.by_name.state import State, workload_cell
from kubeproof.model.plan import Plan


class Judge:
    """The monitors' memories, brought up to date with what a step has changed."""

    def __init__(self, plan: Plan, state: State) -> None:
        self._plan = plan
        self._place_of = {n: at for at, place in enumerate(plan.layout.places) for n in place.nodes}
        self.memories: tuple[Memory, ...] = state.observed
        self._shown: list[dict[int, View]] = [{} for _ in plan.monitors]
        self._said: list[dict[int, View]] = [{} for _ in plan.monitors]
        self.changed = True  # whether the last step changed what a monitor sees

    def move(self, state: State, cells: Sequence[NodeCell], nodes: list[int], workloads: list[int]) -> None:
        """Takes note of a state in which these nodes and workloads have changed."""
        places = {self._place_of[node] for node in nodes}
        counted: dict[int, Nodes] = {}
        memories = list(self.memories)
        self.changed = False
        for number, monitor in enumerate(self._plan.monitors):
            if self._sees_news(number, monitor, state, cells, places, workloads, counted):
                memories[number] = self._observe(number, monitor)
                self.changed = True
        self.memories = tuple(memories)

    def describe_found(self, number: int, state: State, cells: Sequence[NodeCell]) -> str:
        """The numbers that an intent compares in a state; "" if it compares none."""
        fact = self._plan.monitors[number].fact
        if fact is None:
            return ""
        said = tuple(fact.show_workload(w, workload_cell(state, w)) for w in fact.reads.workloads)
        return describe_found(
            fact, Seen(said, tuple(fact.show_nodes(p, self._count(p, cells)) for p in fact.reads.places))
        )

    def _sees_news(
        self,
        number: int,
        monitor: Monitor,
        state: State,
        cells: Sequence[NodeCell],
        places: set[int],
        workloads: list[int],
        counted: dict[int, Nodes],
    ) -> bool:
        fact = monitor.fact
        if fact is None:
            return False
        shown, said = self._shown[number], self._said[number]
        fresh = not shown and not said
        news = fresh
        for place in fact.reads.places:
            if fresh or place in places:
                if place not in counted:
                    counted[place] = self._count(place, cells)
                view = fact.show_nodes(place, counted[place])
                news |= place not in shown or shown[place] != view
                shown[place] = view
        for workload in fact.reads.workloads:
            if fresh or workload in workloads:
                view = fact.show_workload(workload, workload_cell(state, workload))
                news |= workload not in said or said[workload] != view
                said[workload] = view
        return news

    def _observe(self, number: int, monitor: Monitor) -> Memory:
        reads, shown, said = monitor.reads, self._shown[number], self._said[number]
        seen = Seen(tuple(said[w] for w in reads.workloads), tuple(shown[p] for p in reads.places))
        return monitor.observe(self.memories[number], seen) if monitor.fact else FRESH

    def _count(self, place: int, cells: Sequence[NodeCell]) -> Nodes:
        amounts: dict[NodeCell, int] = {}
        for node in self._plan.layout.places[place].nodes:
            amounts[cells[node]] = amounts.get(cells[node], 0) + 1
        return present(tuple(sorted(amounts.items())))
