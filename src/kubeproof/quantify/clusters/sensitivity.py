"""How much each rate of a Scenario matters: the answer is asked for again with other rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.cluster.chances import HOUR_S, Chance
from kubeproof.errors import UsageError
from kubeproof.quantify.clusters.options import WITHIN, ClusterOptions, Variation
from kubeproof.quantify.clusters.result import Span, Varied

if TYPE_CHECKING:
    from kubeproof.events.declarations import Event
    from kubeproof.manifests.loaded import Loaded
    from kubeproof.quantify.clusters.result import ClusterResult
    from kubeproof.quantify.clusters.space import Report

    Ask = Callable[[Loaded, ClusterOptions, Report], ClusterResult]

PART = 0.05  # of a rate, upwards and downwards
FIELDS = ("chance", "recovery")


def ask_again(loaded: Loaded, options: ClusterOptions, ask: Ask, report: Report) -> ClusterResult:
    """The answers; if that is asked for with how much each rate matters for the first intent, and with other rates."""
    result = ask(loaded, options, report)
    if not options.is_sensitive and not options.variations:
        return result
    if WITHIN not in options.questions or not result.intents:
        problem = "--sensitivity and --vary are about violations within the horizon"
        raise UsageError(problem, f"Add --ask {WITHIN}, and a safety intent.")
    again = replace(options, questions=(WITHIN,), parts=0, at_most=None)

    def ask_first(changed: Loaded) -> Span | None:
        return ask(changed, again, report).intents[0].within

    found = [*_measure(loaded, lambda changed: _chance(ask_first(changed)))] if options.is_sensitive else []
    return replace(
        result,
        sensitivities=tuple(sorted(found, key=lambda pair: -abs(pair[1]))),
        variations=tuple(_vary(loaded, one, ask_first) for one in options.variations),
    )


def _vary(loaded: Loaded, one: Variation, ask: Callable[[Loaded], Span | None]) -> Varied:
    """The chance of the first intent for every mean time of one event, or of its end."""
    events = loaded.scenario.events
    number = next((n for n, event in enumerate(events) if event.name == one.event), None)
    if number is None:
        known = ", ".join(event.name for event in events) or "none"
        raise UsageError(f"--vary {one.event}: no such event", f"There are: {known}.")
    field = "recovery" if one.is_end else "chance"
    if getattr(events[number], field) is None:
        what = "end of it" if one.is_end else "event"
        raise UsageError(f"--vary {one.event}: the {what} has no rate", "Write mtbf or mttr into the Scenario.")
    points = []
    for seconds in one.seconds:
        span = ask(_change(loaded, number, _scale(events[number], field, 1 / seconds)))
        points.append((seconds, span if span is not None else Span(skipped="not asked")))
    return Varied(one.title, tuple(points))


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


def _chance(span: Span | None) -> float:
    """The middle of what a chance lies between."""
    if span is None or span.least is None or span.greatest is None:
        return 0.0
    return (span.least.value + span.greatest.value) / 2
