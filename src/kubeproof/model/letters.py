"""The letters that an `ltl` intent reads: of grouped states for the search, of named states for replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kubeproof.cluster.loops.control import Decision
from kubeproof.engine.system import Cell, Effect
from kubeproof.intents.predicates.temporal import Temporal
from kubeproof.logic.machine import BROKEN, SAFE, Machine, Memory
from kubeproof.model.by_name.state import State, Transition, node_cell
from kubeproof.model.by_name.system import IndividualModel


class GroupedWords:
    """The words that break an `ltl` intent, read off vectors of cells."""

    def __init__(self, temporal: Temporal, machine: Machine, workloads: int, first_place: int) -> None:
        self.start: Memory = machine.start
        self.reads_stability = temporal.reads_stability
        self.step, self.ways, self.after = machine.step, machine.ways, machine.after
        self.is_accepting, self.breaks_at_rest = machine.is_accepting, machine.breaks_at_rest
        self._temporal = temporal
        self._workloads, self._first_place = workloads, first_place

    def letter(self, cells: tuple[Cell, ...], effect: Effect | None, is_stable: bool) -> int:
        """The letter of a state entered by an effect, or stayed in."""
        temporal, seen = self._temporal, tuple[Any, ...](cells)
        first_memory = 1 + self._workloads
        memories = seen[first_memory : self._first_place]
        values = temporal.values(seen[1:first_memory], seen[self._first_place :], memories)
        if effect is None:
            return temporal.letter(values, temporal.nothing_happened, is_stable)
        actions = effect.label.actions if isinstance(effect.label, Decision) else ()
        return temporal.letter(values, temporal.look_for(effect.tags, actions), is_stable)

    @staticmethod
    def is_broken(memory: Memory) -> bool:
        return memory == BROKEN

    @staticmethod
    def is_safe(memory: Memory) -> bool:
        return memory == SAFE


def letter_number(
    model: IndividualModel, temporal: Temporal, state: State, step: Transition | None, *, is_stable: bool
) -> int:
    """The letter of a named state entered by a step, or stayed in (None)."""
    workloads = [model.workload_cell(state, index) for index in range(len(state.specs))]
    places = [tuple((node_cell(state.nodes[i]), 1) for i in place.nodes) for place in model.plan.layout.places]
    happened = temporal.nothing_happened if step is None else temporal.look_for(step.tags, step.decision.actions)
    return temporal.letter(temporal.values(workloads, places, state.memories), happened, is_stable)


def name_letter(model: IndividualModel, temporal: Temporal, state: State, step: Transition | None) -> frozenset[str]:
    """The predicates that are true in a named state entered by a step, or stayed in (None)."""
    is_stable = temporal.reads_stability and model.is_stable(state)
    letter = letter_number(model, temporal, state, step, is_stable=is_stable)
    return frozenset(name for place, name in enumerate(temporal.names) if letter >> place & 1)


def name_letters(
    model: IndividualModel, temporal: Temporal, states: Sequence[State], steps: Sequence[Transition]
) -> tuple[frozenset[str], ...]:
    """The letters of a path, one per state."""
    entered = (None, *steps)
    return tuple(name_letter(model, temporal, state, step) for state, step in zip(states, entered, strict=True))
