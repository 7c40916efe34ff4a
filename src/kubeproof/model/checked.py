"""Holds loops, events and facts to their footprints while they run: with `--check-controllers`, and in every test.

A view of a node must not change when pods start, or when terminating ones are gone, unless the footprint says that
they are told apart; a decision must do no more than it says. What is read of labels is checked where they are read
(`kubeproof.cluster.labels`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kubeproof.cluster.loops.actions import (
    Action,
    CreateObject,
    Delete,
    DeleteObject,
    EvictDue,
    SetDesired,
    SetTemplate,
)
from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.control import AnySeen, Decision, Groups, Loop, Reads, Seen, View, as_periodic
from kubeproof.cluster.loops.effects import clocks_of, find_writes, losers
from kubeproof.cluster.loops.footprint import (
    EVERYTHING,
    Among,
    Clocks,
    Deletes,
    Footprint,
    Sizing,
    Workloads,
    Writes,
    footprint_of,
)
from kubeproof.cluster.objects import family
from kubeproof.cluster.state import NEVER, NodeCell, Nodes, Phase, PodKind, WorkloadCell, add_pods
from kubeproof.errors import FootprintError
from kubeproof.events.common import EventSource
from kubeproof.events.declarations import Event
from kubeproof.intents.views import AnyFact, spare_of
from kubeproof.model.plan import Plan

STARTING = (Phase.STARTING, Phase.RUNNING)
BY_OWN_PODS = (Among.BY_ITSELF, Among.RETRYING, Among.IN_ROUNDS)  # what others do to a loop is no matter of their pods
OF_OBJECTS = (SetDesired, SetTemplate, CreateObject, DeleteObject)


class Held:
    """A controller that is held to what it says of itself."""

    def __init__(self, plan: Plan, controller: Loop) -> None:
        self._controller, self._plan = controller, plan
        self._footprint = footprint_of(controller)
        own = getattr(controller, "workload", None) if controller in plan.controllers else None
        self._own = frozenset() if own is None else frozenset(family(plan.setup, own))
        source = getattr(controller, "source", None)
        self._event = source.event if isinstance(source, EventSource) else None
        self._sleeps = self._footprint.wakes_on != EVERYTHING and not any(one is controller for one, _ in plan.awake)
        layout = getattr(controller if self._event is None else source, "layout", None)
        self._require(layout is None or layout.is_shown, "is shown nodes with all that they have")
        if as_periodic(controller) is not None:
            self._require(Clocks.PERIOD in self._footprint.clocks, "has a period")
        footprint = self._footprint
        self._known = (
            footprint.tells_starts | footprint.chooses_by_start | footprint.tells_ends | footprint.chooses_by_end
        )
        self._cells: dict[tuple[int, View], NodeCell] = {}  # what each view was last made of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._controller, name)

    @property
    def name(self) -> Actor:
        return self._controller.name

    @property
    def stage(self) -> int:
        return self._controller.stage

    @property
    def reads(self) -> Reads:
        return self._controller.reads

    def _require(self, is_so: bool, what: str) -> None:
        if not is_so:
            raise FootprintError(f"E700 {self._controller.name} {what}, which its footprint does not say")

    # -- what it sees ---------------------------------------------------------------------------

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        """The view, which tells no more of the object and of its pods without a node than it may."""
        view: View = self._name(self._controller.show_workload, workload, cell)
        if workload not in self._own and workload not in self._footprint.sees_objects:
            blind = self._controller.show_workload(workload, cell._replace(replicas=NEVER))
            self._require(view == blind or cell.replicas == 0, f"sees the size of the ReplicaSet of {workload}")
        if workload not in self._own and workload not in self._footprint.sees_new_pods:
            blind = self._controller.show_workload(workload, cell._replace(unbound=0))
            self._require(view == blind, f"sees pods of {workload} that have no node")
        return view

    def show_node(self, place: int, cell: NodeCell) -> View:
        """The view, which tells no more of pods that start and end than it may."""
        view: View = self._name(self._controller.show_node, place, cell)
        footprint = self._footprint
        started = settle(cell, footprint.tells_starts | footprint.chooses_by_start)
        self._require(view == self._controller.show_node(place, started), "tells pods that start from ready ones")
        ended = end(cell, footprint.tells_ends | footprint.chooses_by_end | footprint.overlooks_ends)
        self._require(view == self._controller.show_node(place, ended), "sees terminating pods")
        if footprint.among in BY_OWN_PODS and self._own:
            alone = _with(cell, lambda kind: kind if self._is_known(kind.workload) else None)
            self._require(view == self._controller.show_node(place, alone), "sees pods of others, which may hold it up")
        elif footprint.among is Among.BY_ITSELF:
            self._cells[place, view] = cell
        return view

    def _is_known(self, workload: int) -> bool:
        return workload in self._own or workload in self._known

    def _name(self, ask: Callable[..., Any], *values: Any) -> Any:
        try:
            return ask(*values)
        except FootprintError as problem:
            raise FootprintError(f"{problem}: read by {self._controller.name}") from problem

    # -- what it does ---------------------------------------------------------------------------

    def act(self, seen: AnySeen) -> Sequence[Decision]:
        """The decisions, which do no more than they may."""
        found: Sequence[Decision] = self._name(self._controller.act, seen)
        self._require(not found or not self._sleeps, "does something before anybody has woken it")
        for action in (action for decision in found for action in decision.actions):
            self._check(action, self._footprint)
        if self._footprint.among is Among.BY_ITSELF and not self._own and seen.places:
            self._check_apart(seen, found)
        return found

    def _check_apart(self, seen: AnySeen, found: Sequence[Decision]) -> None:
        """What a loop of nodes does to pods of one workload, it does beside pods of others, too."""
        done = {_name_step(action) for decision in found for action in decision.actions}
        cells = [[self._cells.get((place, view)) for view, _ in groups] for place, groups in self._groups(seen)]
        for workload in {kind.workload for row in cells for cell in row if cell is not None for kind, _ in cell.pods}:
            apart = seen._replace(places=tuple(self._show_apart(seen, workload)))
            for action in (action for decision in self._controller.act(apart) for action in decision.actions):
                is_own = getattr(action, "workload", None) == workload
                self._require(not is_own or _name_step(action) in done, "is held up by pods of others")

    def _show_apart(self, seen: AnySeen, workload: int) -> Iterator[Groups[View]]:
        """Each place with the pods of one workload alone."""
        for place, groups in self._groups(seen):
            shown: dict[View, int] = {}
            for view, count in groups:
                cell = self._cells.get((place, view))
                if cell is not None:
                    view = self._controller.show_node(
                        place, _with(cell, lambda kind: kind if kind.workload == workload else None)
                    )
                if view is not None:
                    shown[view] = shown.get(view, 0) + count
            yield tuple(shown.items())

    def _groups(self, seen: AnySeen) -> Iterator[tuple[int, Groups[View]]]:
        places: Any = seen.places
        return zip(self._controller.reads.places, places, strict=True)

    def _check(self, action: Action, footprint: Footprint) -> None:
        kind = type(action).__name__
        if self._event is not None:
            self._check_declared(action, self._event)
        self._require(find_writes(action) in footprint.writes, f"does {kind}, and so writes {find_writes(action)}")
        self._require(clocks_of(action) in footprint.clocks, f"does {kind}, which has a clock")
        if Writes.DELETIONS in find_writes(action):
            self._require(self._may_delete(action, footprint.deletes), f"deletes pods by {kind}")
        if isinstance(action, SetDesired):
            self._require(self._may_write(action, footprint.sizing), f"writes the size {action.replicas}")
        if isinstance(action, OF_OBJECTS):
            number = action.workload
            self._require(number in self._own or number in footprint.sees_objects, f"writes the object of {number}")

    def _check_declared(self, action: Action, event: Event) -> None:
        """The event as the Scenario has it says no less than what makes it happen."""
        footprint = footprint_of(event)
        self._require(
            find_writes(action) in footprint.writes,
            f"writes {find_writes(action)}, being declared to write {footprint.writes}",
        )
        if isinstance(action, SetDesired) and footprint.sizing is not Sizing.ANY:
            is_written = footprint.sizing is Sizing.TOLD and action.replicas in event.sizes
            self._require(is_written, f"is declared not to write the size {action.replicas}")

    def _may_delete(self, action: Action, whose: Deletes) -> bool:
        if whose in (Deletes.SURPLUS, Deletes.OWN):
            own = self._own or {self._controller.workload}  # type: ignore[attr-defined]
            return set(losers(action)) <= own
        if whose is Deletes.TAINTED:
            return isinstance(action, EvictDue)
        if whose is Deletes.GUARDED:
            return isinstance(action, Delete) and action.is_eviction
        return whose is Deletes.ANY

    def _may_write(self, action: SetDesired, sizing: Sizing) -> bool:
        if sizing is not Sizing.TOLD:
            return sizing is Sizing.ANY
        sizes = self._controller.sizes_for(action.workload)  # type: ignore[attr-defined]
        return bool(sizes) and min(sizes) <= action.replicas <= max(sizes)


def _name_step(action: Action) -> tuple[str, int | None]:
    """A step of a loop, wherever it happens."""
    return type(action).__name__, getattr(action, "workload", None)


class HeldFact:
    """A fact that is held to what it says of itself: it is the same for all clusters that it must not tell apart."""

    def __init__(self, name: str, fact: AnyFact) -> None:
        self._name, self._fact, self._footprint = name, fact, footprint_of(fact)
        self.reads: Reads = fact.reads

    def show_workload(self, workload: int, cell: WorkloadCell) -> tuple[View, View]:
        """The view, and the one without what it must not see of the object."""
        view = self._fact.show_workload(workload, cell)
        if workload in self._footprint.sees_objects:
            return view, view
        return view, self._fact.show_workload(workload, cell._replace(replicas=NEVER))

    def show_nodes(self, place: int, nodes: Nodes) -> tuple[View, View, View]:
        """The view, the one after all pods have started, and the one after all terminating ones are gone."""
        started = _each(nodes, lambda cell: settle(cell, self._footprint.tells_starts))
        ended = _each(nodes, lambda cell: end(cell, self._footprint.tells_ends))
        show = self._fact.show_nodes
        return show(place, nodes), show(place, started), show(place, ended)

    def _same(self, ask: Callable[[AnySeen], bool], seen: Any) -> bool:
        workloads, places = tuple(one[0] for one in seen.workloads), tuple(one[0] for one in seen.places)
        said = ask(Seen(workloads, places))
        others = (
            ("the sizes of ReplicaSets", Seen(tuple(one[1] for one in seen.workloads), places)),
            ("which pods have started", Seen(workloads, tuple(one[1] for one in seen.places))),
            ("terminating pods", Seen(workloads, tuple(one[2] for one in seen.places))),
        )
        for what, blind in others:
            if ask(blind) != said:
                raise FootprintError(
                    f"E700 {self._name} depends on {what}, which the footprint of its fact does not say"
                )
        return said

    def holds(self, seen: AnySeen) -> bool:
        """The statement itself."""
        return self._same(self._fact.holds, seen)

    def matters(self, seen: AnySeen) -> bool:
        """True in states that say something about the intent."""
        return self._same(self._fact.matters, seen)

    def is_settled(self, seen: AnySeen) -> bool:
        """True once the workload has reached its desired state: that may depend on starts."""
        return self._fact.is_settled(_unwrap(seen))

    def spare(self, seen: AnySeen) -> int:
        """How far the statement is from being false, where the fact tells: it guides walks, and decides nothing."""
        return spare_of(self._fact, _unwrap(seen))


def _unwrap(seen: Any) -> AnySeen:
    """What the fact itself was shown."""
    return Seen(tuple(one[0] for one in seen.workloads), tuple(one[0] for one in seen.places))


def _each(nodes: Nodes, changed: Callable[[NodeCell], NodeCell]) -> Nodes:
    amounts: dict[NodeCell, int] = {}
    for cell, count in nodes:
        after = changed(cell)
        amounts[after] = amounts.get(after, 0) + count
    return tuple(sorted(amounts.items()))


def settle(cell: NodeCell, apart: Workloads) -> NodeCell:
    """The node as if all pods had started, those of the workloads `apart` aside."""
    return _with(cell, lambda kind: _ready(kind) if kind.phase in STARTING and kind.workload not in apart else kind)


def end(cell: NodeCell, apart: Workloads) -> NodeCell:
    """The node as if all terminating pods were gone, those of the workloads `apart` aside."""
    return _with(cell, lambda kind: None if kind.phase == Phase.TERMINATING and kind.workload not in apart else kind)


def _ready(kind: PodKind) -> PodKind:
    return kind._replace(phase=int(Phase.READY), least_s=NEVER, most_s=NEVER)


def _with(cell: NodeCell, changed: Callable[[PodKind], PodKind | None]) -> NodeCell:
    pods: tuple[tuple[PodKind, int], ...] = ()
    for kind, count in cell.pods:
        after = changed(kind)
        pods = pods if after is None else add_pods(pods, after, count)
    return cell._replace(pods=pods)
