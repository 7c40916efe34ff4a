from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.controllers.hpa.behavior import Tolerance
from kubeproof.controllers.hpa.calculator import (
    CEILING,
    OPPOSITE,
    TURNED,
    WITHIN_TOLERANCE,
    Assumed,
    Computed,
    Failure,
    Target,
    compute,
)
from kubeproof.controllers.hpa.samples import Sample
from tests.unit.controllers.hpa.builders import ignored, missing, ready, unready

TENTH = Tolerance(0.1, 0.1)
HALF = Target(50, is_percent=True)


def utilization_proposal(
    current: int, samples: tuple[Sample, ...], target: int, *tolerance: float, **more: tuple[int, int]
) -> int | Failure:
    """Replicas for a metric with a Utilization target."""
    return _proposal(current, samples, Target(target, is_percent=True), Tolerance(*(tolerance or (0.1, 0.1)), **more))


def average_value_proposal(
    current: int, samples: tuple[Sample, ...], target: int, **more: tuple[int, int]
) -> int | Failure:
    """Replicas for a metric with an AverageValue target."""
    return _proposal(current, samples, Target(target, is_percent=False), Tolerance(0.1, 0.1, **more))


def _proposal(current: int, samples: tuple[Sample, ...], target: Target, tolerance: Tolerance) -> int | Failure:
    computed = compute(current, samples, target, tolerance)
    return computed if isinstance(computed, Failure) else computed.replicas


def test_example_8_usage_of_four_pods() -> None:
    samples = (ready(1, 80), ready(1, 90), ready(1, 70), ready(1, 80))

    assert compute(4, samples, HALF, TENTH) == Computed(7, 80, 1.6, None, 4, CEILING)


def test_example_8_an_unready_pod_counts_as_idle_on_a_scale_up() -> None:
    samples = (ready(4, 80), unready(1))

    assert compute(5, samples, HALF, TENTH) == Computed(7, 80, 1.6, Assumed(0, 1, 64, 1.28), 5, CEILING)


def test_an_unready_pod_is_left_out_on_a_scale_down() -> None:
    assert compute(5, (ready(4, 20), unready(1)), HALF, TENTH) == Computed(2, 20, 0.4, None, 4, CEILING)


def test_percent_is_an_integer_rounded_down() -> None:
    assert utilization_proposal(10, (ready(9, 55), ready(1, 59)), 50) == 10  # 55.4 % counts as 55 %: ratio 1.1
    assert utilization_proposal(10, (ready(9, 56), ready(1, 56)), 50) == 12  # 1.12


def test_a_ratio_of_exactly_a_tenth_above_is_inside_since_1_33_only() -> None:
    samples = (ready(4, 55),)

    assert utilization_proposal(4, samples, 50) == 4
    assert utilization_proposal(4, samples, 50, version=(1, 33)) == 4
    assert utilization_proposal(4, samples, 50, version=(1, 32)) == 5


@pytest.mark.parametrize("version", [(1, 26), (1, 37)])
def test_a_ratio_of_exactly_a_tenth_below_is_inside(version: tuple[int, int]) -> None:
    assert utilization_proposal(20, (ready(20, 45),), 50, version=version) == 20
    assert utilization_proposal(20, (ready(20, 44),), 50, version=version) == 18


def test_the_ceiling_favours_growth() -> None:
    assert utilization_proposal(1, (ready(1, 111),), 100) == 2
    assert utilization_proposal(2, (ready(2, 56),), 100) == 2  # 1.12 rounded up: no way down to 1


def test_float64_decides_the_ceiling() -> None:
    assert utilization_proposal(50, (ready(50, 110),), 100, 0.05, 0.05) == 56  # 1.1 x 50 is a little above 55
    assert utilization_proposal(10, (ready(10, 110),), 100, 0.05, 0.05) == 11


def test_each_direction_has_its_own_tolerance() -> None:
    assert utilization_proposal(10, (ready(10, 57),), 50, 0.2, 0.0) == 10
    assert utilization_proposal(10, (ready(10, 49),), 50, 0.2, 0.01) == 10
    assert utilization_proposal(100, (ready(100, 49),), 50, 0.2, 0.0) == 98
    assert utilization_proposal(10, (ready(10, 57),), 50, 0.0, 0.2) == 12


def test_the_result_follows_ready_pods_not_current_replicas() -> None:
    assert utilization_proposal(10, (ready(4, 80), ignored(6)), 50) == 7  # below current, although usage is high
    assert utilization_proposal(4, (ready(8, 80),), 50) == 13  # surge pods of a rollout count


def test_missing_pods_count_as_idle_on_a_scale_up() -> None:
    assert compute(4, (ready(3, 100), missing(1)), HALF, TENTH) == Computed(
        6, 100, 2.0, Assumed(1, 0, 75, 1.5), 4, CEILING
    )


def test_missing_and_unready_pods_count_together() -> None:
    assert compute(4, (ready(2, 100), missing(1), unready(1)), HALF, TENTH) == Computed(
        4, 100, 2.0, Assumed(1, 1, 50, 1.0), 4, WITHIN_TOLERANCE
    )


def test_missing_pods_count_at_full_request_on_a_scale_down() -> None:
    assert compute(4, (ready(3, 10), missing(1)), HALF, TENTH) == Computed(
        3, 10, 0.2, Assumed(1, 0, 32, 0.64), 4, CEILING
    )


def test_missing_pods_count_at_a_target_above_full_request_on_a_scale_down() -> None:
    target = Target(200, is_percent=True)

    assert compute(4, (ready(3, 100), missing(1)), target, TENTH) == Computed(
        3, 100, 0.5, Assumed(1, 0, 125, 0.625), 4, CEILING
    )


def test_assumed_values_that_turn_the_direction_change_nothing() -> None:
    assert compute(3, (ready(1, 60), missing(2)), HALF, TENTH) == Computed(
        3, 60, 1.2, Assumed(2, 0, 20, 0.4), 3, TURNED
    )
    assert compute(3, (ready(1, 20), missing(2)), HALF, TENTH) == Computed(
        3, 20, 0.4, Assumed(2, 0, 73, 1.46), 3, TURNED
    )


def test_pod_counts_that_turn_the_direction_change_nothing() -> None:
    assert compute(10, (ready(3, 100), missing(1)), HALF, TENTH) == Computed(
        10, 100, 2.0, Assumed(1, 0, 75, 1.5), 4, OPPOSITE
    )
    assert compute(2, (ready(9, 10), missing(1)), HALF, TENTH) == Computed(
        2, 10, 0.2, Assumed(1, 0, 19, 0.38), 10, OPPOSITE
    )


def test_pods_pending_for_lack_of_room_stall_the_growth() -> None:
    assert utilization_proposal(8, (ready(4, 100), unready(4)), 50) == 8
    assert utilization_proposal(8, (ready(4, 120), unready(4)), 50) == 10


def test_missing_pods_with_the_rest_on_target_change_nothing() -> None:
    assert utilization_proposal(4, (ready(2, 50), missing(2)), 50) == 4
    assert average_value_proposal(4, (ready(2, 50), missing(2)), 50) == 4


def test_before_1_28_missing_pods_were_idle_for_averages_on_target() -> None:
    samples = (ready(2, 50), missing(2))

    assert average_value_proposal(4, samples, 50, version=(1, 28)) == 4
    assert average_value_proposal(4, samples, 50, version=(1, 27)) == 2
    assert utilization_proposal(4, samples, 50, version=(1, 27)) == 4


def test_average_value_is_an_integer_rounded_down_and_needs_no_request() -> None:
    samples = (ready(2, 100, None), ready(1, 131, None))

    assert average_value_proposal(3, samples, 100) == 3  # 110.33 counts as 110
    assert average_value_proposal(3, (ready(3, 111, None),), 100) == 4


def test_missing_pods_count_at_target_for_averages_on_a_scale_down() -> None:
    assert average_value_proposal(4, (ready(3, 10, None), missing(1, None)), 100) == 2  # 130 // 4 = 32: ceil(1.28)
    assert average_value_proposal(4, (ready(3, 300, None), missing(1, None)), 100) == 9  # 225: ceil(2.25 x 4)


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        ((), "no pods"),
        ((missing(2), unready(1), ignored(1)), "no metrics of any pod that counts"),
        ((ready(2, 50), ready(1, 50, None)), "a container has no request"),
        ((ready(2, 50), ignored(1, None)), "a container has no request"),
        ((ready(2, 50, 0), missing(1)), "requests add up to zero"),
    ],
)
def test_a_metric_without_ratio_fails(samples: tuple, reason: str) -> None:
    assert utilization_proposal(3, samples, 50) == Failure(reason)


def test_an_average_fails_only_without_metrics() -> None:
    assert average_value_proposal(3, (unready(3),), 50) == Failure("no metrics of any pod that counts")
    assert average_value_proposal(3, (ready(3, 100, None), ignored(1, None)), 50) == 6


USAGE = st.integers(0, 400)


@given(pods=st.integers(1, 40), low=USAGE, more=USAGE, target=st.integers(1, 200))
def test_with_all_pods_ready_more_usage_never_asks_for_fewer(pods: int, low: int, more: int, target: int) -> None:
    less = utilization_proposal(pods, (ready(pods, low),), target)
    assert less <= utilization_proposal(pods, (ready(pods, low + more),), target)  # type: ignore[operator]


@given(counted=st.integers(1, 20), absent=st.integers(1, 20), usage=USAGE, target=st.integers(1, 200))
def test_missing_pods_damp_and_never_turn(counted: int, absent: int, usage: int, target: int) -> None:
    pods = counted + absent
    plain = utilization_proposal(pods, (ready(pods, usage),), target)
    damped = utilization_proposal(pods, (ready(counted, usage), missing(absent)), target)

    assert min(plain, pods) <= damped <= max(plain, pods)  # type: ignore[type-var]


@given(usages=st.lists(st.tuples(st.integers(1, 5), USAGE), min_size=1, max_size=6), target=st.integers(1, 200))
def test_groups_decide_as_single_pods(usages: list[tuple[int, int]], target: int) -> None:
    grouped = tuple(ready(pods, usage) for pods, usage in usages)
    single = tuple(ready(1, usage) for pods, usage in usages for _ in range(pods))

    assert utilization_proposal(3, grouped, target) == utilization_proposal(3, single, target)
