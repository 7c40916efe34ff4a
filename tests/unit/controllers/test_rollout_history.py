"""Which old ReplicaSets a Deployment deletes."""

from __future__ import annotations

from tests.oracles.rollout_history import NO_LIMIT, Kept, expired

EMPTY = (Kept(1, 0, 0), Kept(2, 0, 0), Kept(3, 0, 0))


def test_the_lowest_revisions_beyond_the_limit_are_deleted() -> None:
    assert expired(EMPTY, 2) == (0,)
    assert expired(EMPTY, 0) == (0, 1, 2)
    assert expired(EMPTY, 3) == ()


def test_a_replica_set_that_was_rolled_back_to_counts_as_young() -> None:
    assert expired((Kept(4, 0, 0), Kept(2, 0, 0), Kept(3, 0, 0)), 1) == (1, 2)


def test_a_replica_set_with_pods_is_passed_over_and_uses_up_its_place() -> None:
    assert expired((Kept(1, 1, 0), Kept(2, 0, 0), Kept(3, 0, 0)), 2) == ()
    assert expired((Kept(1, 0, 1), Kept(2, 0, 0), Kept(3, 0, 0)), 1) == (1,)


def test_a_replica_set_whose_controller_lags_behind_is_passed_over() -> None:
    assert expired((Kept(1, 0, 0, observed=False), Kept(2, 0, 0)), 0) == (1,)


def test_the_largest_limit_keeps_all() -> None:
    assert expired(EMPTY, NO_LIMIT) == ()
