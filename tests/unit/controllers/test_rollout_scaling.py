"""Worked numbers for scaling a Deployment, in the middle of a rollout too."""

from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import ABSENT, Notes, Revision, RolloutWrites
from kubeproof.controllers.rollout.sync import sync

QUARTER = Strategy()
RECREATE = Strategy(rolling=False)
NO_SURGE = Strategy(max_surge=0, surge_percent=False, max_unavailable=1, unavailable_percent=False)


def surge(count: int) -> Strategy:
    return Strategy(max_surge=count, surge_percent=False, max_unavailable=0, unavailable_percent=False)


def scaled(
    replicas: int,
    revisions: tuple[Revision, ...],
    new: int | None,
    *,
    strategy: Strategy = QUARTER,
    paused: bool = False,
) -> RolloutWrites:
    return sync(replicas, strategy, paused, revisions, new, False)


def noted(desired: int, most: int, *sizes: int) -> tuple[Revision, ...]:
    """Revisions of these sizes, all available, last written for `desired`."""
    return tuple(Revision(size, size, size, desired, most) for size in sizes)


def test_one_active_replica_set_is_scaled_directly() -> None:
    outcome = scaled(12, noted(10, 13, 10), 0)

    assert (outcome.sizes, outcome.notes) == ((12,), (Notes(12, 15),))
    assert outcome.what == "scales the ReplicaSet 10 -> 12"


def test_scaling_down_ignores_max_unavailable() -> None:
    assert scaled(1, noted(100, 125, 100), 0).sizes == (1,)


def test_an_active_old_replica_set_is_scaled_before_the_new_one_is_created() -> None:
    """Template and replicas change in one apply: the first sync scales the old ReplicaSet."""
    outcome = scaled(6, noted(4, 5, 4), None)

    assert (outcome.sizes, outcome.created) == ((6,), None)


def test_without_active_replica_sets_nothing_is_a_scaling_event() -> None:
    outcome = scaled(6, noted(0, 0, 0, 0), 1)

    assert outcome.sizes == (0, 6)
    assert outcome.what == "scales up the new ReplicaSet 0 -> 6: 0 of at most 8 replicas (6 + surge 2)"


@pytest.mark.parametrize(("new", "sizes"), [(0, (6, 0)), (1, (0, 6)), (None, (0, 6))])
def test_paused_without_active_replica_sets_scales_the_new_else_the_newest(
    new: int | None, sizes: tuple[int, int]
) -> None:
    assert scaled(6, noted(0, 0, 0, 0), new, paused=True).sizes == sizes


def test_a_missing_annotation_is_no_scaling_event() -> None:
    outcome = scaled(6, noted(ABSENT, ABSENT, 4), 0)

    assert outcome.what == "scales up the new ReplicaSet 4 -> 6: 4 of at most 8 replicas (6 + surge 2)"


def test_a_size_that_already_fits_leaves_stale_annotations() -> None:
    """Upstream's lazy write: this Deployment takes every sync for a scaling event and never rolls."""
    outcome = scaled(4, noted(5, 7, 4), None)

    assert (outcome.changed, outcome.notes, outcome.created) == (False, (Notes(5, 7),), None)


def test_proportional_scaling_gives_leftovers_to_the_largest() -> None:
    """Appendix E 7: surge 3 of 10 becomes 5 of 20; 14 to add are 7 and 3, and 4 left."""
    outcome = scaled(20, noted(10, 13, 8, 3), 1)

    assert (outcome.sizes, outcome.notes) == ((19, 6), (Notes(20, 25), Notes(20, 25)))
    assert outcome.what == "scales in proportion to 25 in total (20 + surge 5): 8 -> 19, 3 -> 6"


def test_proportional_scaling_without_leftover() -> None:
    assert scaled(20, noted(10, 13, 8, 5), 1).sizes == (15, 10)


@pytest.mark.parametrize(
    ("replicas", "before", "strategy", "revisions", "result"),
    [
        (10, 5, surge(0), (3, 2), (6, 4)),
        (3, 5, surge(0), (3, 2), (2, 1)),
        (4, 9, surge(0), (1, 8), (0, 4)),
        (10, 7, surge(0), (2, 3, 2), (3, 4, 3)),
        (8, 13, surge(0), (3, 8, 2), (2, 5, 1)),
        (4, 3, surge(0), (1, 1, 1), (1, 1, 2)),  # up: the newest of equals
        (2, 3, surge(0), (1, 1, 1), (0, 1, 1)),  # down: the oldest of equals
        (0, 6, surge(0), (1, 2, 3), (0, 0, 0)),
        (0, 6, surge(2), (1, 2, 3), (0, 0, 0)),  # no surge above 0 replicas
        (20, 10, surge(2), (6, 6), (11, 11)),
        (4, 2, surge(1), (1, 1), (2, 3)),
    ],
)
def test_proportional_scaling_follows_upstream(
    replicas: int, before: int, strategy: Strategy, revisions: tuple[int, ...], result: tuple[int, ...]
) -> None:
    most = before + (strategy.max_surge if before else 0)

    outcome = scaled(replicas, noted(before, most, *revisions), len(revisions) - 1, strategy=strategy)

    assert outcome.sizes == result


def test_a_changed_surge_counts_with_the_one_remembered() -> None:
    assert scaled(50, noted(10, 13, 8, 5), 1, strategy=surge(6)).sizes == (34, 22)


def test_without_the_new_replica_set_old_ones_share_the_change() -> None:
    assert scaled(5, noted(4, 4, 2, 2), None, strategy=surge(0)).sizes == (2, 3)


def test_halves_round_away_from_zero() -> None:
    """1 of 2 becomes 2.5 of 5: the newest gets 3, the other what is left."""
    assert scaled(4, noted(1, 2, 1, 1), 1, strategy=surge(1)).sizes == (2, 3)


def test_the_oldest_of_equals_loses_the_leftover() -> None:
    assert scaled(2, noted(6, 8, 3, 3), 1, strategy=surge(1)).sizes == (1, 2)


def test_a_missing_annotation_counts_existing_pods_instead() -> None:
    revisions = (Revision(4, 4, 4, 5, ABSENT), Revision(2, 2, 2, 5, ABSENT))

    assert scaled(8, revisions, 1, strategy=surge(2)).sizes == (7, 3)


def test_without_annotation_and_pods_the_largest_takes_all_but_not_below_zero() -> None:
    revisions = (Revision(3, 0, 0, 5, 0), Revision(2, 0, 0, 5, 0))

    assert scaled(7, revisions, 1, strategy=surge(1)).sizes == (6, 2)
    assert scaled(1, revisions, 1, strategy=NO_SURGE).sizes == (0, 2)


def test_a_too_large_annotation_pulls_small_ones_down_while_scaling_up() -> None:
    assert scaled(6, noted(18, 20, 4, 1), 1, strategy=surge(2)).sizes == (8, 0)


def test_annotations_are_rewritten_even_without_a_change_of_size() -> None:
    outcome = scaled(4, noted(5, 5, 3, 2), 1, strategy=surge(1))

    assert (outcome.sizes, outcome.notes, outcome.changed) == ((3, 2), (Notes(4, 5), Notes(4, 5)), True)


def test_inactive_replica_sets_are_neither_scaled_nor_noted() -> None:
    outcome = scaled(20, (*noted(3, 4, 0), *noted(10, 13, 8, 5)), 2)

    assert (outcome.sizes, outcome.notes[0]) == ((0, 15, 10), Notes(3, 4))


def test_a_saturated_new_replica_set_ends_the_old_ones() -> None:
    outcome = scaled(4, (*noted(3, 4, 2), *noted(4, 5, 4)), 1)

    assert (outcome.sizes, outcome.what) == ((0, 4), "scales old ReplicaSets to 0: all 4 new ones are available")


def test_a_full_but_broken_new_replica_set_is_not_saturated() -> None:
    revisions = (*noted(2, 3, 1), Revision(2, 0, 2, 2, 3))

    outcome = scaled(2, revisions, 1, strategy=surge(1), paused=True)

    assert (outcome.sizes, outcome.changed) == ((1, 2), False)


def test_a_full_new_replica_set_that_does_not_know_it_is_not_saturated() -> None:
    assert scaled(4, noted(5, 7, 2, 4), 1).sizes == (2, 3)


def test_recreate_does_not_scale_several_active_replica_sets() -> None:
    outcome = scaled(6, noted(4, 5, 2, 2), 1, strategy=RECREATE)

    assert (outcome.changed, outcome.what) == (False, "does not scale several active ReplicaSets with Recreate")


def test_a_paused_rollout_is_scaled_in_proportion() -> None:
    assert scaled(20, noted(10, 13, 8, 5), 1, paused=True).sizes == (15, 10)


def test_an_autoscaler_in_mid_rollout_grows_the_old_revision_too() -> None:
    """4 -> 6 replicas with 3 old and 2 new: at most 8; 4.8 and 3.2 of them."""
    assert scaled(6, noted(4, 5, 3, 2), 1).sizes == (5, 3)


def test_an_autoscaler_in_mid_rollout_shrinks_both() -> None:
    """4 -> 2 replicas with 3 old and 2 new: at most 3; 1.8 and 1.2 of them."""
    assert scaled(2, noted(4, 5, 3, 2), 1).sizes == (2, 1)


def test_the_rollout_goes_on_once_annotations_match() -> None:
    grown = scaled(6, noted(4, 5, 3, 2), 1)
    assert grown.notes == (Notes(6, 8), Notes(6, 8))

    outcome = scaled(6, noted(6, 8, 5, 3), 1)

    assert (outcome.sizes, outcome.what) == (
        (2, 3),
        "scales down old ReplicaSets: removes 3: 8 available, minAvailable 5",
    )


def test_an_autoscaler_that_changes_replicas_before_every_sync_stops_the_rollout() -> None:
    up = scaled(6, noted(4, 5, 3, 2), 1)
    down = scaled(4, noted(6, 8, 5, 3), 1)

    assert (up.sizes, down.sizes) == ((5, 3), (3, 2))  # for ever


def test_without_a_max_annotation_the_reported_replicas_count_even_if_they_lag_behind() -> None:
    sizes = (Revision(4, 4, 4, 8, ABSENT), Revision(4, 4, 4, 8, 10))

    assert sync(16, QUARTER, False, sizes, 1, False, reported=20).sizes == (4, 16)
    assert sync(16, QUARTER, False, sizes, 1, False).sizes == (10, 10)


def test_shares_are_written_largest_first_and_growth_goes_to_the_newest_of_equals() -> None:
    assert scaled(16, noted(8, 10, 3, 5, 5), 2).writes == ((2, 10), (1, 7), (0, 3))
    assert [index for index, _ in scaled(4, noted(8, 10, 3, 5, 5), 2).writes] == [1, 2, 0]


def test_if_nothing_is_shared_out_the_annotations_of_old_ones_are_rewritten_first_newest_first() -> None:
    assert scaled(8, noted(7, 10, 2, 4, 4), 1).writes == ((2, 4), (0, 2), (1, 4))


def test_a_saturated_new_replica_set_sends_old_ones_to_zero_newest_first() -> None:
    revisions = (*noted(4, 5, 1, 2), Revision(3, 3, 3, 3, 4))

    assert scaled(3, revisions, 2).writes == ((1, 0), (0, 0))
