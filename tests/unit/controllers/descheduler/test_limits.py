"""Limits against a naive account: single pods in every order, each evicted unless a limit forbids it."""

from collections import Counter
from itertools import permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.cluster.labels import Taint
from tests.unit.controllers.descheduler.clusters import DUPLICATES, NEWEST, entry, node, pods, policy, run, web

TAINTS, LIFE = "RemovePodsViolatingNodeTaints", "PodLifeTime"
WORKLOADS = [web(0), web(1), web(2, namespace="other")]
ARGUMENTS = {LIFE: {"maxPodLifeTimeSeconds": 1}}

contents = st.lists(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([10, 20])), max_size=3), min_size=2, max_size=3
)
limits = st.fixed_dictionaries(
    {}, optional={name: st.integers(0, 3) for name in ("max_per_node", "max_per_namespace", "max_total")}
)


def greedy(order, limited):
    """The losses when pods, given as (node, kind), come in this order."""
    nodes, namespaces, lost = Counter(), Counter(), Counter()
    for where, kind in order:
        name = WORKLOADS[kind[0]].namespace
        if (
            sum(nodes.values()) < limited.get("max_total", 99)
            and nodes[where] < limited.get("max_per_node", 99)
            and namespaces[name] < limited.get("max_per_namespace", 99)
        ):
            nodes[where] += 1
            namespaces[name] += 1
            lost[where, kind] += 1
    return frozenset(lost.items())


def lists_by_node(drawn):
    """Every order of nodes and of the pods on each."""
    per_node = [[(index, kind) for kind in kinds] for index, kinds in enumerate(drawn)]
    for order in permutations(per_node):
        yield from product(*(set(permutations(listed)) for listed in order))


def outcomes_of(plugin, drawn, limited):
    nodes = []
    for index, kinds in enumerate(drawn):
        groups = [pods(number, workload, age=age) for (workload, age), number in sorted(Counter(kinds).items())]
        nodes.append(entry(node(f"n{index}"), *groups, taints=(Taint("k"),) if plugin == TAINTS else ()))
    found = run(WORKLOADS, policy(plugin, limits=limited, **ARGUMENTS), *nodes, version=NEWEST)
    return {
        frozenset(
            ((loss.entry, (place.workload, place.age_s)), number)
            for loss in outcome
            for group, number in loss.losses
            for place in [nodes[loss.entry].pods[group]]
        )
        for outcome in found
    }


@settings(max_examples=60, deadline=None)
@given(contents, limits)
def test_a_plugin_that_goes_node_by_node(drawn, limited):
    expected = {greedy([pod for listed in lists for pod in listed], limited) for lists in lists_by_node(drawn)}

    assert outcomes_of(TAINTS, drawn, limited) == expected


@settings(max_examples=60, deadline=None)
@given(contents.filter(lambda drawn: sum(map(len, drawn)) <= 6), limits)
def test_a_plugin_that_goes_pod_by_pod_from_the_oldest(drawn, limited):
    everything = [(index, kind) for index, kinds in enumerate(drawn) for kind in kinds]
    expected = {greedy(sorted(order, key=lambda pod: -pod[1][1]), limited) for order in set(permutations(everything))}

    assert outcomes_of(LIFE, drawn, limited) == expected


@settings(max_examples=60, deadline=None)
@given(contents, limits)
def test_duplicates_go_owner_by_owner_and_node_by_node(drawn, limited):
    totals = Counter(kind[0] for kinds in drawn for kind in kinds)
    average = {owner: -(-total // len(drawn)) for owner, total in totals.items()}
    expected = set()
    for owners in permutations(range(3)):
        for lists in lists_by_node(drawn):
            surplus = [
                pod
                for owner in owners
                for listed in lists
                for pod in [pod for pod in listed if pod[1][0] == owner][average.get(owner, 0) :]
            ]
            expected.add(greedy(surplus, limited))

    assert outcomes_of(DUPLICATES, drawn, limited) == expected
