from dataclasses import replace

import pytest

from kubeproof.cluster.objects import Source
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.advice import advice
from kubeproof.verify.matrix.result import Cell, Grade, Row
from kubeproof.verify.result import IntentResult, Trace, TraceStep
from kubeproof.verify.words.obstacles import BUDGET, DEAD_NODE, NO_CLAIM, NO_NODE, NOT_CREATED, SEVERAL, STAYS
from tests.unit.report.results import named

ROW = Row("Deployment/shop/web", 3, 1)
STUCK = Cell("Deployment/shop/web", ("nodeLoss",), Grade.STUCK, "told")
DIPS = replace(STUCK, grade=Grade.DIPS, lowest=0)
APART = ("InterPodAffinity", "node(s) didn't match pod anti-affinity rules")
RESULT = IntentResult(
    "S001", "comes back", "minReady", ROW.target, Verdict.VIOLATED, "told", 3, 3, 1, 1, remedy="In general."
)


def stuck_by(*obstacles: tuple[str, str]) -> IntentResult:
    return replace(RESULT, trace=Trace((), obstacles=obstacles))


@pytest.mark.parametrize(
    ("obstacles", "begins"),
    [
        ((APART, ("NodeAffinity", "")), "Its required anti"),
        ((("NodeAffinity", ""), ("PodTopologySpread", "")), "Its spread constraint"),
        ((("NodeResourcesFit", "Insufficient cpu"), ("TaintToleration", "")), "No node that is left has the room"),
        (((NOT_CREATED, ""),), "Pods are not let in"),
        (((BUDGET, ""),), "In general."),
        ((), "In general."),
    ],
)  # fmt: skip
def test_advice_for_the_stuck_is_about_what_is_nearest_to_being_possible(obstacles, begins):
    assert advice(ROW, STUCK, stuck_by(*obstacles)).startswith(begins)


def test_a_pod_of_a_stateful_set_on_a_dead_node_has_advice_of_its_own():
    target = "StatefulSet/shop/db"
    cell = replace(STUCK, target=target)

    assert "out-of-service" in advice(replace(ROW, target=target), cell, stuck_by((DEAD_NODE, "")))
    assert advice(ROW, STUCK, stuck_by((DEAD_NODE, ""))) == "In general."


def test_a_single_pod_is_to_have_company_and_several_are_to_be_spread():
    assert "at least 2 replicas" in advice(replace(ROW, replicas=1), DIPS, RESULT)
    assert "kubernetes.io/hostname" in advice(ROW, DIPS, RESULT)
    assert "PodDisruptionBudget" in advice(ROW, replace(DIPS, faults=("upgrade",)), RESULT)
    assert advice(ROW, replace(DIPS, faults=("podCrash",)), RESULT) == "In general."
    assert advice(None, DIPS, RESULT) == "In general."


def test_what_is_not_known_is_advised_in_general():
    assert advice(ROW, replace(STUCK, grade=Grade.UNKNOWN), RESULT) == "In general."
    assert ROW.source == Source()


@pytest.mark.parametrize(
    ("target", "faults", "obstacles", "says"),
    [
        ("Deployment/shop/web", ("rollout",), (("NodeResourcesFit", ""),), "and maxSurge: 0"),
        ("Deployment/shop/web", ("rollout",), (("NodePorts", ""), ("TaintToleration", "")), "and maxSurge: 0"),
        ("Deployment/shop/web", ("rollout",), (("NodePorts", ""), ("PodTopologySpread", "")), "Its spread constraint"),
        ("StatefulSet/shop/db", ("rollout",), (("NodeResourcesFit", ""),), "No node that is left has the room"),
        ("Deployment/shop/web", ("deploy",), (("NodeResourcesFit", ""),), "No node has the room"),
        ("DaemonSet/shop/agent", ("rollout", "drain"), (("NodeResourcesFit", ""),), "priorityClassName"),
        ("DaemonSet/shop/agent", ("rollout",), (("NodePorts", ""),), "maxSurge: 0"),
        ("Job/shop/seed", ("drain",), (), "backoffLimit"),
        ("Pod/shop/tool", ("drain",), (), "Nobody replaces a Pod"),
        ("Deployment/shop/web", ("nodeLoss",), ((STAYS, ""),), "tolerationSeconds"),
        ("Deployment/shop/web", ("nodeLoss",), ((NO_NODE, ""),), "No node is left"),
        ("Deployment/shop/web", ("drain",), ((BUDGET, SEVERAL),), "Two PodDisruptionBudgets"),
        ("Pod/shop/tool", ("zoneFailure",), ((DEAD_NODE, ""),), "Nobody replaces a Pod"),
        ("Pod/shop/tool", ("deploy",), (("NodeResourcesFit", ""),), "No node has the room"),
        ("Deployment/shop/web", ("deploy",), (("VolumeBinding", "any"), (NO_CLAIM, "")), "add the"),
    ],
)  # fmt: skip
def test_advice_is_about_the_kind_and_the_fault(target, faults, obstacles, says):
    assert says in advice(ROW, replace(STUCK, target=target, faults=faults), stuck_by(*obstacles))


def test_a_loop_that_the_descheduler_keeps_up_is_its_fault():
    actors = ("scheduler web", "descheduler")
    steps = tuple(TraceStep(named(actor), "acts", ROW.target, (), 0) for actor in actors)
    looping = replace(RESULT, trace=Trace(steps, loop_start=0))

    assert "The descheduler evicts" in advice(ROW, STUCK, looping)
    assert advice(ROW, STUCK, replace(RESULT, trace=Trace(steps))) == "In general."


def test_where_a_budget_wants_all_pods_it_is_what_has_to_change():
    wants_all = Row(ROW.target, 3, 3, "PodDisruptionBudget/shop/web")

    assert "wants all its pods" in advice(wants_all, replace(DIPS, lowest=2), RESULT)
    assert "wants all its pods" not in advice(replace(wants_all, floor=2), replace(DIPS, lowest=1), RESULT)


def test_a_rollout_by_recreate_is_not_mended_by_more_pods():
    recreated = replace(ROW, replicas=1, recreates=True)

    assert "RollingUpdate" in advice(recreated, replace(DIPS, faults=("rollout",)), RESULT)
    assert "at least 2 replicas" in advice(recreated, DIPS, RESULT)
