"""One acceptance condition instead of several."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from kubeproof.errors import LimitReached
from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.automata.automaton import Buchi, Edge, make

MOST_STATES = 50_000

State = TypeVar("State", bound=Hashable)
Moves = Callable[[State], Iterable[tuple[int, State, frozenset[int]]]]  # letters, target, acceptance sets it is in


def degeneralise(alphabet: Alphabet, initial: Iterable[State], moves: Moves[State], sets: int) -> Buchi:
    """The Büchi automaton of one in which transitions of every one of the sets must be taken infinitely often.

    A state also counts which set is waited for next: on level i a transition of set i leads on, past every following
    set that it is in, too; the last level is accepting. States are explored from the initial ones.
    """
    number: dict[tuple[State, int], int] = {}
    pending: list[tuple[State, int]] = []

    def visit(state: State, level: int) -> int:
        if (state, level) not in number:
            if len(number) >= MOST_STATES:
                raise LimitReached(
                    f"E302 the property's automaton has more than {MOST_STATES} states. Split the property"
                )
            number[state, level] = len(number)
            pending.append((state, level))
        return number[state, level]

    starts = [visit(state, sets) for state in initial]
    edges: list[list[Edge]] = []
    while len(edges) < len(pending):
        state, level = pending[len(edges)]
        edges.append([(guard, visit(target, _advance(level, sets, met))) for guard, target, met in moves(state)])
    accepting = (place for (_, level), place in number.items() if level == sets)
    return make(alphabet, starts, edges, accepting)


def _advance(level: int, sets: int, met: frozenset[int]) -> int:
    """The level after a transition in these sets."""
    here = 0 if level == sets else level
    while here < sets and here in met:
        here += 1
    return here
