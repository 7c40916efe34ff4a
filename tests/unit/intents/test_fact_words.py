"""Numbers that facts compare, in words."""

from __future__ import annotations

import pytest

from kubeproof.cluster.loops.control import Seen
from kubeproof.cluster.objects import HOSTNAME
from kubeproof.intents.declarations import Amount
from kubeproof.intents.facts.counts import (
    NodesAtMost,
    NothingMissing,
    NothingPending,
    PodObjectsAtMost,
    ReadyAtLeast,
    ReplicasAtLeast,
    ReplicasAtMost,
)
from kubeproof.intents.facts.drained import Drained, DrainsComplete
from kubeproof.intents.facts.places import SkewAtMost
from kubeproof.intents.facts.words import describe_found
from kubeproof.intents.views import Counts, Domain, Pods
from tests.unit.model.builders import layout, node, setup, workload

LAYOUT = layout(setup([node("n1"), node("n2")], workload(3)), (0, 1))
PODS = Seen((Counts(1, 4, 1),), (Pods(1, 2),))  # of 4 desired pods 1 has no node, 2 have one, 1 of them ready
MISSING = Seen((Counts(1, 4, 0, 4),), (Pods(1, 1),))  # the API server refused 3


@pytest.mark.parametrize(
    ("fact", "seen", "told"),
    [
        (ReadyAtLeast(LAYOUT, 0, Amount(50, True)), PODS, "1 ready, at least 2 wanted"),
        (ReplicasAtLeast(LAYOUT, 0, Amount(4)), PODS, "3 pods, at least 4 wanted"),
        (ReplicasAtLeast(LAYOUT, 0, Amount(2)), Seen((Counts(1, 4, 1),), (Pods(0, 0),)), "1 pod, at least 2 wanted"),
        (ReplicasAtMost(LAYOUT, 0, Amount(2)), PODS, "3 pods, at most 2 wanted"),
        (PodObjectsAtMost(LAYOUT, (0,), 2), Seen((Counts(1, 4, 1),), (5,)), "6 Pod objects, at most 2 wanted"),
        (NodesAtMost(LAYOUT, 1), Seen((), (2,)), "2 nodes, at most 1 wanted"),
        (NothingPending(LAYOUT, 0), PODS, "1 pod without a node"),
        (NothingMissing(LAYOUT, 0), MISSING, ""),  # nothing to count: pods that were never created
        (DrainsComplete(LAYOUT), Seen((), (Drained(1, 1),)), "1 node whose drain does not end"),
    ],
    ids=lambda one: type(one).__name__ if hasattr(one, "layout") else "",
)
def test_facts_tell_what_they_compare(fact, seen, told):
    assert describe_found(fact, seen) == told


def test_a_skew_is_told_as_a_difference():
    apart = layout(setup([node("n1"), node("n2")], workload(3)), (0,), (1,))
    fact = SkewAtMost(apart, (0,), None, HOSTNAME, 1)

    assert (
        describe_found(fact, Seen((Counts(1, 4),), (Domain(0, 0, 0), Domain(3, 3, 3))))
        == "3 pods of difference, at most 1 wanted"
    )
    assert fact.widest(Seen((Counts(1, 4),), (None, None))) == 0
