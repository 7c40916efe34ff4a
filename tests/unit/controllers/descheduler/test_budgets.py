"""Disruption budgets against the descheduler: what is refused, what is charged, what counts towards limits."""

import pytest

from kubeproof.cluster.labels import LabelSelector, Requirement, Taint
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.steering.policies import ALWAYS_ALLOW, PodDisruptionBudget
from kubeproof.controllers.descheduler import evictions, explain
from kubeproof.controllers.evictions.budgets import BudgetScale
from tests.unit.controllers.descheduler.clusters import (
    DUPLICATES,
    NEWEST,
    OLD,
    SPREAD,
    UNIQUE,
    entry,
    node,
    pods,
    policy,
    spread,
    web,
)

TAINTS = "RemovePodsViolatingNodeTaints"
TAINTED = (Taint("down"),)


def budget(app="web0", name="keep", **amounts):
    selector = LabelSelector((Requirement("app", "In", (app,)),))
    return PodDisruptionBudget("shop", name, selector, **amounts)


def outcomes(chosen, budgets, *nodes, workloads=None, version=NEWEST, scale=3):
    """Per outcome the pods lost as {(entry, group): pods}."""
    declared = tuple(workloads or [web()])
    setup = Setup(workloads=declared, budgets=tuple(budgets))
    scales = {index: BudgetScale(scale, 0) for index in range(len(declared))}
    found = evictions(setup, chosen, nodes, version, UNIQUE, scales=scales)
    return [{(loss.entry, group): lost for loss in outcome for group, lost in loss.losses} for outcome in found]


def tainted(*groups):
    return entry(node("a"), *groups, taints=TAINTED), entry(node("b"))


@pytest.mark.parametrize("version", [OLD, NEWEST])
def test_a_budget_lets_go_what_it_allows(version):
    one = budget(max_unavailable=(1, False))

    assert outcomes(policy(TAINTS), (), *tainted(pods(3)), version=version) == [{(0, 0): 3}]
    assert outcomes(policy(TAINTS), (one,), *tainted(pods(3)), version=version) == [{(0, 0): 1}]
    assert outcomes(policy(TAINTS), (budget(min_available=(3, False)),), *tainted(pods(3)), version=version) == [{}]


def test_a_budget_holds_for_all_nodes_together():
    nodes = (*(entry(node(name), pods(1), taints=TAINTED) for name in "ab"), entry(node("c"), pods(1)))

    assert outcomes(policy(TAINTS), (budget(max_unavailable=(1, False)),), *nodes) == [{(0, 0): 1}, {(1, 0): 1}]


def test_pods_that_are_already_missing_use_the_budget_up():
    assert outcomes(policy(TAINTS), (budget(max_unavailable=(1, False)),), *tainted(pods(2))) == [{}]


def test_pods_that_are_not_ready_go_free_of_charge_where_the_budget_says_so():
    groups = pods(1), pods(1, ready=False)
    strict, lenient = budget(min_available=(2, False)), budget(min_available=(2, False), unhealthy_policy=ALWAYS_ALLOW)

    assert outcomes(policy(TAINTS), (strict,), *tainted(*groups)) == [{}]
    assert outcomes(policy(TAINTS), (lenient,), *tainted(*groups)) == [{(0, 1): 1}]


def test_pods_that_have_not_started_are_not_protected():
    starting = pods(1, ready=False)._replace(pending=True)

    assert outcomes(policy(TAINTS), (budget(min_available=(2, False)),), *tainted(pods(1), starting)) == [{(0, 1): 1}]


def test_a_pod_under_two_budgets_is_always_refused():
    both = budget(max_unavailable=(3, False)), budget(name="other", max_unavailable=(3, False))

    assert outcomes(policy(TAINTS), both, *tainted(pods(3))) == [{}]


@pytest.mark.parametrize("limit", ["max_per_node", "max_per_namespace", "max_total"])
def test_a_refusal_does_not_count_towards_limits(limit):
    chosen = policy(TAINTS, limits={limit: 1})
    nodes = tainted(pods(1), pods(1, workload=1))

    found = outcomes(chosen, (budget(min_available=(1, False)),), *nodes, workloads=[web(), web(1)])

    assert found == [{(0, 1): 1}]


def test_remove_duplicates_does_not_replace_a_refused_pod_by_another():
    # Three pods on a node of three: one too many. If it is the ready one the budget keeps it.
    groups = pods(2), pods(1, ready=False)
    kept = budget(min_available=(2, False), unhealthy_policy=ALWAYS_ALLOW)
    nodes = entry(node("a"), *groups), entry(node("b")), entry(node("c"))

    assert outcomes(policy(DUPLICATES), (kept,), *nodes) == [{}, {(0, 1): 1}]


def test_spreading_is_refused_pod_by_pod():
    declared = [web(spread=(spread("zone"),))]
    nodes = entry(node("a", zone="a"), pods(5)), entry(node("b", zone="b"))

    assert outcomes(policy(SPREAD), (), *nodes, workloads=declared, scale=5) == [{(0, 0): 2}]
    one = budget(max_unavailable=(1, False))
    assert outcomes(policy(SPREAD), (one,), *nodes, workloads=declared, scale=5) == [{(0, 0): 1}]


def test_balancing_passes_over_refused_pods():
    chosen = policy(
        "LowNodeUtilization",
        LowNodeUtilization={"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 30}},
    )
    nodes = entry(node("a"), pods(2), pods(2, workload=1)), entry(node("b"))
    workloads = [web(), web(1)]

    free = outcomes(chosen, (), *nodes, workloads=workloads)
    kept = outcomes(chosen, (budget(min_available=(2, False)),), *nodes, workloads=workloads)

    assert {(0, 0): 2} in free
    assert kept == [{(0, 1): 2}]


def test_the_numbers_behind_a_cycle_name_what_budgets_allow():
    setup = Setup(workloads=(web(),), budgets=(budget(max_unavailable=(1, False)),))

    lines = explain(setup, policy(TAINTS), tainted(pods(3)), NEWEST, UNIQUE, scales={0: BudgetScale(3, 0)})

    assert lines[0] == "budget shop/keep allows 1 eviction(s) now"
