from __future__ import annotations

from kubeproof.controllers.hpa.behavior import Behavior
from kubeproof.controllers.hpa.history import (
    FRESH,
    change_within,
    later,
    prune,
    recommend,
    rescale,
    seed,
)
from tests.unit.controllers.hpa.builders import memory, rules

MINUTE = Behavior(rules(("Pods", 4, 60), window_s=60), rules(("Pods", 1, 60), window_s=300))


def test_the_first_sync_seeds_the_current_count_once() -> None:
    first = seed(FRESH, 5)

    assert first == memory(((0, 5),), ())
    assert seed(first, 7) == first
    assert seed(memory((), ()), 7) == memory((), ())


def test_everything_ages() -> None:
    assert later(memory(((0, 5), (15, 4)), ((15, 2),)), 30) == memory(((30, 5), (45, 4)), ((45, 2),))
    assert later(FRESH, 30) == FRESH


def test_changes_count_until_their_age_reaches_the_period() -> None:
    history = memory((), ((59, 3), (15, -1), (60, 9)))

    assert change_within(history, 60) == 2
    assert change_within(history, 61) == 11


def test_without_behavior_changes_are_not_recorded() -> None:
    assert rescale(FRESH, None, 3) == FRESH
    assert rescale(FRESH, MINUTE, 0) == FRESH
    assert rescale(FRESH, MINUTE, -2) == memory(None, ((0, -2),))


def test_a_change_overwrites_the_last_outdated_one_of_its_direction() -> None:
    history = memory((), ((70, 1), (65, -5), (61, 2), (10, 3)))

    assert rescale(history, MINUTE, 4).scale_events == ((70, 1), (65, -5), (0, 4), (10, 3))
    assert rescale(history, MINUTE, -4).scale_events == ((70, 1), (0, -4), (61, 2), (10, 3))


def test_only_recommendations_that_can_still_decide_are_kept() -> None:
    history = memory(((0, 5), (15, 5), (30, 7), (45, 6), (50, 2), (55, 3), (60, 1), (299, 9), (300, 20)), ())

    assert prune(history, MINUTE).recommendations == ((0, 5), (30, 7), (50, 2), (299, 9))
    assert prune(history, None).recommendations == ((0, 5), (30, 7), (299, 9))
    assert prune(history, None, downscale_stabilization_s=30).recommendations == ((0, 5),)


def test_bounds_drop_recommendations_that_decide_nothing() -> None:
    history = memory(((0, 1), (15, 8), (30, 12), (45, 0)), ())

    assert prune(history, None, bounds=(2, 10)).recommendations == ((15, 8), (30, 10))
    assert prune(history, None, bounds=(2, 8)).recommendations == ((15, 8),)
    assert prune(FRESH, None) == FRESH
    assert prune(history, MINUTE, bounds=(2, 8)).recommendations == ((0, 2), (15, 8))


def test_equal_syncs_lead_to_an_equal_memory() -> None:
    once = prune(recommend(memory((), ()), 4), None)

    assert once == memory(((0, 4),), ())
    assert prune(recommend(later(once, 15), 4), None) == once


def test_changes_beyond_every_period_are_dropped_and_the_rest_is_sorted() -> None:
    history = memory((), ((10, 3), (0, -1), (60, 7), (5, 2)))

    assert prune(history, MINUTE).scale_events == ((5, 2), (10, 3), (0, -1))
    assert prune(history, None).scale_events == ()


def test_a_disabled_direction_reads_nothing() -> None:
    never = Behavior(rules(("Pods", 4, 60), select="Disabled"), rules(("Pods", 4, 60), select="Disabled"))
    up_only = Behavior(rules(("Pods", 4, 30)), rules(("Pods", 4, 60), select="Disabled"))
    history = memory((), ((10, 3), (40, -1)))

    assert prune(history, never).scale_events == ()
    assert prune(history, up_only).scale_events == ((10, 3),)


def test_places_in_the_list_are_kept_when_the_other_direction_looks_back_further() -> None:
    uneven = Behavior(rules(("Pods", 4, 15)), rules(("Pods", 1, 60)))
    history = memory((), ((70, 5), (30, 2), (20, -3), (65, -4)))

    assert prune(history, uneven).scale_events == ((60, 1), (30, 2), (20, -3))
