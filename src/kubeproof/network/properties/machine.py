"""Automata as tables, made to be multiplied with forwarding graphs.

A deterministic property is followed by one machine: falling out of it violates the safety part, a cycle without an
accepting state the liveness part. A nondeterministic one needs two: its determinised closure, out of which bad prefixes
fall, and an automaton of the words that stay inside the closure and yet are not in the property, whose accepting cycles
are violations.
"""

from __future__ import annotations

from enum import Enum

from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.automata.complement import complement
from kubeproof.logic.automata.graph import on_cycles, reaching_cycles
from kubeproof.logic.automata.operations import determinise_closure, intersection, merge, reduce
from kubeproof.network.properties.automata import PathProperty
from kubeproof.values import dataclass


class Ending(Enum):
    """What becomes of a word that goes on with one letter for ever."""

    GOOD = "good"
    BAD = "bad"  # within the safety part, but not in the property
    OUT = "out"  # outside the safety part


@dataclass(frozen=True, slots=True)
class Machine:
    """Moves of an automaton by state and letter."""

    initial: tuple[int, ...]
    moves: tuple[tuple[tuple[int, ...], ...], ...]  # [state][letter] -> states
    endings: tuple[tuple[Ending, ...], ...]  # [state][letter]
    accepting: frozenset[int]
    is_deterministic: bool  # then falling out is a violation, and so is a cycle that avoids the accepting states


@dataclass(frozen=True, slots=True)
class Prepared:
    """A property, ready to be checked."""

    property: PathProperty
    safety: Machine
    liveness: Machine | None  # None: the first machine decides it
    has_liveness: bool  # False for a safety property
    reads: frozenset[str]
    most_hops: int
    most_paths: int


def prepare(one: PathProperty) -> Prepared:
    """The machines of a property."""
    whole = merge(reduce(one.automaton))
    if whole.is_deterministic:
        machine = _deterministic(whole)
        return Prepared(one, machine, None, _has_bad_cycle(whole), one.reads, one.most_hops, one.most_paths)
    closed = determinise_closure(whole)
    outside = one.opposite if one.opposite is not None else complement(whole)
    missed = merge(reduce(intersection(closed, outside)))
    liveness = _missing(missed) if missed.initial else None
    safety, has_liveness = _deterministic(closed), liveness is not None
    return Prepared(one, safety, liveness, has_liveness, one.reads, one.most_hops, one.most_paths)


def _has_bad_cycle(automaton: Buchi) -> bool:
    """True if some word never falls out and yet is not accepted."""
    rest = [[t for t in out if t not in automaton.accepting] for out in automaton.successors]
    return bool(on_cycles(rest) - automaton.accepting)


def _table(automaton: Buchi) -> tuple[tuple[tuple[int, ...], ...], ...]:
    letters = range(automaton.alphabet.size)
    return tuple(
        tuple(tuple(target for guard, target in out if guard >> letter & 1) for letter in letters)
        for out in automaton.edges
    )


def _deterministic(automaton: Buchi) -> Machine:
    if not automaton.initial:  # nothing is in the property: the first letter falls out
        letters = automaton.alphabet.size
        return Machine((0,), (((),) * letters,), ((Ending.OUT,) * letters,), frozenset(), True)
    moves = _table(automaton)
    endings = tuple(
        tuple(_follow(moves, automaton.accepting, state, letter) for letter in range(automaton.alphabet.size))
        for state in range(automaton.size)
    )
    return Machine(automaton.initial, moves, endings, automaton.accepting, True)


def _follow(
    moves: tuple[tuple[tuple[int, ...], ...], ...], accepting: frozenset[int], state: int, letter: int
) -> Ending:
    seen: list[int] = []
    while state not in seen:
        seen.append(state)
        if not moves[state][letter]:
            return Ending.OUT
        state = moves[state][letter][0]
    return Ending.GOOD if accepting & set(seen[seen.index(state) :]) else Ending.BAD


def _missing(automaton: Buchi) -> Machine:
    """The machine that looks for words: a letter that leads to an accepting cycle is a bad ending."""
    moves = _table(automaton)
    bad = []
    for letter in range(automaton.alphabet.size):
        bad.append(reaching_cycles([out[letter] for out in moves], automaton.accepting))
    endings = tuple(
        tuple(Ending.BAD if state in bad[letter] else Ending.GOOD for letter in range(automaton.alphabet.size))
        for state in range(automaton.size)
    )
    return Machine(automaton.initial, moves, endings, automaton.accepting, False)
