"""Descheduling cycles on the clusters of the recorded corpora: what holds whatever the plugins are."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conformance.decide.descheduler import DIGITS, decide
from tests.conformance.inputs.descheduler import GENERATORS

cases = st.tuples(st.sampled_from(sorted(GENERATORS)), st.integers(0, 2**32)).map(
    lambda drawn: GENERATORS[drawn[0]](Random(drawn[1]))
)
upstreams = st.sampled_from(("descheduler-0.27", "descheduler-0.36"))


def lost(case: Any, outcome: str) -> list[int]:
    """Evicted pods by group."""
    return [DIGITS.index(digit) for digit in outcome.ljust(len(case["pods"]), "0")]


@given(cases, upstreams)
@settings(max_examples=150)
def test_only_pods_that_run_on_ready_nodes_are_evicted_and_none_twice(case: Any, upstream: str) -> None:
    ready = [not node["status"].get("conditions") for node in case["nodes"]]

    for outcome in decide(case, upstream):
        for (_, node, count, *state), pods in zip(case["pods"], lost(case, outcome), strict=True):
            is_evictable = node >= 0 and ready[node] and "t" not in "".join(state[:1])
            assert pods <= (count if is_evictable else 0)


@given(cases, upstreams)
@settings(max_examples=150)
def test_no_outcome_exceeds_a_limit(case: Any, upstream: str) -> None:
    limits = case.get("policy", {}) | case.get("newer", {}).get("policy", {})

    for outcome in decide(case, upstream):
        nodes: Counter[int] = Counter()
        namespaces: Counter[str] = Counter()
        for (workload, node, *_), pods in zip(case["pods"], lost(case, outcome), strict=True):
            nodes[node] += pods
            namespaces[case["workloads"][workload]["namespace"]] += pods
        assert max(nodes.values()) <= limits.get("maxNoOfPodsToEvictPerNode", 99)
        assert max(namespaces.values()) <= limits.get("maxNoOfPodsToEvictPerNamespace", 99)
        if upstream == "descheduler-0.36":
            assert sum(nodes.values()) <= limits.get("maxNoOfPodsToEvictTotal", 99)


@given(cases, upstreams, st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_the_order_in_which_nodes_and_pods_are_listed_does_not_matter(case: Any, upstream: str, random: Random) -> None:
    nodes, groups = list(range(len(case["nodes"]))), list(range(len(case["pods"])))
    random.shuffle(nodes)
    random.shuffle(groups)
    places = {old: new for new, old in enumerate(nodes)} | {-1: -1}
    listed = [case["pods"][old] for old in groups]
    shuffled = {
        **case,
        "nodes": [case["nodes"][old] for old in nodes],
        "pods": [[workload, places[node], *rest] for workload, node, *rest in listed],
    }

    def in_order(outcome: str) -> tuple[int, ...]:
        pods = dict(zip(groups, lost(shuffled, outcome), strict=True))
        return tuple(pods[group] for group in range(len(groups)))

    expected = {tuple(lost(case, outcome)) for outcome in decide(case, upstream)}
    assert {in_order(outcome) for outcome in decide(shuffled, upstream)} == expected
