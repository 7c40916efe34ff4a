from __future__ import annotations

import pytest

from kubeproof.controllers.hpa.behavior import Behavior
from kubeproof.controllers.hpa.history import FRESH, later
from kubeproof.controllers.hpa.normalise import Normalised, normalise, scale_down_limit, scale_up_limit
from tests.unit.controllers.hpa.builders import memory, rules

SEEDED = memory((), ())
DEFAULTS = Behavior()


def test_without_behavior_growth_is_at_most_double_or_four() -> None:
    assert normalise(1, 9, 1, 20, None, SEEDED).replicas == 4
    assert normalise(3, 9, 1, 20, None, SEEDED) == Normalised(
        6, memory(((0, 9),), ()), ("limited to 6: twice the current 3, or 4, in one sync",)
    )
    assert normalise(3, 9, 1, 5, None, SEEDED).reasons == ("limited to maxReplicas 5",)


def test_without_behavior_the_way_down_has_no_rate() -> None:
    assert normalise(20, 3, 1, 20, None, SEEDED).replicas == 3
    assert normalise(20, 1, 2, 20, None, SEEDED) == Normalised(2, SEEDED, ("raised to minReplicas 2",))


def test_the_first_sync_seeds_so_that_five_minutes_pass_before_a_scale_down() -> None:
    first = normalise(8, 3, 1, 10, None, FRESH)

    assert first == Normalised(8, memory(((0, 8),), ()), ("the highest recommendation of the last 300 s is 8",))
    assert normalise(8, 3, 1, 10, None, later(first.history, 285)).replicas == 8
    assert normalise(8, 3, 1, 10, None, later(first.history, 300)).replicas == 3


def test_without_behavior_a_manual_scale_down_is_undone_for_five_minutes() -> None:
    recent = memory(((15, 8),), ())

    assert normalise(4, 3, 1, 10, None, recent).replicas == 8
    assert normalise(2, 3, 1, 10, None, recent).replicas == 4  # and at most doubled


def test_behavior_never_scales_up_to_an_old_recommendation() -> None:
    assert normalise(4, 3, 1, 10, DEFAULTS, memory(((15, 8),), ())).replicas == 4


def test_the_default_behavior_adds_four_or_doubles_and_waits_five_minutes_down() -> None:
    assert normalise(2, 50, 1, 100, DEFAULTS, SEEDED).replicas == 6
    assert normalise(10, 50, 1, 100, DEFAULTS, SEEDED).replicas == 20
    assert normalise(10, 1, 1, 100, DEFAULTS, memory(((299, 7),), ())).replicas == 7
    assert normalise(10, 1, 1, 100, DEFAULTS, memory(((300, 7),), ())).replicas == 1


def test_the_stabilization_flag_is_the_default_window_down() -> None:
    recent = memory(((60, 9),), ())

    assert normalise(10, 1, 1, 20, DEFAULTS, recent, downscale_stabilization_s=60).replicas == 1
    assert normalise(10, 1, 1, 20, None, recent, downscale_stabilization_s=60).replicas == 1
    assert normalise(10, 1, 1, 20, None, recent, downscale_stabilization_s=61).replicas == 9


def test_a_window_up_takes_the_lowest_recommendation() -> None:
    behavior = Behavior(rules(("Percent", 100, 15), window_s=60), rules(("Percent", 100, 15)))
    recent = memory(((15, 7), (30, 6), (60, 2)), ())

    assert normalise(5, 9, 1, 10, behavior, recent) == Normalised(
        6, memory(((0, 9), (15, 7), (30, 6)), ((0, 1),)), ("the lowest recommendation of the last 60 s is 6: 6",)
    )
    assert normalise(8, 9, 1, 10, behavior, recent).replicas == 8  # 6 is below current: neither up nor down


def test_example_9_percent_policy_with_a_removal_in_the_period() -> None:
    down = rules(("Percent", 10, 60))

    assert scale_down_limit(10, down, memory((), ((30, -1),))) == 9
    assert scale_down_limit(9, down, memory((), ((15, -1), (45, -1)))) == 9
    assert scale_down_limit(9, down, memory((), ((30, -1), (60, -1)))) == 9
    assert scale_down_limit(9, down, memory((), ((60, -1), (75, -1)))) == 8


def test_pods_policy_counts_own_changes_of_the_period() -> None:
    up = rules(("Pods", 4, 60))

    assert scale_up_limit(10, up, memory((), ())) == 14
    assert scale_up_limit(10, up, memory((), ((15, 3),))) == 11
    assert scale_up_limit(10, up, memory((), ((15, 3), (59, 3)))) == 10  # start 4, limit 8: never below current
    assert scale_up_limit(10, up, memory((), ((15, 3), (45, -2)))) == 13  # removals give room again
    assert scale_down_limit(10, rules(("Pods", 4, 60)), memory((), ((15, -6),))) == 10


def test_select_policy_max_and_min_and_disabled() -> None:
    policies = (("Pods", 4, 60), ("Percent", 10, 60))

    assert scale_up_limit(20, rules(*policies), SEEDED) == 24
    assert scale_up_limit(20, rules(*policies, select="Min"), SEEDED) == 22
    assert scale_up_limit(20, rules(*policies, select="Disabled"), SEEDED) == 20
    assert scale_down_limit(20, rules(*policies), SEEDED) == 16
    assert scale_down_limit(20, rules(*policies, select="Min"), SEEDED) == 18
    assert scale_down_limit(20, rules(*policies, select="Disabled"), SEEDED) == 20


@pytest.mark.parametrize(("start", "percent", "limit"), [(50, 10, 56), (10, 10, 11), (25, 12, 29), (1, 10, 2)])
def test_percent_up_is_rounded_up_in_float64(start: int, percent: int, limit: int) -> None:
    assert scale_up_limit(start, rules(("Percent", percent, 60)), SEEDED) == limit


@pytest.mark.parametrize(
    ("start", "percent", "limit"), [(10, 90, 0), (11, 10, 9), (10, 30, 7), (3, 150, -1), (1, 10, 0)]
)
def test_percent_down_is_cut_in_float64(start: int, percent: int, limit: int) -> None:
    assert scale_down_limit(start, rules(("Percent", percent, 60)), SEEDED) == limit


def test_rates_and_bounds_name_what_limited() -> None:
    slow = Behavior(rules(("Pods", 1, 60)), rules(("Pods", 1, 60), ("Percent", 10, 30), select="Min"))
    fixed = Behavior(rules(("Pods", 1, 60), select="Disabled"), rules(("Pods", 9, 60)))

    assert normalise(5, 9, 1, 10, slow, SEEDED).reasons == ("limited to 6 by scaleUp (1 Pods in 60 s)",)
    assert normalise(5, 1, 1, 10, slow, SEEDED).reasons == (
        "limited to 4 by scaleDown (1 Pods in 60 s, 10 Percent in 30 s, Min)",
    )
    assert normalise(5, 9, 1, 10, fixed, SEEDED).reasons == ("scaleUp is disabled: stays at 5",)
    assert normalise(5, 1, 2, 10, fixed, SEEDED).reasons == ("raised to minReplicas 2",)
    assert normalise(5, 11, 1, 6, slow, SEEDED).reasons == ("limited to maxReplicas 6",)
    assert normalise(5, 1, 1, 10, DEFAULTS, memory(((15, 4),), ())).reasons == (
        "the highest recommendation of the last 300 s is 4: 4",
    )


def test_only_what_was_done_is_recorded() -> None:
    slow = Behavior(rules(("Pods", 1, 60)), rules(("Pods", 1, 60)))

    assert normalise(5, 9, 1, 10, slow, SEEDED).history == memory((), ((0, 1),))
    assert normalise(5, 5, 1, 10, slow, SEEDED).history == SEEDED
    assert normalise(5, 1, 1, 10, slow, SEEDED).history == memory((), ((0, -1),))


def test_an_event_is_forgotten_early_when_the_other_direction_looks_back_further() -> None:
    behavior = Behavior(rules(("Pods", 9, 15)), rules(("Pods", 1, 60)))
    first = normalise(2, 6, 1, 20, behavior, SEEDED)
    second = normalise(6, 8, 1, 20, behavior, later(first.history, 30))

    assert (first.replicas, second.replicas) == (6, 8)
    assert second.history.scale_events == ((0, 2),)  # +4 of 30 s ago is overwritten, though scaleDown reads 60 s
    assert scale_down_limit(8, behavior.down, later(second.history, 15)) == 5


def test_of_two_outdated_events_the_later_in_the_list_is_overwritten() -> None:
    behavior = Behavior(rules(("Pods", 9, 15)), rules(("Pods", 1, 60)))
    first = normalise(1, 2, 1, 20, behavior, SEEDED)
    second = normalise(2, 5, 1, 20, behavior, later(first.history, 1))
    third = normalise(5, 8, 1, 20, behavior, later(second.history, 15))

    assert second.history.scale_events == ((1, 1), (0, 3))
    assert third.history.scale_events == ((16, 1), (0, 3))
    assert normalise(8, 1, 1, 20, behavior, later(third.history, 15)).replicas == 3
