"""Controllers as the engine asks them: what they see of cells, and their decisions as edits of cells."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

from kubeproof.cluster.loops.actions import (
    Action,
    Advance,
    Bind,
    Crash,
    DeleteUnbound,
    NoteCompleted,
    NoteFailed,
    Remember,
    TendJob,
    Tick,
    WorkloadAction,
)
from kubeproof.cluster.loops.control import AnySeen, Decision, Loop, Seen, View, show_node_to
from kubeproof.cluster.loops.tagging import tags_of
from kubeproof.cluster.state import NodeCell, Nodes
from kubeproof.engine.system import Effect
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.ends_in_unison import EndMatters
from kubeproof.model.reductions.starts_in_unison import Starts, check_untouched
from kubeproof.model.reductions.young_pods import Bear

UNKNOWN = object()  # no view of a node
MEMORY = "memory"  # who makes views of memories: they are shown as they are


class Slots:
    """Where things stand in the vector."""

    def __init__(self, plan: Plan, counted: Iterable[int] = ()) -> None:
        self.first_memory = 1 + len(plan.workloads)
        self.first_place = self.first_memory + len(plan.memories)
        self.first_nursery = self.first_place + len(plan.layout.places)
        self.nurseries = {workload: self.first_nursery + n for n, workload in enumerate(sorted(counted))}
        self.size = self.first_nursery + len(self.nurseries)

    def workload(self, index: int) -> int:
        return 1 + index

    def memory(self, index: int) -> int:
        return self.first_memory + index

    def place(self, index: int) -> int:
        return self.first_place + index


class GroupedActor:
    """A controller as the engine asks it."""

    def __init__(self, plan: Plan, slots: Slots, number: int, controller: Loop) -> None:
        self.controller = controller
        self._asked = hold(plan, controller)
        self.name = controller.name
        self.stage = int(controller.stage)
        self._workloads, self._places, _ = controller.reads
        self._first_place = len(self._workloads)
        self._after = self._first_place + len(self._places)  # memories come then
        self.reads = slots_read(slots, controller)
        self._slots = slots
        self._setup, self._kept = plan.setup, plan.mechanics.kept
        self._number = number
        self._node_views: dict[tuple[int, NodeCell], View] = {}
        self._of_workloads, self._of_places = f"workload {number}", f"place {number}"  # text is hashed but once

    def view(self, position: int, cell: Any) -> Hashable:
        """The controller's view of one cell; a place becomes sorted pairs of view and count."""
        if position < self._first_place:
            return self._of_workloads, self._asked.show_workload(self._workloads[position], cell)
        if position < self._after:
            return self._of_places, self._group(self._places[position - self._first_place], cell)
        return MEMORY, cell

    def _group(self, place: int, nodes: Nodes) -> tuple[tuple[View, int], ...]:
        if len(nodes) == 1:  # most often, and asked for each actor and each content
            ((cell, count),) = nodes
            view = self.node_view(place, cell)
            return () if view is None else ((view, count),)
        return _count([(self.node_view(place, cell), count) for cell, count in nodes])

    def node_view(self, place: int, cell: NodeCell) -> View:
        """The controller's view of one node."""
        key = (place, cell)
        view = self._node_views.get(key, UNKNOWN)
        if view is UNKNOWN:
            view = self._node_views[key] = self._show_node(place, cell)
        return view

    def _show_node(self, place: int, cell: NodeCell) -> View:
        return show_node_to(self._asked, place, cell)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The controller's decisions as effects."""
        return self.acting(self.see(views))

    def see(self, views: tuple[Any, ...]) -> AnySeen:
        """The views as the controller takes them."""
        shown = tuple([view for _, view in views])
        return Seen(shown[: self._first_place], shown[self._first_place : self._after], shown[self._after :])

    def acting(self, seen: AnySeen) -> tuple[Effect, ...]:
        """The controller's decisions on what it sees, as effects."""
        return tuple(self._effect(decision) for decision in self._asked.act(seen))

    def _effect(self, decision: Decision) -> Effect:
        edits = tuple(edit for action in decision.actions for edit in self._edits(action))
        return Effect(int(decision.role), tags_of(decision.actions), edits, decision)

    def _edits(self, action: Action) -> tuple[tuple[int, Hashable], ...]:
        slots = self._slots
        if isinstance(action, WorkloadAction):
            return ((slots.workload(action.workload), operation(action)),)
        if isinstance(action, Remember):
            return ((slots.memory(action.memory), operation(action)),)
        if isinstance(action, Tick):
            raise TypeError("only the clock ticks")
        on_node = (slots.place(action.node.place), operation(action, self._number))
        if isinstance(action, Advance) and action.rejected:
            noted = NoteFailed(action.workload, action.rejected)
            return (on_node, (slots.workload(action.workload), operation(noted)))
        noted_ends = tuple(self._ends(action)) if self._kept else ()
        if noted_ends:
            return (on_node, *((slots.workload(noted.workload), operation(noted)) for noted in noted_ends))
        if isinstance(action, Bind):
            taken = (slots.workload(action.workload), operation(DeleteUnbound(action.workload, 1)))
            if action.workload in slots.nurseries:
                return (taken, on_node, (slots.nurseries[action.workload], ("Bear", -1, Bear(action.workload))))
            return (taken, on_node)
        return (on_node,)

    def _ends(self, action: Action) -> Iterator[NoteCompleted | NoteFailed]:
        """What the objects of finished pods add up to, of Jobs whose pods stay listed."""
        if isinstance(action, TendJob) and action.workload in self._kept and action.succeeded:
            yield NoteCompleted(action.workload, action.succeeded)
        if isinstance(action, Crash) and action.workload in self._kept and self._fails(action.workload):
            yield NoteFailed(action.workload, 1)

    def _fails(self, workload: int) -> bool:
        """True if a pod of the Job has failed when its container has."""
        return not self._setup.workloads[workload].job.restarts


class WatchfulActor(GroupedActor):
    """A controller that also watches, place by place, pods that move in unison."""

    def __init__(self, plan: Plan, slots: Slots, number: int, controller: Loop, starts: Starts) -> None:
        super().__init__(plan, slots, number, controller)
        self._starts = starts
        self._shown = len(self.reads)
        self.reads = (*self.reads, *(slots.place(place) for place in self._places))

    def see(self, views: tuple[Any, ...]) -> AnySeen:
        """The views as the controller takes them, without those that only the actor watches."""
        return super().see(views[: self._shown])


class StartBlindActor(WatchfulActor):
    """A controller that is shown pods in unison as if they had started, and must not touch them until they have."""

    def view(self, position: int, cell: Any) -> Hashable:
        """As without the reduction, then once more per place the workloads that wait for a start."""
        if position >= self._shown:
            return self._starts.waiting(cell)
        return super().view(position, cell)

    def _show_node(self, place: int, cell: NodeCell) -> View:
        return super()._show_node(place, self._starts.settle(cell))

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The controller's decisions as effects."""
        effects = super().act(views[: self._shown])
        return check_untouched(effects, frozenset().union(*views[self._shown :]))


class EndMindfulActor(WatchfulActor):
    """A scheduler that must not have a pod to place while pods end in unison."""

    def view(self, position: int, cell: Any) -> Hashable:
        """As without the reduction, then once more per place the workloads with ending pods."""
        if position >= self._shown:
            return self._starts.ending(cell)
        return super().view(position, cell)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The scheduler's decisions as effects."""
        ending: frozenset[int] = frozenset().union(*views[self._shown :])
        _, waiting = views[0]
        if ending and waiting:
            raise EndMatters(ending)
        return super().act(views[: self._shown])


def hold(plan: Plan, controller: Loop) -> Loop:
    """The controller; in a plan that is checked, held to its footprint."""
    if not plan.is_checked:
        return controller
    from kubeproof.model.checked import Held

    return Held(plan, controller)


def operation(action: Action, actor: int = -1) -> tuple[str, int, Action]:
    """The action as an operation; its name comes first because named tuples of equal content are equal."""
    return type(action).__name__, actor, action


def slots_read(slots: Slots, controller: Loop) -> tuple[int, ...]:
    """The slots of the cells that a controller looks at, in the order of its `reads`."""
    reads = controller.reads
    return (
        *(slots.workload(w) for w in reads.workloads),
        *(slots.place(p) for p in reads.places),
        *(slots.memory(m) for m in reads.memories),
    )


def group_view(controller: Loop, place: int, nodes: Nodes) -> tuple[tuple[View, int], ...]:
    """A place as a controller sees it: sorted pairs of view and count."""
    return _count((show_node_to(controller, place, cell), count) for cell, count in nodes)


def _count(shown: Iterable[tuple[View, int]]) -> tuple[tuple[View, int], ...]:
    amounts: dict[View, int] = {}
    for view, count in shown:
        if view is not None:
            amounts[view] = amounts.get(view, 0) + count
    return _sort(amounts) if len(amounts) > 1 else tuple(amounts.items())


def _sort(amounts: dict[View, int]) -> tuple[tuple[View, int], ...]:
    """Any order serves, as long as equal amounts come in the same; most views can be compared, which is fastest."""
    try:
        return tuple(sorted(amounts.items()))
    except TypeError:
        return tuple(sorted(amounts.items(), key=_sort_key))


def _sort_key(item: tuple[View, int]) -> str:
    return repr(item[0])
