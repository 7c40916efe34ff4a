"""A property as something that follows runs: what is known so far, and how it can still go wrong.

A property is the meet of its safety part and its liveness part. The safety part is its closure: a run has broken it
as soon as the deterministic closure has no way on. What remains is looked for with the automaton of the negation: a
run that goes round for ever breaks the property if that automaton accepts it. The memory of a run is the state of the
closure and the set of states in which the automaton of the negation can be; if that set is empty, every continuation
satisfies the property.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from kubeproof.logic.alphabet import Alphabet, members
from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.automata.graph import reaching_cycles
from kubeproof.logic.automata.operations import determinise_closure
from kubeproof.logic.automata.translate import translate
from kubeproof.logic.formula import Formula, atoms
from kubeproof.logic.normal import negate

Memory = tuple[int, int]  # state of the closure, set of states of the negation
OUT = -1
BROKEN: Memory = (OUT, 0)
SAFE: Memory = (0, 0)


class Machine:
    """Follows the letters of runs; `start` is the memory before the first letter."""

    def __init__(self, formula: Formula, alphabet: Alphabet | None = None) -> None:
        self.formula = formula
        self.alphabet = alphabet or Alphabet(propositions=atoms(formula))
        self._closure = determinise_closure(translate(formula, self.alphabet))
        self._wrong = translate(negate(formula), self.alphabet)
        closed = self._closure.initial[0] if self._closure.initial else OUT
        self.start: Memory = (closed, _set(self._wrong.initial))
        self._memory: dict[tuple[Memory, int], Memory] = {}
        self._resting: dict[tuple[Memory, int], bool] = {}

    @property
    def first(self) -> tuple[int, ...]:
        """The states of the automaton of the negation before the first letter."""
        return self.ways(self.start)

    @property
    def size(self) -> tuple[int, int]:
        """States of the closure and of the automaton of the negation."""
        return self._closure.size, self._wrong.size

    def step(self, memory: Memory, letter: int) -> Memory:
        """The memory after a letter; BROKEN and SAFE are final."""
        key = (memory, letter)
        if key not in self._memory:
            self._memory[key] = self._step(memory, letter)
        return self._memory[key]

    def _step(self, memory: Memory, letter: int) -> Memory:
        if memory in (BROKEN, SAFE):
            return memory
        here = memory[0]
        closed = OUT if here == OUT else _only(self._closure, here, letter)
        if closed == OUT:
            return BROKEN
        wrong = _set(self._wrong.step(members(memory[1]), letter))
        return (closed, wrong) if wrong else SAFE

    def ways(self, memory: Memory) -> tuple[int, ...]:
        """The states in which the automaton of the negation can be."""
        return tuple(members(memory[1]))

    def after(self, way: int, letter: int) -> tuple[int, ...]:
        """Where a letter leads from a state of the automaton of the negation."""
        return tuple(target for guard, target in self._wrong.edges[way] if guard >> letter & 1)

    def is_accepting(self, way: int) -> bool:
        """True if being there again and again breaks the property."""
        return way in self._wrong.accepting

    def breaks_at_rest(self, memory: Memory, letter: int) -> bool:
        """True if a run with this memory breaks the property by reading the one letter for ever."""
        key = (memory, letter)
        if key not in self._resting:
            self._resting[key] = self._accepts_for_ever(memory, letter)
        return self._resting[key]

    def _accepts_for_ever(self, memory: Memory, letter: int) -> bool:
        if memory in (BROKEN, SAFE):
            return memory == BROKEN
        successors = tuple(self.after(way, letter) for way in range(self._wrong.size))
        return not reaching_cycles(successors, self._wrong.accepting).isdisjoint(self.ways(memory))


@lru_cache(maxsize=256)
def machine_of(formula: Formula, propositions: tuple[str, ...]) -> Machine:
    """The machine of a formula over these propositions; made once, as a sweep asks for it at every size."""
    return Machine(formula, Alphabet(propositions=propositions))


def _only(deterministic: Buchi, state: int, letter: int) -> int:
    return next((target for guard, target in deterministic.edges[state] if guard >> letter & 1), OUT)


def _set(states: Iterable[int]) -> int:
    return sum(1 << state for state in set(states))
