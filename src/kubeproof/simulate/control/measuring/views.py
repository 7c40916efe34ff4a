"""What every controller sees of the current state, kept up to date step by step.

A step changes few things. Only views of what has changed are made anew, and a controller is asked again only if one of
the views that it was shown is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from random import Random

from kubeproof.cluster.loops.control import AnySeen, Decision, Loop, Seen, View, show_node_to
from kubeproof.cluster.state import NodeCell
from kubeproof.controllers.workloads.replicaset import ReplicaSetController
from kubeproof.model.by_name.state import State, node_cell, workload_cell
from kubeproof.model.plan import Plan
from kubeproof.simulate.control.chance.victims import Draw


class _Place:
    """One controller's views of the nodes of a place, counted."""

    __slots__ = ("counts", "views")

    def __init__(self, views: dict[int, View]) -> None:
        self.views = views
        self.counts: dict[View, int] = {}
        for view in views.values():
            self._add(view, 1)

    def change(self, node: int, view: View) -> bool:
        """Takes note of a node's new view; False if it is the old one."""
        old = self.views[node]
        if old == view:
            return False
        self._add(old, -1)
        self._add(view, 1)
        self.views[node] = view
        return True

    def _add(self, view: View, number: int) -> None:
        if view is None:
            return
        count = self.counts.get(view, 0) + number
        if count:
            self.counts[view] = count
        else:
            del self.counts[view]


class Onlooker:
    """One controller and what it sees; `decisions` are its answer."""

    __slots__ = ("_act", "_decisions", "_seen", "controller", "memories", "places", "workloads")

    def __init__(self, controller: Loop, plan: Plan, state: State, cells: Sequence[NodeCell], draw: Draw) -> None:
        self.controller = controller
        is_drawn = isinstance(controller, ReplicaSetController)
        self._act = partial(controller.acting, chosen=draw) if is_drawn else controller.act  # type: ignore[attr-defined]
        reads = controller.reads
        self.workloads = {w: controller.show_workload(w, workload_cell(state, w)) for w in reads.workloads}
        self.places = {
            place: _Place({n: show_node_to(controller, place, cells[n]) for n in plan.layout.places[place].nodes})
            for place in reads.places
        }
        self.memories = {m: state.memories[m] for m in reads.memories}
        self._seen: AnySeen | None = None
        self._decisions: tuple[Decision, ...] | None = None

    @property
    def seen(self) -> AnySeen:
        """What the controller is shown: equal views of a place together."""
        if self._seen is None:
            places = tuple(tuple(place.counts.items()) for place in self.places.values())
            self._seen = Seen(tuple(self.workloads.values()), places, tuple(self.memories.values()))
        return self._seen

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """What the controller may do now."""
        if self._decisions is None:
            self._decisions = tuple(dict.fromkeys(self._act(self.seen)))
        return self._decisions

    def forget(self) -> None:
        """Something that it was shown has changed."""
        self._seen = self._decisions = None

    def nodes_like(self, place: int, view: View) -> Iterator[int]:
        """The nodes that look like this."""
        return (node for node, shown in self.places[place].views.items() if shown == view)


class Views:
    """All onlookers of a plan."""

    def __init__(self, plan: Plan, state: State, rng: Random) -> None:
        self._plan = plan
        draw = Draw(rng)
        self.state = state
        self.cells: list[NodeCell] = [node_cell(node) for node in state.nodes]
        self.onlookers = tuple(Onlooker(controller, plan, state, self.cells, draw) for controller in plan.actors)
        self._by_controller = {id(one.controller): one for one in self.onlookers}
        self._place_of = {n: at for at, place in enumerate(plan.layout.places) for n in place.nodes}
        reads = [one.controller.reads for one in self.onlookers]
        self._of_place = _index([r.places for r in reads], self.onlookers, len(plan.layout.places))
        self._of_workload = _index([r.workloads for r in reads], self.onlookers, len(state.specs))
        self._of_memory = _index([r.memories for r in reads], self.onlookers, len(state.memories))

    def of(self, controller: Loop) -> Onlooker:
        """The onlooker of a controller of the plan."""
        return self._by_controller[id(controller)]

    def move(self, state: State) -> tuple[list[int], list[int]]:
        """Goes to the next state; the numbers of the nodes and workloads that have changed."""
        old, self.state = self.state, state
        nodes = _find_changed(old.nodes, state.nodes)
        workloads = sorted({*_find_changed(old.specs, state.specs), *_find_changed(old.unbound, state.unbound)})
        for node in nodes:
            self._show_node(node, state)
        for workload in workloads:
            self._show_workload(workload, state)
        for memory in _find_changed(old.memories, state.memories):
            for one in self._of_memory[memory]:
                one.memories[memory] = state.memories[memory]
                one.forget()
        return nodes, workloads

    def _show_node(self, node: int, state: State) -> None:
        self.cells[node] = cell = node_cell(state.nodes[node])
        place = self._place_of[node]
        for one in self._of_place[place]:
            if one.places[place].change(node, show_node_to(one.controller, place, cell)):
                one.forget()

    def _show_workload(self, workload: int, state: State) -> None:
        cell = workload_cell(state, workload)
        for one in self._of_workload[workload]:
            view = one.controller.show_workload(workload, cell)
            if view != one.workloads[workload]:
                one.workloads[workload] = view
                one.forget()


def _index(reads: list[tuple[int, ...]], onlookers: Sequence[Onlooker], size: int) -> list[list[Onlooker]]:
    found: list[list[Onlooker]] = [[] for _ in range(size)]
    for read, one in chain.from_iterable(
        ((number, one) for number in dict.fromkeys(numbers)) for numbers, one in zip(reads, onlookers, strict=True)
    ):
        found[read].append(one)
    return found


def _find_changed(old: Sequence[object], new: Sequence[object]) -> list[int]:
    """Where two sequences differ; a value that is the same object has not changed."""
    if old is new:
        return []
    return [at for at, (before, after) in enumerate(zip(old, new, strict=True)) if before is not after]
