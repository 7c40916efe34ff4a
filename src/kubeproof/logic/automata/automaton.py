"""Büchi automata: a word is accepted if some run on it visits an accepting state infinitely often."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.automata.graph import reaching_cycles
from kubeproof.logic.lasso import Lasso
from kubeproof.values import dataclass

Edge = tuple[int, int]  # set of letters, target


@dataclass(frozen=True)
class Buchi:
    """A nondeterministic Büchi automaton; a missing edge rejects."""

    alphabet: Alphabet
    initial: tuple[int, ...]
    edges: tuple[tuple[Edge, ...], ...]  # by state; guards are not empty, targets sorted and different
    accepting: frozenset[int]
    names: tuple[str, ...] = ()  # of the states, for people

    @property
    def size(self) -> int:
        return len(self.edges)

    @cached_property
    def successors(self) -> tuple[tuple[int, ...], ...]:
        """The graph without letters."""
        return tuple(tuple(target for _, target in out) for out in self.edges)

    @cached_property
    def is_deterministic(self) -> bool:
        """True if no state has two ways to go for one letter, and there is at most one initial state."""
        return len(self.initial) <= 1 and all(_are_disjoint(guard for guard, _ in out) for out in self.edges)

    @cached_property
    def is_complete(self) -> bool:
        """True if every state has a way to go for every letter, and there is an initial state."""
        return bool(self.initial) and all(_union(g for g, _ in out) == self.alphabet.everything for out in self.edges)

    def name(self, state: int) -> str:
        """How a state is shown."""
        return self.names[state] if self.names else str(state)

    def step(self, states: Iterable[int], letter: int) -> frozenset[int]:
        """Where a letter leads from any of the states."""
        return frozenset(target for state in states for guard, target in self.edges[state] if guard >> letter & 1)

    def accepts(self, word: Lasso[int]) -> bool:
        """True if the word of letter numbers is in the language."""
        width = len(word.letters)
        successors = [
            [target * width + word.after(place) for guard, target in out if guard >> word.letters[place] & 1]
            for out in self.edges
            for place in range(width)
        ]
        goals = (state * width + place for state in self.accepting for place in range(width))
        useful = reaching_cycles(successors, goals)
        return any(state * width in useful for state in self.initial)


def make(
    alphabet: Alphabet,
    initial: Iterable[int],
    edges: Sequence[Iterable[Edge]],
    accepting: Iterable[int],
    names: Sequence[str] = (),
) -> Buchi:
    """An automaton with parallel edges united and edges in order."""
    united = []
    for out in edges:
        guards: dict[int, int] = {}
        for guard, target in out:
            guards[target] = guards.get(target, 0) | guard
        united.append(tuple((guards[target], target) for target in sorted(guards) if guards[target]))
    return Buchi(alphabet, tuple(sorted(set(initial))), tuple(united), frozenset(accepting), tuple(names))


def from_letters(
    letters: Sequence[str],
    initial: Iterable[str],
    transitions: Iterable[tuple[str, str, str]],
    accepting: Iterable[str],
    states: Sequence[str] = (),
) -> Buchi:
    """An automaton written by hand: transitions are (state, letter, state)."""
    listed = list(transitions)
    names = list(dict.fromkeys([*states, *initial, *(name for a, _, b in listed for name in (a, b)), *accepting]))
    number = {name: place for place, name in enumerate(names)}
    edges: list[list[Edge]] = [[] for _ in names]
    for source, letter, target in listed:
        edges[number[source]].append((1 << list(letters).index(letter), number[target]))
    return make(
        Alphabet(letters=tuple(letters)), (number[n] for n in initial), edges, (number[n] for n in accepting), names
    )


def nonempty_states(automaton: Buchi) -> set[int]:
    """The states from which some word is accepted: those that reach an accepting state on a cycle."""
    return reaching_cycles(automaton.successors, automaton.accepting)


def is_empty(automaton: Buchi) -> bool:
    """True if no word is accepted."""
    return not any(state in nonempty_states(automaton) for state in automaton.initial)


def _are_disjoint(guards: Iterable[int]) -> bool:
    seen = 0
    for guard in guards:
        if seen & guard:
            return False
        seen |= guard
    return True


def _union(guards: Iterable[int]) -> int:
    seen = 0
    for guard in guards:
        seen |= guard
    return seen
