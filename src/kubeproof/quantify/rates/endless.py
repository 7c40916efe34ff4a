"""What a chain does in the end: which states it reaches, when, and in which it is for what share of time.

States are taken out one after the other, what leads through them being added to what leads past them. Nothing is
subtracted, so that small rates keep their digits beside large ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.quantify.chains.passing import starts_of
from kubeproof.quantify.rates.transient import MOST_SOLVED, TooLarge

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.quantify.rates.lumping import Lumped

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


def reach(chain: Lumped, goal: Bools) -> Floats:
    """Per first state how likely the goal is reached at all; 0 and 1 where the graph alone says so."""
    may = may_reach(chain, goal)
    lost = ~may
    if not lost.any():
        return np.ones(chain.states)
    surely = may & ~may_reach(chain, lost, goal)
    open_ = may & ~surely
    found = np.where(surely, 1.0, 0.0)
    found[open_] = _solve(chain, open_, surely.astype(np.float64)[:, None], np.zeros((chain.states, 1)))[open_, 0]
    return found


def reach_after(chain: Lumped, goal: Bools) -> Floats:
    """Per first state the expected seconds until the goal is reached; infinite where that is not certain."""
    certain = ~may_reach(chain, ~may_reach(chain, goal), goal)
    passing = certain & ~goal
    found = np.where(certain, 0.0, math.inf)
    found[passing] = _solve(chain, passing, np.zeros((chain.states, 1)), np.ones((chain.states, 1)))[passing, 0]
    return found


def share_of_time(chain: Lumped, marked: Floats) -> Floats:
    """Per first state the long-run means of the columns of `marked`."""
    ends = list(_last_classes(chain))
    found = np.zeros((chain.states, marked.shape[1]))
    for members in ends:
        is_end = np.zeros(chain.states, dtype=np.bool_)
        is_end[members] = True
        arrives = reach(chain, is_end) if len(ends) > 1 else np.ones(chain.states)
        found += arrives[:, None] * _mean_within(chain, members, marked)
    return found


def _mean_within(chain: Lumped, members: Ints, marked: Floats) -> Floats:
    """The means over the time between two visits of a state, of those that lead to one another alone."""
    if len(members) == 1:
        only: Floats = marked[members[0]]
        return only
    matrix = _matrix(chain)[np.ix_(members, members)]
    weights = np.concatenate((np.ones((len(members), 1)), marked[members]), axis=1)
    _take_out(matrix, weights, 1)
    means: Floats = weights[0, 1:] / weights[0, 0]
    return means


def _solve(chain: Lumped, passing: Bools, ends: Floats, per_second: Floats) -> Floats:
    """Per state that is passed the value at the end plus the sum until then."""
    inside, outside = np.flatnonzero(passing), np.flatnonzero(~passing)
    matrix = _matrix(chain)
    weights = per_second[inside] + matrix[np.ix_(inside, outside)] @ ends[outside]
    whole = np.zeros((len(inside), len(inside) + 1))
    whole[:, :-1], whole[:, -1] = matrix[np.ix_(inside, inside)], matrix[np.ix_(inside, outside)].sum(axis=1)
    found = np.zeros((chain.states, ends.shape[1]))
    found[inside] = _take_out_all(whole, weights)
    return found


def _take_out_all(rates: Floats, weights: Floats) -> Floats:
    """What is gained until the last column is reached, by first state."""
    size = len(rates)
    leaving = np.zeros(size)
    for number in range(size - 1, -1, -1):
        leaving[number] = rates[number, :number].sum() + rates[number, -1]
        if number:
            part = rates[:number, number] / leaving[number]
            hit = np.flatnonzero(part)
            columns = np.append(np.flatnonzero(rates[number, :number]), size)
            rates[np.ix_(hit, columns)] += np.outer(part[hit], rates[number, columns])
            weights[hit] += np.outer(part[hit], weights[number])
    found = np.zeros_like(weights)
    for number in range(size):
        found[number] = (weights[number] + rates[number, :number] @ found[:number]) / leaving[number]
    return found


def _take_out(rates: Floats, weights: Floats, left: int) -> None:
    """Takes out all states but the first ones; weights go to where they come from."""
    for number in range(len(rates) - 1, left - 1, -1):
        part = rates[:number, number] / rates[number, :number].sum()
        hit, columns = np.flatnonzero(part), np.flatnonzero(rates[number, :number])
        rates[np.ix_(hit, columns)] += np.outer(part[hit], rates[number, columns])
        weights[hit] += np.outer(part[hit], weights[number])


def _matrix(chain: Lumped) -> Floats:
    if chain.states > MOST_SOLVED:
        raise TooLarge(f"{chain.states:,} states in continuous time are too many; {MOST_SOLVED:,} are looked at")
    found = np.zeros((chain.states, chain.states))
    found[chain.rates.row, chain.rates.column] = chain.rates.value
    return found


def may_reach(chain: Lumped, goal: Bools, stop: Bools | None = None) -> Bools:
    """The states from which the goal may be reached, not through `stop`."""
    order = np.argsort(chain.rates.column, kind="stable")
    starts, before = starts_of(chain.rates.column, chain.states), chain.rates.row[order]
    blocked = np.zeros(chain.states, dtype=np.bool_) if stop is None else stop
    return _spread(starts, before, goal, blocked)


def _spread(starts: Ints, after: Ints, first: Bools, blocked: Bools) -> Bools:
    found, edge = first.copy(), np.flatnonzero(first)
    while len(edge):
        count = starts[edge + 1] - starts[edge]
        place = np.repeat(starts[edge] - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
        edge = np.unique(after[place])
        edge = edge[~found[edge] & ~blocked[edge]]
        found[edge] = True
    return found


def _last_classes(chain: Lumped) -> list[Ints]:
    """The sets of states that are not left any more and lead to one another."""
    starts, nobody = starts_of(chain.rates.row, chain.states), np.zeros(chain.states, dtype=np.bool_)
    is_open = np.ones(chain.states, dtype=np.bool_)
    found = []
    while is_open.any():
        one = np.zeros(chain.states, dtype=np.bool_)
        one[int(np.flatnonzero(is_open)[0])] = True
        ahead = _spread(starts, chain.rates.column, one, nobody)
        while True:  # go on to where fewer states are ahead, until all of them lead back
            back = may_reach(chain, one)
            if not (ahead & ~back).any():
                break
            one[:] = False
            one[int(np.flatnonzero(ahead & ~back)[0])] = True
            ahead = _spread(starts, chain.rates.column, one, nobody)
        found.append(np.flatnonzero(ahead))
        is_open &= ~may_reach(chain, ahead)
    return found
