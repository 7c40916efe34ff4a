"""The monitors of a plan as the engine asks them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from kubeproof.cluster.loops.control import AnySeen, Seen
from kubeproof.cluster.state import present
from kubeproof.intents.monitor import FRESH, Memory, Monitor, estimate
from kubeproof.model.loops.actors import Slots
from kubeproof.model.plan import Plan

OF_WORKLOADS, OF_PLACES = ("facts", "workload"), ("facts", "place")


def hold_monitors(plan: Plan) -> tuple[Monitor, ...]:
    """The monitors, whose facts are held to their footprints."""
    from kubeproof.model.checked import HeldFact

    return tuple(m if m.fact is None else replace(m, fact=HeldFact(m.intent.name, m.fact)) for m in plan.monitors)


class JointObserver:
    """All monitors of a plan in one memory; flags are two bits per monitor: bad, matters."""

    def __init__(self, plan: Plan, slots: Slots) -> None:
        self.monitors = hold_monitors(plan) if plan.is_checked else plan.monitors
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

    def view(self, position: int, cell: Any) -> Hashable:
        """What every monitor sees of the cell; None where it does not look."""
        if position < len(self._workloads):
            workload = self._workloads[position]
            facts = self._workload_facts[workload]
            shown = tuple(fact.show_workload(workload, cell) if fact else None for fact in facts)
            return OF_WORKLOADS, shown
        place = self._places[position - len(self._workloads)]
        facts = self._place_facts[place]
        there = present(cell)
        return OF_PLACES, tuple(fact.show_nodes(place, there) if fact else None for fact in facts)

    def observe(self, memory: Any, views: tuple[Any, ...]) -> tuple[Memory, ...]:
        """Every monitor's memory after entering a state."""
        before = memory if memory is not None else (FRESH,) * len(self.monitors)
        return tuple(
            monitor.observe(before[index], self._see(index, views)) for index, monitor in enumerate(self.monitors)
        )

    def estimate(self, check: int, memory: Any, views: tuple[Any, ...]) -> int:
        """How far a state is from breaking one of the intents."""
        return estimate(self.monitors[check], memory[check], self._see(check, views))

    def _see(self, index: int, views: tuple[Any, ...]) -> AnySeen:
        first_place = len(self._workloads)
        reads = self._monitor_reads[index]
        shown = [view for _, view in views]
        workloads = tuple(shown[self._workloads.index(w)][index] for w in reads.workloads)
        places = tuple(shown[first_place + self._places.index(p)][index] for p in reads.places)
        return Seen(workloads, places)

    def flags(self, memory: Any) -> int:
        """Bit 2i: monitor i is bad; bit 2i+1: the state matters to it."""
        return sum((bad << 2 * index) | (matters << 2 * index + 1) for index, (_, bad, matters) in enumerate(memory))
