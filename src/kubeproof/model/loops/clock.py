"""Time as an actor of the grouped model."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from kubeproof.cluster.loops.actions import Remember, Tick
from kubeproof.cluster.loops.actors import TIME
from kubeproof.cluster.loops.control import AnySeen, Decision, PeriodicLoop, Role, Seen, Stage, View
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.state import NEVER
from kubeproof.controllers.late import HpaController
from kubeproof.engine.system import Effect
from kubeproof.model.by_name.ticks import next_due
from kubeproof.model.loops.actors import Slots, group_view, operation, slots_read
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.young_pods import Nursery, with_young


class Clock:
    """Advances time to the next due clock when nobody has urgent work.

    Periodic controllers are asked when they would act next, and their memories move on with time. When no clock
    runs, one last step lets them forget the phase they are in: the cluster may rest as long as it likes.
    """

    name = TIME
    stage = int(Stage.IDLE)

    def __init__(self, plan: Plan, slots: Slots) -> None:
        self._periodic = plan.periodic
        self._ages, self._spare_ages, self._lives = plan.mechanics.ages, plan.mechanics.spare_ages, plan.mechanics.lives
        self._slots = slots
        place_slots = [*(slots.place(place) for place in plan.layout.every_place), *slots.nurseries.values()]
        self._nurseries = {slots.nurseries[w]: Nursery(plan.mechanics, w) for w in slots.nurseries}
        self._young = [self._nurseries_of(controller) for controller in self._periodic]
        self._periodic_reads = [controller.reads for controller in self._periodic]
        self._readers = [slots_read(slots, controller) for controller in self._periodic]
        others = sorted({slot for reader in self._readers for slot in reader} - set(place_slots))
        self.reads = (*place_slots, *others)
        self._places = len(place_slots)
        self._makers = [self._find_maker(position) for position in range(len(self.reads))]

    def _nurseries_of(self, controller: PeriodicLoop) -> tuple[int, ...]:
        """The slots of the nurseries that a controller looks at."""
        members = controller.members if isinstance(controller, HpaController) else ()
        return tuple(slot for workload, slot in self._slots.nurseries.items() if workload in members)

    def view(self, position: int, cell: Any) -> Hashable:
        """Seconds until the next clock of the cell runs out, and what every periodic controller sees of it."""
        return self._makers[position], self._view(position, cell)

    def _find_maker(self, position: int) -> str:
        if position < self._places:
            return f"{self.name}: place"
        return f"{self.name}: {'workload' if self.reads[position] < self._slots.first_memory else 'memory'}"

    def _view(self, position: int, cell: Any) -> tuple[int, tuple[View, ...]]:
        slot = self.reads[position]
        due = NEVER
        if position < self._places:
            clocks = (next_due(node, self._ages, self._spare_ages, self._lives) for node, _ in cell)
            due = min((clock for clock in clocks if clock != NEVER), default=NEVER)
        if slot in self._nurseries:
            young = self._nurseries[slot].see(cell)
            return due, tuple(young if slot in slots else None for slots in self._young)
        return due, tuple(
            self._show(controller, slot, cell) if slot in reader else None
            for controller, reader in zip(self._periodic, self._readers, strict=True)
        )

    def _show(self, controller: PeriodicLoop, slot: int, cell: Any) -> View:
        slots = self._slots
        if slot >= slots.first_place:
            return group_view(controller, slot - slots.first_place, cell)
        if slot >= slots.first_memory:
            return tuple(cell)
        return controller.show_workload(slot - 1, cell)

    def act(self, views: tuple[Any, ...]) -> tuple[Effect, ...]:
        """One step to the next due clock, or to rest."""
        seen = [self._see(number, views) for number in range(len(self._periodic))]
        clocks = [due for _, (due, _) in views]
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
        edits = [(slot, operation(tick)) for tick in ticks for slot in self.reads[: self._places]]
        edits += [(self._slots.memory(r.memory), operation(r)) for r in remembered]
        return (Effect(int(Role.TIME), int(Tag.STEP), tuple(edits), Decision((*ticks, *remembered), Role.TIME)),)

    def _see(self, number: int, views: tuple[Any, ...]) -> AnySeen:
        by_slot = {slot: shown[number] for slot, (_, (_, shown)) in zip(self.reads, views, strict=True)}
        reads, slots = self._periodic_reads[number], self._slots
        seen = Seen(
            tuple(by_slot[slots.workload(w)] for w in reads.workloads),
            tuple(by_slot[slots.place(p)] for p in reads.places),
            tuple(by_slot[slots.memory(m)] for m in reads.memories),
        )
        for slot in self._young[number]:
            seen = with_young(seen, by_slot[slot])
        return seen
