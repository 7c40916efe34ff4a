"""Known answers: numbers of lasso words in a language, its closure and its liveness part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kubeproof.logic.automaton import Buchi, from_letters
from kubeproof.logic.complement import complement
from kubeproof.logic.decompose import PropertyClass, classify, decompose
from kubeproof.logic.lasso import lassos

FIXTURES = Path(__file__).parent / "fixtures"
KNOWN = [
    entry for name in ("automata_tests", "properties") for entry in json.loads((FIXTURES / f"{name}.json").read_text())
]
CLASSES = {
    (True, False): PropertyClass.SAFETY,
    (False, True): PropertyClass.LIVENESS,
    (True, True): PropertyClass.BOTH,
    (False, False): PropertyClass.NEITHER,
}


def automaton(entry: dict[str, Any]) -> Buchi:
    return from_letters(entry["alphabet"], entry["init"], entry["trans"], entry["acc"], entry["states"])


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["name"])
def test_the_parts_accept_as_many_lassos_as_computed_by_hand(entry: dict[str, Any]) -> None:
    expected, whole = entry["expected"], automaton(entry)
    parts = decompose(whole)
    words = list(lassos(range(len(entry["alphabet"])), expected["max_u"], expected["max_v"]))

    counts = [sum(one.accepts(word) for word in words) for one in (whole, parts.safety, parts.liveness)]

    assert len(words) == expected["lassos"]
    assert counts == [expected["L"], expected["closure"], expected["liveness"]]


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["name"])
def test_class_and_determinism_are_found_out(entry: dict[str, Any]) -> None:
    whole = automaton(entry)

    assert whole.is_deterministic is entry["deterministic"]
    assert (
        classify(whole, complement(whole)) is CLASSES[entry["expected"]["is_safety"], entry["expected"]["is_liveness"]]
    )
