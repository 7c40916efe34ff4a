"""The decision process of an explored cluster, as flat arrays.

Meaning and proofs: docs/explanation/chances.md. Every state is either timed, with one choice that takes time, or
instantaneous. Where time may pass beside other choices, passing is a state of its own, numbered after the others.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kubeproof.cluster.control import Role, Tick
from kubeproof.events.rates import event_rate
from kubeproof.model.weights import Weights
from kubeproof.quantify.cluster_options import OPEN, UNIFORM
from kubeproof.quantify.storm import ModelArrays
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.events.quantities import QuantifySettings
    from kubeproof.quantify.cluster_space import Space

    Ints = NDArray[np.int64]
    Smalls = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

REST = -1.0  # duration of an effect of time that has none of its own


@dataclass(frozen=True, slots=True)
class Steps:
    """Every step of the store with its weight, by source."""

    source: Ints
    actor: Smalls
    effect: Smalls
    target: Smalls
    weight: Floats


@dataclass(frozen=True, slots=True)
class Effects:
    """What quantification needs to know of every effect."""

    role: Ints
    loop: Ints  # loops of one name have one number
    seconds: Floats  # that pass; REST where it does not say
    rate: Floats  # per second and alternative; NaN where open or no event
    is_whole: Bools  # the rate is that of all alternatives together
    orders: Floats  # in how many orders the same choice of equals was counted
    tags: tuple[int, ...]


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


def steps_of(space: Space) -> Steps:
    """All steps of an explored cluster."""
    found = space.store.weighed(0, space.states, Weights(space.system))
    degrees = np.frombuffer(found.degrees, dtype=np.int32)
    actor, effect, target = (
        np.frombuffer(part, dtype=np.int32) for part in (found.actors, found.effects, found.targets)
    )
    source = np.repeat(np.arange(len(degrees), dtype=np.int64), degrees)
    return Steps(source, actor, effect, target, np.frombuffer(found.weights, dtype=np.float64))


def effects_of(space: Space, steps: Steps, tick_s: int) -> Effects:
    """The table of all effects that some step has."""
    known = space.store.effect_values
    size = len(known)
    role, loop = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    seconds, rate = np.zeros(size), np.full(size, np.nan)
    is_whole, orders = np.zeros(size, dtype=np.bool_), np.ones(size)
    names = {name: number for number, name in enumerate(dict.fromkeys(a.name for a in space.system.actors))}
    first = np.full(size, -1, dtype=np.int64)
    first[steps.effect[::-1]] = np.arange(len(steps.effect))[::-1]
    for number in np.flatnonzero(first >= 0).tolist():
        at = int(first[number])
        effect, actor = known[number], int(steps.actor[at])
        decision: Any = effect.label
        role[number], loop[number] = effect.role, names[space.system.actors[actor].name]
        orders[number] = prod(map(factorial, Counter(effect.edits).values()))
        if effect.role == Role.TIME:
            seconds[number] = next((a.seconds for a in decision.actions if isinstance(a, Tick)), REST)
        elif effect.role == Role.EVENT:
            found = event_rate(space.plan.actors[actor], decision, _level(space, actor, int(steps.source[at])), tick_s)
            if found is not None:
                rate[number], is_whole[number] = found
    return Effects(role, loop, seconds, rate, is_whole, orders, tuple(effect.tags for effect in known))


def _level(space: Space, actor: int, state: int) -> int:
    """The level of the usage that an event moves, in a state; 0 for other events."""
    memory = getattr(getattr(space.plan.actors[actor], "source", None), "memory", None)
    if memory is None:
        return 0
    cell: Any = space.store.cells_of(state)[space.system.slots.memory(memory)]
    return int(cell[0])


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
    passing = _passing(states, steps, effects, roles, settings.tick_s)
    entries = _entries(steps, effects, roles, passing, settings.step_s, is_uniform=order == UNIFORM)
    arrays = _arrays(entries, _rates(states, steps, effects, roles), steps, passing)
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
    """Where time passes, and for how long."""

    apart: Ints  # states in which it may pass beside other choices: then it passes in a state of its own
    place: Ints  # per state, where its time passes
    origin: Ints  # of all states
    duration_s: Floats  # of all states


def _passing(states: int, steps: Steps, effects: Effects, roles: _Roles, tick_s: int) -> _Passing:
    others = _any_at(states, steps.source[roles.is_urgent | roles.is_optional | roles.is_open])
    may_pass = _any_at(states, steps.source[roles.is_time]) | roles.is_stable
    apart = np.flatnonzero(may_pass & others)
    place = np.arange(states)
    place[apart] = states + np.arange(len(apart))
    duration_s = np.zeros(states + len(apart))
    duration_s[place[roles.is_stable]] = tick_s
    seconds = effects.seconds[steps.effect[roles.is_time]]
    duration_s[place[steps.source[roles.is_time]]] = np.where(seconds == REST, tick_s, seconds)
    return _Passing(apart, place, np.concatenate((np.arange(states), apart)), duration_s)


@dataclass(frozen=True, slots=True)
class _Entries:
    """What choices lead to if nothing interrupts them. `choice` is unique among the choices of an owner."""

    owner: Ints
    choice: Ints
    target: Ints | Smalls
    share: Floats  # not normalised
    exposure_s: Floats

    @staticmethod
    def together(*parts: _Entries) -> _Entries:
        """All entries of the parts."""
        return _Entries(*(np.concatenate([getattr(part, f) for part in parts]) for f in _Entries.__slots__))


def _entries(
    steps: Steps, effects: Effects, roles: _Roles, passing: _Passing, step_s: float, *, is_uniform: bool
) -> _Entries:
    """Choice -1 is time; then come loops (all in choice 0 where orders are uniform), then single steps."""
    loop = effects.loop[steps.effect]
    single = int(effects.loop.max(initial=0)) + 1 + np.arange(len(steps.source))
    acts = roles.is_urgent | roles.is_optional
    choice = np.zeros_like(loop) if is_uniform else np.where(roles.is_urgent, loop, single)
    share = _loop_shares(steps, loop, roles.is_urgent) if is_uniform else steps.weight
    acting = _Entries(
        steps.source[acts], choice[acts], steps.target[acts], share[acts], np.full(int(acts.sum()), step_s)
    )
    opened, clock, rest = roles.is_open, roles.is_time, np.flatnonzero(roles.is_stable)
    opening = _plain(steps.source[opened], single[opened], steps.target[opened])
    first_choice = 0 if is_uniform else -1
    to_pass = _plain(passing.apart, np.full(len(passing.apart), first_choice), passing.place[passing.apart])
    passes = np.concatenate((passing.place[steps.source[clock]], passing.place[rest]))
    timed = _plain(passes, np.full(len(passes), -1), np.concatenate((steps.target[clock], rest.astype(np.int32))))
    return _Entries.together(acting, opening, to_pass, replace(timed, exposure_s=passing.duration_s[passes]))


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
    """The steps that interrupt, by source, with their rates, and the sum of the rates per state."""

    step: Ints
    per_s: Floats
    first: Ints  # per state, where its steps begin; one more at the end
    total: Floats


def _rates(states: int, steps: Steps, effects: Effects, roles: _Roles) -> _Rates:
    step = np.flatnonzero(roles.is_chance)
    source, effect, weight = steps.source[step], steps.effect[step], steps.weight[step].copy()
    whole = effects.is_whole[effect]
    key = source * (int(effects.loop.max(initial=0)) + 1) + effects.loop[effect]
    _, group = np.unique(key[whole], return_inverse=True)
    weight[whole] /= np.bincount(group, weights=weight[whole])[group]
    per_s = effects.rate[effect] * weight
    first = _starts(source, states)
    total = np.bincount(source, weights=per_s, minlength=states).astype(np.float64)
    return _Rates(step, per_s, first, total)


def _arrays(entries: _Entries, rates: _Rates, steps: Steps, passing: _Passing) -> ModelArrays:
    """The choices in order, each with what interrupts it."""
    width = int(entries.choice.max(initial=0)) + 2
    key = entries.owner * width + entries.choice + 1
    order, begins = _sorted(key)
    owner = entries.owner[order[begins]]
    row = np.repeat(np.arange(len(begins)), np.diff(begins, append=len(order)))
    share = entries.share[order]
    share /= np.add.reduceat(share, begins)[row]
    exposure_s = np.maximum.reduceat(entries.exposure_s[order], begins)
    origin = passing.origin[owner]
    total = rates.total[origin]
    interruption = -np.expm1(-total * exposure_s)
    share *= 1 - interruption[row]
    hit = np.flatnonzero(interruption > 0)
    count = rates.first[origin[hit] + 1] - rates.first[origin[hit]]
    place = np.repeat(rates.first[origin[hit]] - np.cumsum(count) + count, count) + np.arange(int(count.sum()))
    hit = np.repeat(hit, count)
    more = interruption[hit] * rates.per_s[place] / total[hit]
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
