"""Random small namespaces with quotas, in which workloads compete for what is left."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.jobs import label_job_pods
from kubeproof.cluster.kinds import DAEMON_SET, DEPLOYMENT, JOB, POD, REPLICA_SET, STATEFUL_SET
from kubeproof.cluster.objects import Container, JobRules, PodTemplate, Setup, StatefulRules, Workload
from kubeproof.cluster.said import Said
from kubeproof.cluster.steering.quotas import ResourceQuota, Scope
from kubeproof.events.declarations import Completes, Create, Drain, Event, Rollout
from tests.property.events import failures, scalings
from tests.property.intents import EVERY_KEY, intent_lists
from tests.property.strategies import (
    ANY_KIND,
    MIB,
    Case,
    choice,
    nodes,
    selector_for,
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
    refused = (Said("no", "no"),) if kind != "Pod" and draw(choice(*[False] * 9, True)) else ()
    made = workload(kind, name, replace(plain, containers=(container,)), replicas, namespace=namespace)
    parallel = StatefulRules(parallel=kind == STATEFUL_SET and draw(st.booleans()))
    return replace(made, refused=refused, stateful=parallel)


# -- shared by several loops ------------------------------------------------------------------------

SHARING = choice(DEPLOYMENT, DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, DAEMON_SET, JOB)
TIGHT = choice((("pods", 2),), (("pods", 3),), (("pods", 1),), (("requests.cpu", 200),), (("count/pods", 3),))
AMPLE = choice((("pods", 4),), (("pods", 6),), (("requests.cpu", 900), ("pods", 8)), (("count/pods", 9),))
SHARED_KEYS = (*EVERY_KEY, "runsOnEveryNode", "noPendingForever", "minReady", "minReplicas")


@st.composite
def shared_ration_cases(draw: st.DrawFn) -> Case:
    """Two loops of any kind that create pods under one quota, which is tight or has room for all of them."""
    some = draw(nodes(least=1, most=2, plain=True))
    first = _sharing(draw, "web", draw(SHARING), draw(choice(2, 2, 1)))
    second = _sharing(draw, "db", draw(SHARING), draw(choice(2, 1)))
    third = []
    if draw(choice(*[False] * 5, True)):
        third = [workload(POD, "lone", draw(templates("lone", graces=(0,))), 1)]
    workloads = (first, second, *third)
    quota = ResourceQuota("shop", "q", draw(st.one_of(TIGHT, TIGHT, AMPLE)))
    setup = Setup(some, workloads, settings=draw(settings_values()), quotas=(quota,))
    runs = tuple(
        Completes(name=f"runs-{one.name}", target=one.ref, least_s=10, most_s=10)
        for one in workloads
        if one.kind == JOB
    )
    return Case(setup, (*runs, *_disturbance(draw, workloads)), draw(intent_lists(workloads, keys=SHARED_KEYS)))


def _sharing(draw: st.DrawFn, name: str, kind: str, replicas: int) -> Workload:
    plain: PodTemplate = draw(templates(name, graces=(0, 0, 30)))
    template = replace(plain, containers=(Container("main", 100, None),))
    if kind == JOB:
        rules = JobRules(completions=replicas, backoff_limit=1)
        pods = label_job_pods(template, name)
        return Workload(JOB, "shop", name, pods, replicas, selector_for(name), job=rules, replicas_given=False)
    made = workload(kind, name, template, replicas)
    return replace(made, stateful=StatefulRules(parallel=kind == STATEFUL_SET and draw(choice(True, False))))


def _disturbance(draw: st.DrawFn, workloads: tuple[Workload, ...]) -> tuple[Event, ...]:
    first = workloads[0]
    if workloads[-1].kind == POD and draw(st.booleans()):
        return (Create(name="create", target=workloads[-1].ref),)
    if first.replicas > 1 or draw(st.booleans()):
        return ()
    if first.kind in (DEPLOYMENT, DAEMON_SET, STATEFUL_SET) and draw(st.booleans()):
        return (Rollout(name="rollout", target=first.ref),)
    return (draw(st.one_of(failures(most=1), st.just(Drain(name="drain")))),)
