"""Rollouts end: what proofs that follow single pods take for granted of the Deployment controller."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import Revision
from kubeproof.controllers.rollout.sync import sync

SHARES = ((25, 25, True), (0, 1, False), (1, 0, False), (100, 100, True), (3, 2, False), (0, 34, True))
STRATEGIES = [
    Strategy(max_surge=surge, max_unavailable=missing, surge_percent=percent, unavailable_percent=percent)
    for surge, missing, percent in SHARES
]
MAX_SIZE = 9


def ready(size: int, noted: int, most: int) -> Revision:
    """A revision all of whose pods are ready."""
    return Revision(size, size, size, noted, most)


def halves(replicas: int, strategy: Strategy) -> Iterator[tuple[int, int]]:
    """All sizes of the old and the new ReplicaSet that a rollout may come through."""
    most = replicas + strategy.surge_of(replicas)
    yield from ((old, new) for old, new in product(range(replicas + 1), repeat=2) if old + new <= most)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_rollout_of_ready_pods_stops_nowhere_but_at_its_end(strategy: Strategy) -> None:
    for replicas in range(1, MAX_SIZE + 1):
        most = replicas + strategy.surge_of(replicas)
        for old, new in halves(replicas, strategy):
            revisions = (ready(old, replicas, most), ready(new, replicas, most))
            outcome = sync(replicas, strategy, False, revisions, 1, old > 0)
            assert (outcome.sizes == (old, new)) == ((old, new) == (0, replicas)), (replicas, old, new)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_rollout_never_goes_back_whoever_is_ready(strategy: Strategy) -> None:
    for replicas in range(1, 6):
        most = replicas + strategy.surge_of(replicas)
        for old, new in halves(replicas, strategy):
            for old_ready, new_ready in product(range(old + 1), range(new + 1)):
                revisions = (
                    Revision(old, old_ready, old, replicas, most),
                    Revision(new, new_ready, new, replicas, most),
                )
                left, grown = sync(replicas, strategy, False, revisions, 1, old > 0).sizes
                assert left <= old
                assert new <= grown <= replicas


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_new_revision_is_created_and_the_old_one_does_not_grow(strategy: Strategy) -> None:
    for replicas in range(1, MAX_SIZE + 1):
        most = replicas + strategy.surge_of(replicas)
        outcome = sync(replicas, strategy, False, (ready(replicas, replicas, most),), None, True)
        assert outcome.created is not None
        assert outcome.sizes[0] <= replicas


def test_a_deployment_that_is_resized_in_the_middle_may_only_ever_scale() -> None:
    strategy = Strategy(max_surge=0, surge_percent=False, max_unavailable=25)
    revisions = (ready(1, 2, 2), ready(0, 2, 2))  # noted at two replicas, and one is wanted now

    outcome = sync(1, strategy, False, revisions, 1, True)

    assert outcome.sizes == (1, 0)
