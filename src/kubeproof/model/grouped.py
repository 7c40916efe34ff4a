"""The cluster as the engine explores it: equal pods are counts, equal nodes are counts, controllers are memoised.

Slots: 0 the observer, then one per workload, one per event memory, one per place. A place's cell is the sorted
multiset of its nodes' contents.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kubeproof.cluster.control import (
    ANY,
    Action,
    Advance,
    Bind,
    Controller,
    CreateObject,
    CreatePods,
    Decision,
    DeleteObject,
    DeleteUnbound,
    NodeAction,
    NoteFailed,
    PeriodicController,
    Remember,
    Role,
    Seen,
    SetCondition,
    SetCurrent,
    SetDesired,
    SetReplicas,
    SetTemplate,
    Stage,
    Tag,
    Tick,
    shown_node,
    tags_of,
)
from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import NEVER, NodeCell, Nodes, present, replace_node
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.controllers.late import DaemonSetController, DeschedulerController, HpaController
from kubeproof.controllers.replicaset import ReplicaSetController
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.engine.system import Actor, Cell, Check, Effect, Kind
from kubeproof.intents.monitor import CYCLE, FRESH, IN_STABLE, PERSISTENT, RECURRENT, STEP, Memory
from kubeproof.intents.monitor import NEVER as IN_NO_STATE
from kubeproof.model.alone import taken_alone
from kubeproof.model.endings import EndMatters
from kubeproof.model.hurry import Hurry
from kubeproof.model.mechanics import all_ticked, next_due
from kubeproof.model.orders import EVERY_ORDER, Order
from kubeproof.model.plan import Plan
from kubeproof.model.startup import StartAll, Starts, StartTogether, check_untouched
from kubeproof.model.youth import (
    EMPTY,
    Attentive,
    AttentiveAutoscaler,
    AttentiveReplicaSet,
    Bear,
    Nursery,
    NurseryKubelet,
    with_young,
)

if TYPE_CHECKING:
    from kubeproof.intents.temporal import Temporal

KINDS = {
    IN_NO_STATE: Kind.NEVER,
    IN_STABLE: Kind.STABLE,
    RECURRENT: Kind.RECURRENT,
    PERSISTENT: Kind.PERSISTENT,
    CYCLE: Kind.CYCLE,
    STEP: Kind.STEP,
}
ON_WORKLOAD = (
    *(SetDesired, SetReplicas, SetTemplate, SetCurrent, SetCondition),
    *(DeleteObject, NoteFailed, CreateObject, CreatePods, DeleteUnbound),
)


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

    def __init__(self, plan: Plan, slots: Slots, number: int, controller: Controller) -> None:
        self.controller = controller
        self.name = controller.name
        self.stage = int(controller.stage)
        self._workloads, self._places, _ = controller.reads
        self.reads = _slots_read(slots, controller)
        self._slots = slots
        self._number = number
        self._node_views: dict[tuple[int, NodeCell], Hashable] = {}

    def view(self, position: int, cell: Any) -> Any:
        """The controller's view of one cell; a place becomes sorted pairs of view and count."""
        if position < len(self._workloads):
            return self.controller.show_workload(self._workloads[position], cell)
        position -= len(self._workloads)
        if position < len(self._places):
            return self._grouped(self._places[position], cell)
        return cell

    def _grouped(self, place: int, nodes: Nodes) -> tuple[tuple[Hashable, int], ...]:
        if len(nodes) == 1:  # most often, and asked for each actor and each content
            ((cell, count),) = nodes
            view = self.node_view(place, cell)
            return () if view is None else ((view, count),)
        return _counted([(self.node_view(place, cell), count) for cell, count in nodes])

    def node_view(self, place: int, cell: NodeCell) -> Hashable:
        """The controller's view of one node."""
        key = (place, cell)
        if key not in self._node_views:
            self._node_views[key] = self._shown_node(place, cell)
        return self._node_views[key]

    def _shown_node(self, place: int, cell: NodeCell) -> Any:
        return shown_node(self.controller, place, cell)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The controller's decisions as effects."""
        return self.acting(self.seen(views))

    def seen(self, views: tuple[Any, ...]) -> Seen:
        """The views as the controller takes them."""
        places = len(self._workloads) + len(self._places)
        return Seen(views[: len(self._workloads)], views[len(self._workloads) : places], views[places:])

    def acting(self, seen: Seen) -> tuple[Effect, ...]:
        """The controller's decisions on what it sees, as effects."""
        return tuple(self._effect(decision) for decision in self.controller.act(seen))

    def _effect(self, decision: Decision) -> Effect:
        edits = tuple(edit for action in decision.actions for edit in self._edits(action))
        return Effect(int(decision.role), tags_of(decision.actions), edits, decision)

    def _edits(self, action: Action) -> tuple[tuple[int, Hashable], ...]:
        slots = self._slots
        if isinstance(action, ON_WORKLOAD):
            return ((slots.workload(action.workload), _operation(action)),)
        if isinstance(action, Remember):
            return ((slots.memory(action.memory), _operation(action)),)
        if isinstance(action, Tick):
            raise TypeError("only the clock ticks")
        on_node = (slots.place(action.node.place), _operation(action, self._number))
        if isinstance(action, Advance) and action.rejected:
            noted = NoteFailed(action.workload, action.rejected)
            return (on_node, (slots.workload(action.workload), _operation(noted)))
        if isinstance(action, Bind):
            taken = (slots.workload(action.workload), _operation(DeleteUnbound(action.workload, 1)))
            if action.workload in slots.nurseries:
                return (taken, on_node, (slots.nurseries[action.workload], ("Bear", -1, Bear(action.workload))))
            return (taken, on_node)
        return (on_node,)


class WatchfulActor(GroupedActor):
    """A controller that also watches, place by place, pods that move in unison."""

    def __init__(self, plan: Plan, slots: Slots, number: int, controller: Controller, starts: Starts) -> None:
        super().__init__(plan, slots, number, controller)
        self._starts = starts
        self._shown = len(self.reads)
        self.reads = (*self.reads, *(slots.place(place) for place in self._places))


class StartBlindActor(WatchfulActor):
    """A controller that is shown pods in unison as if they had started, and must not touch them until they have."""

    def view(self, position: int, cell: Any) -> Any:
        """As without the reduction, then once more per place the workloads that wait for a start."""
        if position >= self._shown:
            return self._starts.waiting(cell)
        return super().view(position, cell)

    def _shown_node(self, place: int, cell: NodeCell) -> Any:
        return super()._shown_node(place, self._starts.settled(cell))

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The controller's decisions as effects."""
        effects = super().act(views[: self._shown])
        return check_untouched(effects, frozenset().union(*views[self._shown :]))


class EndMindfulActor(WatchfulActor):
    """A scheduler that must not have a pod to place while pods end in unison."""

    def view(self, position: int, cell: Any) -> Any:
        """As without the reduction, then once more per place the workloads with ending pods."""
        if position >= self._shown:
            return self._starts.ending(cell)
        return super().view(position, cell)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The scheduler's decisions as effects."""
        ending: frozenset[int] = frozenset().union(*views[self._shown :])
        if ending and views[0]:
            raise EndMatters(ending)
        return super().act(views[: self._shown])


def _operation(action: Action, actor: int = -1) -> tuple[str, int, Action]:
    """The action as an operation; its name comes first because named tuples of equal content are equal."""
    return type(action).__name__, actor, action


def _sort_key(item: tuple[Hashable, int]) -> str:
    return repr(item[0])


class Clock:
    """Advances time to the next due clock when nobody has urgent work.

    Periodic controllers are asked when they would act next, and their memories move on with time. When no clock
    runs, one last step lets them forget the phase they are in: the cluster may rest as long as it likes.
    """

    name = "time"
    stage = int(Stage.IDLE)

    def __init__(self, plan: Plan, slots: Slots) -> None:
        self._periodic = plan.periodic
        self._ages, self._spare_ages = plan.mechanics.ages, plan.mechanics.spare_ages
        self._slots = slots
        place_slots = [*(slots.place(place) for place in plan.layout.every_place), *slots.nurseries.values()]
        self._nurseries = {slots.nurseries[w]: Nursery(plan.mechanics, w) for w in slots.nurseries}
        self._young = [self._nurseries_of(controller) for controller in self._periodic]
        self._periodic_reads = [controller.reads for controller in self._periodic]
        self._readers = [_slots_read(slots, controller) for controller in self._periodic]
        others = sorted({slot for reader in self._readers for slot in reader} - set(place_slots))
        self.reads = (*place_slots, *others)
        self._places = len(place_slots)

    def _nurseries_of(self, controller: PeriodicController) -> tuple[int, ...]:
        """The slots of the nurseries that a controller looks at."""
        members = controller.members if isinstance(controller, HpaController) else ()
        return tuple(slot for workload, slot in self._slots.nurseries.items() if workload in members)

    def view(self, position: int, cell: Any) -> tuple[Any, ...]:
        """Seconds until the next clock of the cell runs out, and what every periodic controller sees of it."""
        slot = self.reads[position]
        due = NEVER
        if position < self._places:
            clocks = (next_due(node, self._ages, self._spare_ages) for node, _ in cell)
            due = min((clock for clock in clocks if clock != NEVER), default=NEVER)
        if slot in self._nurseries:
            young = self._nurseries[slot].seen(cell)
            return due, tuple(young if slot in slots else None for slots in self._young)
        return due, tuple(
            self._shown(controller, slot, cell) if slot in reader else None
            for controller, reader in zip(self._periodic, self._readers, strict=True)
        )

    def _shown(self, controller: PeriodicController, slot: int, cell: Any) -> Any:
        slots = self._slots
        if slot >= slots.first_place:
            return grouped_view(controller, slot - slots.first_place, cell)
        if slot >= slots.first_memory:
            return cell
        return controller.show_workload(slot - 1, cell)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """One step to the next due clock, or to rest."""
        seen = [self._seen(number, views) for number in range(len(self._periodic))]
        clocks = [due for due, _ in views]
        clocks += [controller.due(s) for controller, s in zip(self._periodic, seen, strict=True)]
        running = [clock for clock in clocks if clock > 0]
        seconds = min(running) if running else None
        remembered = [
            Remember(controller.memory, controller.later(s, seconds))
            for controller, s in zip(self._periodic, seen, strict=True)
        ]
        ticks = [Tick(seconds)] if seconds is not None else []
        if not ticks and not remembered:
            return ()
        edits = [(slot, _operation(tick)) for tick in ticks for slot in self.reads[: self._places]]
        edits += [(self._slots.memory(r.memory), _operation(r)) for r in remembered]
        return (Effect(int(Role.TIME), int(Tag.STEP), tuple(edits), Decision((*ticks, *remembered), Role.TIME)),)

    def _seen(self, number: int, views: tuple[Any, ...]) -> Seen:
        by_slot = {slot: shown[number] for slot, (_, shown) in zip(self.reads, views, strict=True)}
        reads, slots = self._periodic_reads[number], self._slots
        seen = Seen(
            tuple(by_slot[slots.workload(w)] for w in reads.workloads),
            tuple(by_slot[slots.place(p)] for p in reads.places),
            tuple(by_slot[slots.memory(m)] for m in reads.memories),
        )
        for slot in self._young[number]:
            seen = with_young(seen, by_slot[slot])
        return seen


def _slots_read(slots: Slots, controller: Controller) -> tuple[int, ...]:
    reads = controller.reads
    return (
        *(slots.workload(w) for w in reads.workloads),
        *(slots.place(p) for p in reads.places),
        *(slots.memory(m) for m in reads.memories),
    )


def grouped_view(controller: Controller, place: int, nodes: Nodes) -> tuple[tuple[Hashable, int], ...]:
    """A place as a controller sees it: sorted pairs of view and count."""
    return _counted((shown_node(controller, place, cell), count) for cell, count in nodes)


def _counted(shown: Iterable[tuple[Hashable, int]]) -> tuple[tuple[Hashable, int], ...]:
    amounts: dict[Hashable, int] = {}
    for view, count in shown:
        if view is not None:
            amounts[view] = amounts.get(view, 0) + count
    return _sorted(amounts) if len(amounts) > 1 else tuple(amounts.items())


def _sorted(amounts: dict[Hashable, int]) -> tuple[tuple[Hashable, int], ...]:
    """Any order serves, as long as equal amounts come in the same; most views can be compared, which is fastest."""
    try:
        return tuple(sorted(amounts.items()))
    except TypeError:
        return tuple(sorted(amounts.items(), key=_sort_key))


class JointObserver:
    """All monitors of a plan in one memory; flags are two bits per monitor: bad, matters."""

    def __init__(self, plan: Plan, slots: Slots) -> None:
        self.monitors = plan.monitors
        reads = [monitor.reads for monitor in self.monitors]
        self._monitor_reads = reads
        facts = [monitor.fact for monitor in self.monitors]
        self._workload_facts = [
            tuple(fact if w in r.workloads else None for fact, r in zip(facts, reads, strict=True))
            for w in range(len(plan.workloads))
        ]
        self._place_facts = [
            tuple(fact if p in r.places else None for fact, r in zip(facts, reads, strict=True))
            for p in plan.layout.every_place
        ]
        self._workloads = tuple(sorted({w for r in reads for w in r.workloads}))
        self._places = tuple(sorted({p for r in reads for p in r.places}))
        self.reads = (
            *(slots.workload(w) for w in self._workloads),
            *(slots.place(p) for p in self._places),
        )

    def view(self, position: int, cell: Any) -> tuple[Hashable, ...]:
        """What every monitor sees of the cell; None where it does not look."""
        if position < len(self._workloads):
            workload = self._workloads[position]
            facts = self._workload_facts[workload]
            return tuple(fact.show_workload(workload, cell) if fact else None for fact in facts)
        place = self._places[position - len(self._workloads)]
        facts = self._place_facts[place]
        there = present(cell)
        return tuple(fact.show_nodes(place, there) if fact else None for fact in facts)

    def observe(self, memory: Any, views: tuple[Any, ...]) -> tuple[Memory, ...]:
        """Every monitor's memory after entering a state."""
        before = memory if memory is not None else (FRESH,) * len(self.monitors)
        return tuple(
            monitor.observe(before[index], self._seen(index, views)) for index, monitor in enumerate(self.monitors)
        )

    def _seen(self, index: int, views: tuple[Any, ...]) -> Seen:
        first_place = len(self._workloads)
        reads = self._monitor_reads[index]
        workloads = tuple(views[self._workloads.index(w)][index] for w in reads.workloads)
        places = tuple(views[first_place + self._places.index(p)][index] for p in reads.places)
        return Seen(workloads, places)

    def flags(self, memory: Any) -> int:
        """Bit 2i: monitor i is bad; bit 2i+1: the state matters to it."""
        return sum((bad << 2 * index) | (matters << 2 * index + 1) for index, (_, bad, matters) in enumerate(memory))


class GroupedSystem:
    """A plan as the engine's system.

    Without `order` every order of steps is followed; with it, fewer that stand for all.
    """

    def __init__(self, plan: Plan, order: Order = EVERY_ORDER) -> None:
        self.plan = plan
        self.slots = Slots(plan, order.counted)
        self._nurseries = {slot: Nursery(plan.mechanics, w) for w, slot in self.slots.nurseries.items()}
        self._starts = Starts(plan.mechanics, order.in_unison, whole=order.at_once, ending=order.ending)
        self._minds_ends = bool(order.ending)
        self._grouped = [self._actor(number, controller) for number, controller in enumerate(plan.actors)]
        self.actors: tuple[Actor, ...] = (*self._grouped, Clock(plan, self.slots), *self._reducing(order))
        self.observer = JointObserver(plan, self.slots)
        self.symmetric = tuple(
            tuple(tuple(self.slots.place(place) for place in block) for block in family) for family in plan.domains
        )
        self.initial: Sequence[tuple[Cell, ...]] = (self.first_cells,)

    def _reducing(self, order: Order) -> Iterator[Actor]:
        """The actors that stand for several steps of others, or go before them."""
        places = tuple(self.slots.place(place) for place in self.plan.layout.every_place)
        for slot in self.slots.nurseries.values():
            yield NurseryKubelet(slot)
        for workload in sorted(order.hurried - order.counted):
            yield self._hurry(workload, places)
        if self._starts:
            yield StartTogether(self._starts, places, alone=order.at_once)
        if order.alone:
            workloads = tuple(self.slots.workload(index) for index in range(len(self.plan.workloads)))
            yield from taken_alone(self.plan, workloads, places)

    def _hurry(self, workload: int, places: tuple[int, ...]) -> Hurry:
        starts = Starts(self.plan.mechanics, frozenset({workload}), whole=True)
        scalers = {
            self.slots.memory(controller.memory): controller
            for controller in self.plan.controllers
            if isinstance(controller, HpaController) and workload in controller.members
        }
        return Hurry(workload, starts, scalers, (self.slots.workload(workload), *places))

    def _actor(self, number: int, controller: Controller) -> GroupedActor | Attentive:
        actor = self._plain_actor(number, controller)
        if isinstance(controller, HpaController):
            slots = [self.slots.nurseries[w] for w in controller.members if w in self.slots.nurseries]
            return AttentiveAutoscaler(actor, self._nurseries[slots[0]], slots[0]) if slots else actor
        if isinstance(controller, ReplicaSetController) and controller.workload in self.slots.nurseries:
            slot = self.slots.nurseries[controller.workload]
            return AttentiveReplicaSet(actor, self._nurseries[slot], slot)
        return actor

    def _plain_actor(self, number: int, controller: Controller) -> GroupedActor:
        sees_starts = isinstance(controller, (Kubelet, DeschedulerController)) or (
            isinstance(controller, (ReplicaSetController, DaemonSetController)) and controller.workload in self._starts
        )
        if self._starts and sees_starts:
            return StartBlindActor(self.plan, self.slots, number, controller, self._starts)
        if self._minds_ends and isinstance(controller, SchedulerController):
            return EndMindfulActor(self.plan, self.slots, number, controller, self._starts)
        return GroupedActor(self.plan, self.slots, number, controller)

    @property
    def leaves_out_orders(self) -> bool:
        """True if some steps stand for others."""
        return len(self.actors) > len(self._grouped) + 1

    @cached_property
    def first_cells(self) -> tuple[Hashable, ...]:
        """The vector a run starts from, slot 0 aside."""
        cells = (None, *self.plan.workloads, *self.plan.memories, *self.grouped_nodes(self.plan.nodes))
        return self.with_nurseries(cells)

    def with_nurseries(self, cells: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """A vector of the plan, nobody young."""
        return (*cells, *(EMPTY for _ in self.slots.nurseries))

    def grouped_nodes(self, nodes: Sequence[NodeCell]) -> tuple[Nodes, ...]:
        """The contents of all nodes, sorted into the cells of the places."""
        cells = []
        for place in self.plan.layout.places:
            amounts: dict[NodeCell, int] = {}
            for index in place.nodes:
                amounts[nodes[index]] = amounts.get(nodes[index], 0) + 1
            cells.append(tuple(sorted(amounts.items())))
        return tuple(cells)

    @property
    def checks(self) -> tuple[Check, ...]:
        """One check per monitor."""
        return tuple(
            Check(KINDS[m.kind], 2 * i, m.tags, 2 * i + 1 if m.needs_relevance else -1)
            if m.temporal is None
            else self._language(m.temporal)
            for i, m in enumerate(self.plan.monitors)
        )

    def _language(self, temporal: Temporal) -> Check:
        """The check of an `ltl` intent."""
        from kubeproof.model.letters import GroupedWords

        size = (len(self.plan.workloads), self.slots.first_place)
        stronger = tuple(GroupedWords(temporal, machine, *size) for machine in temporal.stronger)
        return Check(Kind.WORD, words=GroupedWords(temporal, temporal.machine, *size), stronger=stronger)

    def edit(self, slot: int, cell: Any, operation: Any) -> tuple[Hashable, ...]:
        """All outcomes of an action on one cell."""
        _, number, action = operation
        if slot >= self.slots.first_nursery:
            nursery = self._nurseries[slot]
            return (nursery.later(cell, action.seconds) if isinstance(action, Tick) else nursery.changed(cell, action),)
        if isinstance(action, Tick):
            mechanics = self.plan.mechanics
            return (all_ticked(cell, action.seconds, mechanics.ages, mechanics.spare_ages),)
        if isinstance(action, StartAll):
            return (self._starts.started(cell, action),)
        if isinstance(action, Remember):
            return (action.value,)
        if isinstance(action, ON_WORKLOAD):
            return self.plan.mechanics.on_workload(cell, action)
        return self._edit_nodes(slot - self.slots.first_place, cell, self._grouped[number], action)

    def node_view(self, actor: int, place: int, cell: NodeCell) -> Hashable:
        """What an actor sees of one node."""
        return self._grouped[actor].node_view(place, cell)

    def _edit_nodes(self, place: int, nodes: Nodes, actor: GroupedActor, action: NodeAction) -> tuple[Nodes, ...]:
        """The place with any one node that answers to the action's reference changed."""
        wanted = action.node.view
        sample = self.plan.layout.places[place].sample
        outcomes: dict[Nodes, None] = {}
        for cell, _ in nodes:
            if wanted == ANY or actor.node_view(action.node.place, cell) == wanted:
                for changed in self._after(sample, cell, action):
                    outcomes[replace_node(nodes, cell, changed)] = None
        return tuple(outcomes)

    def _after(self, node: Node, cell: NodeCell, action: NodeAction) -> tuple[NodeCell, ...]:
        """All contents of a node after an action; where the young are counted apart, a pod arrives grown up."""
        if isinstance(action, Bind) and action.workload in self.slots.nurseries:
            return (self.plan.mechanics.running(node, cell, action.workload, 1),)
        return self.plan.mechanics.on_node(node, cell, action)
