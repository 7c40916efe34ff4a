"""Which pods go on scale-down: rules 1 to 9, and every tie."""

import pytest

from kubeproof.controllers.workloads.victims import PENDING, RUNNING, UNKNOWN, Tier, choices
from tests.oracles.victim_order import Candidate, age_bucket, victims

SECOND = 1_000_000_000


def _ready(uid, **more):
    return Candidate(True, RUNNING, True, uid=uid, **more)


def _first(*pods):
    (victim,) = victims(pods, 1)
    assert victims(tuple(reversed(pods)), 1) == [victim]
    return victim.uid


def test_ages_count_by_powers_of_two_of_nanoseconds():
    assert [age_bucket(seconds * SECOND) for seconds in (100, 120, 200)] == [36, 36, 37]
    assert [age_bucket(age) for age in (None, -5, 0, 1, 2, 3, 4)] == [-2, -1, -1, 0, 1, 1, 2]


def test_ages_of_100_and_120_seconds_are_equal_so_the_smaller_uid_goes():
    assert _first(_ready("b", ready_age_ns=100 * SECOND), _ready("a", ready_age_ns=120 * SECOND)) == "a"


def test_of_ages_100_and_200_seconds_the_younger_goes():
    assert _first(_ready("b", ready_age_ns=100 * SECOND), _ready("a", ready_age_ns=200 * SECOND)) == "b"


@pytest.mark.parametrize(
    ("goes", "stays"),
    [
        pytest.param(Candidate(False, PENDING, False), Candidate(True, PENDING, False), id="1 unassigned"),
        pytest.param(Candidate(True, PENDING, False), Candidate(True, UNKNOWN, False), id="2 pending"),
        pytest.param(Candidate(True, UNKNOWN, False), Candidate(True, RUNNING, False), id="2 unknown"),
        pytest.param(Candidate(True, RUNNING, False), Candidate(True, RUNNING, True), id="3 not ready"),
        pytest.param(
            Candidate(True, RUNNING, True, -1, rank=1), Candidate(True, RUNNING, True, 0, rank=9), id="4 cheaper"
        ),
        pytest.param(
            Candidate(True, RUNNING, True, rank=3, ready_age_ns=900 * SECOND),
            Candidate(True, RUNNING, True, rank=2, ready_age_ns=SECOND),
            id="5 more pods on the node",
        ),
        pytest.param(
            Candidate(True, RUNNING, True, ready_age_ns=None),
            Candidate(True, RUNNING, True, ready_age_ns=1),
            id="6 zero time counts as newest",
        ),
        pytest.param(
            Candidate(True, RUNNING, False, restarts=2, age_ns=900 * SECOND),
            Candidate(True, RUNNING, False, restarts=1, age_ns=SECOND),
            id="7 more restarts",
        ),
        pytest.param(
            Candidate(True, RUNNING, False, age_ns=3 * SECOND),
            Candidate(True, RUNNING, False, age_ns=9 * SECOND),
            id="8 younger",
        ),
        pytest.param(
            Candidate(True, RUNNING, False, age_ns=8 * SECOND, uid="a"),
            Candidate(True, RUNNING, False, age_ns=7 * SECOND, uid="b"),
            id="8 smaller uid within a bucket",
        ),
    ],
)
def test_each_rule_decides_when_those_before_it_are_equal(goes, stays):
    assert victims([stays, goes], 1) == [goes]
    assert victims([goes, stays], 1) == [goes]


def test_as_many_go_as_asked_for_in_order():
    pods = [_ready(uid, rank=rank) for uid, rank in (("a", 1), ("b", 3), ("c", 2))]

    assert [pod.uid for pod in victims(pods, 2)] == ["b", "c"]
    assert victims(pods, 0) == []


BIG, OTHER, SMALL = (
    Tier((2, 1, -3), "two nodes", 3, 2),
    Tier((2, 1, -3), "elsewhere", 3, 1),
    Tier((2, 1, -1), "x", 1, 1),
)


def test_nodes_with_3_3_and_1_pods_lose_two_of_the_first_six_in_two_ways():
    """2 from one node, or 1 from each; never the single pod."""
    assert list(choices([BIG, SMALL], 2)) == [((BIG, (2,)),), ((BIG, (1, 1)),)]


def test_nodes_of_another_place_are_told_apart():
    one, two = Tier((0,), "p", 3, 1), Tier((0,), "q", 3, 1)

    assert list(choices([one, two], 2)) == [((two, (2,)),), ((one, (1,)), (two, (1,))), ((one, (2,)),)]


def test_a_lower_tier_is_emptied_before_the_next_is_touched():
    assert list(choices([SMALL, BIG], 7)) == [((BIG, (3, 3)), (SMALL, (1,)))]
    assert list(choices([SMALL, OTHER], 3)) == [((OTHER, (3,)),)]


def test_nothing_to_take_is_one_empty_choice_and_too_much_is_none():
    assert list(choices([BIG], 0)) == [()]
    assert list(choices([], 0)) == [()]
    assert list(choices([], 1)) == []
    assert list(choices([SMALL], 2)) == []


def test_all_partitions_over_equal_nodes_appear_once():
    four = Tier((0,), "four nodes", 2, 4)

    assert [losses[0][1] for losses in choices([four], 4)] == [(2, 2), (2, 1, 1), (1, 1, 1, 1)]


def test_an_age_just_below_a_large_power_of_two_counts_as_that_power() -> None:
    """Upstream takes the logarithm of a float: from 2**49 ns (6.5 days) on the last nanoseconds are lost."""
    assert [age_bucket(2**power - 1) for power in (30, 48, 49, 50, 57)] == [29, 47, 49, 50, 57]


def test_a_zero_time_goes_before_one_in_the_future() -> None:
    unset, future = _ready("b", ready_age_ns=None), _ready("a", ready_age_ns=-5)

    assert victims([future, unset], 1) == [unset]


def test_restarts_of_sidecars_count_since_1_28() -> None:
    often, seldom = _ready("b", sidecar_restarts=3), _ready("a", sidecar_restarts=1)

    assert victims([seldom, often], 1) == [often]
    assert victims([seldom, often], 1, (1, 26)) == [seldom]


def test_pods_that_all_go_are_not_ranked() -> None:
    assert victims([_ready("b"), _ready("a")], 2) == [_ready("b"), _ready("a")]


def test_three_pods_can_compare_in_a_circle_and_then_the_order_listed_decides() -> None:
    first = _ready("c", ready_age_ns=SECOND, restarts=1)  # before second by restarts: ready in the same moment
    second = _ready("a", ready_age_ns=SECOND)  # before third by UID
    third = _ready("b", ready_age_ns=SECOND + 1)  # before first by UID

    assert [pod.uid for pod in victims([first, second, third], 2)] == ["c", "a"]
    assert [pod.uid for pod in victims([second, third, first], 2)] == ["a", "b"]
