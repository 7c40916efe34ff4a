"""An explored cluster in continuous time: clocks end by themselves, and too many failures at once lead out of it.

Steps of loops take no time, so that events come when none has urgent work. How rare a state is
says a sum over its nodes (`rarity`): beside what is too rare, failures lead to where nothing happens.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from kubeproof.cluster.loops.actors import TIME
from kubeproof.cluster.loops.control import Loop, Role, Stage, as_periodic
from kubeproof.cluster.loops.footprint import Footprint
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.state import Nodes, WorkloadCell, replace_node
from kubeproof.engine.system import Effect
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.loops.actors import GroupedActor, Slots
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.weights import Weights
from kubeproof.quantify.chains.steps import Rated
from kubeproof.quantify.rates.periods import OUTSIDE, SET, PeriodClock, RoundActor, start_period
from kubeproof.quantify.rates.phases import PhasedMechanics, list_expiries
from kubeproof.quantify.rates.rarity import Rarity, failure_rate, is_capped

GONE = WorkloadCell(exists=0)


class RatedSystem(GroupedSystem):
    """A plan in phases as the engine's system. A failure in a state that is too rare leads to where nothing happens."""

    def __init__(self, plan: Plan, rarity: Rarity) -> None:
        self._rarity = rarity
        self._phases = phases = plan.mechanics.phases if isinstance(plan.mechanics, PhasedMechanics) else 1
        super().__init__(plan)
        self._periods = frozenset(self.slots.memory(loop.memory) for loop in plan.periodic)
        places = (self.slots.place(place) for place in plan.layout.every_place)
        for actor in self._grouped[len(plan.controllers) :]:
            actor.stage = max(actor.stage, int(Stage.IDLE))
        periods = (PeriodClock(slot, phases) for slot in sorted(self._periods))
        self.actors = (*self._grouped, *(PlaceClock(slot, phases) for slot in places), *periods)

    def _plain_actor(self, number: int, controller: Loop, told: Footprint) -> GroupedActor:
        if is_capped(controller):
            return CappedFailure(self.plan, self.slots, number, controller, self._rarity)
        periodic = as_periodic(controller)
        if periodic is not None:
            return RoundActor(self.plan, self.slots, number, periodic, self._phases)
        return super()._plain_actor(number, controller, told)

    @property
    def leaves_out_orders(self) -> bool:
        """Never: one actor per place only tells time."""
        return False

    def edit(self, slot: int, cell: Any, operation: Any) -> tuple[Hashable, ...]:
        """All outcomes of an action on one cell."""
        if operation[0] == SET:
            return (operation[2],)
        outcomes = super().edit(slot, cell, operation)
        return tuple(start_period(after, self._phases) for after in outcomes) if slot in self._periods else outcomes


class PlaceClock:
    """The clocks of the nodes of one place: the end of each phase is a step, when nobody has urgent work."""

    name = TIME
    stage = int(Stage.IDLE)

    def __init__(self, slot: int, phases: int) -> None:
        self.reads = (slot,)
        self._phases = phases

    def view(self, position: int, cell: Any) -> Hashable:
        """The nodes as they are."""
        return (self.name, "nodes"), cell

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """One step per clock that runs; of equal nodes any may be the first."""
        ((_, nodes),) = views
        (slot,) = self.reads
        found = []
        for cell, count in nodes:
            for per_s, after in list_expiries(cell, self._phases):
                operation = (SET, -1, replace_node(nodes, cell, after))
                label = Rated(count * per_s)
                found.append(Effect(int(Role.TIME), int(Tag.STEP), ((slot, operation),), label))
        return tuple(found)


class CappedFailure(GroupedActor):
    """Failures of nodes, looked at in states that are not too rare."""

    def __init__(self, plan: Plan, slots: Slots, number: int, controller: Loop, rarity: Rarity) -> None:
        super().__init__(plan, slots, number, controller)
        self._shown, self._rarity = len(self.reads), rarity
        self.reads = (*self.reads, *(slots.place(place) for place in plan.layout.every_place))
        self._each_per_s = failure_rate(controller, rarity.tick_s)
        self._leave = tuple(_leave(plan, slots))

    def view(self, position: int, cell: Any) -> Hashable:
        """As without a bound, then once more per place how rare its nodes are."""
        if position < self._shown:
            return super().view(position, cell)
        nodes: Nodes = cell
        return sum(count * self._rarity.of_node(node) for node, count in nodes)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """The failures, or what stands for all of them where the state is too rare."""
        found = super().act(views[: self._shown])
        if sum(views[self._shown :]) <= self._rarity.most or not found:
            return found
        places: tuple[Any, ...] = self.see(views[: self._shown]).places
        nodes = sum(count for groups in places for _, count in groups)
        return (Effect(int(Role.EVENT), 0, self._leave, Rated(nodes * self._each_per_s)),)


def _leave(plan: Plan, slots: Slots) -> Iterator[tuple[int, Hashable]]:
    """The edits that leave nothing: one state stands for all that is not looked at."""
    for number in range(len(plan.workloads)):
        yield slots.workload(number), (SET, -1, GONE)
    periods = {loop.memory for loop in plan.periodic}
    for number, first in enumerate(plan.memories):
        yield slots.memory(number), (SET, -1, OUTSIDE if number in periods else (0,) * len(first))
    for place in plan.layout.every_place:
        yield slots.place(place), (SET, -1, ())


class RatedWeights(Weights):
    """Weights of the outcomes; what says what a cell becomes has one."""

    def __call__(self, slot: int, cell: Any, operation: Any) -> tuple[float, ...]:
        """One weight per outcome of `RatedSystem.edit`, in its order."""
        return (1.0,) if operation[0] == SET else super().__call__(slot, cell, operation)


def is_beyond(cells: Sequence[Any], slots: Slots, places: int) -> bool:
    """True for the state that stands for all that is not looked at."""
    return not any(cells[slots.place(place)] for place in range(places))
