"""Random small clusters, straight as objects: setups with events and intents, biased to corner cases.

Every family keeps the state space small (the search by name grows with the factorial of the pods), yet lets every
kind of verdict happen. Numbers are drawn from short lists in which the interesting values stand more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DAEMON_SET, DEPLOYMENT, JOBS, POD, REPLICA_SET, REPLICATION_CONTROLLER, ROLLED_OUT
from kubeproof.cluster.labels import (
    NO_EXECUTE,
    NO_SCHEDULE,
    PREFER_NO_SCHEDULE,
    Labels,
    LabelSelector,
    NodeTerm,
    PreferredTerm,
    Requirement,
    Taint,
    Toleration,
    as_labels,
)
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodAffinity,
    PodTemplate,
    PodTerm,
    Readiness,
    SchedulerProfile,
    Settings,
    Setup,
    SpreadConstraint,
    WeightedPodTerm,
    Workload,
)
from kubeproof.controllers.own import OwnController
from kubeproof.events.declarations import STABLE, Apply, Cordon, Create, Event, NodeChoice, NodeFailure, Scale
from kubeproof.intents.declarations import ALWAYS, EVICTORS, WHENS, Amount, Intent
from kubeproof.model.plan import Placement, Plan, make_plan
from tests.property.controllers import Evictor, Flapper, Guard, Mover, PoolKeeper, Saver, Wants, loop_of

T = TypeVar("T")

MIB = 2**20
POOL = "pool"
NAMES = ("n1", "n2", "n3", "n4")
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
VERSIONS = ((1, 37), (1, 34), (1, 31), (1, 26))


@dataclass(frozen=True)
class Case:
    """Everything one run is made from."""

    setup: Setup
    events: tuple[Event, ...] = ()
    intents: tuple[Intent, ...] = ()
    placement: Placement = ()
    own: tuple[OwnController, ...] = ()

    def plan(self, *, merge: bool = True) -> Plan:
        """The plan of this case, with or without reductions."""
        own = tuple(loop_of(one) for one in self.own)
        return make_plan(self.setup, self.events, self.intents, placement=self.placement, own=own, merge=merge)


def choice(*values: T) -> st.SearchStrategy[T]:
    """One of the values; the first is where shrinking ends."""
    return st.sampled_from(values)


def selector_for(app: str) -> LabelSelector:
    """Selects the pods labelled `app`."""
    return LabelSelector((Requirement("app", "In", (app,)),))


# -- nodes --------------------------------------------------------------------------------------------

POOLS = choice(None, None, "web", "1")
ANY_CPU = choice(1000, 1000, 1000, 400, 250, 200)
NO_TAINTS: st.SearchStrategy[tuple[Taint, ...]] = st.just(())
ANY_TAINTS = choice(
    (),
    (),
    (),
    (),
    (),
    (),
    (Taint("dedicated", "web", NO_SCHEDULE),),
    (Taint("dedicated", "web", PREFER_NO_SCHEDULE),),
    (Taint("dedicated", "web", NO_EXECUTE),),
    (Taint("dedicated", "db", NO_EXECUTE), Taint("spot", "", PREFER_NO_SCHEDULE)),
)


def node_labels(name: str, zone: str | None, pool: str | None, has_hostname: bool) -> Labels:
    """The labels of a node, absent ones left out."""
    labels = {HOSTNAME: name if has_hostname else None, ZONE: zone, POOL: pool}
    return as_labels({key: value for key, value in labels.items() if value is not None})


@st.composite
def nodes(
    draw: st.DrawFn,
    *,
    least: int = 1,
    most: int = 3,
    taints: st.SearchStrategy[tuple[Taint, ...]] = NO_TAINTS,
    may_differ: bool = True,
    cpu: st.SearchStrategy[int] = ANY_CPU,
    plain: bool = False,
) -> tuple[Node, ...]:
    """A few nodes; half of the time all are alike, so that grouping has something to group.

    `plain` nodes have their host name, are not cordoned, and have pod slots to spare.
    """
    count = draw(st.integers(least, most))
    differ = draw(choice("not", "not", "in all", "in labels")) if may_differ else "not"
    zones = draw(choice(("a",), ("a", "b"), ("a", "b"), ("a", "a", "b"), ("a", "b", None), (None,)))
    shared = draw(_shapes(taints, cpu, plain))
    result = []
    for index, name in enumerate(NAMES[:count]):
        shape = draw(_shapes(taints, cpu, plain)) if differ == "in all" else shared
        pool = draw(POOLS) if differ == "in labels" else shape[0]
        labels = node_labels(name, zones[index % len(zones)], pool, shape[1])
        result.append(Node(name, labels, shape[2], shape[3], shape[4], shape[5] * MIB, shape[6]))
    return tuple(result)


def _shapes(
    taints: st.SearchStrategy[tuple[Taint, ...]], cpu: st.SearchStrategy[int], plain: bool
) -> st.SearchStrategy[tuple[object, ...]]:
    """Pool, whether it has its hostname label, taints, cordon, CPU, memory and pod slots of a node."""
    return st.tuples(
        POOLS,
        st.just(True) if plain else choice(*[True] * 9, False),
        taints,
        st.just(False) if plain else choice(*[False] * 9, True),
        cpu,
        choice(1024, 512),
        choice(110, 3) if plain else choice(110, 110, 110, 110, 110, 2, 1),
    )


# -- pods ---------------------------------------------------------------------------------------------

TOLERATIONS = choice(
    (),
    (Toleration(NOT_READY, "Exists", "", NO_EXECUTE, 300), Toleration(UNREACHABLE, "Exists", "", NO_EXECUTE, 300)),
    (Toleration(UNREACHABLE, "Exists", "", NO_EXECUTE, 0),),
    (Toleration("dedicated", "Equal", "web", ""),),
    (Toleration("dedicated", "Exists", "", NO_EXECUTE, 10), Toleration(UNREACHABLE, "Exists", "", NO_EXECUTE, 20)),
    (Toleration("dedicated", "Exists", "", NO_EXECUTE, 100), Toleration(UNREACHABLE, "Exists", "", NO_EXECUTE, 20)),
    (Toleration("", "Exists"),),
)
SELECTORS = choice((), (), (), (), ((POOL, "web"),))
REQUIRED = choice(
    None,
    None,
    None,
    None,
    (NodeTerm((Requirement(ZONE, "In", ("a",)),)),),
    (NodeTerm((Requirement(ZONE, "NotIn", ("a",)),)), NodeTerm((Requirement(POOL, "Exists"),))),
    (NodeTerm((Requirement(POOL, "Gt", ("0",)),)),),
    (NodeTerm((), (Requirement("metadata.name", "In", ("n1",)),)),),
)
PREFERRED = choice(
    (),
    (),
    (PreferredTerm(10, NodeTerm((Requirement(ZONE, "In", ("b",)),))),),
    (PreferredTerm(100, NodeTerm((Requirement(POOL, "DoesNotExist"),))),),
)
POD_TERMS = choice(
    PodTerm(HOSTNAME, selector_for("web")),
    PodTerm(ZONE, selector_for("web")),
    PodTerm(POOL, LabelSelector()),
    PodTerm(HOSTNAME, selector_for("db"), namespaces=("other",)),
)
NO_READINESS: st.SearchStrategy[Readiness | None] = st.just(None)
ANY_READINESS = choice(None, None, Readiness(0, 10, 1), Readiness(5, 5, 2))


@st.composite
def plain_spreads(draw: st.DrawFn, app: str) -> SpreadConstraint:
    """A constraint that nothing but its own rule decides about."""
    key, hard = draw(choice(HOSTNAME, ZONE)), draw(choice(True, True, False))
    least = draw(choice(1, 2, 3)) if hard else 1
    return SpreadConstraint(key, draw(choice(1, 2)), hard, selector_for(app), least)


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
def spreads(draw: st.DrawFn, app: str) -> SpreadConstraint:
    """One topology spread constraint."""
    hard = draw(st.booleans())
    return SpreadConstraint(
        draw(choice(HOSTNAME, ZONE, HOSTNAME, ZONE, POOL)),
        max_skew=draw(choice(1, 1, 2)),
        hard=hard,
        selector=draw(choice(*[selector_for(app)] * 6, LabelSelector(), None)),
        min_domains=draw(choice(1, 1, 2, 3)) if hard else 1,
        honor_affinity=draw(choice(True, True, False)),
        honor_taints=draw(choice(False, False, True)),
        match_label_keys=draw(choice((), (), ("pod-template-hash",), ("app",))),
    )


@st.composite
def pod_affinities(draw: st.DrawFn) -> PodAffinity:
    """One term, required or preferred, or none."""
    term = draw(POD_TERMS)
    weighted = WeightedPodTerm(draw(choice(1, 100)), term)
    return draw(choice(PodAffinity(), PodAffinity((term,)), PodAffinity((), (weighted,))))


@st.composite
def templates(
    draw: st.DrawFn,
    app: str,
    *,
    spread: bool = False,
    affinity: bool = False,
    tolerations: st.SearchStrategy[tuple[Toleration, ...]] = TOLERATIONS,
    readiness: st.SearchStrategy[Readiness | None] = NO_READINESS,
    graces: tuple[int, ...] = (0, 0, 30),
    node_name: str | None = None,
) -> PodTemplate:
    """A pod template labelled `app`."""
    return PodTemplate(
        labels=(("app", app),),
        containers=(
            Container("main", draw(choice(100, 100, 200, None, 150)), draw(choice(64 * MIB, None, 256 * MIB))),
        ),
        node_name=node_name,
        node_selector=draw(SELECTORS) if affinity else (),
        required_terms=draw(REQUIRED) if affinity else None,
        preferred_terms=draw(PREFERRED) if affinity else (),
        tolerations=draw(tolerations),
        spread=tuple(draw(st.lists(spreads(app), min_size=1, max_size=2))) if spread else (),
        grace_s=draw(choice(*graces)),
        readiness=draw(readiness),
        pod_affinity=draw(pod_affinities()) if affinity and draw(choice(False, False, True)) else PodAffinity(),
        pod_anti_affinity=draw(pod_affinities()) if affinity and draw(choice(False, True)) else PodAffinity(),
    )


def workload(kind: str, name: str, template: PodTemplate, replicas: int, *, namespace: str = "shop") -> Workload:
    """A workload whose selector is its own label."""
    return Workload(kind, namespace, name, template, 1 if kind == POD else replicas, selector_for(name))


CONTROLLED = choice(DEPLOYMENT, REPLICA_SET)
UNDER_OWNERS = choice(DEPLOYMENT, REPLICA_SET, POD, REPLICATION_CONTROLLER)
ANY_KIND = choice(DEPLOYMENT, REPLICA_SET, POD)
EXACT_STARTUP = choice((0, 0), (1, 1))
ANY_STARTUP = choice((0, 0), (1, 1), (1, 1), (0, 1), (1, 5))


@st.composite
def settings_values(draw: st.DrawFn, startup: st.SearchStrategy[tuple[int, int]] = EXACT_STARTUP) -> Settings:
    """Version and start-up time; the node monitor's range is exact unless the case is tiny anyway."""
    return Settings(draw(choice(*VERSIONS)), None, draw(choice(0, 0, 5)), draw(startup))


PROFILES = choice(
    (SchedulerProfile(),),
    (SchedulerProfile(),),
    (SchedulerProfile(fit_strategy="MostAllocated"),),
    (SchedulerProfile(disabled=frozenset({"NodeResourcesFit"})),),
    (SchedulerProfile(default_spread=(SpreadConstraint(ZONE, 1, True),)),),
    (SchedulerProfile(default_spread=()),),
)

# -- intents ------------------------------------------------------------------------------------------

COUNTED = ("minReady", "minReplicas", "maxReplicas")
TIMED = (*COUNTED, "maxSkew", "maxPodObjects", "maxNodes", "spread", "notColocated", "onlyOn", "runsOnEveryNode")
EVERY_KEY = (
    "settles",
    "minReady",
    "minReady",
    "minReplicas",
    "maxReplicas",
    "maxSkew",
    "schedulable",
    "noPendingForever",
    "noOscillation",
    "maxPodObjects",
    "maxNodes",
    "spread",
    "notColocated",
    "onlyOn",
    "noEviction",
    "noEvictionLoop",
    "noCreateFailLoop",
)
AMOUNTS = choice(Amount(1), Amount(2), Amount(0), Amount(100, percent=True), Amount(50, percent=True), Amount(3))
TOPOLOGY_KEYS = choice(HOSTNAME, ZONE, ZONE, POOL)
NODE_SELECTORS = choice(
    LabelSelector((Requirement(ZONE, "In", ("a",)),)),
    LabelSelector((Requirement(POOL, "DoesNotExist"),)),
    LabelSelector(),
)


@st.composite
def intents(draw: st.DrawFn, workloads: Sequence[Workload], keys: tuple[str, ...]) -> Intent:
    """One of these intents, with any `when` it allows; the name is added later."""
    key = draw(choice(*keys))
    target = draw(choice(*(w.ref for w in workloads)))
    timed = Intent(key=key, name="", target=target, when=draw(choice(*WHENS)) if key in TIMED else ALWAYS)
    if key in ("settles", "drainCompletes"):
        return replace(timed, target=None)
    if key == "noOscillation":
        of = draw(choice("any", "replicas", "placement"))
        return replace(timed, target=draw(choice(None, target)), of=of)
    if key in COUNTED:
        return replace(timed, count=draw(AMOUNTS))
    if key in ("noEviction", "noEvictionLoop"):
        return replace(timed, by=draw(choice("any", *EVICTORS)))
    if key in ("maxPodObjects", "maxNodes"):
        return _objects_intent(draw, timed)
    return _topology_intent(draw, timed, workloads) if key in TIMED[3:] and key != "runsOnEveryNode" else timed


def _objects_intent(draw: st.DrawFn, intent: Intent) -> Intent:
    count = Amount(draw(choice(2, 1, 3)))
    if intent.key == "maxPodObjects":
        phases = draw(choice((), (), ("Failed",), ("Pending", "Terminating"), ("Running",)))
        return replace(intent, target=draw(choice(intent.target, intent.target, None)), count=count, phases=phases)
    names, selector = draw(choice((None, None), (("n1",), None))), draw(choice(None, NODE_SELECTORS))
    nodes = draw(selector) if selector is not None and names[0] is None else None
    return replace(intent, target=None, count=count, nodes=nodes, node_names=names[0])


def _topology_intent(draw: st.DrawFn, intent: Intent, workloads: Sequence[Workload]) -> Intent:
    if intent.key == "maxSkew":
        return _skew(draw, intent, workloads)
    if intent.key == "onlyOn":
        by_name = draw(choice(False, False, True))
        nodes = None if by_name else draw(NODE_SELECTORS)
        return replace(intent, nodes=nodes, node_names=("n1",) if by_name else None)
    keyed = replace(intent, topology_key=draw(TOPOLOGY_KEYS))
    if intent.key == "spread":
        return replace(keyed, domains=draw(choice(1, 2, 2, 3)))
    selector = draw(choice(LabelSelector(), *(w.selector for w in workloads)))
    return replace(keyed, selector=selector, namespace=draw(choice(None, "other")))


def _skew(draw: st.DrawFn, intent: Intent, workloads: Sequence[Workload]) -> Intent:
    by_selector = draw(choice(False, False, True))
    return replace(
        intent,
        target=None if by_selector and draw(st.booleans()) else intent.target,
        topology_key=draw(TOPOLOGY_KEYS),
        skew=draw(choice(1, 1, 0, 2)),
        selector=draw(choice(LabelSelector(), *(w.selector for w in workloads))) if by_selector else None,
        namespace=draw(choice(None, "shop", "other")) if by_selector else None,
    )


def _can_mean(intent: Intent, workloads: Sequence[Workload]) -> bool:
    """Nobody replaces a bare pod, only some kinds roll out or complete, and only DaemonSets want every node."""
    kinds = {w.ref: w.kind for w in workloads}
    if intent.key == "completes":
        return kinds[str(intent.target)] in JOBS
    if intent.key in ("rolloutCompletes", "runsOnEveryNode"):
        meant = ROLLED_OUT if intent.key == "rolloutCompletes" else (DAEMON_SET,)
        return kinds[str(intent.target)] in meant
    return intent.key not in ("noEvictionLoop", "noCreateFailLoop") or kinds[str(intent.target)] != POD


@st.composite
def intent_lists(
    draw: st.DrawFn, workloads: Sequence[Workload], *, most: int = 3, keys: tuple[str, ...] = EVERY_KEY
) -> tuple[Intent, ...]:
    """One to `most` intents, named by position."""
    drawn = draw(st.lists(intents(workloads, keys), min_size=1, max_size=most))
    meant = [i if _can_mean(i, workloads) else Intent(key="settles", name="") for i in drawn]
    return tuple(replace(intent, name=f"intent-{number}") for number, intent in enumerate(meant))


# -- events -------------------------------------------------------------------------------------------

NODE_CHOICES = choice(
    NodeChoice(),
    NodeChoice(),
    NodeChoice(names=("n1",)),
    NodeChoice(selector=LabelSelector((Requirement(ZONE, "In", ("a",)),))),
    NodeChoice(selector=LabelSelector((Requirement(POOL, "DoesNotExist"),))),
    NodeChoice(names=("n9",)),
)
MOMENTS = choice(None, None, STABLE)


@st.composite
def failures(draw: st.DrawFn, name: str = "failure", *, most: int = 2) -> NodeFailure:
    """A node failure of any form."""
    return NodeFailure(
        name=name,
        max=draw(st.integers(1, most)),
        after=draw(choice(None, STABLE, STABLE)),
        nodes=draw(NODE_CHOICES),
        recovers=draw(choice(False, True)),
        together=draw(choice(False, False, True)),
    )


@st.composite
def cordons(draw: st.DrawFn, name: str = "cordon", *, most: int = 2) -> Cordon:
    """A cordon, reversible or not."""
    return Cordon(
        name=name,
        max=draw(st.integers(1, most)),
        after=draw(MOMENTS),
        nodes=draw(NODE_CHOICES),
        reversible=draw(st.booleans()),
    )


@st.composite
def scalings(draw: st.DrawFn, target: Workload, name: str = "scale", *, most: int = 3) -> Scale:
    """A scaling to one or two other sizes."""
    sizes = tuple(draw(st.lists(st.integers(0, most), min_size=1, max_size=2, unique=True)))
    return Scale(
        name=name,
        max=draw(choice(len(sizes), len(sizes), 1)),
        after=draw(MOMENTS),
        target=target.ref,
        replicas=sizes,
    )


# -- families -----------------------------------------------------------------------------------------


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
