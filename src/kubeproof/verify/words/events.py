"""What an event of a Scenario is, in one line that leaves nothing of it out."""

from __future__ import annotations

from kubeproof.cluster.chances import Chance
from kubeproof.events.declarations import Event


def describe_event(event: Event) -> str:
    """The event in words: what it does to whom, how often, after what, and how it ends."""
    must = ", must happen" if event.must else ""
    return f"{event.name}: {event.describe()}{_after(event)}{must}{_chances(event)}"


def _after(event: Event) -> str:
    return f", after {' and '.join(event.conditions)}" if event.conditions else ""


def _chances(event: Event) -> str:
    told = [
        f", {word} {_chance(chance)}"
        for word, chance in (("chance", event.chance), ("recovery", event.recovery))
        if chance
    ]
    moves = getattr(event, "moves", None)
    return "".join(told) + (", moves as its matrix says" if moves is not None else "")


def _chance(chance: Chance) -> str:
    return f"{chance.per_hour:g} per hour" if chance.per_hour is not None else f"{chance.per_tick:g} per tick"
