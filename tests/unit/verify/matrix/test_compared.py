"""Two matrices side by side: what a change of manifests does to each cell."""

from __future__ import annotations

from kubeproof.verify.findings.compare import CHANGED, FIXED, NEWLY_VIOLATED, compare
from kubeproof.verify.findings.fingerprints import fingerprints
from tests.unit.verify.matrix.test_matrix import BUDGET, NODES, load, survey, workload


def kinds(before: str, after: str, *faults: str) -> dict[str, str]:
    found = compare(survey(load(NODES, before), *faults), survey(load(NODES, after), *faults))
    return {change.either.faults[0]: change.kind for change in found.changes}


def test_a_budget_that_blocks_drains_is_newly_violated_and_taking_it_away_fixes_it():
    one, two = workload(replicas=2), workload(replicas=2) + BUDGET

    assert kinds(one, two, "drain") == {"drain": NEWLY_VIOLATED}
    assert kinds(two, one, "drain") == {"drain": FIXED}


def test_a_dip_is_a_change_and_no_violation():
    assert kinds(workload(replicas=2), workload(), "drain", "nodeLoss") == {"drain": CHANGED, "nodeLoss": CHANGED}


def test_cells_of_one_workload_have_fingerprints_of_their_own():
    found = fingerprints(survey(load(NODES, workload())))

    assert len(set(found)) == len(found)
