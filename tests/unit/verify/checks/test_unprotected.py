"""Workloads of several pods without a budget."""

from __future__ import annotations

from tests.unit.verify.checks.inputs import APART, autoscaler, budget, deployment, found, node, told

NODES = (node("n1"), node("n2"), node("n3"))


def test_several_pods_that_no_budget_selects_are_told():
    assert told("K041", *NODES, deployment()) == [
        (
            "info",
            "Deployment/shop/web",
            "no PodDisruptionBudget selects its pods: a drain takes all of them that share a node at once",
        )
    ]


def test_workloads_of_a_namespace_are_told_together():
    (one,) = [f for f in found(*NODES, *map(deployment, ("a", "b", "c", "d"))) if f.id == "K041"]

    assert one.message == "no PodDisruptionBudget selects the pods of 4 workloads that have several: a, b, c and 1 more"
    assert [ref for ref, _ in one.also] == ["Deployment/shop/b", "Deployment/shop/c", "Deployment/shop/d"]


def test_what_a_budget_protects_or_nothing_takes_together_is_not():
    assert told("K041", *NODES, deployment(), budget("maxUnavailable: 1")) == []
    assert told("K041", *NODES, deployment(pod=APART)) == []
    assert told("K041", *NODES, deployment(replicas="1")) == []
    assert told("K041", *NODES, deployment(kind="DaemonSet", replicas="")) == []
    assert told("K041", node("n1"), deployment()) == []


def test_an_autoscaler_says_how_many_there_are():
    assert told("K041", *NODES, deployment(), autoscaler(least=1)) == []
    assert len(told("K041", *NODES, deployment(replicas=""), autoscaler(least=2))) == 1
