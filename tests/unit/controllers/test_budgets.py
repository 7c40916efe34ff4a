"""Statuses of budgets for a cluster as it is: which owners are asked, which pods count."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.kinds import DAEMON_SET, DEPLOYMENT, POD, REPLICA_SET
from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import PodTemplate, Setup, Workload
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import BudgetScale, ask_for_ends, budgets_of, find_asked_by, status_of
from kubeproof.controllers.evictions.disruption import RUNNING, BudgetStatus, PodFacts

WEB = LabelSelector((Requirement("app", "In", ("web",)),))
READY, UNREADY = PodFacts(RUNNING, True), PodFacts(RUNNING, False)
ONE = PodDisruptionBudget("shop", "one", WEB, max_unavailable=(1, False))


def pods(kind: str = DEPLOYMENT, name: str = "web", namespace: str = "shop", owner: str | None = None) -> Workload:
    return Workload(kind, namespace, name, PodTemplate((("app", "web"),)), owner=owner)


def status(
    *workloads: Workload, scales: dict[int, BudgetScale], bound: list[tuple[int, PodFacts, int]]
) -> BudgetStatus:
    return status_of(Setup(workloads=workloads, budgets=(ONE,)), ONE, scales, bound)


def test_the_scale_of_the_owner_is_expected_whatever_pods_there_are() -> None:
    found = status(pods(), scales={0: BudgetScale(3, 0)}, bound=[(0, READY, 2)])

    assert (found.expected, found.desired, found.healthy, found.allowed) == (3, 2, 2, 0)


def test_an_owner_without_pods_is_not_asked() -> None:
    scales = {0: BudgetScale(3, 0), 1: BudgetScale(5, 0)}

    assert status(pods(), pods(name="idle"), scales=scales, bound=[(0, READY, 3)]).expected == 3
    assert (
        status(pods(), pods(name="idle"), scales=scales | {1: BudgetScale(5, 1)}, bound=[(0, READY, 3)]).expected == 8
    )


def test_pods_of_a_later_revision_ask_the_deployment() -> None:
    later = pods(REPLICA_SET, "web-rev2", owner="Deployment/shop/web")
    found = status(pods(), later, scales={0: BudgetScale(3, 0), 1: BudgetScale(0, 0)}, bound=[(1, READY, 3)])

    assert (found.expected, found.allowed) == (3, 1)


def test_a_daemon_set_has_no_scale_so_that_nothing_is_allowed() -> None:
    found = status(pods(DAEMON_SET), scales={0: BudgetScale(3, 0)}, bound=[(0, READY, 3)])

    assert (found.allowed, found.failed) == (0, True)


def test_bare_pods_are_counted_but_expect_nothing() -> None:
    scales = {0: BudgetScale(2, 0), 1: BudgetScale(1, 0)}
    found = status(pods(), pods(POD, "bare"), scales=scales, bound=[(0, READY, 2), (1, READY, 1)])

    assert (found.expected, found.healthy, found.allowed) == (2, 3, 2)


def test_pods_that_are_not_ready_or_go_are_not_healthy() -> None:
    going = READY._replace(terminating=True)
    found = status(pods(), scales={0: BudgetScale(4, 0)}, bound=[(0, READY, 2), (0, UNREADY, 1), (0, going, 1)])

    assert (found.healthy, found.allowed) == (2, 0)


def test_other_namespaces_and_labels_are_left_alone() -> None:
    elsewhere = pods(namespace="other")
    other = replace(pods(name="db"), template=PodTemplate((("app", "db"),)))
    setup = Setup(workloads=(pods(), elsewhere, other), budgets=(ONE,))

    assert [budgets_of(setup, index) for index in range(3)] == [(ONE,), (), ()]
    assert find_asked_by(setup, ONE) == (0,)


ENDING = PodFacts(RUNNING, True, terminating=True)


def test_pods_that_go_away_decide_nothing_about_a_budget_of_one_owner() -> None:
    alone = Setup(workloads=(pods(), pods(owner="Deployment/shop/web")), budgets=(ONE,))
    scales = {0: BudgetScale(3, 0)}
    few, more = (status(pods(), scales=scales, bound=[(0, READY, 2), (0, ENDING, n)]) for n in (0, 5))

    assert not ask_for_ends(alone, 0)
    assert few == more


def test_a_budget_of_two_owners_counts_the_scale_of_one_whose_pods_all_go_away() -> None:
    shared = Setup(workloads=(pods(), pods(name="idle")), budgets=(ONE,))
    scales = {0: BudgetScale(3, 0), 1: BudgetScale(5, 0)}

    assert ask_for_ends(shared, 0)
    assert status(pods(), pods(name="idle"), scales=scales, bound=[(0, READY, 3), (1, ENDING, 1)]).expected == 8
