"""Random small clusters: grouped search on either kernel, search by name, reductions on and off, replay.

A failure shrinks to the smallest cluster that shows it, printed as a `Case`.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential.comparison import REFERENCE_STATES, assert_consistent, compare, limited, search, verdicts_of
from tests.property.strategies import FAMILIES, Case

PER_RUN = {"spread": 500, "failure": 400, "scale": 350, "write": 400, "direct": 350, "own": 200}  # 2,200 in all
SLOW = {family: 10 * count for family, count in PER_RUN.items()}
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def _run(family: str, examples: int, reference_states: int) -> None:
    """Compares so many cases of a family."""

    @settings(PATIENT, max_examples=examples)
    @given(FAMILIES[family]())
    def check(case: Case) -> None:
        compare(case, reference_states=reference_states)

    check()


@pytest.mark.parametrize("family", FAMILIES)
def test_all_engines_agree_on_verdicts_states_and_traces(family: str) -> None:
    _run(family, PER_RUN[family], REFERENCE_STATES)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_all_engines_agree_on_many_more_and_larger_cases(family: str) -> None:
    _run(family, SLOW[family], 5 * REFERENCE_STATES)


@settings(PATIENT, max_examples=150)
@given(st.one_of(*(family() for family in FAMILIES.values())), st.integers(1, 12))
def test_a_search_that_is_cut_off_says_unknown_or_the_truth(case: Case, max_states: int) -> None:
    full = search(case.plan(), max_states=2000)
    plain, fast, by_name = limited(case, max_states)

    assert plain == fast
    if not full.stopped_by:
        assert_consistent(plain, verdicts_of(full))
        assert_consistent(by_name, verdicts_of(full))
