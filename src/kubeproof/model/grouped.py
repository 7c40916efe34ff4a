"""The cluster as the engine explores it: equal pods are counts, equal nodes are counts, controllers are memoised.

Slots: 0 the observer, then one per workload, one per event memory, one per place. A place's cell is the sorted
multiset of its nodes' contents.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from kubeproof.cluster.loops.actions import ANY, Bind, NodeAction, Remember, Tick, WorkloadAction
from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.footprint import Deletes, Footprint, footprint_of
from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import NodeCell, Nodes, replace_node
from kubeproof.engine.system import Actor, Cell, Check, Kind
from kubeproof.intents.monitor import CYCLE, IN_STABLE, PERSISTENT, RECURRENT, STEP
from kubeproof.intents.monitor import NEVER as IN_NO_STATE
from kubeproof.model.by_name.ticks import all_ticked
from kubeproof.model.loops.actors import EndMindfulActor, GroupedActor, Slots, StartBlindActor
from kubeproof.model.loops.clock import Clock
from kubeproof.model.loops.observer import JointObserver
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.due_starts import ImmediateStarts
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order
from kubeproof.model.reductions.persistent_steps import find_taken_alone
from kubeproof.model.reductions.starts_in_unison import StartAll, Starts, StartTogether
from kubeproof.model.reductions.young_pods import (
    EMPTY,
    Attentive,
    AttentiveAutoscaler,
    AttentiveReplicaSet,
    Nursery,
    NurseryKubelet,
)

if TYPE_CHECKING:
    from kubeproof.controllers.hpa.controller import HpaController
    from kubeproof.intents.predicates.temporal import Temporal

KINDS = {
    IN_NO_STATE: Kind.NEVER,
    IN_STABLE: Kind.STABLE,
    RECURRENT: Kind.RECURRENT,
    PERSISTENT: Kind.PERSISTENT,
    CYCLE: Kind.CYCLE,
    STEP: Kind.STEP,
}


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
        self.promised = frozenset(n for n, one in enumerate(plan.actors) if getattr(one, "is_promise", False))
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
        for workload in sorted(order.immediate - order.counted):
            yield self._make_immediate_starts(workload, places)
        if self._starts:
            yield StartTogether(self._starts, places, alone=order.at_once)
        if order.alone:
            workloads = tuple(self.slots.workload(index) for index in range(len(self.plan.workloads)))
            yield from find_taken_alone(self.plan, workloads, places)

    def _make_immediate_starts(self, workload: int, places: tuple[int, ...]) -> ImmediateStarts:
        starts = Starts(self.plan.mechanics, frozenset({workload}), whole=True)
        scalers = {
            self.slots.memory(loop.memory): cast("HpaController", loop)
            for loop in self.plan.periodic
            if footprint_of(loop).takes_young and workload in footprint_of(loop).tells_starts
        }
        return ImmediateStarts(workload, starts, scalers, (self.slots.workload(workload), *places))

    def _actor(self, number: int, controller: Loop) -> GroupedActor | Attentive:
        _, footprint = self.plan.with_footprints[number]
        actor = self._plain_actor(number, controller, footprint)
        nurseries = self.slots.nurseries.items()
        for slot in (
            slot for workload, slot in nurseries if footprint.takes_young and workload in footprint.tells_starts
        ):
            return AttentiveAutoscaler(actor, self._nurseries[slot], slot)
        is_owner = footprint.deletes is Deletes.SURPLUS
        for slot in (slot for workload, slot in nurseries if is_owner and workload in footprint.chooses_by_start):
            return AttentiveReplicaSet(actor, self._nurseries[slot], slot)
        return actor

    def _plain_actor(self, number: int, controller: Loop, footprint: Footprint) -> GroupedActor:
        if self._starts and self._starts.of(footprint.chooses_by_start):
            return StartBlindActor(self.plan, self.slots, number, controller, self._starts)
        if self._minds_ends and footprint.chooses_by_end:
            return EndMindfulActor(self.plan, self.slots, number, controller, self._starts)
        return GroupedActor(self.plan, self.slots, number, controller)

    @property
    def leaves_out_orders(self) -> bool:
        """True if some steps stand for others."""
        return len(self.actors) > len(self._grouped) + 1

    @cached_property
    def first_cells(self) -> tuple[Hashable, ...]:
        """The vector a run starts from, slot 0 aside."""
        cells = (None, *self.plan.workloads, *self.plan.memories, *self.group_nodes(self.plan.nodes))
        return self.with_nurseries(cells)

    def with_nurseries(self, cells: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """A vector of the plan, nobody young."""
        return (*cells, *(EMPTY for _ in self.slots.nurseries))

    def group_nodes(self, nodes: Sequence[NodeCell]) -> tuple[Nodes, ...]:
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
            return (nursery.later(cell, action.seconds) if isinstance(action, Tick) else nursery.change(cell, action),)
        if isinstance(action, Tick):
            mechanics = self.plan.mechanics
            return (all_ticked(cell, action.seconds, mechanics.ages, mechanics.spare_ages, mechanics.lives),)
        if isinstance(action, StartAll):
            return (self._starts.start(cell, action),)
        if isinstance(action, Remember):
            return (action.value,)
        if isinstance(action, WorkloadAction):
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
