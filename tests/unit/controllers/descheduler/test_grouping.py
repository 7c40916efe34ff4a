"""Groups are exact: merged entries decide as single nodes do, nothing is evicted twice, limits hold."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.cluster.labels import Taint
from kubeproof.cluster.objects import HOSTNAME
from tests.unit.controllers.descheduler.clusters import (
    DUPLICATES,
    SPREAD,
    VERSIONS,
    entry,
    node,
    pods,
    policy,
    run,
    spread,
    web,
)

TAINTS, LIFE, LOW, HIGH = "RemovePodsViolatingNodeTaints", "PodLifeTime", "LowNodeUtilization", "HighNodeUtilization"
ARGUMENTS = {
    LIFE: {"maxPodLifeTimeSeconds": 10},
    LOW: {"thresholds": {"cpu": 25}, "targetThresholds": {"cpu": 40}},
    HIGH: {"thresholds": {"cpu": 30}},
}
WORKLOADS = [
    web(0, cpu=1000, labels={"app": "web0"}, spread=(spread(HOSTNAME), spread("zone"))),
    web(1, cpu=2000, labels={"app": "web0"}, namespace="shop"),
    web(2, cpu=500, namespace="other"),
]

groups = st.builds(
    pods,
    st.integers(1, 2),
    st.integers(0, 2),
    age=st.sampled_from([5, 20, 30]),
    terminating=st.sampled_from([False, False, True]),
)
entries = st.tuples(
    st.lists(groups, max_size=2, unique=True),
    st.integers(1, 2),
    st.sampled_from("xy"),
    st.sampled_from([(), (Taint("k"),)]),
    st.sampled_from([True, True, False]),
)
limits = st.fixed_dictionaries(
    {}, optional={name: st.integers(0, 3) for name in ("max_per_node", "max_per_namespace", "max_total")}
)
cycles = st.tuples(
    st.lists(entries, min_size=2, max_size=3),
    st.lists(st.sampled_from([SPREAD, DUPLICATES, TAINTS, LIFE, LOW, HIGH]), min_size=1, max_size=2, unique=True),
    limits,
    st.booleans(),
    st.sampled_from(VERSIONS),
)


def nodes_of(drawn, *, split):
    """The drawn nodes, and for each entry the index of what it came from."""
    nodes, origins = [], []
    for index, (content, count, zone, taints, ready) in enumerate(drawn):
        for copy in range(count if split else 1):
            where = node(f"n{index}-{copy}", cpu=10_000, pods=6, zone=zone)
            nodes.append(entry(where, *content, count=1 if split else count, taints=taints, is_ready=ready))
            origins.append(index)
    return nodes, origins


def outcomes_of(cycle, *, split):
    drawn, plugins, limited, node_fit, version = cycle
    nodes, origins = nodes_of(drawn, split=split)
    chosen = policy(*plugins, evictor={"nodeFit": node_fit}, limits=limited, **ARGUMENTS)
    found = run(WORKLOADS, chosen, *nodes, version=version)
    return found, {tuple(sorted((origins[loss.entry], loss.losses) for loss in outcome)) for outcome in found}, nodes


@settings(max_examples=150, deadline=None)
@given(cycles)
def test_merged_entries_decide_as_single_nodes_do(cycle):
    assert outcomes_of(cycle, split=False)[1] == outcomes_of(cycle, split=True)[1]


@settings(max_examples=150, deadline=None)
@given(cycles)
def test_nothing_is_evicted_twice_and_limits_hold(cycle):
    found, _, nodes = outcomes_of(cycle, split=False)
    limited, version = cycle[2], cycle[4]

    assert found == tuple(sorted(set(found)))
    for outcome in found:
        namespaces = {}
        for loss in outcome:
            place = nodes[loss.entry]
            lost = [(place.pods[group], number) for group, number in loss.losses]
            assert place.is_ready
            assert all(0 < number <= group.pods and not group.terminating for group, number in lost)
            assert sum(number for _, number in lost) <= limited.get("max_per_node", 99)
            for group, number in lost:
                name = WORKLOADS[group.workload].namespace
                namespaces[name] = namespaces.get(name, 0) + number
        for index, place in enumerate(nodes):
            assert sum(loss.entry == index for loss in outcome) <= place.count
        assert all(number <= limited.get("max_per_namespace", 99) for number in namespaces.values())
        total = limited.get("max_total", 99) if version >= (0, 31) else 99
        assert sum(namespaces.values()) <= total
