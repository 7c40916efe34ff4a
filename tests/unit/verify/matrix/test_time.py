"""A matrix whose time ends anywhere says what is known: a cell is open, or has the grade that it has anyway."""

from __future__ import annotations

from itertools import count

import pytest

from kubeproof.engine.limits import Deadline
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import under_faults
from kubeproof.verify.matrix.questions import CellQuestion, single_faults, small_first
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.matrix.solve import Graded, Solver, _Cell
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.searching import NoTimeLeft, Watch
from tests.unit.verify.matrix.test_matrix import NODES, load, workload

WEB = "Deployment/shop/web"
OPTIONS = VerifyOptions(max_states=4_000)
BESIDE = workload().replace("web", "api") + workload(replicas=2).replace("web", "db")
NEAR_API = """affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: api}}}]}}"""


def grade_until(tick: float, loaded: Loaded, fault: str) -> Graded | None:
    """The cell if the clock moves on with every look, and that is the last of them; None if it did not begin."""
    ticks = count()
    watch = Watch(deadline=Deadline(tick, 0.0), deadline_clock=lambda: float(next(ticks)))
    faulty = under_faults(loaded, (fault,), WEB)
    question = CellQuestion(WEB, (fault,), 4_000, 60.0)
    try:
        return _Cell(question, faulty, plan_input(faulty, OPTIONS), OPTIONS, watch, {}, {}).grade()
    except NoTimeLeft:
        return None


@pytest.mark.parametrize(("fault", "grade"), [("drain", Grade.DIPS), ("rollout", Grade.STEADY)])
def test_whenever_the_time_ends_a_cell_is_open_or_graded_as_with_more_time(fault, grade):
    loaded = load(NODES, workload(), BESIDE)

    found = [grade_until(tick, loaded, fault) for tick in (-1.0, *range(40), 50, 80, 150, 400, 10_000)]

    grades = [Grade.UNKNOWN if one is None else one.cell.grade for one in found]
    assert set(grades) == {Grade.UNKNOWN, grade}
    assert (grades[0], grades[-1]) == (Grade.UNKNOWN, grade)


def test_a_failure_that_there_was_no_time_to_show_is_told_as_such():
    loaded = load(NODES, workload(), BESIDE)

    told = {one.cell.detail for tick in range(40) if (one := grade_until(tick, loaded, "drain")) is not None}

    assert "the time was over before its failure was shown as a run of all workloads" in told


def test_a_cell_that_begins_too_late_says_so():
    question = CellQuestion(WEB, ("drain",), 4_000, 60.0, ends_at_s=0.0)

    graded = Solver(load(NODES, workload(), BESIDE), OPTIONS)(question)

    assert graded.cell.grade == Grade.UNKNOWN
    assert graded.cell.detail == "the time was over before its search began; --timeout allows more"


def test_workloads_to_which_few_others_relate_come_first():
    loaded = load(NODES, workload(extra=NEAR_API), BESIDE)
    cells = single_faults(loaded.setup)

    ordered = small_first(loaded, cells)

    alone = len([cell for cell in cells if cell[0] == "Deployment/shop/db"])
    assert {target for target, _ in ordered[:alone]} == {"Deployment/shop/db"}
    assert sorted(ordered) == sorted(cells)


def test_workloads_of_many_pods_come_last():
    loaded = load(NODES, workload(replicas=9), BESIDE)
    cells = single_faults(loaded.setup)

    ordered = small_first(loaded, cells)

    many = len([cell for cell in cells if cell[0] == WEB])
    assert {target for target, _ in ordered[-many:]} == {WEB}
    assert sorted(ordered) == sorted(cells)
