"""The decision process of an explored cluster, as flat arrays.

Meaning and proofs: docs/explanation/chances.md. Every state is either timed, with one choice that takes time, or
instantaneous. Where time may pass beside other choices, or something may come before it, passing is a state of its own,
numbered after the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.quantify.chains.arrays import ModelArrays
from kubeproof.quantify.chains.passing import find_exposure, passing_of, rates_of, roles_of, starts_of
from kubeproof.quantify.clusters.options import OPEN, UNIFORM
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.events.quantities import QuantifySettings
    from kubeproof.quantify.chains.passing import Passing, Rates, Roles
    from kubeproof.quantify.chains.steps import Effects, Steps
    from kubeproof.quantify.clusters.space import Space

    Ints = NDArray[np.int64]
    Smalls = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Chain:
    """The process: states of the store first, then those in which time passes, then perhaps the one before all."""

    arrays: ModelArrays
    origin: Ints  # per state the state of the store that it belongs to
    duration_s: Floats  # per state; 0 where no time passes
    goal: int | None = None  # the state of those who took a forbidden step, where one was asked for
    is_in_continuous_time: bool = False  # mean durations and frequencies are those of continuous time

    @property
    def states(self) -> int:
        return len(self.origin)


def build_chain(
    space: Space,
    steps: Steps,
    effects: Effects,
    settings: QuantifySettings,
    *,
    order: str = OPEN,
    forbidden: int = 0,
    is_mean: bool = False,
) -> Chain:
    """The process; with `forbidden`, steps that have one of these tags lead to a goal of their own.

    With `is_mean` it is the one for the long run, in which states last as long as in continuous time on average, and
    steps of loops take no time at all.
    """
    states, goal, targets = space.states, None, steps.target
    steps = replace(steps, weight=steps.weight / effects.orders[steps.effect])
    if forbidden:
        states, goal = states + 1, states
        hit = np.array([bool(tags & forbidden) for tags in effects.tags], dtype=np.bool_)
        steps = replace(steps, target=np.where(hit[steps.effect], np.int32(goal), steps.target))
    roles = roles_of(states, steps, effects)
    rates = rates_of(states, steps, effects, roles)
    passing = passing_of(steps, effects, roles, rates, settings.tick_s, targets, is_mean=is_mean)
    acting = find_exposure(rates.total, 0.0 if is_mean else settings.step_s)
    entries = _entries(steps, effects, roles, passing, acting, order == UNIFORM)
    arrays = _arrays(entries, rates, steps, passing, is_mean)
    origin, duration_s = passing.origin, passing.duration_s
    if len(space.initial) > 1:
        arrays = _with_start(arrays, space.initial)
        origin, duration_s = np.append(origin, space.initial[0]), np.append(duration_s, 0.0)
    initial = arrays.initial or space.initial[0]
    is_exact = is_mean and not passing.has_shared_waits
    return Chain(replace(arrays, initial=initial), origin, duration_s, goal, is_exact)


@dataclass(frozen=True, slots=True)
class _Entries:
    """What choices lead to if nothing interrupts them. `choice` is unique among the choices of an owner."""

    owner: Ints
    choice: Ints
    target: Ints | Smalls
    share: Floats  # not normalised
    interruption: Floats  # how likely an event comes instead

    @staticmethod
    def together(*parts: _Entries) -> _Entries:
        """All entries of the parts."""
        return _Entries(*(np.concatenate([getattr(part, f) for part in parts]) for f in _Entries.__slots__))


def _entries(
    steps: Steps, effects: Effects, roles: Roles, passing: Passing, acting: Floats, is_uniform: bool
) -> _Entries:
    """Choice -1 is time; then come loops (all in choice 0 where orders are uniform), then single steps.

    `acting` is how likely an event comes before a step, by state.
    """
    loop = effects.loop[steps.effect]
    single = int(effects.loop.max(initial=0)) + 1 + np.arange(len(steps.source))
    acts, opened, clock = roles.is_urgent | roles.is_optional, roles.is_open, roles.is_time
    choice = np.zeros_like(loop) if is_uniform else np.where(roles.is_urgent, loop, single)
    share = loop_shares(steps, loop, roles.is_urgent) if is_uniform else steps.weight
    actor = steps.source[acts]
    act = _Entries(actor, choice[acts], steps.target[acts], share[acts], acting[actor])
    happen = _plain(steps.source[opened], single[opened], steps.target[opened])
    first_choice = np.full(len(passing.apart), 0 if is_uniform else -1)
    begin = _plain(passing.apart, first_choice, passing.place[passing.apart])
    rest = np.flatnonzero(roles.is_stable)
    states = np.concatenate((steps.source[clock], rest))
    targets = np.concatenate((steps.target[clock], rest.astype(np.int32)))
    end = _plain(passing.place[states], np.full(len(states), -1), targets)
    return _Entries.together(
        act,
        happen,
        replace(begin, interruption=passing.before[passing.apart]),
        replace(end, interruption=passing.meanwhile[states]),
    )


def _plain(owner: Ints, choice: Ints, target: Ints | Smalls) -> _Entries:
    """Entries of share 1 that nothing interrupts."""
    return _Entries(owner, choice, target, np.ones(len(owner)), np.zeros(len(owner)))


def loop_shares(steps: Steps, loop: Ints, is_urgent: Bools) -> Floats:
    """Per step its part of its loop's share of 1; optional steps count each for themselves."""
    key = steps.source * (int(loop.max(initial=0)) + 1) + loop
    _, group = np.unique(key[is_urgent], return_inverse=True)
    share = steps.weight.copy()
    share[is_urgent] /= np.bincount(group, weights=steps.weight[is_urgent])[group]
    return share


def _arrays(entries: _Entries, rates: Rates, steps: Steps, passing: Passing, is_mean: bool) -> ModelArrays:
    """The choices in order, each with what interrupts it."""
    width = int(entries.choice.max(initial=0)) + 2
    key = entries.owner * width + entries.choice + 1
    order, begins = _sort_keys(key)
    owner = entries.owner[order[begins]]
    row = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(order)))
    share = entries.share[order]
    share /= np.add.reduceat(share, begins)[row]
    single = entries.interruption[order]
    interruption = np.add.reduceat(share * single, begins)
    share *= 1 - single
    origin = passing.origin[owner]
    is_rest = (passing.duration_s[owner] > 0) & ~np.bool_(is_mean)
    hit = np.flatnonzero(interruption > 0)
    count = rates.first[origin[hit] + 1] - rates.first[origin[hit]]
    place = np.repeat(rates.first[origin[hit]] - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    hit = np.repeat(hit, count)
    per_tick = rates.per_tick[place] / rates.tick_total[origin[hit]]
    more = interruption[hit] * np.where(is_rest[hit], per_tick, rates.per_s[place] / rates.total[origin[hit]])
    return _merge(
        np.concatenate((row, hit)),
        np.concatenate((entries.target[order], steps.target[rates.step[place]])),
        np.concatenate((share, more)),
        owner,
        len(passing.origin),
    )


def _sort_keys(key: Ints) -> tuple[Ints, Ints]:
    """The order in which keys ascend, and where each different key begins in it; quick for a few ascending runs."""
    order = np.argsort(key, kind="stable")
    ascending = key[order]
    return order, np.flatnonzero(np.concatenate((np.ones(1, dtype=np.bool_), ascending[1:] != ascending[:-1])))


def _merge(row: Ints, column: Ints, value: Floats, owner: Ints, states: int) -> ModelArrays:
    """The matrix: entries sorted, those at one place added up."""
    order, starts = _sort_keys(row * states + column)
    first = order[starts]
    return ModelArrays(
        choice_starts=starts_of(owner, states),
        row_starts=starts_of(row[first], len(owner)),
        columns=column[first],
        probabilities=np.add.reduceat(value[order], starts),
    )


def _with_start(arrays: ModelArrays, initial: tuple[int, ...]) -> ModelArrays:
    """The process that begins by choosing, at no time, one of several states."""
    entries, rows = len(arrays.columns), arrays.choices
    return replace(
        arrays,
        choice_starts=np.append(arrays.choice_starts, rows + len(initial)),
        row_starts=np.append(arrays.row_starts, entries + 1 + np.arange(len(initial))),
        columns=np.append(arrays.columns, initial),
        probabilities=np.append(arrays.probabilities, np.ones(len(initial))),
        initial=arrays.states,
    )
