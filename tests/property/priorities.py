"""Random small clusters whose pods have priorities: preemption, nominated pods, budgets as a last resort."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.objects import Container, PodTemplate, SchedulerProfile, Setup, Workload
from kubeproof.cluster.steering.policies import PREEMPT_LOWER, PREEMPT_NEVER
from kubeproof.events.declarations import Create, Delete, Drain, Event
from tests.property.events import MOMENTS, cordons, failures, scalings
from tests.property.intents import EVERY_KEY, intent_lists
from tests.property.loops import FLOORS, budgets, placements
from tests.property.strategies import (
    ANY_KIND,
    CONTROLLED,
    MIB,
    Case,
    choice,
    nodes,
    settings_values,
    spreads,
    templates,
    workload,
)

PREEMPT_KEYS = ("noEviction", "noEviction", "minReady", "noPendingForever", "settles", *EVERY_KEY)
NO_PREEMPTION = SchedulerProfile(disabled=frozenset({"DefaultPreemption"}))


@st.composite
def ranked(draw: st.DrawFn, app: str, priority: int) -> PodTemplate:
    """Pods that fill half a node or more."""
    template = draw(templates(app, graces=(0, 0, 30)))
    wanted = Container("main", draw(choice(100, 200, 150)), 64 * MIB)
    policy = draw(choice(PREEMPT_LOWER, PREEMPT_LOWER, PREEMPT_LOWER, PREEMPT_LOWER, PREEMPT_NEVER))
    spread = (draw(spreads(app)),) if draw(choice(False, False, False, True)) else ()
    return replace(template, containers=(wanted,), priority=priority, preemption_policy=policy, spread=spread)


@st.composite
def preempt_events(draw: st.DrawFn, workloads: Sequence[Workload]) -> tuple[Event, ...]:
    """What makes pods meet."""
    strong = workloads[-1]
    kinds: list[st.SearchStrategy[Event]] = [
        st.just(Create(name="event", target=strong.ref, after=draw(MOMENTS))),
        cordons("event", most=1),
        failures("event", most=1),
        st.just(Delete(name="event", target=strong.ref)),
        st.just(Drain(name="event", after=draw(MOMENTS))),
    ]
    if strong.kind != POD:
        kinds.append(scalings(strong, "event", most=2))
    return (draw(st.one_of(*kinds)),) if draw(choice(True, True, True, False)) else ()


@st.composite
def preempt_cases(draw: st.DrawFn) -> Case:
    """Two or three workloads of different priorities on nodes that are too small for all of them."""
    some = draw(nodes(most=2, cpu=choice(250, 200, 400), plain=True))
    weak = workload(draw(CONTROLLED), "low", draw(ranked("low", 0)), draw(choice(1, 2)))
    strong = workload(draw(ANY_KIND), "high", draw(ranked("high", 100)), draw(choice(1, 1, 2)))
    workloads = [weak, strong]
    if len(some) == 1 and draw(choice(False, True)):
        workloads.insert(1, workload(draw(CONTROLLED), "mid", draw(ranked("mid", draw(choice(50, 0, 100)))), 1))
    limits = (draw(budgets(draw(choice("low", "low", "high")))),) if draw(choice(False, True)) else ()
    if limits and draw(choice(False, False, True)):
        limits = (*limits, replace(limits[0], name="second", min_available=draw(FLOORS), max_unavailable=None))
    profile = draw(choice(*[SchedulerProfile()] * 5, NO_PREEMPTION))
    setup = Setup(some, tuple(workloads), (profile,), draw(settings_values()), budgets=limits)
    events = draw(preempt_events(workloads))
    begun = [weak] if any(isinstance(event, Create) for event in events) else workloads[:-1]
    placement = draw(placements(begun, some)) if draw(choice(True, True, False)) else ()
    return Case(setup, events, draw(intent_lists(workloads, keys=PREEMPT_KEYS)), placement)


PRIORITY_FAMILIES: dict[str, Callable[[], st.SearchStrategy[Case]]] = {"preempt": preempt_cases}
