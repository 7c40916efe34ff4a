"""A cluster in continuous time as a Markov chain: rates between the states in which time passes.

States with urgent work take no time. What they lead to, any loop with work being equally likely to act next, is added
to the rates into them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.cluster.loops.control import Role
from kubeproof.errors import LimitReached, UsageError
from kubeproof.quantify.chains.passing import parts_of_rates, starts_of
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.quantify.chains.steps import Effects, Steps
    from kubeproof.quantify.clusters.space import Space

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

MOST_ROUNDS = 10_000  # of following steps that take no time
NEXT_TO_NOTHING = 1e-18  # of a rate: what goes round and round at one instant
REMEDY = "Write MTBF and MTTR, a rate or a probability into the Scenario; for open events leave out --rates"


def sum_by(place: Ints, value: Floats, size: int) -> Floats:
    """Per place the sum of its values."""
    return np.bincount(place, weights=value, minlength=size).astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class Entries:
    """A matrix by entries, those of one place added up."""

    row: Ints
    column: Ints
    value: Floats

    @staticmethod
    def add_up(row: Ints, column: Ints, value: Floats, width: int) -> Entries:
        """The entries in order."""
        keys, place = np.unique(row * width + column, return_inverse=True)
        return Entries(keys // width, keys % width, sum_by(place.reshape(-1), value, len(keys)))


@dataclass(frozen=True, slots=True)
class Moves:
    """All steps of an explored cluster: those that come at a rate, and those that come at once."""

    states: int
    rated: Entries  # per second
    at_once: Entries  # shares, of states that take no time
    is_instant: Bools
    is_beyond: Bools  # what is not looked at
    goal: int | None = None  # the state of those who took a forbidden step, where one was asked for


def moves_of(space: Space, steps: Steps, effects: Effects, forbidden: int = 0) -> Moves:
    """The steps with rates and shares; with `forbidden`, those that have one of these tags lead to a goal of their own.

    Nothing leaves what is not looked at.
    """
    states, goal, target = space.states, None, steps.target.astype(np.int64)
    if forbidden:
        states, goal = states + 1, states
        hit = np.array([bool(tags & forbidden) for tags in effects.tags], dtype=np.bool_)
        target = np.where(hit[steps.effect], goal, target)
    beyond = np.zeros(states, dtype=np.bool_)
    beyond[: space.states] = _find_beyond(space)
    urgent = (effects.role[steps.effect] == Role.URGENT) & ~beyond[steps.source]
    instant = np.zeros(states, dtype=np.bool_)
    instant[steps.source[urgent]] = True
    rated = np.flatnonzero(~instant[steps.source] & ~beyond[steps.source])
    per_s = effects.rate[steps.effect[rated]] * parts_of_rates(steps, effects, rated)
    if np.isnan(per_s).any():
        actors = np.unique(steps.actor[rated[np.isnan(per_s)]]).tolist()
        raise UsageError(f"--rates needs a rate of {', '.join(_names(space, actors))}", REMEDY)
    at_once = np.flatnonzero(urgent)
    return Moves(
        states,
        Entries.add_up(steps.source[rated], target[rated], per_s, states),
        Entries.add_up(steps.source[at_once], target[at_once], _shares(steps, effects, at_once), states),
        instant,
        beyond,
        goal,
    )


def _names(space: Space, actors: list[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(space.system.actors[actor].name) for actor in actors))


def _shares(steps: Steps, effects: Effects, at_once: Ints) -> Floats:
    """Per urgent step its share: all loops with work are equally likely, and what each may do by its weight."""
    source, loop = steps.source[at_once], effects.loop[steps.effect[at_once]]
    weight = steps.weight[at_once] / effects.orders[steps.effect[at_once]]
    keys, group = np.unique(source * (int(effects.loop.max(initial=0)) + 1) + loop, return_inverse=True)
    loops = np.bincount(keys // (int(effects.loop.max(initial=0)) + 1), minlength=int(source.max(initial=0)) + 1)
    share: Floats = weight / np.bincount(group.reshape(-1), weights=weight)[group.reshape(-1)] / loops[source]
    return share


def _find_beyond(space: Space) -> Bools:
    """The states in which no node is left in any place: they stand for all that is not looked at."""
    slots, store = space.system.slots, space.store
    places = [slots.place(place) for place in space.plan.layout.every_place]
    found = (not any(map(store.cells_of(state).__getitem__, places)) for state in range(space.states))
    return np.fromiter(found, dtype=np.bool_, count=space.states)


@dataclass(frozen=True, slots=True)
class RateChain:
    """A chain of the states that are kept; `kept` are their numbers before. Row i of `first` is where run i begins."""

    kept: Ints
    rates: Entries
    first: Entries

    @property
    def states(self) -> int:
        return len(self.kept)


def follow_instants(moves: Moves, initial: tuple[int, ...], stop: Bools) -> RateChain:
    """The chain of states in which time passes, and of those in `stop`, which nothing leaves."""
    is_kept = ~moves.is_instant | stop
    leaves = ~stop[moves.rated.row]
    rates = Entries(moves.rated.row[leaves], moves.rated.column[leaves], moves.rated.value[leaves])
    runs = Entries(np.arange(len(initial)), np.array(initial), np.ones(len(initial)))
    rates, first = _follow(moves, rates, is_kept), _follow(moves, runs, is_kept)
    kept = _reachable(moves.states, rates, first.column)
    number = np.full(moves.states, -1)
    number[kept] = np.arange(len(kept))
    inside = number[rates.row] >= 0
    row, column, value = rates.row[inside], number[rates.column[inside]], rates.value[inside]
    moved = number[row] != column
    return RateChain(
        kept,
        Entries(number[row][moved], column[moved], value[moved]),
        Entries(first.row, number[first.column], first.value),
    )


def _follow(moves: Moves, entries: Entries, is_kept: Bools) -> Entries:
    """The entries, with what instants lead to in their place."""
    states, after = moves.states, moves.at_once
    starts = starts_of(after.row, states)
    done, row, column, value = [], entries.row, entries.column, entries.value
    for rounds in range(MOST_ROUNDS):
        lasting = is_kept[column]
        done.append((row[lasting], column[lasting], value[lasting]))
        row, column, value = row[~lasting], column[~lasting], value[~lasting]
        if rounds % 64 == 63:
            large = value > NEXT_TO_NOTHING * entries.value.max(initial=0.0)
            row, column, value = row[large], column[large], value[large]
        if not len(row):
            rows, columns, values = (np.concatenate(parts) for parts in zip(*done, strict=True))
            return Entries.add_up(rows, columns, values, states)
        count = starts[column + 1] - starts[column]
        place = np.repeat(starts[column] - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
        found = Entries.add_up(
            np.repeat(row, count), after.column[place], np.repeat(value, count) * after.value[place], states
        )
        row, column, value = found.row, found.column, found.value
    raise LimitReached("E302 control loops go on for ever at one instant, so that no time passes. verify tells which.")


def _reachable(states: int, rates: Entries, first: Ints) -> Ints:
    """The states that a run may come to, ascending."""
    starts = starts_of(rates.row, states)
    seen = np.zeros(states, dtype=np.bool_)
    edge = np.unique(first)
    while len(edge):
        seen[edge] = True
        count = starts[edge + 1] - starts[edge]
        place = np.repeat(starts[edge] - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
        edge = np.unique(rates.column[place])
        edge = edge[~seen[edge]]
    return np.flatnonzero(seen)


def forget_beyond(moves: Moves) -> Moves:
    """The steps without those that lead to what is not looked at: such failures do not come."""
    inside = ~moves.is_beyond[moves.rated.column]
    rated = moves.rated
    kept = Entries(rated.row[inside], rated.column[inside], rated.value[inside])
    return replace(moves, rated=kept, is_beyond=np.zeros(moves.states, dtype=np.bool_))
