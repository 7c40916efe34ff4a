"""How much each rate of a Scenario matters: the answer is asked for again with a little more and a little less."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.cluster.chances import HOUR_S, Chance
from kubeproof.errors import UsageError
from kubeproof.quantify.clusters.options import WITHIN, ClusterOptions

if TYPE_CHECKING:
    from kubeproof.events.declarations import Event
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.quantify.clusters.result import ClusterResult
    from kubeproof.quantify.clusters.space import Report

    Ask = Callable[[Loaded, ClusterOptions, Report], ClusterResult]

PART = 0.05  # of a rate, upwards and downwards
FIELDS = ("chance", "recovery")


def find_sensitivities(loaded: Loaded, options: ClusterOptions, ask: Ask, report: Report) -> ClusterResult:
    """The answers, with how much each rate matters for the first intent if that is asked for."""
    result = ask(loaded, options, report)
    if not options.is_sensitive:
        return result
    if WITHIN not in options.questions or not result.intents:
        problem = "--sensitivity is about violations within the horizon"
        raise UsageError(problem, f"Add --ask {WITHIN}, and a safety intent.")
    again = replace(options, questions=(WITHIN,), parts=0, at_most=None)
    found = [*_measure(loaded, lambda changed: _chance(ask(changed, again, report)))]
    return replace(result, sensitivities=tuple(sorted(found, key=lambda pair: -abs(pair[1]))))


def _measure(loaded: Loaded, ask: Callable[[Loaded], float]) -> Iterator[tuple[str, float]]:
    """Per rate, percent of the chance per percent of it: the slope between two answers, on logarithms."""
    tick_s = loaded.scenario.quantify.tick_s
    for number, event in enumerate(loaded.scenario.events):
        for field in FIELDS:
            chance: Chance | None = getattr(event, field)
            if chance is not None:
                more, less = (
                    ask(_change(loaded, number, _scale(event, field, chance.rate(tick_s) * factor)))
                    for factor in (1 + PART, 1 - PART)
                )
                name = f"{event.name}: {'how often' if field == 'chance' else 'how fast it is over'}"
                if more > 0 and less > 0:
                    yield name, math.log(more / less) / math.log((1 + PART) / (1 - PART))


def _scale(event: Event, field: str, per_s: float) -> Event:
    rate = Chance(per_hour=per_s * HOUR_S)
    return replace(event, chance=rate) if field == "chance" else replace(event, recovery=rate)


def _change(loaded: Loaded, number: int, event: Event) -> Loaded:
    """The input with another event at this place."""
    events = tuple(event if at == number else one for at, one in enumerate(loaded.scenario.events))
    return replace(loaded, scenario=replace(loaded.scenario, events=events))


def _chance(result: ClusterResult) -> float:
    """The chance of the first intent, in the middle of what it lies between."""
    span = result.intents[0].within
    if span is None or span.least is None or span.greatest is None:
        return 0.0
    return (span.least.value + span.greatest.value) / 2
