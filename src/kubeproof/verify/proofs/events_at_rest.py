"""A second look with events at rest, where the built-in scenario is too large to be explored whole.

Nobody chose the events of that scenario, so that a first run should not end without any answer. A run in which each
event comes to a cluster at rest is also a run of the scenario itself: what such runs break is broken, and is shown
after it was replayed on the scenario as it stands. What they do not break stays undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.errors import LimitReached
from kubeproof.events.declarations import STABLE, Event
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, Statistics, VerifyResult
from kubeproof.verify.words.summary import describe_stop

if TYPE_CHECKING:
    from kubeproof.verify.counterexamples.replayer import Look

Again = Callable[[Loaded, VerifyOptions], VerifyResult]


def is_calm(loaded: Loaded) -> bool:
    """True if all events come at rest anyway."""
    return all(_at_rest(event) == event for event in loaded.scenario.events)


def _at_rest(event: Event) -> Event:
    """The event if it only comes to a cluster at rest; as it is, if it is no moment."""
    if event.waits_for_rest or not event.is_chosen:
        return event
    if event.after is None:
        return replace(event, after=STABLE)
    return replace(event, and_after=(*event.and_after, STABLE))


def search_at_rest(
    loaded: Loaded,
    plan: Plan,
    options: VerifyOptions,
    results: Sequence[IntentResult],
    again: Again,
    look: Look,
) -> tuple[list[IntentResult], Statistics]:
    """The results with what is found in runs whose events come at rest, and what that search did."""
    scenario = loaded.scenario
    names = {one.intent for one in results if one.verdict == Verdict.UNKNOWN}
    events = tuple(map(_at_rest, scenario.events))
    intents = tuple(intent for intent in scenario.intents if intent.name in names)
    calm = replace(loaded, scenario=replace(scenario, events=events, intents=intents))
    second = again(calm, options)
    by_name = {one.intent: one for one in reversed(second.results)}  # of several violations the first
    judged = [_judge(one, by_name.get(one.intent), loaded, plan, look) for one in results]
    return judged, second.statistics


def describe_at_rest(numbers: Statistics) -> str:
    """What the second search covers, for the scope."""
    part = f", in part: {describe_stop(numbers)}" if numbers.stopped_by else ""
    return f"every run whose events come to a cluster at rest: {numbers.states:,} states{part}"


def _judge(one: IntentResult, calm: IntentResult | None, loaded: Loaded, plan: Plan, look: Look) -> IntentResult:
    if one.verdict != Verdict.UNKNOWN or calm is None:
        return one
    if calm.verdict == Verdict.HOLDS:
        return replace(one, detail=f"{one.detail}; it holds in every run whose events come to a cluster at rest")
    return _confirm(calm, one, loaded, plan, look) if calm.verdict == Verdict.VIOLATED else one


def _confirm(violated: IntentResult, open_one: IntentResult, loaded: Loaded, plan: Plan, look: Look) -> IntentResult:
    """The violation, if its counterexample is one of the scenario as it stands."""
    from kubeproof.verify.counterexamples.replayer import ReplayMismatch
    from kubeproof.verify.counterexamples.rerun import rerun_on

    try:
        rerun_on(loaded, plan, violated, look)
    except (ReplayMismatch, LimitReached) as problem:
        return replace(open_one, detail=f"a violation was found but not replayed: {problem}")
    return replace(violated, detail=f"{violated.detail}; the run shown is a shortest of those with events at rest")
