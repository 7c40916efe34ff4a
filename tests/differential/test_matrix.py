"""Cells of the survival matrix against a search of all workloads in every order, on clusters of all kinds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from kubeproof.errors import ScenarioError
from kubeproof.manifests.loaded import Loaded, Scenario
from kubeproof.manifests.scenarios.matrix_columns import FLOOR, under_faults
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.questions import CellQuestion, pairs_of_faults, single_faults
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.matrix.solve import Graded, Solver
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.property.mixed import mixed_inputs

MOST_STATES = 600
CHUNKS, EXAMPLES = 3, 6
EVERY_ORDER = VerifyOptions(reductions=False, max_states=MOST_STATES)


def naive_grade(loaded: Loaded, question: CellQuestion) -> Grade:
    """The grade that every intent of the cell, searched in every order of everybody, leads to."""
    try:
        found = verify(under_faults(loaded, question.faults, question.target), EVERY_ORDER).results
    except ScenarioError:  # no stable start
        return Grade.UNKNOWN
    floors = [one.verdict for one in found if one.intent.startswith(FLOOR)]
    lasting = [one.verdict for one in found if not one.intent.startswith(FLOOR)]
    if Verdict.VIOLATED in lasting:
        return Grade.STUCK
    if any(verdict not in (Verdict.HOLDS, Verdict.VACUOUS) for verdict in lasting):
        return Grade.UNKNOWN
    if Verdict.VIOLATED in floors:
        return Grade.DIPS
    return Grade.STEADY if all(verdict in (Verdict.HOLDS, Verdict.VACUOUS) for verdict in floors) else Grade.UNKNOWN


def compare_cells(loaded: Loaded) -> Counter[str]:
    """Asserts that no cell is graded in two ways; returns how often each grade was given."""
    plain = replace(loaded, scenario=Scenario(is_default=True, start=loaded.scenario.start))
    solver = Solver(plain, VerifyOptions())
    found: Counter[str] = Counter()
    for target, faults in [*single_faults(plain.setup), *pairs_of_faults(plain.setup)[:2]]:
        question = CellQuestion(target, faults, MOST_STATES, 60.0)
        graded: Graded = solver(question)
        expected = naive_grade(plain, question)
        is_decided = Grade.UNKNOWN not in (graded.cell.grade, expected)
        assert not is_decided or graded.cell.grade == expected, (target, faults, graded.cell, expected, loaded)
        assert (
            graded.cell.grade == Grade.UNKNOWN or graded.result.trace is not None or graded.cell.grade == Grade.STEADY
        )
        found[str(graded.cell.grade) if is_decided else "not compared"] += 1
    return found


def compare_many(number: int, examples: int) -> Counter[str]:
    """Compares the cells of so many random inputs."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(mixed_inputs())
    def check(loaded: Loaded) -> None:
        found.update(compare_cells(loaded))

    check()
    return found


@pytest.mark.parametrize("number", range(CHUNKS))
def test_cells_have_the_grade_that_a_search_of_everything_gives(number: int) -> None:
    found = compare_many(number, EXAMPLES)

    assert all(found[grade] for grade in (Grade.STEADY, Grade.DIPS, Grade.STUCK)), found
