"""Random small namespaces with quotas, in which workloads compete for what is left."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.objects import (
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
    Container,
    PodTemplate,
    Setup,
    StatefulRules,
    Workload,
)
from kubeproof.cluster.quotas import ResourceQuota, Scope
from kubeproof.events.declarations import Event, Rollout
from tests.property.strategies import (
    ANY_KIND,
    EVERY_KEY,
    MIB,
    Case,
    choice,
    failures,
    intent_lists,
    nodes,
    scalings,
    settings_values,
    templates,
    workload,
)

OWNERS = choice(DEPLOYMENT, REPLICA_SET, STATEFUL_SET)
HARD = choice(
    (("pods", 2),),
    (("pods", 1),),
    (("pods", 3), ("requests.cpu", 250)),
    (("requests.cpu", 200),),
    (("limits.memory", 128 * MIB), ("pods", 3)),
    (("count/pods", 2),),
    (("pods", 0),),
)
SCOPES = choice((), (), (), (Scope("BestEffort"),), (Scope("NotBestEffort"),))
LIMITS = choice((), (("memory", 64 * MIB),))
KEYS = (*EVERY_KEY, "noPendingForever", "noPendingForever", "minReplicas", "schedulable")


@st.composite
def ration_cases(draw: st.DrawFn) -> Case:
    """One or two workloads, mostly in the namespace of a quota."""
    some = draw(nodes(least=1, most=2, plain=True))
    first = _pods(draw, "web", draw(OWNERS), draw(choice(2, 1, 3)), "shop")
    second = []
    if first.replicas < 3 and draw(choice(True, True, False)):
        second = [_pods(draw, "db", draw(ANY_KIND), 1, draw(choice("shop", "shop", "other")))]
    quotas = tuple(ResourceQuota("shop", name, draw(HARD), draw(SCOPES)) for name in draw(choice(("q",), ("q", "r"))))
    setup = Setup(some, (first, *second), settings=draw(settings_values()), quotas=quotas)
    return Case(setup, _events(draw, first), draw(intent_lists((first, *second), keys=KEYS)))


def _events(draw: st.DrawFn, first: Workload) -> tuple[Event, ...]:
    if first.replicas > 2 or draw(st.booleans()):
        return ()
    if first.kind == DEPLOYMENT and first.replicas == 1 and draw(choice(False, True)):
        return (Rollout(name="rollout", target=first.ref),)
    return (draw(st.one_of(scalings(first, most=3), failures(most=1))),)


def _pods(draw: st.DrawFn, name: str, kind: str, replicas: int, namespace: str) -> Workload:
    plain: PodTemplate = draw(templates(name, graces=(0, 30)))
    container = Container("main", draw(choice(100, 100, 0, None)), None, limits=draw(LIMITS))
    refused = ("no",) if kind != "Pod" and draw(choice(*[False] * 9, True)) else ()
    made = workload(kind, name, replace(plain, containers=(container,)), replicas, namespace=namespace)
    parallel = StatefulRules(parallel=kind == STATEFUL_SET and draw(st.booleans()))
    return replace(made, refused=refused, stateful=parallel)
