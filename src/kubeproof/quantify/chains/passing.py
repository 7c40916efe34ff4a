"""How time passes in an explored cluster, and how likely events come before or meanwhile.

Meaning: docs/explanation/chances.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubeproof.cluster.loops.control import Role
from kubeproof.quantify.chains.steps import REST
from kubeproof.quantify.chains.waits import due_in_waits, find_passed_part
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.quantify.chains.steps import Effects, Steps

    Ints = NDArray[np.int64]
    Smalls = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

ALMOST_1 = float(np.nextafter(1.0, 0.0))  # whatever is not interrupted for certain keeps a chance not to be
MOST_DUE = 600.0  # events in a wait: it is next to never over
HALF = 0.5  # of the ticks of rest, at most, have an event with exactly the probability it says


@dataclass(frozen=True, slots=True)
class Roles:
    """Which steps are what; and which states are stable: nothing but events leaves them."""

    is_urgent: Bools
    is_optional: Bools
    is_time: Bools
    is_open: Bools  # events that may happen or not
    is_chance: Bools  # events with a rate
    is_stable: Bools  # per state


def roles_of(states: int, steps: Steps, effects: Effects) -> Roles:
    """What every step is, and which states are stable."""
    role = effects.role[steps.effect]
    is_event = role == Role.EVENT
    has_rate = ~np.isnan(effects.rate[steps.effect])
    is_stable = ~_any_at(states, steps.source[~is_event])
    return Roles(
        role == Role.URGENT,
        role == Role.OPTIONAL,
        role == Role.TIME,
        is_event & ~has_rate,
        is_event & has_rate,
        is_stable,
    )


@dataclass(frozen=True, slots=True)
class Passing:
    """Where time passes, for how long, and what comes before it or meanwhile."""

    apart: Ints  # states whose time passes in a state of its own
    place: Ints  # per state, where its time passes
    origin: Ints  # of all states
    duration_s: Floats  # of all states
    before: Floats  # per state, how likely an event comes before its wait
    meanwhile: Floats  # per state, how likely an event ends its rest
    has_shared_waits: bool = False  # events may fall into waits that go on; they come at their beginnings here


def passing_of(
    steps: Steps, effects: Effects, roles: Roles, rates: Rates, tick_s: int, targets: Smalls, *, is_mean: bool = False
) -> Passing:
    """Waits last until a clock runs out, whatever comes before; a rest lasts one tick and has nothing to lose.

    `targets` are those that the steps have in the cluster: a question may give them others. With `is_mean`, states last
    as long as in continuous time on average: events end a rest, or a wait, when they come, and not at its ends. Waits
    are then the longer, as they are reached only if nothing comes before them.
    """
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
    due = due_in_waits(targets, steps, roles, rates, seconds, waits, rests)
    before = np.minimum(due.before, ALMOST_1)
    meanwhile = np.where(rests, find_exposure(total, tick_s) if is_mean else _in_a_tick(rates, tick_s), 0.0)
    if is_mean:
        undisturbed = np.exp(-np.minimum(due.ends, MOST_DUE))
        seconds = np.where(rests, seconds * find_passed_part(total * tick_s), seconds * due.part / undisturbed)
    duration_s = np.zeros(states + len(apart))
    duration_s[place] = seconds
    origin = np.concatenate((np.arange(states), apart))
    return Passing(apart, place, origin, duration_s, before, meanwhile, bool((due.others > 0).any()))


def _in_a_tick(rates: Rates, tick_s: int) -> Floats:
    """How likely an event comes within a tick of rest.

    The sum of the probabilities, so that each event is as likely as it says: at most one comes in a tick. Where they
    add up to more than a half, that leaves too little for nothing to happen.
    """
    return np.maximum(find_exposure(rates.total, tick_s), np.minimum(rates.tick_total, HALF))


def find_exposure(total: Floats, seconds: Floats | float) -> Floats:
    """How likely an event comes within so many seconds."""
    return np.minimum(-np.expm1(-total * seconds), ALMOST_1)


@dataclass(frozen=True, slots=True)
class Rates:
    """The steps that interrupt, by source, with how likely they are, and the sums of that per state."""

    step: Ints
    first: Ints  # per state, where its steps begin; one more at the end
    per_s: Floats
    total: Floats
    per_tick: Floats
    tick_total: Floats


def rates_of(states: int, steps: Steps, effects: Effects, roles: Roles) -> Rates:
    """The events that have a probability."""
    step = np.flatnonzero(roles.is_chance)
    source, effect, weight = steps.source[step], steps.effect[step], parts_of_rates(steps, effects, step)
    per_s, per_tick = effects.rate[effect] * weight, effects.per_tick[effect] * weight
    total, tick_total = (
        np.bincount(source, weights=each, minlength=states).astype(np.float64) for each in (per_s, per_tick)
    )
    return Rates(step, starts_of(source, states), per_s, total, per_tick, tick_total)


def parts_of_rates(steps: Steps, effects: Effects, step: Ints) -> Floats:
    """Per step how much of its effect's rate is its: by its weight, or its share where the rate is that of all.

    Where at most so many alternatives come as fast as their rate says, more of them share that.
    """
    source, effect, weight = steps.source[step], steps.effect[step], steps.weight[step].copy()
    key = source * (int(effects.loop.max(initial=0)) + 1) + effects.loop[effect]
    whole, few = effects.is_whole[effect], np.isfinite(effects.most[effect])
    weight[whole] /= _sums_of(key[whole], weight[whole])
    weight[few] *= np.minimum(1.0, effects.most[effect[few]] / _sums_of(key[few], weight[few]))
    return weight


def _sums_of(key: Ints, weight: Floats) -> Floats:
    """Per step the sum over all with its key."""
    _, group = np.unique(key, return_inverse=True)
    return np.bincount(group, weights=weight).astype(np.float64, copy=False)[group]


def starts_of(numbers: Ints, size: int) -> Ints:
    """Where each number below `size` begins in an ascending array; one more at the end."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(np.bincount(numbers, minlength=size))))


def _any_at(size: int, places: Ints) -> Bools:
    found = np.zeros(size, dtype=np.bool_)
    found[places] = True
    return found
