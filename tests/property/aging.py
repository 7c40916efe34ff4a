"""Random small clusters in which the age of pods decides: the descheduler's rules, and the vertical autoscaler's."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.objects import Container, Setup
from kubeproof.cluster.steering.policies import DeschedulerPolicy, DeschedulerProfile, Plain
from kubeproof.cluster.steering.vertical import AUTO, CPU, RECREATE, ContainerPolicy
from kubeproof.events.declarations import STABLE, CpuLoad, Drain, Event, PodCrash
from tests.property.loops import (
    ANY_TAINTS,
    CONTROLLED,
    DESCHEDULE_KEYS,
    MOSTLY_CLEAN,
    ROOMY,
    TAINTS,
    autoscalers,
    budgets,
    cordons,
    failures,
    intent_lists,
    nodes,
    panics,
    placements,
    scalings,
    settings_values,
    templates,
    workload,
)
from tests.property.strategies import MIB, Case, choice
from tests.property.verticals import vertical_cases

LIFE_TIME = "PodLifeTime"
INTERVALS = choice(60, 60, 25, 300)
LIMITS = choice(1, 30, 59, 60, 61, 150, 400)
LEAST_AGES = choice("", "", "30s", "1m", "95s", "5m")
OTHERS: Plain = (("matchLabels", (("app", "db"),)),)


@st.composite
def aging_policies(draw: st.DrawFn) -> DeschedulerPolicy:
    """PodLifeTime, taints, or both, with or without a least age."""
    plugins = draw(choice((LIFE_TIME,), (LIFE_TIME,), (TAINTS,), (LIFE_TIME, TAINTS), (TAINTS, LIFE_TIME)))
    least, limit = draw(LEAST_AGES), draw(LIMITS)
    life: Plain = (("maxPodLifeTimeSeconds", limit), *draw(choice((), (), (), (("labelSelector", OTHERS),))))
    arguments: list[tuple[str, Plain]] = [(LIFE_TIME, life)]
    if least:
        arguments.append(("DefaultEvictor", (("minPodAge", least),)))
    profile = DeschedulerProfile("p", (("deschedule", plugins),), (), tuple(sorted(arguments)))
    return DeschedulerPolicy(
        (profile,), max_per_node=draw(choice(None, None, 1)), max_total=draw(choice(None, None, None, 1))
    )


@st.composite
def aging_events(draw: st.DrawFn, setup: Setup) -> tuple[Event, ...]:
    """What makes pods younger than others, or the descheduler blind."""
    pods = setup.workloads[0]
    crash = PodCrash(name="crash", target=pods.ref, max=1)
    drain = Drain(name="drain", uncordon=True, after=STABLE)
    kinds = [st.just(crash), st.just(drain), cordons(most=1), scalings(pods, most=2), failures(most=1)]
    if draw(choice(False, False, False, True)):
        load = CpuLoad(name="load", target=pods.ref, levels=(100, 300), max=1)
        return (load, draw(panics()))
    return (draw(st.one_of(*kinds)),) if draw(choice(True, False)) else ()


@st.composite
def aging_cases(draw: st.DrawFn) -> Case:
    """Pods that are evicted for their age, or spared for their youth."""
    policy = draw(aging_policies())
    some = draw(nodes(least=2, most=2, taints=draw(choice(ANY_TAINTS, MOSTLY_CLEAN)), cpu=ROOMY, plain=True))
    template = draw(templates("web", graces=(0, 0, 0, 30)))
    template = replace(template, containers=(Container("main", 100, 64 * MIB),), spread=())
    pods = workload(draw(CONTROLLED), "web", template, draw(choice(1, 2, 2, 3)))
    version = draw(choice((0, 36), (0, 36), (0, 30)))
    settings = draw(settings_values())
    settings = replace(settings, descheduler_version=version, descheduler_interval_s=draw(INTERVALS))
    setup = Setup(some, (pods,), settings=settings, descheduler=policy)
    if draw(choice(False, False, True)):
        setup = replace(setup, budgets=(draw(budgets("web")),))
    if draw(choice(False, False, False, False, True)):
        setup = replace(setup, autoscalers=(draw(autoscalers(pods)),))
    placement = draw(placements((pods,), some)) if draw(choice(True, False)) else ()
    return Case(setup, draw(aging_events(setup)), draw(intent_lists((pods,), keys=DESCHEDULE_KEYS)), placement)


@st.composite
def long_lived_cases(draw: st.DrawFn) -> Case:
    """A vertical autoscaler of which some recommendation leaves pods within the bounds and more than 10 % off."""
    case = draw(vertical_cases())
    (vpa,) = case.setup.verticals
    policies = draw(
        choice((ContainerPolicy(controlled=(CPU,)),), (ContainerPolicy(least=((CPU, 60),), controlled=(CPU,)),))
    )
    chosen = replace(vpa, mode=draw(choice(RECREATE, AUTO)), policies=policies)
    template = replace(case.setup.workloads[0].template, containers=(Container("main", 100, 64 * MIB),))
    pods = replace(case.setup.workloads[0], template=template)
    setup = replace(
        case.setup,
        verticals=(chosen,),
        workloads=(pods, *case.setup.workloads[1:]),
        settings=replace(case.setup.settings, vpa_history_s=86_400),
    )
    return replace(case, setup=setup)
