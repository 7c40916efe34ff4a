"""The steps of an explored cluster with what quantification needs to know of them, as flat arrays."""

from __future__ import annotations

from collections import Counter
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kubeproof.cluster.loops.actions import Tick
from kubeproof.cluster.loops.control import Role
from kubeproof.events.rates import event_rate
from kubeproof.model.reductions.weights import Weights
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kubeproof.quantify.clusters.space import Space

    Ints = NDArray[np.int64]
    Smalls = NDArray[np.int32]
    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


class Rated(NamedTuple):
    """What an effect is that says itself how often it comes."""

    per_s: float


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
    per_tick: Floats  # probability within a tick of rest
    is_whole: Bools  # both are those of all alternatives together
    most: Floats  # so many alternatives at most come as fast as that; infinite where all do
    orders: Floats  # in how many orders the same choice of equals was counted
    tags: tuple[int, ...]


def steps_of(space: Space, weights: Weights | None = None) -> Steps:
    """All steps of an explored cluster."""
    found = space.store.weighed(0, space.states, weights or Weights(space.system))
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
    seconds, rate, per_tick = np.zeros(size), np.full(size, np.nan), np.zeros(size)
    is_whole, orders = np.zeros(size, dtype=np.bool_), np.ones(size)
    most = np.full(size, np.inf)
    names = {name: number for number, name in enumerate(dict.fromkeys(a.name for a in space.system.actors))}
    first = np.full(size, -1, dtype=np.int64)
    first[steps.effect[::-1]] = np.arange(len(steps.effect))[::-1]
    for number in np.flatnonzero(first >= 0).tolist():
        at = int(first[number])
        effect, actor = known[number], int(steps.actor[at])
        decision: Any = effect.label
        role[number], loop[number] = effect.role, names[space.system.actors[actor].name]
        orders[number] = prod(map(factorial, Counter(effect.edits).values()))
        if isinstance(decision, Rated):
            rate[number] = decision.per_s
        elif effect.role == Role.TIME:
            seconds[number] = next((a.seconds for a in decision.actions if isinstance(a, Tick)), REST)
        elif effect.role in (Role.EVENT, Role.OPTIONAL):
            found = event_rate(space.plan.actors[actor], decision, _level(space, actor, int(steps.source[at])), tick_s)
            if found is not None:
                rate[number], per_tick[number], is_whole[number] = found[:3]
                most[number] = np.inf if found.most is None else found.most
    tags = tuple(effect.tags for effect in known)
    return Effects(role, loop, seconds, rate, per_tick, is_whole, most, orders, tags)


def _level(space: Space, actor: int, state: int) -> int:
    """The level of the usage that an event moves, in a state; 0 for other events."""
    memory = getattr(getattr(space.plan.actors[actor], "source", None), "memory", None)
    if memory is None:
        return 0
    cell: Any = space.store.cells_of(state)[space.system.slots.memory(memory)]
    return int(cell[0])
