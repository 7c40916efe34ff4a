"""Families of random clusters, as the differential tests take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.cluster.kinds import POD
from kubeproof.cluster.objects import (
    Container,
    Node,
    PodTemplate,
    Settings,
    Setup,
    Workload,
)
from kubeproof.controllers.own import OwnController
from kubeproof.events.declarations import STABLE, Apply, Create, Event, NodeFailure
from kubeproof.model.plan import Placement
from tests.property.controllers import Evictor, Flapper, Guard, Mover, PoolKeeper, Saver, Wants
from tests.property.events import MOMENTS, cordons, failures, scalings
from tests.property.intents import intent_lists
from tests.property.strategies import (
    ANY_KIND,
    ANY_READINESS,
    ANY_STARTUP,
    ANY_TAINTS,
    CONTROLLED,
    EXACT_STARTUP,
    MIB,
    NAMES,
    NO_READINESS,
    PROFILES,
    VERSIONS,
    Case,
    choice,
    node_labels,
    nodes,
    plain_spreads,
    selector_for,
    settings_values,
    templates,
    workload,
)


@st.composite
def plain_spread_cases(draw: st.DrawFn) -> Case:
    """Equal, roomy nodes in zones: the spread constraints alone decide."""
    zones = draw(
        choice(("a", "b"), ("a", "a"), ("a", "a", "b"), ("a", "b", "c"), ("a", "a", "b", "b"), ("a", "a", "a"))
    )
    some = tuple(
        Node(name, node_labels(name, zone, None, True), cpu_milli=1000, memory_bytes=1024 * MIB)
        for name, zone in zip(NAMES, zones, strict=False)
    )
    spread = tuple(draw(st.lists(plain_spreads("web"), min_size=1, max_size=2)))
    template = PodTemplate((("app", "web"),), (Container("main", 100, 64 * MIB),), spread=spread, grace_s=0)
    pods = workload(draw(CONTROLLED), "web", template, draw(choice(2, 3) if len(some) < 4 else choice(1, 2)))
    setup = Setup(some, (pods,), settings=Settings(draw(choice(*VERSIONS)), startup_s=(0, 0)))
    events = (draw(scalings(pods, most=2)),) if pods.replicas < 3 and len(some) < 3 and draw(st.booleans()) else ()
    return Case(setup, events, draw(intent_lists((pods,))))


@st.composite
def spread_cases(draw: st.DrawFn) -> Case:
    """Placement under spread constraints, affinity and fit; at most one small event."""
    if draw(st.booleans()):
        return draw(plain_spread_cases())
    some = draw(nodes(least=draw(choice(2, 2, 3, 1)), most=4, taints=ANY_TAINTS))
    most = 3 if len(some) < 4 else 2
    pods = workload(
        draw(CONTROLLED),
        "web",
        draw(templates("web", spread=True, affinity=draw(choice(False, False, True)), graces=(0,))),
        draw(choice(2, 2, most, most, 1, 0)),
    )
    setup = Setup(some, (pods,), draw(PROFILES), draw(settings_values()))
    events: tuple[Event, ...] = ()
    if pods.replicas < 3 and draw(choice(False, False, True)):
        events = (draw(st.one_of(cordons(most=1), scalings(pods, most=2))),)
    return Case(setup, events, draw(intent_lists((pods,))))


@st.composite
def disruption_cases(draw: st.DrawFn) -> Case:
    """Many of four nodes fail together: the states of the zones decide about evictions."""
    some = draw(nodes(least=4, most=4, may_differ=False))
    pods = workload(draw(CONTROLLED), "web", draw(templates("web", graces=(0,))), 1)
    event = NodeFailure(name="failure", max=draw(choice(3, 2, 4)), after=STABLE, recovers=False, together=True)
    setup = Setup(some, (pods,), settings=Settings(draw(choice(*VERSIONS)), None, 0, (1, 1)))
    return Case(setup, (event,), draw(intent_lists((pods,), most=2)))


@st.composite
def failure_cases(draw: st.DrawFn) -> Case:
    """Taints, node failures and recoveries with their clocks."""
    if draw(choice(*[False] * 9, True)):
        return draw(disruption_cases())
    some = draw(nodes(most=3, taints=ANY_TAINTS))
    kind = draw(ANY_KIND)
    template = draw(templates("web", readiness=ANY_READINESS if len(some) == 1 else NO_READINESS))
    pods = workload(kind, "web", template, draw(choice(1, 1, 2) if len(some) < 3 else choice(1, 1, 1, 0)))
    startup = ANY_STARTUP if len(some) == 1 else EXACT_STARTUP
    setup = Setup(some, (pods,), settings=draw(settings_values(startup)))
    events: tuple[Event, ...] = (draw(failures(most=2 if pods.replicas < 2 else 1)),)
    if pods.replicas < 2 and draw(choice(False, False, False, True)):
        later = draw(choice(None, STABLE, "failure"))
        second = draw(st.one_of(cordons("second", most=1), failures("second", most=1)))
        events = (*events, _after(second, later))
    return Case(setup, events, draw(intent_lists((pods,))))


def _after(event: Event, moment: str | None) -> Event:
    return replace(event, after=moment)


@st.composite
def scale_cases(draw: st.DrawFn) -> Case:
    """Scaling up and down: victims by rank, grace periods, readiness, competition of two workloads."""
    some = draw(nodes(least=draw(choice(2, 1)), most=3))
    rich = len(some) == 1
    template = draw(
        templates("web", readiness=ANY_READINESS if rich else NO_READINESS, graces=(0, 30) if rich else (0, 0, 30))
    )
    pods = workload(draw(CONTROLLED), "web", template, draw(choice(1, 2, 0)))
    workloads = [pods]
    if draw(choice(False, False, True)):
        other = draw(templates("db", graces=(0,)))
        workloads.append(workload(draw(ANY_KIND), "db", other, 1, namespace=draw(choice("shop", "other"))))
    setup = Setup(some, tuple(workloads), settings=draw(settings_values(ANY_STARTUP if rich else EXACT_STARTUP)))
    most = 3 if rich else 2
    events: tuple[Event, ...] = (draw(scalings(pods, most=most)),)
    if len(workloads) == 1 and draw(choice(False, False, True)):
        second = draw(st.one_of(cordons("second", most=1), scalings(pods, "second", most=most)))
        events = (*events, _after(second, draw(choice("scale", STABLE, None))))
    return Case(setup, events, draw(intent_lists(workloads)))


@st.composite
def write_cases(draw: st.DrawFn) -> Case:
    """Workloads that users create or apply during the run."""
    some = draw(nodes(most=2, taints=ANY_TAINTS))
    first = workload(draw(ANY_KIND), "web", draw(templates("web", graces=(0, 0, 30))), draw(choice(1, 0, 2)))
    second = workload(draw(ANY_KIND), "db", draw(templates("db", graces=(0,))), 1, namespace=draw(choice("shop", "o")))
    if second.kind == POD and draw(st.booleans()):
        home = draw(choice("n1", "n2"))
        template = replace(second.template, node_name=home)
        runs = home in [node.name for node in some] and draw(st.booleans())
        second = replace(second, template=template, bound_to=home if runs else None)
    both = draw(st.booleans())
    present = (first, second) if both else (first,)
    writes: list[Event] = []
    if draw(st.booleans()):
        writes.append(Create(name="create", target=draw(choice(*present)).ref, after=draw(MOMENTS)))
    if not writes or draw(st.booleans()):
        applied = draw(choice(first, second))
        writes.append(_applied(draw, applied))
    targets = [w for w in (first, second) if w in present or any(_brings(e, w) for e in writes)]
    setup = Setup(some, present, settings=draw(settings_values()))
    return Case(setup, tuple(writes), draw(intent_lists(targets)))


def _applied(draw: st.DrawFn, declared: Workload) -> Apply:
    given = declared.kind != POD and draw(choice(True, True, False))
    replicas = draw(st.integers(0, 2)) if given else 1
    return Apply(
        name="apply",
        max=draw(choice(1, 1, 2)),
        after=draw(choice(None, STABLE)),
        workload=replace(declared, replicas=replicas),
        replicas_given=given,
    )


def _brings(event: Event, declared: Workload) -> bool:
    return isinstance(event, Apply) and event.workload.ref == declared.ref


@st.composite
def direct_cases(draw: st.DrawFn) -> Case:
    """Pods that name their node, pods that run already, placements: what passes by the scheduler."""
    some = draw(nodes(most=3, taints=ANY_TAINTS))
    names = [node.name for node in some]
    kind = draw(ANY_KIND)
    form = draw(choice("names", "names", "runs", "placed"))
    named = draw(choice(*names, "n9")) if form == "names" else None
    template = draw(templates("web", affinity=draw(st.booleans()), node_name=named))
    pods = workload(kind, "web", template, draw(choice(1, 2)))
    placement: Placement = ()
    if form == "runs":
        template = draw(templates("web", node_name=names[0]))
        pods = Workload(POD, "shop", "web", template, 1, selector_for("web"), bound_to=names[0])
    elif form == "placed" and kind != POD:
        spots = tuple((name, draw(choice(1, 0))) for name in names[:2])
        placement = ((pods.ref, spots),)
    workloads = [pods]
    if draw(choice(False, False, True)):
        workloads.append(workload(draw(ANY_KIND), "db", draw(templates("db", graces=(0,))), 1))
    setup = Setup(some, tuple(workloads), settings=draw(settings_values()))
    events: tuple[Event, ...] = ()
    if len(workloads) == 1 and draw(st.booleans()):
        kinds: list[st.SearchStrategy[Event]] = [failures(most=1), cordons(most=1)]
        if pods.kind == POD:
            kinds.append(st.just(Create(name="create", target=pods.ref)))
        else:
            kinds.append(scalings(pods, most=2))
        events = (draw(st.one_of(*kinds)),)
    return Case(setup, events, draw(intent_lists(workloads)), placement)


@st.composite
def own_cases(draw: st.DrawFn) -> Case:
    """A user's own controllers beside the built-in ones: real loops, and fairness that rules some of them out."""
    some = draw(nodes(most=3))
    pods = workload(draw(CONTROLLED), "web", draw(templates("web", graces=(0, 0, 30))), draw(choice(1, 2, 0)))
    workloads = [pods]
    if len(some) < 3 and draw(choice(False, False, True)):
        workloads.append(workload(draw(ANY_KIND), "db", draw(templates("db", graces=(0,))), 1))
    setup = Setup(some, tuple(workloads), settings=draw(settings_values()))
    own = draw(_own_loops(pods.ref))
    events: tuple[Event, ...] = ()
    if len(some) == 1 and draw(choice(False, True)):
        events = (draw(st.one_of(failures(most=1), cordons(most=1))),)
    return Case(setup, events, draw(intent_lists(workloads)), own=own)


def _own_loops(ref: str) -> st.SearchStrategy[tuple[OwnController, ...]]:
    return choice(
        (Saver(ref),),
        (Flapper(ref, 1, 2),),
        (Flapper(ref, 0, 1),),
        (Wants(ref, 1), Wants(ref, 2)),
        (Wants(ref, 1), Saver(ref)),
        (Wants(ref, 2), Saver(ref)),
        (Evictor(ref),),
        (Evictor(ref, least=2),),
        (Evictor(ref, least=2, pods=2),),
        (Guard(),),
        (Guard(), Evictor(ref)),
        (Mover(ref, 1),),
        (PoolKeeper(ref),),
        (PoolKeeper(ref), Saver(ref)),
    )


BASIC_FAMILIES: dict[str, Callable[[], st.SearchStrategy[Case]]] = {
    "spread": spread_cases,
    "failure": failure_cases,
    "scale": scale_cases,
    "write": write_cases,
    "direct": direct_cases,
    "own": own_cases,
}
