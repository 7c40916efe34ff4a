"""The scheduler on the random clusters that its recorded corpora are made of."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from kubeproof.controllers.scheduler.framework import NodeInfo
from tests.conformance.decide.scheduler import Board
from tests.conformance.inputs.placement import HOSTNAME
from tests.conformance.inputs.scheduler import decision

CASES = st.integers(0, 2**32).map(lambda seed: decision(Random(seed)))
UPSTREAMS = st.sampled_from(["kubernetes-1.26", "kubernetes-1.37"])


@given(case=CASES, upstream=UPSTREAMS)
def test_choosing_from_memory_agrees_with_evaluating_afresh(case: dict[str, Any], upstream: str) -> None:
    board = Board(case, upstream)
    scheduler, infos = board.scheduler(case["pod"]), board.infos()
    chosen = scheduler.evaluate(infos).chosen

    assert scheduler.choose(infos) == scheduler.choose(infos) == chosen


@given(case=CASES, upstream=UPSTREAMS)
def test_the_order_of_the_nodes_does_not_matter(case: dict[str, Any], upstream: str) -> None:
    board = Board(case, upstream)
    scheduler, infos = board.scheduler(case["pod"]), board.infos()
    straight, reversed_ = scheduler.evaluate(infos), scheduler.evaluate(infos[::-1])

    assert reversed_.rows == straight.rows[::-1]
    assert sorted(len(infos) - 1 - index for index in reversed_.chosen) == list(straight.chosen)


@given(case=CASES, upstream=UPSTREAMS)
def test_two_equal_nodes_decide_like_a_group_of_two(case: dict[str, Any], upstream: str) -> None:
    twins = with_twins(case)
    hostnames = [node["metadata"]["labels"].get(HOSTNAME) for node in twins["nodes"]]
    assume(len(set(hostnames)) == len(hostnames) and None not in hostnames)
    board = Board(twins, upstream)
    scheduler, infos = board.scheduler(twins["pod"]), board.infos()
    grouped: list[NodeInfo] = [*infos[:-2], infos[-2]._replace(count=2)]
    apart, together = scheduler.evaluate(infos), scheduler.evaluate(grouped)

    assert apart.rows[-1] == apart.rows[-2]
    assert together.rows == apart.rows[:-1]
    assert together.chosen == tuple(index for index in apart.chosen if index < len(grouped))
    assert scheduler.choose(grouped) == together.chosen


def with_twins(case: dict[str, Any]) -> dict[str, Any]:
    """The case with two nodes, which nobody names, in place of the last one; its pods run on both."""
    *others, last = case["nodes"]
    before = last["metadata"]["name"]
    pods = list(case["pods"])
    for pod in case["pods"]:
        if pod["spec"]["nodeName"] == before:
            pods.remove(pod)
            pods += [{**pod, "spec": {**pod["spec"], "nodeName": name}} for name in ("m1", "m2")]
    return {**case, "nodes": [*others, renamed(last, "m1"), renamed(last, "m2")], "pods": pods}


def renamed(node: dict[str, Any], name: str) -> dict[str, Any]:
    """The node under another name, which its hostname label follows if it has one."""
    labels = node["metadata"]["labels"]
    own = {HOSTNAME: name} if HOSTNAME in labels else {}
    return {**node, "metadata": {"name": name, "labels": labels | own}}
