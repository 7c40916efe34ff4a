"""Random small clusters, straight as objects: setups with events and intents, biased to corner cases.

Every family keeps the state space small (the search by name grows with the factorial of the pods), yet lets every
kind of verdict happen. Numbers are drawn from short lists in which the interesting values stand more than once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET, REPLICATION_CONTROLLER
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
from kubeproof.events.declarations import Event
from kubeproof.intents.declarations import Intent
from kubeproof.model.plan import Placement, Plan, make_plan
from tests.property.controllers import loop_of

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
