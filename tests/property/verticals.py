"""Random small clusters whose pods get their requests from a vertical pod autoscaler."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.cluster.steering.vertical import (
    AUTO,
    CPU,
    INITIAL,
    MEMORY,
    OFF,
    RECREATE,
    ContainerPolicy,
    VerticalPodAutoscaler,
)
from kubeproof.events.declarations import STABLE, CpuLoad, Drain, Event, NodeFailure, Scale
from tests.property.loops import autoscale_cases, load_cases
from tests.property.strategies import MIB, Case, choice, selector_for

MODES = choice(RECREATE, AUTO, RECREATE, INITIAL, OFF)
POLICIES = choice(
    (),
    (ContainerPolicy(controlled=(CPU,)),),
    (ContainerPolicy(controlled=(CPU,)),),
    (ContainerPolicy("main", least=((CPU, 60),), most=((CPU, 150), (MEMORY, 300 * MIB))),),
    (ContainerPolicy("main", is_off=True),),
    (ContainerPolicy(controlled=(MEMORY,)),),
)


@st.composite
def vertical_cases(draw: st.DrawFn) -> Case:
    """Usage that moves, with a vertical autoscaler, often beside a horizontal one, a budget or a drain."""
    case = draw(st.one_of(autoscale_cases(), autoscale_cases(), load_cases()))
    target = case.setup.workloads[0]
    vpa = VerticalPodAutoscaler("shop", "web", target.ref, draw(MODES), draw(POLICIES), draw(choice(2, 1, 1)))
    setup = replace(
        case.setup,
        verticals=(vpa,),
        autoscalers=case.setup.autoscalers[: draw(choice(1, 0))],
        settings=replace(case.setup.settings, vpa_history_s=draw(choice(86_400, 7 * 86_400))),
        budgets=draw(_budgets()),
    )
    return replace(case, setup=setup, events=draw(_events(case.events, target.ref)))


@st.composite
def _budgets(draw: st.DrawFn) -> tuple[PodDisruptionBudget, ...]:
    if draw(choice(True, True, False)):
        return ()
    amounts = draw(choice(((1, False), None), (None, (1, False)), (None, (0, False))))
    return (PodDisruptionBudget("shop", "budget", selector_for("web"), *amounts),)


@st.composite
def _events(draw: st.DrawFn, known: tuple[Event, ...], target: str) -> tuple[Event, ...]:
    kind = draw(choice("known", "known", "load", "scale", "drain", "failure"))
    if kind == "load":
        return (CpuLoad(name="load", target=target, levels=draw(choice((100,), (300,), (100, 300))), max=1),)
    if kind == "scale":
        return (*known[:1], Scale(name="more", target=target, replicas=(2, 1), max=2, after=STABLE))
    if kind == "drain":
        return (*known[:1], Drain(name="drain", uncordon=True, after=STABLE))
    if kind == "failure":
        return (NodeFailure(name="failure", after=STABLE),)
    return known
