"""Random small clusters whose pods have several containers, each with a use of its own.

Autoscalers look at one container or at the pod, nodes at all containers together, vertical autoscalers at each.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT
from kubeproof.cluster.objects import Container, PodTemplate, Setup, Workload
from kubeproof.cluster.steering.policies import Metric
from kubeproof.cluster.steering.vertical import VerticalPodAutoscaler
from kubeproof.events.declarations import Event, UsageChange, UsagePattern
from tests.property.events import MOMENTS
from tests.property.intents import intent_lists
from tests.property.loops import CHANGES, HPA_KEYS, LEVELS, PATTERNS, autoscalers, panics, placements, unreachables
from tests.property.strategies import CONTROLLED, MIB, Case, choice, nodes, settings_values
from tests.property.strategies import workload as made
from tests.property.verticals import POLICIES

MAIN, PROXY, MESH = "main", "proxy", "mesh"
METRICS = choice(
    Metric("ContainerResource", "cpu", "Utilization", 50, PROXY),
    Metric("ContainerResource", "cpu", "Utilization", 60, MAIN),
    Metric("Resource", "cpu", "Utilization", 50),
    Metric("ContainerResource", "memory", "Utilization", 50, PROXY),
    Metric("ContainerResource", "cpu", "AverageValue", 100, MESH),
)


@st.composite
def pods_with_sidecars(draw: st.DrawFn) -> PodTemplate:
    """Two containers, the second sometimes a sidecar or without a request, and sometimes a third."""
    proxy = Container(PROXY, draw(choice(100, 50, 50, None)), draw(choice(32 * MIB, None)))
    mesh = Container(MESH, 50, 32 * MIB, restartable_init=True)
    main = Container(MAIN, 100, 64 * MIB)
    is_sidecar = draw(choice(False, False, True))
    starting = ((replace(proxy, restartable_init=True),) if is_sidecar else ()) + draw(choice((), (mesh,)))
    containers = (main,) if is_sidecar else (main, proxy)
    return PodTemplate((("app", "web"),), containers, init_containers=starting, grace_s=0)


@st.composite
def container_usages(draw: st.DrawFn, target: Workload) -> tuple[Event, ...]:
    """What one or two containers use, or the pod, by event or by age."""
    chosen = draw(choice((MAIN,), (PROXY,), (MAIN, PROXY), (PROXY, MAIN), ("",)))
    return tuple(_usage(draw, target, container) for container in chosen)


def _usage(draw: st.DrawFn, target: Workload, container: str) -> Event:
    name, resource = f"usage {container}", draw(choice("cpu", "cpu", "cpu", "memory"))
    if draw(choice(False, False, True)):
        return UsagePattern(name=name, resource=resource, target=target.ref, container=container, phases=draw(PATTERNS))
    levels = draw(LEVELS)
    if resource == "memory":
        levels = tuple(replace(one, amount_milli=one.amount_milli and one.amount_milli * 1000 * MIB) for one in levels)
    return UsageChange(
        name=name,
        resource=resource,
        target=target.ref,
        container=container,
        levels=levels,
        initial=draw(choice(0, 0, len(levels) - 1)),
        max=draw(CHANGES),
        after=draw(MOMENTS),
    )


@st.composite
def container_cases(draw: st.DrawFn) -> Case:
    """Autoscalers of pods with several containers, sometimes on nodes that panic or cut off from traffic."""
    some = draw(nodes(most=draw(choice(1, 1, 2)), plain=True, cpu=choice(1000, 400)))
    kind = draw(choice(DEPLOYMENT, draw(CONTROLLED)))
    pods = made(kind, "web", draw(pods_with_sidecars()), draw(choice(1, 2)))
    scaler = replace(draw(autoscalers(pods)), metrics=tuple(draw(st.lists(METRICS, min_size=1, max_size=2))))
    flags = replace(draw(settings_values()), hpa_period_s=draw(choice(15, 60)), downscale_stabilization_s=0)
    setup = Setup(some, (pods,), settings=flags, autoscalers=(scaler,))
    if draw(choice(False, False, False, True)):
        vertical = VerticalPodAutoscaler("shop", "web", pods.ref, policies=draw(POLICIES), least_replicas=1)
        setup = replace(setup, verticals=(vertical,), autoscalers=setup.autoscalers[: draw(choice(0, 1))])
    events = draw(container_usages(pods))
    more = draw(choice("", "", "", "panic", "unreachable"))
    if more:
        events = (*events, draw(panics() if more == "panic" else unreachables(pods, "fault")))
    placement = draw(placements((pods,), some)) if draw(choice(True, True, False)) else ()
    return Case(setup, events, draw(intent_lists((pods,), keys=HPA_KEYS)), placement)
