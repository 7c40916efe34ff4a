"""Random small clusters with DaemonSets and StatefulSets: pods for nodes and pods with ordinals, and their updates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DAEMON_SET, STATEFUL_SET
from kubeproof.cluster.objects import PodTemplate, Setup, StatefulRules, Strategy, Workload
from kubeproof.events.declarations import (
    STABLE,
    Apply,
    Create,
    Delete,
    Drain,
    Event,
    Maintenance,
    NeverReady,
    PodCrash,
    Rollout,
)
from kubeproof.manifests.kinds.daemon_sets import daemon_tolerations
from kubeproof.model.plan import Placement
from tests.property.events import MOMENTS, cordons, failures, scalings
from tests.property.intents import EVERY_KEY, intent_lists
from tests.property.strategies import (
    ANY_READINESS,
    ANY_TAINTS,
    NO_READINESS,
    PROFILES,
    UNDER_OWNERS,
    Case,
    choice,
    nodes,
    selector_for,
    settings_values,
    templates,
    workload,
)

DAEMON_KEYS = (*EVERY_KEY, "runsOnEveryNode", "runsOnEveryNode", "runsOnEveryNode", "rolloutCompletes")
STRATEGIES = choice(
    Strategy(True, 0, False, 1, False),
    Strategy(True, 0, False, 1, False),
    Strategy(True, 0, False, 50, True),
    Strategy(True, 0, False, 2, False),
    Strategy(True, 1, False, 0, False),
    Strategy(True, 100, True, 0, False),
    Strategy(False, 0, False, 1, False),
)


def daemon_set(name: str, template: PodTemplate, strategy: Strategy) -> Workload:
    """A DaemonSet as its manifest would be read."""
    whole = replace(template, tolerations=daemon_tolerations(template.tolerations))
    return Workload(DAEMON_SET, "shop", name, whole, 0, selector_for(name), strategy=strategy)


@st.composite
def daemon_cases(draw: st.DrawFn) -> Case:
    """A DaemonSet, often beside another workload that wants the same room, and one or two events."""
    some = draw(nodes(most=draw(choice(2, 2, 3)), taints=ANY_TAINTS))
    readiness = ANY_READINESS if len(some) == 1 else NO_READINESS
    template = draw(templates("web", affinity=draw(choice(False, False, True)), graces=(0, 0, 30), readiness=readiness))
    pods = daemon_set("web", replace(template, priority=draw(choice(0, 0, 10, -10))), draw(STRATEGIES))
    workloads = [pods]
    if draw(choice(False, True)):
        other = draw(templates("db", graces=(0,), spread=draw(choice(False, False, True))))
        workloads.append(workload(draw(UNDER_OWNERS), "db", other, draw(choice(1, 1, 2))))
    setup = Setup(some, tuple(workloads), draw(PROFILES), draw(settings_values()))
    events = draw(_daemon_events(setup, template)) if len(some) < 3 or len(workloads) == 1 else ()
    return Case(setup, events, draw(intent_lists(workloads, keys=DAEMON_KEYS)))


@st.composite
def _daemon_events(draw: st.DrawFn, setup: Setup, template: PodTemplate) -> tuple[Event, ...]:
    pods, *others = setup.workloads
    after = draw(MOMENTS)
    other = draw(templates("web", affinity=True, graces=(0,)))
    tolerations = daemon_tolerations(other.tolerations)
    applied = replace(pods, template=replace(other, tolerations=tolerations, priority=pods.template.priority))
    rollout = Rollout(name="rollout", max=1, target=pods.ref, after=after)
    first = draw(
        st.one_of(
            st.just(rollout),
            st.just(rollout),
            st.just(Apply(name="apply", workload=applied, after=after)),
            failures(most=1),
            cordons(most=1),
            choice(
                Drain(name="drain", after=after, uncordon=draw(st.booleans())), Maintenance(name="drain", after=after)
            ),
            choice(
                Create(name="create", target=pods.ref, after=after),
                Delete(name="delete", target=pods.ref, after=after),
                PodCrash(name="crash", target=pods.ref, after=STABLE),
            ),
        )
    )
    if draw(choice(False, False, True)) and isinstance(first, Rollout):
        back = Rollout(name="back", target=pods.ref, back=True, after=draw(choice("rollout", STABLE)))
        never = NeverReady(name="never", target=pods.ref, revision=draw(choice("new", "initial", "all")))
        return (first, draw(choice(back, never)))
    if others and others[0].kind in ("Deployment", "ReplicaSet") and draw(choice(False, False, True)):
        return (first, draw(scalings(others[0], most=2)))
    return (first,)


STATEFUL_KEYS = (*EVERY_KEY, "rolloutCompletes", "rolloutCompletes")


@st.composite
def stateful_sets(draw: st.DrawFn, name: str, replicas: int, *, readiness: bool) -> Workload:
    """A StatefulSet of any rules."""
    template = draw(
        templates(
            name,
            affinity=draw(choice(False, False, True)),
            graces=(0, 0, 30),
            readiness=ANY_READINESS if readiness else NO_READINESS,
        )
    )
    rules = StatefulRules(
        start=draw(choice(0, 0, 0, 3)),
        parallel=draw(st.booleans()),
        rolling=draw(choice(True, True, True, False)),
        partition=draw(choice(0, 0, 0, 1)),
        max_unavailable=draw(choice((1, False), (1, False), (2, False), (50, True))),
    )
    return Workload(STATEFUL_SET, "shop", name, template, replicas, selector_for(name), stateful=rules)


@st.composite
def stateful_cases(draw: st.DrawFn) -> Case:
    """A StatefulSet with one or two events; sometimes its pods are in place at the start."""
    some = draw(nodes(most=draw(choice(1, 2, 2)), taints=ANY_TAINTS))
    pods = draw(stateful_sets("web", draw(choice(1, 2, 2)), readiness=len(some) == 1))
    workloads = [pods]
    if len(some) == 1 and draw(choice(False, False, True)):
        workloads.append(workload(draw(UNDER_OWNERS), "db", draw(templates("db", graces=(0,))), 1))
    setup = Setup(some, tuple(workloads), draw(PROFILES), draw(settings_values()))
    placement: Placement = ()
    if draw(st.booleans()):
        placement = ((pods.ref, ((some[0].name, pods.replicas),)),)
    events = draw(_stateful_events(pods))
    return Case(setup, events, draw(intent_lists(workloads, keys=STATEFUL_KEYS)), placement)


@st.composite
def _stateful_events(draw: st.DrawFn, pods: Workload) -> tuple[Event, ...]:
    after = draw(MOMENTS)
    rollout = Rollout(name="rollout", max=1, target=pods.ref, after=after)
    other = draw(templates("web", affinity=True, graces=(0,)))
    first = draw(
        st.one_of(
            st.just(rollout),
            st.just(rollout),
            st.just(Apply(name="apply", workload=replace(pods, template=other), after=after)),
            failures(most=1),
            scalings(pods, most=3),
            choice(
                Create(name="create", target=pods.ref, after=after),
                Delete(name="delete", target=pods.ref, after=after),
                PodCrash(name="crash", target=pods.ref, after=STABLE),
                Drain(name="drain", after=after),
            ),
        )
    )
    if draw(choice(False, True)) and isinstance(first, Rollout):
        back = Rollout(name="back", target=pods.ref, back=True, after=draw(choice("rollout", STABLE)))
        never = NeverReady(name="never", target=pods.ref, revision=draw(choice("new", "initial", "all")))
        return (first, *draw(choice((back,), (never,), (back, never))))
    return (first,)


OWNER_FAMILIES: dict[str, Callable[[], st.SearchStrategy[Case]]] = {
    "daemon": daemon_cases,
    "stateful": stateful_cases,
}
