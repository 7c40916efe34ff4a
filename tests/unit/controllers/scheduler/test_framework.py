from __future__ import annotations

import pytest

from kubeproof.cluster.labels import NodeTerm, PreferredTerm, Requirement, Taint
from kubeproof.cluster.objects import ZONE, SchedulerProfile, Setup
from kubeproof.controllers.scheduler import framework
from kubeproof.controllers.scheduler.framework import Scheduler
from kubeproof.controllers.scheduler.protocol import divide_truncating
from tests.unit.controllers.scheduler.builders import (
    GIB,
    container,
    hard,
    info,
    node,
    refusals,
    scheduler,
    soft,
    template,
    workload,
)

POD_500M = template(containers=(container(500, GIB),))


def test_pod_of_an_unknown_scheduler_is_never_scheduled() -> None:
    decider = scheduler(template(scheduler_name="custom"))
    evaluation = decider.evaluate([info(node("n1"))])

    assert not decider.has_profile
    assert decider.choose([info(node("n1"))]) == evaluation.chosen == ()
    assert evaluation.rows[0].reason == "no scheduler profile is named custom"


def test_pod_uses_the_profile_of_its_name() -> None:
    profiles = (SchedulerProfile(), SchedulerProfile("lax", disabled=frozenset({"NodeUnschedulable"})))
    pods = (workload(template()), workload(template(scheduler_name="lax"), name="other"))
    setup = Setup(workloads=pods, profiles=profiles)
    cordoned = [info(node("n1"), cordoned=True)]

    assert [Scheduler(setup, index, frozenset()).choose(cordoned) for index in (0, 1)] == [(), (0,)]


def test_no_nodes_no_choice() -> None:
    assert scheduler(template()).choose([]) == ()
    assert scheduler(template()).evaluate([]) == framework.Evaluation((), ())


def test_exactly_one_feasible_node_is_chosen_without_scoring() -> None:
    evaluation = scheduler(POD_500M).evaluate([info(node("n1"), cordoned=True, count=3), info(node("n4"))])

    assert evaluation.chosen == (1,)
    assert evaluation.rows[1].scores == ()


def test_one_feasible_group_of_several_nodes_is_scored() -> None:
    evaluation = scheduler(POD_500M).evaluate([info(node("n1"), count=3)])

    assert evaluation.chosen == (0,)
    assert evaluation.rows[0].scores == (
        ("TaintToleration", 100),
        ("NodeResourcesFit", 87),
        ("PodTopologySpread", 100),
        ("NodeResourcesBalancedAllocation", 75),
    )
    assert evaluation.rows[0].total == 300 + 87 + 200 + 75


def test_all_ties_are_chosen() -> None:
    nodes = [info(node("n1")), info(node("n2"), (0, 1)), info(node("n3"))]

    assert scheduler(POD_500M).choose(nodes) == (0, 2)


def test_weights_of_the_profile_replace_the_defaults_and_0_means_1() -> None:
    profile = SchedulerProfile(weights=(("TaintToleration", 0), ("NodeResourcesFit", 10)))
    evaluation = scheduler(POD_500M, profile=profile).evaluate([info(node("n1"), count=2)])

    assert evaluation.rows[0].total == 100 + 870 + 200 + 75


def test_disabled_plugins_neither_filter_nor_score() -> None:
    profile = SchedulerProfile(disabled=frozenset({"TaintToleration", "PodTopologySpread"}))
    tainted = info(node("n1", taints=(Taint("x"),)), count=2)
    rows = scheduler(POD_500M, profile=profile).evaluate([tainted]).rows

    assert rows[0].scores == (("NodeResourcesFit", 87), ("NodeResourcesBalancedAllocation", 75))


def test_plugins_disabled_for_scoring_still_filter() -> None:
    profile = SchedulerProfile(disabled_score=frozenset({"TaintToleration"}))
    nodes = [info(node("n1", taints=(Taint("x"),))), info(node("n2"), count=2)]
    rows = scheduler(POD_500M, profile=profile).evaluate(nodes).rows

    assert refusals(rows) == ["TaintToleration", ""]
    assert "TaintToleration" not in dict(rows[1].scores)


def test_resources_are_judged_before_spreading() -> None:
    pod = template(containers=(container(5000),), spread=())

    assert refusals(scheduler(pod).evaluate([info(node("n1"))]).rows) == ["NodeResourcesFit"]


def test_without_a_node_that_passes_by_itself_nothing_is_chosen() -> None:
    pod = template(spread=(hard(ZONE),))

    assert scheduler(pod).choose([info(node("n1", "a"), cordoned=True)]) == ()


def test_strong_preference_overrules_soft_spreading() -> None:
    in_a = NodeTerm(expressions=(Requirement(ZONE, "In", ("a",)),))
    pod = template(spread=(soft(ZONE),), preferred_terms=(PreferredTerm(1, in_a),), containers=(container(0, 0),))
    nodes = [info(node("n1", "a"), (0, 9)), info(node("n2", "b"), (0, 8))]

    # Affinity 200 against 0; spreading 88 against 100, times 2.
    assert scheduler(pod).choose(nodes) == (0,)


def test_choice_is_the_same_when_a_node_of_that_name_changes() -> None:
    decider = scheduler(POD_500M)
    big, small = node("n1"), node("n1", cpu_milli=100)

    assert [decider.choose([info(n)]) for n in (big, small, big)] == [(0,), (), (0,)]
    assert decider.choose([info(node("n1"))]) == (0,)


def test_choice_is_the_same_when_the_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framework, "MOST_REMEMBERED", 1)
    decider = scheduler(POD_500M)
    nodes = [[info(node("n1"), (0, pods))] for pods in (0, 7, 8, 7)]

    assert [decider.choose(n) for n in nodes] == [(0,), (0,), (), (0,)]


def test_go_division_rounds_toward_zero() -> None:
    assert [divide_truncating(7, 2), divide_truncating(-7, 2), divide_truncating(7, -2)] == [3, -3, -3]
    assert divide_truncating(-7, -2) == 3
