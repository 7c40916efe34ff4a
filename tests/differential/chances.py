"""Random cases with probabilities, and what must be equal about them: verdicts, and runs by name."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from kubeproof.cluster.chances import Chance
from kubeproof.events.declarations import CpuLoad, Event, KernelPanic, NeverReady, UsageChange, UsagePattern
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from tests.property.strategies import Case

NO_MOMENTS = (KernelPanic, NeverReady, UsagePattern)


def loaded_case(case: Case, number: int) -> Loaded:
    """The case as an input, with probabilities on most of its events."""
    random = Random(number)
    events = tuple(_with_chances(event, random) for event in case.events)
    start = Start("placement", case.placement) if case.placement else Start()
    setup = case.setup
    if random.random() < 0.3:
        drawn = replace(setup.settings, startup_s=(1, 7), startup_choices=((1, 0.25), (7, 0.75)))
        setup = replace(setup, settings=drawn)
    return Loaded(setup, Scenario(name=f"case {number}", start=start, events=events, intents=case.intents))


def _with_chances(event: Event, random: Random) -> Event:
    if isinstance(event, NO_MOMENTS) or random.random() < 0.2:
        return event
    if isinstance(event, UsageChange | CpuLoad) and random.random() < 0.5:
        return replace(event, moves=_moves(len(event.levels), random))
    chance = Chance(per_tick=random.choice((0.5, 0.1, 0.001))) if random.random() < 0.8 else Chance(per_hour=3.0)
    recovery = Chance(per_tick=0.3) if random.random() < 0.8 else None
    return replace(event, chance=chance, recovery=recovery)


def _moves(levels: int, random: Random) -> tuple[tuple[float, ...], ...]:
    """A random matrix, some entries off the diagonal 0."""
    rows = []
    for level in range(levels):
        weights = [random.choice((0, 1, 2)) for _ in range(levels)]
        weights[level] = 4
        rows.append(tuple(weight / sum(weights) for weight in weights))
    return tuple(rows)
