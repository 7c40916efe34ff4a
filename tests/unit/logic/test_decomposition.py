"""Known answers: numbers of lasso words in a language, its closure and its liveness part."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from kubeproof.logic.automata.automaton import Buchi, from_letters
from kubeproof.logic.automata.complement import complement
from kubeproof.logic.automata.decompose import PropertyClass, classify, decompose
from kubeproof.logic.lasso import Lasso, lassos

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
SAMPLE = 47  # every so many words are also judged one by one


def automaton(entry: dict[str, Any]) -> Buchi:
    return from_letters(entry["alphabet"], entry["init"], entry["trans"], entry["acc"], entry["states"])


def accepted(one: Buchi, letters: range, longest_stem: int, longest_loop: int) -> list[bool]:
    """Whether each word is accepted, in the order of `lassos`.

    A stem leads to a set of states, and a loop alone is accepted from some states: each is worked out once, not once
    per word.
    """
    found = []
    for stem_length in range(longest_stem + 1):
        for loop_length in range(1, longest_loop + 1):
            loops = [good_states(one, loop) for loop in product(letters, repeat=loop_length)]
            for stem in product(letters, repeat=stem_length):
                reached = frozenset(one.initial)
                for letter in stem:
                    reached = one.step(reached, letter)
                found += [not reached.isdisjoint(good) for good in loops]
    return found


def good_states(one: Buchi, loop: tuple[int, ...]) -> frozenset[int]:
    """The states from which the loop for ever is accepted."""
    word = Lasso((), loop)
    return frozenset(state for state in range(one.size) if replace(one, initial=(state,)).accepts(word))


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["name"])
def test_the_parts_accept_as_many_lassos_as_computed_by_hand(entry: dict[str, Any]) -> None:
    expected, whole = entry["expected"], automaton(entry)
    parts = decompose(whole)
    letters = range(len(entry["alphabet"]))
    bounds = expected["max_u"], expected["max_v"]

    answers = [accepted(one, letters, *bounds) for one in (whole, parts.safety, parts.liveness)]

    assert len(answers[0]) == expected["lassos"]
    assert [sum(answer) for answer in answers] == [expected["L"], expected["closure"], expected["liveness"]]
    assert answers[0] == [safe and live for safe, live in zip(answers[1], answers[2], strict=True)]
    for place, word in enumerate(lassos(letters, *bounds)):
        if place % SAMPLE == 0:
            assert [one.accepts(word) for one in (whole, parts.safety, parts.liveness)] == [a[place] for a in answers]


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: entry["name"])
def test_class_and_determinism_are_found_out(entry: dict[str, Any]) -> None:
    whole = automaton(entry)

    assert whole.is_deterministic is entry["deterministic"]
    assert (
        classify(whole, complement(whole)) is CLASSES[entry["expected"]["is_safety"], entry["expected"]["is_liveness"]]
    )
