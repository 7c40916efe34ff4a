from __future__ import annotations

import pytest

from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.combine import Forced, combine, find_forced

BROKEN = Failure("a container has no request")


def test_the_largest_proposal_wins() -> None:
    assert combine(5, [3, 7, 4]) == 7
    assert combine(5, [3, 0]) == 3


def test_a_failed_metric_allows_growth_and_forbids_shrinking() -> None:
    assert combine(5, [7, BROKEN]) == 7
    assert combine(5, [BROKEN, 5]) == 5
    assert combine(5, [4, BROKEN, BROKEN]) == Failure("2 of 3 metrics failed, which forbids scaling down to 4")


def test_without_any_proposal_nothing_changes() -> None:
    assert combine(5, [BROKEN, BROKEN]) == Failure("no metric gives a proposal")


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        (0, Forced(0, "disabled: the target has 0 replicas")),
        (1, Forced(2, "1 replicas are below minReplicas 2")),
        (2, None),
        (6, None),
        (7, Forced(6, "7 replicas are above maxReplicas 6")),
    ],
)
def test_zero_disables_and_bounds_come_before_metrics(current: int, expected: Forced | None) -> None:
    assert find_forced(current, 2, 6) == expected


def test_a_proposal_of_zero_counts_as_none_yet() -> None:
    assert combine(0, [0, -(2**31)]) == -(2**31)
    assert combine(0, [-(2**31), 0]) == 0
    assert combine(2, [0, 3, 1]) == 3
