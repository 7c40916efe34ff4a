"""Looking ahead with fractions: right as long as they are short, refused before they are too long."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kubeproof.quantify.chains.arrays import ModelArrays, model_from_arrays
from kubeproof.quantify.checking import Answer
from kubeproof.quantify.clusters import exact
from kubeproof.quantify.clusters.exact import look_ahead
from kubeproof.quantify.storm import StormRefusal
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm
SHARE = 0.001  # no short fraction in binary


def answer(horizon_s: int, told: list[str] | None = None) -> Answer:
    """How likely a state is left within the horizon, which happens once in a thousand intervals of 5 s."""
    arrays = ModelArrays(
        choice_starts=np.array([0, 1, 2]), row_starts=np.array([0, 2, 3]), columns=np.array([0, 1, 1]),
        probabilities=np.array([1 - SHARE, SHARE, 1.0]), labels={"bad": np.array([1])},
        rewards={"time": np.array([5.0, 5.0])},
    )  # fmt: skip
    model = model_from_arrays(arrays, exact=True)
    tell = (lambda line: None) if told is None else told.append
    return look_ahead(model, lambda ahead_s: f'Pmax=? [F{{"time"}}<={ahead_s} "bad"]', horizon_s, 5, tell)


def test_fractions_that_stay_short_give_the_exact_value() -> None:
    told: list[str] = []

    assert answer(500, told).value == 1 - (1 - Fraction(SHARE)) ** 100
    assert told == [*(f"fractions: {500 // part} of 500 s ahead" for part in (16, 8, 4, 2)), "fractions: 500 s ahead"]


def test_fractions_that_would_become_too_long_are_refused_early(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(exact, "MOST_BITS", 10**6)
    with pytest.raises(StormRefusal, match=r"too long to look 50000 s ahead \([\d,]+ bits after 3125 s\); leave out"):
        answer(50_000, told)

    assert told == ["fractions: 3,125 of 50,000 s ahead"]


def test_a_few_instants_need_no_trial() -> None:
    told: list[str] = []

    assert answer(80, told).value == 1 - (1 - Fraction(SHARE)) ** 16
    assert len(told) == 1
