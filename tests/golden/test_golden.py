"""Every golden case gives its exact answer, on both engines."""

import pytest

from kubeproof.engine.search import find_compiled_kernel
from kubeproof.verdicts import Verdict
from tests.golden.cases import answer, case_names, expected, run

needs_compiled = pytest.mark.skipif(find_compiled_kernel() is None, reason="the compiled engine is not built")


@pytest.mark.parametrize("name", case_names())
@pytest.mark.parametrize("engine", ["python", pytest.param("compiled", marks=needs_compiled)])
def test_verdicts_counts_and_traces_are_exactly_as_recorded(name, engine):
    result = run(name, engine)

    assert result.statistics.engine == engine
    assert answer(name, result) == expected(name)


def test_the_cases_cover_every_verdict():
    found = {verdict for name in case_names() for verdict in _verdicts(name)}

    assert found == {"HOLDS", "VIOLATED", "VACUOUS", "UNKNOWN"}


def _verdicts(name):
    return {one if isinstance(one, str) else Verdict.VIOLATED for one in expected(name)["intents"].values()}
