"""Random small clusters in which nodes hold what pods ask for: host ports and images."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.objects import Container, HostPort, Node, PodTemplate, SchedulerProfile, Setup, Workload
from kubeproof.events.declarations import Event
from tests.property.events import cordons, failures, scalings
from tests.property.intents import intent_lists
from tests.property.strategies import (
    ANY_KIND,
    CONTROLLED,
    MIB,
    Case,
    choice,
    nodes,
    settings_values,
    templates,
    workload,
)

PORTS = choice((), (HostPort(80),), (HostPort(80),), (HostPort(80, "UDP"),), (HostPort(80, "TCP", "10.0.0.1"),))
IMAGES = choice("a:1", "a:1", "b:1")
LISTED = choice((), (), (("a:1", 900 * MIB),), (("a:1", 900 * MIB), ("b:1", 30 * MIB)), (("b:1", 700 * MIB),))
WEIGHING = choice(
    (SchedulerProfile(),),
    (SchedulerProfile(weights=(("ImageLocality", 10),)),),
    (SchedulerProfile(disabled=frozenset({"NodePorts"})),),
)


@st.composite
def holding_cases(draw: st.DrawFn) -> Case:
    """One or two workloads that want ports and images; something may make their pods move."""
    some = draw(nodes(least=draw(choice(2, 1)), most=3))
    listed = tuple(replace(node, images=draw(LISTED)) for node in some)
    first = _pods(draw, "web", draw(CONTROLLED), draw(choice(2, 1, 3)), listed)
    second = [_pods(draw, "db", draw(ANY_KIND), 1, listed)] if first.replicas < 3 and draw(st.booleans()) else []
    setup = Setup(listed, (first, *second), draw(WEIGHING), draw(settings_values()))
    events: tuple[Event, ...] = ()
    if first.replicas < 3 and draw(st.booleans()):
        events = (draw(st.one_of(cordons(most=1), scalings(first, most=2), failures(most=1))),)
    return Case(setup, events, draw(intent_lists((first, *second))))


def _pods(draw: st.DrawFn, name: str, kind: str, replicas: int, some: tuple[Node, ...]) -> Workload:
    named = some[0].name if draw(choice(False, False, False, True)) else None
    plain: PodTemplate = draw(templates(name, graces=(0,), node_name=named))
    container = Container("main", 100, 64 * MIB, image=draw(IMAGES), host_ports=draw(PORTS))
    return workload(kind, name, replace(plain, containers=(container,)), replicas)
