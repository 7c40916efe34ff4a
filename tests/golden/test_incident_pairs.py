"""Incidents without their Scenarios: the matrix and the checks alone tell the violating variant from the safe one.

The pairs stand beside the repository, where they are there; each is asked for the cell or check that shows its
mechanism, and the repaired variant must not have it.
"""

from __future__ import annotations

import pytest

from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.matrix.options import MatrixOptions
from kubeproof.verify.matrix.result import Grade, Matrix
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.options import VerifyOptions
from tests.golden.incidents import PAIRS

STUCK, DIPS, STEADY = Grade.STUCK, Grade.DIPS, Grade.STEADY

pytestmark = pytest.mark.skipif(not PAIRS.is_dir(), reason="the incident pairs are not here")

CELLS = [  # case, faults, workload and grade of the violating and of the safe variant
    ("01", "rollout", "Deployment/shop/web", STUCK, STEADY),
    ("05", "deploy", "Deployment/shop/search", STUCK, STEADY),
    ("14", "deploy", "Deployment/shop/report", STUCK, STEADY),
    ("29", "drain", "Deployment/shop/ledger", STUCK, STEADY),
    ("33", "rollout", "Deployment/shop/quote", DIPS, STEADY),
    ("36", "rollout+drain", "DaemonSet/kube-agents/log-agent", STUCK, STEADY),
    ("42", "deploy", "Deployment/shop/scan", STUCK, STEADY),
    ("46", "rollout", "Deployment/shop/delegation", STUCK, STEADY),
]
CHECKS = [  # case, check, its target in the violating variant; the safe one has no such finding
    ("01", "K025", "Deployment/shop/web"),
    ("05", "K024", "Deployment/shop/search"),
    ("14", "K034", "DeschedulerPolicy"),
    ("29", "K019", "PodDisruptionBudget/shop/ledger"),
    ("33", "K021", "Deployment/shop/quote"),
    ("36", "K038", "DaemonSet/kube-agents/log-agent"),
    ("40", "K026", "Deployment/shop/stress"),
    ("46", "K025", "Deployment/shop/delegation"),
    ("48", "K022", "PodDisruptionBudget/edge/router"),
]


def variant(case: str, which: str) -> Loaded:
    """The manifests of a variant; the Scenario stands beside them and is not read."""
    (folder,) = PAIRS.glob(f"{case}-*")
    return load((str(folder / which),), is_tolerant=True)


def matrix(case: str, which: str, faults: str) -> Matrix:
    chosen = MatrixOptions(faults=tuple(faults.split("+")), pairs="+" in faults, executor=InProcess())
    found = run_matrix(variant(case, which), VerifyOptions(timeout_s=None), chosen).matrix
    assert found is not None
    return found


def grade(case: str, which: str, faults: str, target: str) -> Grade:
    shown = matrix(case, which, faults)
    (cell,) = [
        cell
        for cell in (*shown.cells, *shown.pairs)
        if (cell.target, "+".join(cell.faults)) == (target, faults)
    ]  # fmt: skip
    return cell.grade


@pytest.mark.parametrize(("case", "faults", "target", "violating", "safe"), CELLS, ids=[row[0] for row in CELLS])
def test_a_cell_of_the_matrix_shows_the_incident_and_not_the_repair(case, faults, target, violating, safe):
    assert grade(case, "violating", faults, target) == violating
    assert grade(case, "safe", faults, target) == safe


def test_what_a_dead_node_keeps_from_a_stateful_set_a_deployment_gets_back():
    assert grade("37", "violating", "nodeLoss", "StatefulSet/shop/registry") == STUCK
    assert grade("37", "safe", "nodeLoss", "Deployment/shop/registry") == STEADY


@pytest.mark.parametrize(("case", "check", "target"), CHECKS, ids=[f"{row[0]}-{row[1]}" for row in CHECKS])
def test_a_check_shows_the_incident_and_not_the_repair(case, check, target):
    assert [one.target for one in run_checks(variant(case, "violating")) if one.id == check] == [target]
    assert [one.target for one in run_checks(variant(case, "safe")) if one.id == check] == []
