"""Worked numbers for PodDisruptionBudgets and the eviction API."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.controllers.evictions.disruption import (
    ERROR,
    FAILED,
    FORBIDDEN,
    GRANTED,
    NEVER_SYNCED,
    PENDING,
    REFUSED,
    RUNNING,
    SUCCEEDED,
    UNKNOWN,
    Amount,
    Answer,
    Budget,
    BudgetStatus,
    Matching,
    Owner,
    PodFacts,
    budget,
    count_healthy,
    evict,
    sum_scales,
)

READY = PodFacts(RUNNING, ready=True)
UNREADY = PodFacts(RUNNING, ready=False)


def max_unavailable(value: int, percent: bool = False) -> Budget:
    return Budget(max_unavailable=Amount(value, percent))


def min_available(value: int, percent: bool = False) -> Budget:
    return Budget(min_available=Amount(value, percent))


@pytest.mark.parametrize(
    ("percent", "total", "pods"),
    [(25, 3, 1), (25, 4, 1), (25, 5, 2), (50, 3, 2), (100, 3, 3), (0, 3, 0), (1, 1, 1), (34, 3, 2), (33, 3, 1)],
)
def test_percentages_round_up(percent: int, total: int, pods: int) -> None:
    assert Amount(percent, percent=True).of(total) == pods


def test_an_integer_amount_is_itself_whatever_the_total() -> None:
    assert Amount(7).of(3) == 7


def test_amounts_read_like_manifests() -> None:
    assert (str(Amount(25, percent=True)), str(Amount(2))) == ("25%", "2")


def test_a_quarter_unavailable_of_three_ready_pods_allows_one() -> None:
    assert budget(max_unavailable(25, percent=True), 3, 3, 3) == BudgetStatus(
        expected=3, desired=2, healthy=3, allowed=1
    )


def test_a_pod_on_a_dead_node_uses_up_the_budget() -> None:
    assert budget(max_unavailable(25, percent=True), 3, 3, 2) == BudgetStatus(
        expected=3, desired=2, healthy=2, allowed=0
    )


@pytest.mark.parametrize(
    ("spec", "scale", "selected", "healthy", "desired", "allowed"),
    [
        (max_unavailable(1), 3, 3, 3, 2, 1),
        (max_unavailable(0), 3, 3, 3, 3, 0),
        (max_unavailable(5), 3, 3, 3, 0, 3),  # desired is never negative
        (max_unavailable(100, percent=True), 3, 3, 3, 0, 3),
        (max_unavailable(1), 3, 5, 5, 2, 3),  # surge pods of a rollout are extra budget
        (max_unavailable(1), 5, 3, 3, 4, 0),  # pods that are not created yet are missing
        (min_available(2), 3, 3, 3, 2, 1),
        (min_available(3), 3, 3, 3, 3, 0),  # as many as replicas: no drain ever
        (min_available(4), 3, 3, 3, 4, 0),
        (min_available(0), 3, 3, 3, 0, 3),
        (min_available(100, percent=True), 3, 3, 3, 3, 0),
        (min_available(50, percent=True), 3, 3, 3, 2, 1),
        (min_available(50, percent=True), 5, 5, 5, 3, 2),
        (min_available(50, percent=True), 4, 4, 1, 2, 0),  # never negative
    ],
)
def test_allowed_is_what_is_healthy_beyond_desired(
    spec: Budget, scale: int, selected: int, healthy: int, desired: int, allowed: int
) -> None:
    status = budget(spec, scale, selected, healthy)

    assert (status.desired, status.allowed) == (desired, allowed)


def test_a_plain_min_available_expects_the_selected_pods_not_the_scale() -> None:
    assert budget(min_available(1), 10, 3, 3).expected == 3
    assert budget(min_available(10, percent=True), 10, 3, 3).expected == 10
    assert budget(max_unavailable(1), 10, 3, 3).expected == 10


def test_nothing_is_allowed_while_nothing_is_expected() -> None:
    assert budget(min_available(0), 0, 0, 0).allowed == 0
    assert budget(max_unavailable(1), 0, 2, 2) == BudgetStatus(expected=0, desired=0, healthy=2, allowed=0)


def test_a_budget_without_amounts_allows_nothing() -> None:
    assert budget(Budget(), 3, 3, 3) == BudgetStatus(expected=0, desired=0, healthy=3, allowed=0)


@pytest.mark.parametrize("spec", [max_unavailable(1), max_unavailable(50, True), min_available(50, True)])
def test_a_controller_without_scale_fails_the_sync_and_allows_nothing(spec: Budget) -> None:
    before = BudgetStatus(expected=3, desired=2, healthy=3, allowed=1)

    assert budget(spec, None, 3, 3, before=before) == BudgetStatus(3, 2, 3, allowed=0, failed=True)


def test_a_first_sync_that_fails_leaves_the_budget_unobserved() -> None:
    assert budget(max_unavailable(1), None, 3, 3) == BudgetStatus(failed=True, observed=False)


def test_a_plain_min_available_needs_no_scale() -> None:
    assert budget(min_available(2), None, 3, 3) == BudgetStatus(expected=3, desired=2, healthy=3, allowed=1)


def test_granted_evictions_that_are_still_open_are_recorded_in_the_status() -> None:
    assert budget(min_available(1), None, 3, 2, disrupted=1).disrupted == 1


def test_scale_is_summed_over_distinct_controllers() -> None:
    web, api = Owner("Deployment/shop/web", 3), Owner("StatefulSet/shop/api", 2)

    assert sum_scales([web, web, web, api, api]) == 5


def test_pods_without_controller_are_left_out_of_the_scale() -> None:
    assert sum_scales([Owner("ReplicaSet/shop/web", 3), None]) == 3
    assert sum_scales([None]) == 0


def test_one_controller_without_scale_leaves_no_scale_at_all() -> None:
    assert sum_scales([Owner("Deployment/shop/web", 3), Owner("DaemonSet/shop/agent", None)]) is None


def test_healthy_pods_are_ready_and_neither_terminating_nor_about_to_be() -> None:
    pods = [
        READY,
        UNREADY,
        PodFacts(RUNNING, ready=True, terminating=True),
        PodFacts(RUNNING, ready=True, disrupted=True),
        PodFacts(UNKNOWN, ready=True),
    ]

    assert count_healthy(pods) == 2


def matching(name: str = "web", *, always: bool = False, observed: bool = True, **numbers: int) -> Matching:
    status = BudgetStatus(**{"desired": 0, **numbers}, failed=False, observed=observed)
    return Matching(name, Budget(Amount(2), always_allow_unhealthy=always), status)


def test_without_a_budget_eviction_is_granted() -> None:
    assert evict(READY, []) == Answer(GRANTED, "no budget matches")


@pytest.mark.parametrize("phase", [PENDING, SUCCEEDED, FAILED])
def test_pods_that_do_not_run_are_evicted_without_asking_budgets(phase: str) -> None:
    answer = evict(PodFacts(phase, ready=False), [matching("a"), matching("b")])

    assert answer == Answer(GRANTED, f"the pod is {phase}: budgets do not count it")


def test_terminating_pods_are_evicted_without_asking_budgets() -> None:
    answer = evict(PodFacts(RUNNING, ready=True, terminating=True), [matching("a"), matching("b")])

    assert answer == Answer(GRANTED, "the pod is already terminating")


def test_several_budgets_on_one_pod_make_eviction_impossible() -> None:
    answer = evict(READY, [matching("web", allowed=1), matching("all", allowed=1)])

    assert answer == Answer(ERROR, "2 budgets match (all, web), the eviction API supports one")


def test_several_budgets_fail_for_unready_pods_too() -> None:
    assert evict(UNREADY, [matching("a", always=True), matching("b", always=True)]).code == ERROR


def test_an_eviction_within_the_budget_is_granted_and_charged() -> None:
    match = matching(desired=2, healthy=3, allowed=1)

    assert evict(READY, [match]) == Answer(GRANTED, "budget web allows 1", charged="web")


def test_an_eviction_beyond_the_budget_is_refused_for_now() -> None:
    answer = evict(READY, [matching(desired=2, healthy=2, allowed=0)])

    assert answer == Answer(REFUSED, "budget web needs 2 healthy pods and has 2")
    assert not answer.granted


def test_right_after_a_charge_the_refusal_cannot_name_missing_pods() -> None:
    answer = evict(READY, [matching(desired=2, healthy=3, allowed=0)])

    assert answer == Answer(REFUSED, "budget web does not allow evictions currently")


def test_unready_pods_go_free_of_charge_while_enough_are_healthy() -> None:
    answer = evict(UNREADY, [matching(desired=2, healthy=2, allowed=0)])

    assert answer == Answer(GRANTED, "the pod is not ready and budget web has 2 healthy pods, needs 2")


def test_unready_pods_are_refused_when_too_few_are_healthy() -> None:
    answer = evict(UNREADY, [matching(desired=2, healthy=1, allowed=0)])

    assert answer == Answer(REFUSED, "budget web needs 2 healthy pods and has 1")


def test_unready_pods_always_go_with_the_policy_always_allow() -> None:
    answer = evict(UNREADY, [matching(always=True, desired=2, healthy=0, allowed=0)])

    assert answer == Answer(GRANTED, "the pod is not ready and budget web always allows to evict unhealthy pods")


def test_always_allow_does_not_help_ready_pods() -> None:
    assert evict(READY, [matching(always=True, desired=2, healthy=2, allowed=0)]).code == REFUSED


def test_unready_pods_of_a_budget_that_desires_nothing_are_charged() -> None:
    assert evict(UNREADY, [matching(desired=0, healthy=1, allowed=1)]).charged == "web"
    assert evict(UNREADY, [matching(desired=0, healthy=0, allowed=0)]).code == REFUSED


def test_a_budget_not_yet_synced_refuses() -> None:
    answer = evict(READY, [Matching("web", max_unavailable(1), NEVER_SYNCED)])

    assert answer == Answer(REFUSED, "budget web is still being processed")


def test_a_changed_budget_refuses_until_it_is_synced_even_with_budget_left() -> None:
    assert evict(READY, [matching(desired=1, healthy=3, allowed=2, observed=False)]).code == REFUSED


def test_a_budget_over_a_kind_without_scale_refuses_every_ready_pod() -> None:
    status = budget(max_unavailable(1), None, 3, 3, before=BudgetStatus())

    answer = evict(READY, [Matching("agents", max_unavailable(1), status)])

    assert answer == Answer(REFUSED, "budget agents failed to sync: a selected pod's controller has no scale")


def test_a_negative_allowance_is_forbidden() -> None:
    answer = evict(READY, [matching(allowed=-1)])

    assert answer == Answer(FORBIDDEN, "budget web allows a negative number of disruptions")


@pytest.mark.parametrize(("disrupted", "code"), [(2000, GRANTED), (2001, FORBIDDEN)])
def test_more_than_2000_unconfirmed_evictions_forbid_further_ones(disrupted: int, code: int) -> None:
    assert evict(READY, [matching(allowed=1, disrupted=disrupted)]).code == code


def drained(spec: Budget, replicas: int) -> int:
    """How many ready pods can be evicted one after the other while no replacement turns ready."""
    healthy = replicas
    while evict(READY, [Matching("web", spec, budget(spec, replicas, replicas, healthy))]).granted:
        healthy -= 1
    return replicas - healthy


@given(st.integers(1, 60), st.integers(0, 100))
def test_max_unavailable_lets_go_its_share_rounded_up_and_no_more(replicas: int, percent: int) -> None:
    assert drained(max_unavailable(percent, percent=True), replicas) == (percent * replicas + 99) // 100


@given(st.integers(1, 60), st.integers(0, 100))
def test_min_available_keeps_its_share_rounded_up(replicas: int, percent: int) -> None:
    assert replicas - drained(min_available(percent, percent=True), replicas) == (percent * replicas + 99) // 100


@pytest.mark.parametrize(
    ("amounts", "pods"),
    [
        (min_available(80, percent=True), 5),
        (min_available(50, percent=True), 2),
        (min_available(67, percent=True), 4),
        (min_available(100, percent=True), None),
        (min_available(0, percent=True), 1),
        (min_available(2), 3),
        (max_unavailable(1, percent=True), 1),
        (max_unavailable(1), 1),
        (max_unavailable(0), None),
        (Budget(), None),
    ],
)
def test_the_fewest_pods_of_which_one_may_go_are_the_first_that_the_controller_lets_go(amounts, pods):
    assert amounts.fewest_pods == pods
    assert next((n for n in range(1, 200) if budget(amounts, n, n, n).allowed), None) == pods
