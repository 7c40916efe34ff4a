"""Complementation of any Büchi automaton by tight ranks (Friedgut, Kupferman and Vardi 2006; Schewe 2009).

A word is rejected if and only if the states that runs can be in can be ranked such that ranks never grow along a
run, accepting states have even ranks, and every run ends up in an odd rank. From some moment on such a ranking is
tight: its highest rank is odd and every odd rank below occurs. So the complement follows the subsets, guesses
that moment, and then follows tight rankings. Exponential, so only for the small automata that people write by hand;
a formula is complemented by negating it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kubeproof.errors import LimitReached
from kubeproof.logic.alphabet import members, partition
from kubeproof.logic.automata.automaton import Buchi, Edge, make
from kubeproof.logic.automata.operations import complement_of_closed, complete, merge, reduce
from kubeproof.named_tuples import NamedTuple

MOST_STATES = 100_000

Ranking = tuple[tuple[int, int], ...]  # (state, rank), sorted


class Level(NamedTuple):
    """The states that runs can be in; once the moment has come, with their ranks."""

    states: frozenset[int]
    ranking: Ranking | None = None  # None: still before the moment
    owing: frozenset[int] = frozenset()  # of rank `even`, not left since that rank's turn came
    even: int = 0  # the even rank whose turn it is


def complement(automaton: Buchi) -> Buchi:
    """An automaton for all other words."""
    useful = merge(reduce(automaton))
    if not useful.initial:
        return make(automaton.alphabet, (0,), [[(automaton.alphabet.everything, 0)]], (0,))
    if useful.is_deterministic and len(useful.accepting) == useful.size:
        return complement_of_closed(useful)
    if useful.is_deterministic:
        return _of_deterministic(complete(useful, accepting=False))
    return merge(reduce(_by_ranks(useful)))


def _of_deterministic(automaton: Buchi) -> Buchi:
    """Guess the moment after which no accepting state is met: a second copy without accepting states."""
    shift = automaton.size
    edges: list[list[Edge]] = []
    for out in automaton.edges:
        jumps = [(guard, target + shift) for guard, target in out if target not in automaton.accepting]
        edges.append([*out, *jumps])
    for out in automaton.edges:
        edges.append([(guard, target + shift) for guard, target in out if target not in automaton.accepting])
    starts = [s + shift for s in automaton.initial if s not in automaton.accepting]
    return merge(reduce(make(automaton.alphabet, (*automaton.initial, *starts), edges, range(shift, 2 * shift))))


def _by_ranks(automaton: Buchi) -> Buchi:
    start = Level(frozenset(automaton.initial))
    number: dict[Level, int] = {start: 0}
    pending = [start]
    edges: list[list[Edge]] = []
    while len(edges) < len(pending):
        out: list[Edge] = []
        for piece, successor in _levels_after(automaton, pending[len(edges)]):
            if successor not in number:
                if len(number) >= MOST_STATES:
                    raise LimitReached("E302 the automaton is too large to complement. Give the property as a formula")
                number[successor] = len(number)
                pending.append(successor)
            out.append((piece, number[successor]))
        edges.append(out)
    accepting = (place for level, place in number.items() if _is_accepting(level))
    return make(automaton.alphabet, (0,), edges, accepting)


def _is_accepting(level: Level) -> bool:
    """No run is left, or every run that owed has left the even rank."""
    return not level.states or (level.ranking is not None and not level.owing)


def _levels_after(automaton: Buchi, level: Level) -> Iterator[tuple[int, Level]]:
    guards = tuple(dict.fromkeys(guard for state in sorted(level.states) for guard, _ in automaton.edges[state]))
    for piece in partition(guards, automaton.alphabet.everything):
        letter = next(members(piece))
        states = automaton.step(level.states, letter)
        if level.ranking is None or not states:
            yield piece, Level(states)
        if not states:
            continue
        for ranking in _rankings_after(automaton, level, letter, states):
            yield piece, _rank(automaton, level, letter, states, ranking)


def _rank(automaton: Buchi, level: Level, letter: int, states: frozenset[int], ranking: Ranking) -> Level:
    """The next level under a ranking; even ranks take turns, so that each is left by the runs in it."""
    if level.ranking is None:
        return Level(states, ranking)
    highest = max(rank for _, rank in ranking)
    even = level.even if level.owing else (level.even + 2) % (highest + 1)
    held = frozenset(state for state, rank in ranking if rank == even)
    return Level(states, ranking, automaton.step(level.owing, letter) & held if level.owing else held, even)


def _rankings_after(automaton: Buchi, level: Level, letter: int, states: frozenset[int]) -> Iterator[Ranking]:
    """Tight rankings: any when the moment has just come, otherwise with ranks that do not grow and the same highest."""
    if level.ranking is None:
        free = len(states - automaton.accepting)
        for highest in range(1, 2 * free, 2):
            yield from _tight(automaton, dict.fromkeys(states, highest), highest)
        return
    highest = max(rank for _, rank in level.ranking)
    bounds: dict[int, int] = {}
    for state, rank in level.ranking:
        for target in automaton.step((state,), letter):
            bounds[target] = min(rank, bounds.get(target, rank))
    yield from _tight(automaton, bounds, highest)


def _tight(automaton: Buchi, bounds: dict[int, int], highest: int) -> Iterator[Ranking]:
    """The rankings below the bounds with every odd rank up to the highest; accepting states have even ranks."""
    choices = []
    for state in sorted(bounds):
        ranks = [rank for rank in range(bounds[state] + 1) if rank % 2 == 0 or state not in automaton.accepting]
        choices.append([(state, rank) for rank in ranks])
    odd = set(range(1, highest + 1, 2))
    for ranking in product(*choices):
        if odd <= {rank for _, rank in ranking}:
            yield ranking
