"""What `tune` finds is as cheap as the best of a full grid, in a tenth of its runs (benchmarks/tune.py)."""

import pytest

from benchmarks.tune import compare


@pytest.mark.parametrize("name", ["abs-1", "abs-2", pytest.param("shop", marks=pytest.mark.slow)])
def test_a_tenth_of_the_runs_of_a_grid_of_200_finds_what_is_as_cheap_as_its_best(name):
    found = compare(name)

    assert found.settings == 200
    assert found.is_met, found
