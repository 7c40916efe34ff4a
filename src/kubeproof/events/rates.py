"""How likely the events of a plan are: one rate per alternative, or none where a Scenario leaves it open."""

from __future__ import annotations

from kubeproof.cluster.chances import rate_of
from kubeproof.cluster.loops.actions import Remember
from kubeproof.cluster.loops.control import Decision, Loop
from kubeproof.events.common import ends_earlier
from kubeproof.events.declarations import Event
from kubeproof.named_tuples import NamedTuple


class Rate(NamedTuple):
    """How likely: of each named alternative, or (`is_whole`) of all alternatives of the event together."""

    per_s: float  # as a rate
    per_tick: float  # as a probability
    is_whole: bool = False
    most: int | None = None  # where there are more alternatives, they share what so many of them would have


def event_rate(source: Loop, decision: Decision, level: int, tick_s: int) -> Rate | None:
    """How fast one alternative of an event happens; None if that is open. `level` is that of a usage before it."""
    origin = getattr(source, "source", None)
    if origin is None:
        return None  # a schedule, which is open
    event: Event = origin.event
    if event.level_count:
        return _level_rate(event, decision, level, tick_s)
    is_end = ends_earlier(source, decision)
    chance = event.recovery if is_end else event.chance
    if chance is None:
        return None
    most = event.crews if is_end else None
    return Rate(chance.rate(tick_s), chance.within(tick_s), event.has_one_chance, most)


def share_of(rate: Rate, alternatives: float) -> float:
    """The part of its rate that each of so many alternatives of an event has."""
    if rate.is_whole:
        return 1 / alternatives
    return 1.0 if rate.most is None else min(1.0, rate.most / alternatives)


def _level_rate(event: Event, decision: Decision, level: int, tick_s: int) -> Rate | None:
    """The rate of a change between two levels: that of leaving the first, divided as its row says."""
    others = event.level_count - 1
    if event.moves is None:
        chance = event.chance
        return None if chance is None else Rate(chance.rate(tick_s) / others, chance.within(tick_s) / others)
    target = next(action.value[0] for action in decision.actions if isinstance(action, Remember))
    row = event.moves[level]
    leaving = sum(probability for to, probability in enumerate(row) if to != level)
    return Rate(rate_of(leaving, tick_s) * row[target] / leaving, row[target])
