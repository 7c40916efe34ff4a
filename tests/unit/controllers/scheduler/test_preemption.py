"""Preemption in numbers: who is given back, who breaks a budget, which node is taken."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.controllers.scheduler.preemption import DryRun, Pod, Victims, choosable

NEWEST = (1, 37)


def room(cores: int, *sizes: int) -> Callable[[tuple[int, ...]], bool]:
    """The new pod fits if those that stay use no more than so many cores."""
    return lambda kept: sum(count * size for count, size in zip(kept, sizes, strict=True)) <= cores


def lost(
    pods: list[Pod],
    counts: tuple[int, ...],
    fits: Callable[[tuple[int, ...]], bool],
    *,
    allowed: tuple[int, ...] = (),
    version: tuple[int, int] = NEWEST,
) -> set[tuple[tuple[int, ...], int]]:
    """Victims by kind and violations, for every outcome."""
    run = DryRun(tuple(pods), counts, allowed, fits, version)
    return {(one.lost, one.violations) for one in run.outcomes()}


def pod(workload: int, priority: int, *budgets: int, started_s: int | None = None) -> Pod:
    return Pod(workload, False, priority, budgets, started_s)


def test_the_least_important_pods_are_the_victims() -> None:
    assert lost([pod(0, 10), pod(1, 5)], (1, 1), room(1, 1, 1)) == {((0, 1), 0)}


def test_pods_that_do_not_help_stay() -> None:
    # 3 cores may stay: of 2 + 2 the more important stays, then 1 more fits beside it.
    assert lost([pod(0, 10), pod(1, 5), pod(2, 1)], (1, 1, 1), room(3, 2, 2, 1)) == {((0, 1, 0), 0)}


def test_of_equal_priority_the_older_stays() -> None:
    pods = [pod(0, 5, started_s=9), pod(1, 5, started_s=3)]

    assert lost(pods, (1, 1), room(1, 1, 1)) == {((1, 0), 0)}


def test_where_ages_are_unknown_any_of_equal_priority_may_be_the_victim() -> None:
    assert lost([pod(0, 5), pod(1, 5)], (2, 1), room(2, 1, 1)) == {((1, 0), 0), ((0, 1), 0)}


def test_a_node_that_is_too_small_without_them_offers_nothing() -> None:
    assert lost([pod(0, 5)], (1,), lambda kept: False) == set()
    assert lost([], (), lambda kept: True) == set()


def test_pods_that_break_a_budget_are_given_back_first() -> None:
    # The less important pod is under a budget that allows nothing: it stays, the more important one goes.
    assert lost([pod(0, 10), pod(1, 5, 0)], (1, 1), room(1, 1, 1), allowed=(0,)) == {((1, 0), 0)}


def test_a_budget_is_broken_only_beyond_what_it_allows() -> None:
    assert lost([pod(0, 5, 0)], (2,), room(0, 1), allowed=(1,)) == {((2,), 1)}
    assert lost([pod(0, 5, 0)], (2,), room(0, 1), allowed=(2,)) == {((2,), 0)}


def test_a_pod_behind_a_broken_budget_is_not_charged_to_its_others_since_1_36() -> None:
    pods = [pod(0, 9, 0, 1, started_s=1), pod(1, 5, 1, started_s=2)]

    assert lost(pods, (1, 1), room(0, 1, 1), allowed=(0, 1)) == {((1, 1), 1)}
    assert lost(pods, (1, 1), room(0, 1, 1), allowed=(0, 1), version=(1, 35)) == {((1, 1), 2)}


def candidate(pods: list[Pod], counts: tuple[int, ...], version: tuple[int, int] = NEWEST) -> frozenset[Victims]:
    """A node that loses all of these."""
    fits = room(0, *(1 for _ in pods))
    return DryRun(tuple(pods), counts, (0,), fits, version).outcomes()


def taken(*candidates: frozenset[Victims]) -> list[int]:
    """The nodes that may be taken."""
    return [index for index, chosen in enumerate(choosable(candidates)) if chosen]


def test_the_node_without_broken_budgets_is_taken_whatever_the_priorities() -> None:
    assert taken(candidate([pod(0, 1, 0)], (1,)), candidate([pod(1, 900)], (3,))) == [1]


def test_then_the_lowest_of_the_highest_priorities() -> None:
    assert taken(candidate([pod(0, 10)], (1,)), candidate([pod(1, 9)], (3,))) == [1]


def test_then_the_sum_of_priorities_so_that_fewer_victims_win() -> None:
    assert taken(candidate([pod(0, -5)], (2,)), candidate([pod(1, -5)], (1,))) == [1]
    assert taken(candidate([pod(0, 9), pod(1, 8)], (1, 1)), candidate([pod(0, 9), pod(1, 7)], (1, 1))) == [1]


def test_then_the_victim_that_started_last() -> None:
    assert taken(candidate([pod(0, 5, started_s=10)], (1,)), candidate([pod(0, 5, started_s=20)], (1,))) == [1]


def test_equal_nodes_may_all_be_taken() -> None:
    assert taken(candidate([pod(0, 5)], (1,)), candidate([pod(1, 5)], (1,))) == [0, 1]


def test_before_1_29_a_victim_that_breaks_a_budget_stands_for_the_most_important_one() -> None:
    mixed, plain = [pod(0, 900), pod(1, 1, 0)], [pod(2, 100, 0)]

    assert taken(candidate(mixed, (1, 1)), candidate(plain, (1,))) == [1]
    assert taken(candidate(mixed, (1, 1), (1, 28)), candidate(plain, (1,), (1, 28))) == [0]


def test_a_node_is_out_only_if_another_surely_does_less_harm() -> None:
    either = candidate([pod(0, 5)], (1,)) | candidate([pod(0, 5)], (3,))

    assert [[one.lost for one in chosen] for chosen in choosable([either, candidate([pod(1, 5)], (2,))])] == [
        [(1,)],
        [(2,)],
    ]
