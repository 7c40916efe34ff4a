"""Chains in continuous time: lumping, looking ahead and looking to the end agree with Storm and with one another."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.unit.quantify.programs import needs_storm

if TYPE_CHECKING:
    from kubeproof.quantify.rates.chain import RateChain
    from kubeproof.quantify.rates.lumping import Lumped

np = pytest.importorskip("numpy")


def make_chain(seed: int, states: int, *, ends: int = 1) -> RateChain:
    """A chain with rates from 1e-6 to 1 per second whose last states are not left."""
    from kubeproof.quantify.rates.chain import Entries, RateChain

    chance = random.Random(seed)
    row: list[int] = []
    column: list[int] = []
    value: list[float] = []
    for state in range(states - ends):
        for target in chance.sample(range(states), 3):
            if target != state:
                row, column = [*row, state], [*column, target]
                value.append(10 ** chance.uniform(-6, 0))
    rates = Entries.add_up(np.array(row), np.array(column), np.array(value), states)
    return RateChain(np.arange(states), rates, Entries(np.array([0]), np.array([0]), np.array([1.0])))


def whole(chain: RateChain) -> Lumped:
    """Its quotient by what tells all states apart."""
    from kubeproof.quantify.rates.lumping import lump

    return lump(chain, np.arange(chain.states, dtype=float)[:, None])


@needs_storm
@pytest.mark.parametrize("seed", range(3))
def test_storm_says_the_same(seed: int) -> None:
    from kubeproof.quantify.rates.endless import reach_after
    from kubeproof.quantify.rates.transient import look_ahead
    from kubeproof.quantify.storm import storm

    chain = whole(make_chain(seed, 12))
    goal = np.arange(12) == 11
    stormpy = storm()
    builder = stormpy.datastructures.SparseMatrixBuilder[float](rows=12, columns=12, entries=len(chain.rates.row) + 1)
    for row, column, value in zip(chain.rates.row, chain.rates.column, chain.rates.value, strict=True):
        builder.add_next_value(int(row), int(column), float(value))
    builder.add_next_value(11, 11, 1.0)
    labels = stormpy.models.StateLabeling(12)
    for name, state in (("init", 0), ("goal", 11)):
        labels.add_label(name)
        labels.add_label_to_state(name, state)
    parts = stormpy.models.SparseModelComponents[float](
        transition_matrix=builder.build(), state_labeling=labels, rate_transitions=True
    )
    model = stormpy.models.SparseCtmc[float](parts)

    def check(text: str) -> float:
        formula = stormpy.parse_properties(text)[0]
        return float(stormpy.model_checking(model, formula, only_initial_states=True)[0])

    ahead = look_ahead(chain, 100.0, goal[:, None].astype(float), np.ones((12, 1)))
    assert ahead.ends[0, 0] == pytest.approx(check('P=? [F<=100 "goal"]'), abs=2e-6)
    assert ahead.sums[:, 0] == pytest.approx(100.0)
    assert reach_after(chain, goal)[0] == pytest.approx(check('T=? [F "goal"]'), rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_squaring_and_the_space_of_vectors_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubeproof.quantify.rates import transient

    chain = whole(make_chain(seed, 60))
    ends, per_second = (np.arange(60) == 59).astype(float)[:, None], np.linspace(0, 1, 60)[:, None]
    for seconds in (10.0, 1e4, 3e7):
        squared = transient.look_ahead(chain, seconds, ends, per_second)
        with monkeypatch.context() as patch:
            patch.setattr(transient, "MOST_SQUARED", 1)
            found = transient.look_ahead(chain, seconds, ends, per_second)
        assert np.abs(found.ends - squared.ends).max() <= max(10 * found.error, 1e-9)
        assert np.abs(found.sums - squared.sums).max() <= max(10 * found.error, 1e-9) * seconds


@pytest.mark.parametrize("seed", range(3))
def test_a_chain_of_two_copies_is_as_small_as_one_and_says_the_same(seed: int) -> None:
    from kubeproof.quantify.rates.chain import Entries, RateChain
    from kubeproof.quantify.rates.endless import reach, reach_after, share_of_time
    from kubeproof.quantify.rates.lumping import lump

    one = make_chain(seed, 20, ends=2)
    rates = one.rates
    half = [rates.value / 2] * 2
    twice = Entries.add_up(
        np.concatenate((rates.row, rates.row, rates.row + 20, rates.row + 20)),
        np.concatenate((rates.column, rates.column + 20) * 2),
        np.concatenate(half * 2),
        40,
    )
    double = RateChain(np.arange(40), twice, one.first)

    small = lump(double, np.tile(np.arange(20.0), 2)[:, None])

    assert small.states == 20
    for goal in (np.arange(20) == 19, np.arange(20) >= 18):
        plain = whole(one)
        assert reach(small, goal)[0] == pytest.approx(reach(plain, goal)[0], rel=1e-12)
        assert reach_after(small, goal)[0] == pytest.approx(reach_after(plain, goal)[0], rel=1e-12)
        marked = goal[:, None].astype(float)
        assert share_of_time(small, marked)[0] == pytest.approx(reach(plain, goal)[0], rel=1e-9)


def test_states_that_differ_in_a_rate_are_kept_apart() -> None:
    from kubeproof.quantify.rates.chain import Entries, RateChain
    from kubeproof.quantify.rates.lumping import lump

    def sizes(other: float) -> int:
        rates = Entries(np.array([0, 1]), np.array([2, 2]), np.array([1e-6, other]))
        chain = RateChain(np.arange(3), rates, Entries(np.array([0]), np.array([0]), np.array([1.0])))
        return lump(chain, np.array([[0.0], [0.0], [1.0]])).states

    assert (sizes(1e-6), sizes(1.000001e-6)) == (2, 3)


def test_a_birth_and_death_chain_has_its_closed_forms() -> None:
    """Four machines that fail at rate 1e-7 and one crew that repairs at rate 1e-3: M/M/1//4."""
    from kubeproof.quantify.rates.chain import Entries, RateChain
    from kubeproof.quantify.rates.endless import reach_after, share_of_time

    fails, mends = 1e-7, 1e-3
    row = np.array([0, 1, 1, 2, 2, 3, 3, 4])
    column = np.array([1, 0, 2, 1, 3, 2, 4, 3])
    value = np.array([4 * fails, mends, 3 * fails, mends, 2 * fails, mends, fails, mends])
    chain = RateChain(np.arange(5), Entries(row, column, value), Entries(np.array([0]), np.array([0]), np.array([1.0])))
    weights, ratio = [1.0], fails / mends
    for machines in (4, 3, 2, 1):
        weights.append(weights[-1] * machines * ratio)
    small = whole(chain)

    shares = share_of_time(small, np.eye(5))[0]

    assert shares == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-12)
    expected = 1 / (4 * fails) + (1 + mends / (4 * fails)) / (3 * fails)
    assert reach_after(small, np.arange(5) == 2)[0] == pytest.approx(expected, rel=1e-12)
