"""Random small clusters some of whose events must happen, several together, or after several conditions."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.events.declarations import (
    STABLE,
    Completes,
    Event,
    KernelPanic,
    NeverReady,
    NodeFailure,
    UsagePattern,
)
from tests.property.families import failure_cases, scale_cases
from tests.property.loops import autoscale_cases, deschedule_cases, drain_cases, load_cases, rollout_cases
from tests.property.strategies import Case

NO_CHOICE = (Completes, KernelPanic, NeverReady, UsagePattern)


@st.composite
def promise_cases(draw: st.DrawFn) -> Case:
    """A case of another family whose events must happen, or some of them."""
    families = (failure_cases, scale_cases, deschedule_cases, autoscale_cases, load_cases, drain_cases, rollout_cases)
    case = draw(draw(st.sampled_from(families))())
    events: list[Event] = []
    for event in case.events:
        events.append(draw(_promised(event, tuple(events))))
    return replace(case, events=tuple(events))


@st.composite
def _promised(draw: st.DrawFn, event: Event, earlier: tuple[Event, ...]) -> Event:
    """The event, perhaps one that must happen, and perhaps after all that came before it."""
    if isinstance(event, NO_CHOICE):
        return event
    if isinstance(event, NodeFailure) and event.max == 2:
        event = replace(event, together=True, or_fewer=draw(st.booleans()))
    names = [one.name for one in earlier if not isinstance(one, NO_CHOICE)]
    if names and event.after is not None and draw(st.booleans()):
        event = replace(event, after=names[0], and_after=(*names[1:], STABLE))
    return replace(event, must=draw(st.sampled_from([True, True, False])))
