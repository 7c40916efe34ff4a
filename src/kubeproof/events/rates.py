"""How likely the events of a plan are: one rate per alternative, or none where a Scenario leaves it open."""

from __future__ import annotations

from typing import NamedTuple

from kubeproof.cluster.chances import rate_of
from kubeproof.cluster.loops.actions import NodeChange, Remember
from kubeproof.cluster.loops.control import Decision, Loop
from kubeproof.cluster.loops.node_verbs import UNCORDON
from kubeproof.events.cordon import CordonEvent
from kubeproof.events.declarations import CpuLoad, Event, NodeFailure, UsageChange
from kubeproof.events.node_failure import NodeRecoveryEvent
from kubeproof.events.usage import LevelEvent, UnreachableEvent
from kubeproof.events.zone_failure import ZoneRecoveryEvent


class Rate(NamedTuple):
    """How likely: of each named alternative, or (`is_whole`) of all alternatives of the event together."""

    per_s: float  # as a rate
    per_tick: float  # as a probability
    is_whole: bool = False


def event_rate(source: Loop, decision: Decision, level: int, tick_s: int) -> Rate | None:
    """How fast one alternative of an event happens; None if that is open. `level` is that of a usage before it."""
    origin = getattr(source, "source", None)
    if origin is None:
        return None  # a schedule, which is open
    event: Event = origin.event
    if isinstance(source, LevelEvent) and isinstance(event, (UsageChange, CpuLoad)):
        return _level_rate(event, decision, level, tick_s)
    chance = event.recovery if _is_end(source, decision) else event.chance
    if chance is None:
        return None
    is_whole = isinstance(event, NodeFailure) and event.together
    return Rate(chance.rate(tick_s), chance.within(tick_s), is_whole)


def _is_end(source: Loop, decision: Decision) -> bool:
    """True for what ends an earlier occurrence."""
    if isinstance(source, (NodeRecoveryEvent, ZoneRecoveryEvent)):
        return True
    if isinstance(source, CordonEvent):
        return any(isinstance(action, NodeChange) and action.verb == UNCORDON for action in decision.actions)
    return isinstance(source, UnreachableEvent) and source.ends


def _level_rate(event: UsageChange | CpuLoad, decision: Decision, level: int, tick_s: int) -> Rate | None:
    """The rate of a change between two levels: that of leaving the first, divided as its row says."""
    others = len(event.levels) - 1
    if event.moves is None:
        chance = event.chance
        return None if chance is None else Rate(chance.rate(tick_s) / others, chance.within(tick_s) / others)
    target = next(action.value[0] for action in decision.actions if isinstance(action, Remember))
    row = event.moves[level]
    leaving = sum(probability for to, probability in enumerate(row) if to != level)
    return Rate(rate_of(leaving, tick_s) * row[target] / leaving, row[target])
