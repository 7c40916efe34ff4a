"""The decision process of an explored cluster, as flat arrays.

Meaning and proofs: docs/explanation/chances.md. Every state is either timed, with one choice that takes time, or
instantaneous. Where time may pass beside other choices, or something may come before it, passing is a state of its own,
numbered after the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kubeproof.cluster.control import Role
from kubeproof.quantify.arrays import ModelArrays
from kubeproof.quantify.chain_steps import REST
from kubeproof.quantify.cluster_options import OPEN, UNIFORM
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.events.quantities import QuantifySettings
    from kubeproof.quantify.chain_steps import Effects, Steps
    from kubeproof.quantify.cluster_space import Space

    Ints = NDArray[np.int64]
    Smalls = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

ALMOST_1 = float(np.nextafter(1.0, 0.0))  # whatever is not interrupted for certain keeps a chance not to be

HALF = 0.5


@dataclass(frozen=True, slots=True)
class Chain:
    """The process: states of the store first, then those in which time passes, then perhaps the one before all."""

    arrays: ModelArrays
    origin: Ints  # per state the state of the store that it belongs to
    duration_s: Floats  # per state; 0 where no time passes
    goal: int | None = None  # the state of those who took a forbidden step, where one was asked for

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
) -> Chain:
    """The process; with `forbidden`, steps that have one of these tags lead to a goal of their own."""
    states, goal = space.states, None
    steps = replace(steps, weight=steps.weight / effects.orders[steps.effect])
    if forbidden:
        states, goal = states + 1, states
        hit = np.array([bool(tags & forbidden) for tags in effects.tags], dtype=np.bool_)
        steps = replace(steps, target=np.where(hit[steps.effect], np.int32(goal), steps.target))
    roles = _roles(states, steps, effects)
    rates = _rates(states, steps, effects, roles)
    passing = _passing(steps, effects, roles, rates, settings.tick_s)
    entries = _entries(steps, effects, roles, passing, _exposed(rates.total, settings.step_s), order == UNIFORM)
    arrays = _arrays(entries, rates, steps, passing)
    origin, duration_s = passing.origin, passing.duration_s
    if len(space.initial) > 1:
        arrays = _with_start(arrays, space.initial)
        origin, duration_s = np.append(origin, space.initial[0]), np.append(duration_s, 0.0)
    return Chain(replace(arrays, initial=arrays.initial or space.initial[0]), origin, duration_s, goal)


@dataclass(frozen=True, slots=True)
class _Roles:
    """Which steps are what; and which states are stable: nothing but events leaves them."""

    is_urgent: Bools
    is_optional: Bools
    is_time: Bools
    is_open: Bools  # events that may happen or not
    is_chance: Bools  # events with a rate
    is_stable: Bools  # per state


def _roles(states: int, steps: Steps, effects: Effects) -> _Roles:
    role = effects.role[steps.effect]
    is_event = role == Role.EVENT
    has_rate = ~np.isnan(effects.rate[steps.effect])
    is_stable = ~_any_at(states, steps.source[~is_event])
    return _Roles(
        role == Role.URGENT,
        role == Role.OPTIONAL,
        role == Role.TIME,
        is_event & ~has_rate,
        is_event & has_rate,
        is_stable,
    )


@dataclass(frozen=True, slots=True)
class _Passing:
    """Where time passes, for how long, and what comes before it or meanwhile."""

    apart: Ints  # states whose time passes in a state of its own
    place: Ints  # per state, where its time passes
    origin: Ints  # of all states
    duration_s: Floats  # of all states
    before: Floats  # per state, how likely an event comes before its wait
    meanwhile: Floats  # per state, how likely an event ends its rest


def _passing(steps: Steps, effects: Effects, roles: _Roles, rates: _Rates, tick_s: int) -> _Passing:
    """Waits last until a clock runs out, whatever comes before; a rest lasts one tick and has nothing to lose."""
    states, total, clock = len(rates.total), rates.total, steps.source[roles.is_time]
    others = _any_at(states, steps.source[roles.is_urgent | roles.is_optional | roles.is_open])
    seconds = np.zeros(states)
    seconds[clock] = effects.seconds[steps.effect[roles.is_time]]
    rests = roles.is_stable | (seconds == REST)
    seconds[rests] = tick_s
    waits = _any_at(states, clock) & ~rests
    apart = np.flatnonzero((waits & (others | (total > 0))) | (rests & others))
    place = np.arange(states)
    place[apart] = states + np.arange(len(apart))
    duration_s = np.zeros(states + len(apart))
    duration_s[place] = seconds
    events = total * seconds
    before = np.where(waits, np.minimum(events / (1 + events), ALMOST_1), 0.0)
    meanwhile = np.where(rests, _in_a_tick(rates, tick_s), 0.0)
    origin = np.concatenate((np.arange(states), apart))
    return _Passing(apart, place, origin, duration_s, before, meanwhile)


def _in_a_tick(rates: _Rates, tick_s: int) -> Floats:
    """How likely an event comes within a tick of rest.

    The sum of the probabilities, so that each event is as likely as it says: at most one comes in a tick. Where they
    add up to more than a half, that leaves too little for nothing to happen.
    """
    return np.maximum(_exposed(rates.total, tick_s), np.minimum(rates.tick_total, HALF))


def _exposed(total: Floats, seconds: Floats | float) -> Floats:
    """How likely an event comes within so many seconds."""
    return np.minimum(-np.expm1(-total * seconds), ALMOST_1)


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
    steps: Steps, effects: Effects, roles: _Roles, passing: _Passing, acting: Floats, is_uniform: bool
) -> _Entries:
    """Choice -1 is time; then come loops (all in choice 0 where orders are uniform), then single steps.

    `acting` is how likely an event comes before a step, by state.
    """
    loop = effects.loop[steps.effect]
    single = int(effects.loop.max(initial=0)) + 1 + np.arange(len(steps.source))
    acts, opened, clock = roles.is_urgent | roles.is_optional, roles.is_open, roles.is_time
    choice = np.zeros_like(loop) if is_uniform else np.where(roles.is_urgent, loop, single)
    share = _loop_shares(steps, loop, roles.is_urgent) if is_uniform else steps.weight
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


def _loop_shares(steps: Steps, loop: Ints, is_urgent: Bools) -> Floats:
    """Per step its part of its loop's share of 1; optional steps count each for themselves."""
    key = steps.source * (int(loop.max(initial=0)) + 1) + loop
    _, group = np.unique(key[is_urgent], return_inverse=True)
    share = steps.weight.copy()
    share[is_urgent] /= np.bincount(group, weights=steps.weight[is_urgent])[group]
    return share


@dataclass(frozen=True, slots=True)
class _Rates:
    """The steps that interrupt, by source, with how likely they are, and the sums of that per state."""

    step: Ints
    first: Ints  # per state, where its steps begin; one more at the end
    per_s: Floats
    total: Floats
    per_tick: Floats
    tick_total: Floats


def _rates(states: int, steps: Steps, effects: Effects, roles: _Roles) -> _Rates:
    step = np.flatnonzero(roles.is_chance)
    source, effect, weight = steps.source[step], steps.effect[step], steps.weight[step].copy()
    whole = effects.is_whole[effect]
    key = source * (int(effects.loop.max(initial=0)) + 1) + effects.loop[effect]
    _, group = np.unique(key[whole], return_inverse=True)
    weight[whole] /= np.bincount(group, weights=weight[whole])[group]
    per_s, per_tick = effects.rate[effect] * weight, effects.per_tick[effect] * weight
    total, tick_total = (
        np.bincount(source, weights=each, minlength=states).astype(np.float64) for each in (per_s, per_tick)
    )
    return _Rates(step, _starts(source, states), per_s, total, per_tick, tick_total)


def _arrays(entries: _Entries, rates: _Rates, steps: Steps, passing: _Passing) -> ModelArrays:
    """The choices in order, each with what interrupts it."""
    width = int(entries.choice.max(initial=0)) + 2
    key = entries.owner * width + entries.choice + 1
    order, begins = _sorted(key)
    owner = entries.owner[order[begins]]
    row = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(order)))
    share = entries.share[order]
    share /= np.add.reduceat(share, begins)[row]
    single = entries.interruption[order]
    interruption = np.add.reduceat(share * single, begins)
    share *= 1 - single
    origin = passing.origin[owner]
    is_rest = passing.duration_s[owner] > 0
    hit = np.flatnonzero(interruption > 0)
    count = rates.first[origin[hit] + 1] - rates.first[origin[hit]]
    place = np.repeat(rates.first[origin[hit]] - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    hit = np.repeat(hit, count)
    per_tick = rates.per_tick[place] / rates.tick_total[origin[hit]]
    more = interruption[hit] * np.where(is_rest[hit], per_tick, rates.per_s[place] / rates.total[origin[hit]])
    return _merged(
        np.concatenate((row, hit)),
        np.concatenate((entries.target[order], steps.target[rates.step[place]])),
        np.concatenate((share, more)),
        owner,
        len(passing.origin),
    )


def _sorted(key: Ints) -> tuple[Ints, Ints]:
    """The order in which keys ascend, and where each different key begins in it; quick for a few ascending runs."""
    order = np.argsort(key, kind="stable")
    ascending = key[order]
    return order, np.flatnonzero(np.concatenate((np.ones(1, dtype=np.bool_), ascending[1:] != ascending[:-1])))


def _merged(row: Ints, column: Ints, value: Floats, owner: Ints, states: int) -> ModelArrays:
    """The matrix: entries sorted, those at one place added up."""
    order, starts = _sorted(row * states + column)
    first = order[starts]
    return ModelArrays(
        choice_starts=_starts(owner, states),
        row_starts=_starts(row[first], len(owner)),
        columns=column[first],
        probabilities=np.add.reduceat(value[order], starts),
    )


def _starts(numbers: Ints, size: int) -> Ints:
    """Where each number below `size` begins in an ascending array; one more at the end."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(numbers, minlength=size))))


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


def _any_at(size: int, places: Ints) -> Bools:
    found = np.zeros(size, dtype=np.bool_)
    found[places] = True
    return found
