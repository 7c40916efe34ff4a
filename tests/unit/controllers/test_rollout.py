"""Worked numbers for the Deployment controller's rolling and recreating steps."""

from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import Notes, Revision, RolloutWrites, after, resolve
from kubeproof.controllers.rollout.sync import sync

QUARTER = Strategy()
RECREATE = Strategy(rolling=False)


def pods(surge: int, unavailable: int) -> Strategy:
    return Strategy(max_surge=surge, surge_percent=False, max_unavailable=unavailable, unavailable_percent=False)


def percent(surge: int, unavailable: int) -> Strategy:
    return Strategy(max_surge=surge, max_unavailable=unavailable)


def step(
    replicas: int,
    strategy: Strategy,
    revisions: tuple[Revision, ...],
    new: int | None,
    *,
    paused: bool = False,
    old_pods_left: bool = False,
) -> RolloutWrites:
    return sync(replicas, strategy, paused, revisions, new, old_pods_left)


def full(size: int, desired: int, most: int) -> Revision:
    """A revision whose pods are all available."""
    return Revision(size, size, size, desired, most)


def starting(size: int, desired: int, most: int, available: int = 0) -> Revision:
    """A revision with pods that are not all available."""
    return Revision(size, available, size, desired, most)


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable"),
    [(1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 1, 1), (5, 2, 1), (10, 3, 2), (0, 0, 0)],
)
def test_a_quarter_resolves_to_surge_rounded_up_and_unavailable_rounded_down(
    replicas: int, surge: int, unavailable: int
) -> None:
    assert resolve(QUARTER, replicas) == (surge, unavailable)


@pytest.mark.parametrize(
    ("strategy", "replicas", "resolved"),
    [
        (percent(0, 1), 2, (0, 1)),  # both would be 0
        (percent(0, 1), 1, (0, 1)),
        (percent(0, 0), 10, (0, 1)),
        (pods(0, 0), 10, (0, 1)),
        (pods(0, 0), 0, (0, 0)),
        (percent(1, 25), 2, (1, 0)),
        (percent(1, 0), 1, (1, 0)),
        (pods(0, 1), 4, (0, 1)),
        (pods(1, 0), 4, (1, 0)),
        (pods(1, 7), 4, (1, 4)),  # at most all of them
        (pods(2, 3), 0, (2, 0)),
        (percent(100, 100), 3, (3, 3)),
        (percent(200, 0), 3, (6, 0)),
        (RECREATE, 4, (0, 0)),
    ],
)
def test_fenceposts_resolve_like_upstream(strategy: Strategy, replicas: int, resolved: tuple[int, int]) -> None:
    assert resolve(strategy, replicas) == resolved


def test_the_first_sync_of_a_deployment_creates_all_replicas() -> None:
    assert step(4, QUARTER, (), None) == RolloutWrites(
        (), (), ((0, 4),), "creates the new ReplicaSet with 4: 0 of at most 5 replicas (4 + surge 1)", 4, Notes(4, 5)
    )


def test_a_whole_rolling_update_of_four_replicas() -> None:
    """Appendix E 6 of the semantics, every sync of it."""
    before = (full(4, 4, 5),)

    first = step(4, QUARTER, before, None)
    assert (first.sizes, first.created) == ((3,), 1)

    second = step(4, QUARTER, after(before, first), 1)  # statuses still say 4 and 0 available
    assert second.sizes == (3, 2)

    waiting = step(4, QUARTER, (full(3, 4, 5), starting(2, 4, 5)), 1)
    assert (waiting.sizes, waiting.changed) == ((3, 2), False)

    one_available = step(4, QUARTER, (full(3, 4, 5), starting(2, 4, 5, available=1)), 1)
    assert one_available.sizes == (2, 2)

    assert step(4, QUARTER, (full(2, 4, 5), starting(2, 4, 5, available=1)), 1).sizes == (2, 3)
    assert step(4, QUARTER, (full(2, 4, 5), starting(3, 4, 5, available=2)), 1).sizes == (1, 3)
    assert step(4, QUARTER, (full(1, 4, 5), starting(3, 4, 5, available=2)), 1).sizes == (1, 4)
    assert step(4, QUARTER, (full(1, 4, 5), starting(4, 4, 5, available=3)), 1).sizes == (0, 4)

    done = step(4, QUARTER, (full(0, 4, 5), full(4, 4, 5)), 1)
    assert (done.sizes, done.changed, done.what) == ((0, 4), False, "nothing to do: no old replicas")


def test_decisions_tell_their_numbers() -> None:
    created = step(4, QUARTER, (full(4, 4, 5),), None)
    grown = step(4, QUARTER, (full(3, 4, 5), starting(1, 4, 5)), 1)
    waiting = step(4, QUARTER, (full(3, 4, 5), starting(2, 4, 5)), 1)

    assert created.what == (
        "creates the new ReplicaSet with 1: 4 of at most 5 replicas (4 + surge 1); "
        "scales down old ReplicaSets: removes 1: 4 available, minAvailable 3"
    )
    assert grown.what == "scales up the new ReplicaSet 1 -> 2: 4 of at most 5 replicas (4 + surge 1)"
    assert waiting.what == "waits: 5 replicas - minAvailable 3 - 2 new ones unavailable leaves 0 to remove"


def test_growing_ends_the_sync_although_old_replicas_could_go() -> None:
    outcome = step(4, QUARTER, (full(3, 4, 5), full(1, 4, 5)), 1)

    assert outcome.sizes == (3, 2)


def test_creating_does_not_end_the_sync() -> None:
    outcome = step(10, pods(3, 2), (full(10, 10, 13),), None)

    assert (outcome.created, outcome.sizes) == (3, (8,))


def test_without_surge_old_replicas_go_first() -> None:
    strategy = pods(0, 1)

    first = step(4, strategy, (full(4, 4, 4),), None)
    assert (first.created, first.sizes) == (0, (3,))
    assert step(4, strategy, (full(3, 4, 4), full(0, 4, 4)), 1).sizes == (3, 1)
    assert not step(4, strategy, (full(3, 4, 4), starting(1, 4, 4)), 1).changed
    assert step(4, strategy, (full(3, 4, 4), full(1, 4, 4)), 1).sizes == (2, 1)


def test_percentages_that_round_to_nothing_still_roll_by_one() -> None:
    strategy = percent(0, 10)

    assert step(3, strategy, (full(3, 3, 3),), None).sizes == (2,)


def test_without_unavailability_old_replicas_wait_for_a_new_one() -> None:
    strategy = pods(1, 0)

    first = step(2, strategy, (full(2, 2, 3),), None)
    assert (first.created, first.sizes) == (1, (2,))
    assert not step(2, strategy, (full(2, 2, 3), starting(1, 2, 3)), 1).changed
    assert step(2, strategy, (full(2, 2, 3), full(1, 2, 3)), 1).sizes == (1, 1)


def test_a_rollout_of_zero_replicas_creates_an_empty_replica_set() -> None:
    outcome = step(0, QUARTER, (full(0, 0, 0),), None)

    assert (outcome.created, outcome.sizes, outcome.created_notes) == (0, (0,), Notes(0, 0))


def test_unavailable_old_replicas_go_first_and_free_the_way() -> None:
    outcome = step(10, pods(3, 2), (starting(10, 10, 13, available=8), starting(3, 10, 13)), 1)

    assert outcome.sizes == (8, 3)
    assert outcome.what == (
        "scales down old ReplicaSets: "
        "removes 2 unavailable: 13 replicas - minAvailable 8 - 3 new ones unavailable leaves 2"
    )


def test_an_unavailable_and_an_available_old_replica_may_go_in_one_sync() -> None:
    outcome = step(10, pods(0, 2), (starting(10, 10, 10, available=9), full(0, 10, 10)), 1)

    assert outcome.sizes == (8, 0)
    assert outcome.what == (
        "scales down old ReplicaSets: "
        "removes 1 unavailable: 10 replicas - minAvailable 8 - 0 new ones unavailable leaves 2; "
        "removes 1: 9 available, minAvailable 8"
    )


def test_a_broken_new_revision_keeps_old_replicas_even_if_one_of_them_fails() -> None:
    outcome = step(10, pods(3, 2), (starting(8, 10, 13, available=7), starting(5, 10, 13)), 1)

    assert (outcome.sizes, outcome.changed) == ((8, 5), False)


def test_pods_of_a_revision_already_scaled_to_zero_do_not_count_as_available() -> None:
    going = Revision(0, 2, 2, 4, 5)

    outcome = step(4, QUARTER, (going, full(3, 4, 5), starting(2, 4, 5, available=1)), 2)

    assert outcome.sizes == (0, 2, 2)
    assert outcome.what == "scales down old ReplicaSets: removes 1: 4 available, minAvailable 3"


def test_the_oldest_revisions_shrink_first() -> None:
    outcome = step(10, pods(0, 4), (full(2, 10, 10), full(8, 10, 10), full(0, 10, 10)), 2)

    assert outcome.sizes == (0, 6, 0)


def test_a_rollback_reuses_its_old_revision() -> None:
    """A crashlooping rollout of 10 (surge 3, unavailable 2) is undone while one good pod is down."""
    good, broken = starting(8, 10, 13, available=7), starting(5, 10, 13)

    undone = step(10, pods(3, 2), (good, broken), 0)
    assert undone.sizes == (8, 1)

    assert step(10, pods(3, 2), (good, starting(1, 10, 13)), 0).sizes == (10, 1)


def test_a_roll_over_starts_empty_and_takes_from_both_old_revisions() -> None:
    outcome = step(10, pods(3, 2), (full(8, 10, 13), starting(5, 10, 13)), None)

    assert (outcome.created, outcome.sizes) == (0, (8, 0))


def test_a_too_large_new_revision_shrinks_to_the_desired_size() -> None:
    outcome = step(3, QUARTER, (full(5, 3, 4),), 0)

    assert (outcome.sizes, outcome.what) == ((3,), "scales down the new ReplicaSet 5 -> 3")


def test_a_status_ahead_of_a_scale_down_makes_the_sync_give_up() -> None:
    """The old ReplicaSet has size 3 but still reports 4 available pods."""
    outcome = step(4, pods(0, 2), (Revision(3, 4, 4, 4, 4), full(1, 4, 4)), 1)

    assert (outcome.sizes, outcome.changed) == ((3, 1), False)
    assert outcome.what == "waits for the status of an old ReplicaSet: more available than its size"


def test_what_was_cleaned_up_before_giving_up_stays() -> None:
    revisions = (starting(2, 6, 6, available=1), Revision(2, 3, 3, 6, 6), full(2, 6, 6))

    assert step(6, pods(0, 3), revisions, 2).sizes == (1, 2, 2)


def test_annotations_are_written_only_with_a_new_size() -> None:
    outcome = step(4, pods(2, 1), (full(3, 4, 5), full(1, 4, 5)), 1)

    assert (outcome.sizes, outcome.notes) == ((3, 3), (Notes(4, 5), Notes(4, 6)))


def test_recreate_goes_down_waits_for_the_last_pod_and_goes_up_at_once() -> None:
    down = step(3, RECREATE, (full(3, 3, 3),), None)
    assert (down.sizes, down.created) == ((0,), None)
    assert down.what == "scales down old ReplicaSets by 3 to 0: Recreate"

    reported = step(3, RECREATE, (Revision(0, 3, 3, 3, 3),), None)
    assert (reported.changed, reported.what) == (False, "waits until all old pods are gone: Recreate")

    terminating = step(3, RECREATE, (full(0, 3, 3),), None, old_pods_left=True)
    assert not terminating.changed

    up = step(3, RECREATE, (full(0, 3, 3),), None)
    assert (up.created, up.created_notes, up.changed) == (3, Notes(3, 3), True)
    assert up.what == "creates the new ReplicaSet with 3: no old pods are left"


def test_recreate_back_to_an_old_revision_scales_it_at_once() -> None:
    assert step(3, RECREATE, (full(0, 3, 3), full(3, 3, 3)), 0).sizes == (0, 0)
    assert step(3, RECREATE, (full(0, 3, 3), full(0, 3, 3)), 0).sizes == (3, 0)
    assert not step(3, RECREATE, (full(3, 3, 3), full(0, 3, 3)), 0).changed


def test_recreate_does_not_wait_for_pods_of_the_new_revision() -> None:
    assert step(3, RECREATE, (full(0, 3, 3), full(2, 3, 3)), 1).sizes == (0, 3)


def test_a_paused_deployment_neither_creates_nor_rolls() -> None:
    assert not step(3, QUARTER, (), None, paused=True).changed
    assert not step(4, QUARTER, (full(4, 4, 5),), None, paused=True).changed


def test_after_appends_the_created_revision_with_an_empty_status() -> None:
    before = (full(4, 4, 5),)

    revisions = after(before, step(4, QUARTER, before, None))

    assert revisions == (Revision(3, 4, 4, 4, 5), Revision(1, 0, 0, 4, 5))


def test_an_old_replica_set_is_written_twice_if_it_loses_unavailable_and_surplus_replicas() -> None:
    outcome = step(4, pods(5, 2), (starting(4, 4, 9, available=3), full(4, 4, 9)), 1)

    assert outcome.writes == ((0, 3), (0, 0))


def test_a_created_replica_set_is_written_before_old_ones_shrink() -> None:
    assert step(4, QUARTER, (full(4, 4, 5),), None).writes == ((1, 1), (0, 3))
