"""Grouping and remembering never change a decision."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import DEPLOYMENT, POD, REPLICA_SET
from kubeproof.cluster.labels import (
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
    SchedulerProfile,
    Settings,
    Setup,
    SpreadConstraint,
    WeightedPodTerm,
    Workload,
)
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Scheduler
from tests.unit.controllers.scheduler.builders import WEB

RACK = "rack"
UNIQUE = frozenset({HOSTNAME, RACK})
ON_SSD = Requirement("disk", "In", ("ssd",))
GPU = Taint("gpu", "", "NoSchedule")
SLOW = Taint("slow", "", "PreferNoSchedule")

amounts = st.sampled_from([None, 0, 100, 250])
constraints = st.builds(
    SpreadConstraint,
    topology_key=st.sampled_from([HOSTNAME, ZONE, RACK]),
    max_skew=st.integers(1, 3),
    hard=st.booleans(),
    selector=st.sampled_from([None, LabelSelector(), WEB]),
    min_domains=st.integers(1, 4),
    honor_affinity=st.booleans(),
    honor_taints=st.booleans(),
    match_label_keys=st.sampled_from([(), ("pod-template-hash",)]),
)
pod_terms = st.builds(
    PodTerm,
    topology_key=st.sampled_from([HOSTNAME, ZONE, RACK, "nowhere"]),
    selector=st.sampled_from([None, LabelSelector(), WEB]),
    namespaces=st.sampled_from([(), ("shop",), ("other",)]),
    namespace_selector=st.sampled_from([None, None, LabelSelector()]),
    match_label_keys=st.sampled_from([(), ("pod-template-hash",)]),
    mismatch_label_keys=st.sampled_from([(), (), ("pod-template-hash",)]),
)
pod_affinities = st.just(PodAffinity()) | st.builds(
    PodAffinity,
    required=st.lists(pod_terms, max_size=2).map(tuple),
    preferred=st.lists(st.builds(WeightedPodTerm, st.integers(1, 100), pod_terms), max_size=2).map(tuple),
)
containers = st.builds(Container, name=st.just("main"), cpu_milli=amounts, memory_bytes=amounts)
templates = st.builds(
    PodTemplate,
    labels=st.sampled_from([(), (("app", "web"),)]),
    containers=st.tuples(containers),
    node_selector=st.sampled_from([(), (("disk", "ssd"),)]),
    preferred_terms=st.sampled_from([(), (PreferredTerm(3, NodeTerm((ON_SSD,))),)]),
    tolerations=st.sampled_from([(), (Toleration("gpu", "Exists"),)]),
    spread=st.lists(constraints, max_size=3).map(tuple),
    pod_affinity=pod_affinities,
    pod_anti_affinity=pod_affinities,
)
workloads = st.builds(
    Workload,
    kind=st.sampled_from([DEPLOYMENT, REPLICA_SET, POD]),
    namespace=st.sampled_from(["shop", "shop", "other"]),
    name=st.just("web"),
    template=templates,
    selector=st.just(WEB),
)
profiles = st.builds(
    SchedulerProfile,
    disabled=st.sampled_from([frozenset[str](), frozenset({"TaintToleration"})]),
    disabled_score=st.sampled_from(
        [frozenset[str](), frozenset({"NodeResourcesFit", "NodeResourcesBalancedAllocation"})]
    ),
    fit_strategy=st.sampled_from(["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]),
    fit_shape=st.just(((0, 0), (100, 10))),
    default_spread=st.none() | st.lists(constraints, max_size=2).map(tuple),
    hard_pod_affinity_weight=st.integers(0, 2),
    ignore_preferred_of_existing=st.booleans(),
)
setups = st.builds(
    Setup,
    workloads=st.tuples(workloads, workloads),
    profiles=st.tuples(profiles),
    settings=st.builds(Settings, kubernetes_version=st.tuples(st.just(1), st.integers(26, 37))),
)
pod_counts = st.tuples(*(st.builds(PodCount, st.just(index), st.integers(0, 3), st.integers(0, 1)) for index in (0, 1)))


@st.composite
def groups(draw: st.DrawFn) -> list[NodeInfo]:
    """Up to four groups of up to three nodes; a unique key is on all nodes of a group or on none."""
    result = []
    for number in range(draw(st.integers(1, 4))):
        name, zone = f"g{number}", draw(st.sampled_from("ab"))
        labels = {HOSTNAME: name, RACK: name, ZONE: zone, "disk": "ssd"}
        for key in draw(st.lists(st.sampled_from(sorted(labels)), max_size=2, unique=True)):
            del labels[key]
        cpu = draw(st.sampled_from([700, 1000]))
        node = Node(name, as_labels(labels), cpu_milli=cpu, memory_bytes=1000, pods=9)
        taints = draw(st.sampled_from([(), (GPU,), (SLOW,)]))
        cordoned = draw(st.sampled_from([False, False, True]))
        result.append(NodeInfo(node, draw(st.integers(1, 3)), cordoned, taints, draw(pod_counts)))
    return result


def apart(group: NodeInfo) -> list[NodeInfo]:
    """The nodes of a group one by one, each with its own name and its own values of the unique keys."""
    names = [f"{group.node.name}-{number}" for number in range(group.count)]
    return [group._replace(node=renamed(group.node, name), count=1) for name in names]


def renamed(node: Node, name: str) -> Node:
    labels = tuple((key, name if key in UNIQUE else value) for key, value in node.labels)
    return replace(node, name=name, labels=labels)


@settings(deadline=None)
@given(setup=setups, nodes=groups())
def test_grouped_nodes_are_judged_as_if_each_stood_alone(setup: Setup, nodes: list[NodeInfo]) -> None:
    origins = [index for index, group in enumerate(nodes) for _ in range(group.count)]
    singles = [single for group in nodes for single in apart(group)]
    grouped = Scheduler(setup, 0, UNIQUE).evaluate(nodes)

    for known_unique in (UNIQUE, frozenset[str]()):
        single = Scheduler(setup, 0, known_unique).evaluate(singles)
        assert single.rows == tuple(grouped.rows[origin] for origin in origins)
        assert single.chosen == tuple(i for i, origin in enumerate(origins) if origin in grouped.chosen)


@settings(deadline=None)
@given(setup=setups, views=st.lists(groups(), min_size=1, max_size=3))
def test_choosing_from_memory_is_the_same_as_evaluating(setup: Setup, views: list[list[NodeInfo]]) -> None:
    scheduler = Scheduler(setup, 0, UNIQUE)

    for nodes in [*views, *views]:
        assert scheduler.choose(nodes) == scheduler.evaluate(nodes).chosen


@settings(deadline=None)
@given(setup=setups, nodes=groups())
def test_order_of_nodes_does_not_matter(setup: Setup, nodes: list[NodeInfo]) -> None:
    scheduler = Scheduler(setup, 0, UNIQUE)

    assert scheduler.evaluate(nodes[::-1]).rows == scheduler.evaluate(nodes).rows[::-1]


@settings(deadline=None)
@given(setup=setups, nodes=groups())
def test_normalised_scores_are_between_0_and_100(setup: Setup, nodes: list[NodeInfo]) -> None:
    rows = Scheduler(setup, 0, UNIQUE).evaluate(nodes).rows

    assert all(0 <= score <= 100 for row in rows for _, score in row.scores)
