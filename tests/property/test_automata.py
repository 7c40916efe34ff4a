"""Automata against the direct meaning of formulas, and the laws of the decomposition."""

from __future__ import annotations

from random import Random

import pytest

from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.automata.complement import complement
from kubeproof.logic.automata.decompose import PropertyClass, classify, decompose
from kubeproof.logic.automata.operations import closure, determinise_closure
from kubeproof.logic.automata.translate import translate
from kubeproof.logic.formats.hoa import to_hoa
from kubeproof.logic.formats.hoa_reader import from_hoa
from kubeproof.logic.formula import atoms
from kubeproof.logic.lasso import holds, lassos
from kubeproof.logic.monitor import Truth, monitor_between, monitor_of
from kubeproof.logic.normal import negate, normal
from kubeproof.logic.parser import parse
from tests.property.automata import PROPOSITIONS, numbered, random_automaton, random_formula, random_word

WORDS = list(lassos((0, 1), 2, 3))
ALPHABET = Alphabet(propositions=PROPOSITIONS)
BLOCK = 500  # formulas or automata in one test


def check_formula(seed: int) -> None:
    random = Random(f"formula/{seed}")
    formula = random_formula(random, random.choice((2, 3, 4)))
    assert parse(str(formula)) == formula
    automaton, opposite = translate(formula, ALPHABET), translate(negate(formula), ALPHABET)
    for _ in range(12):
        word = random_word(random)
        expected = holds(formula, word)
        assert holds(normal(formula), word) is expected
        assert automaton.accepts(numbered(ALPHABET, word)) is expected, (str(formula), word)
        assert opposite.accepts(numbered(ALPHABET, word)) is not expected, (str(formula), word)


def check_automaton(seed: int) -> None:
    random = Random(f"automaton/{seed}")
    automaton = random_automaton(random)
    parts = decompose(automaton)
    again = closure(parts.safety)
    determined = determinise_closure(automaton)
    outside = complement(automaton)
    kind = classify(automaton, outside)
    for word in WORDS:
        accepted, safe = automaton.accepts(word), parts.safety.accepts(word)
        live = parts.liveness.accepts(word)
        assert accepted == (safe and live)
        assert safe or not accepted  # extensive
        assert again.accepts(word) == safe == determined.accepts(word)  # idempotent
        assert outside.accepts(word) != accepted
        assert safe == accepted or kind not in (PropertyClass.SAFETY, PropertyClass.BOTH)
        assert safe or kind not in (PropertyClass.LIVENESS, PropertyClass.BOTH)
    assert classify(parts.safety) in (PropertyClass.SAFETY, PropertyClass.BOTH)
    assert classify(parts.liveness) in (PropertyClass.LIVENESS, PropertyClass.BOTH)


def check_monitor(seed: int) -> None:
    random = Random(f"monitor/{seed}")
    formula = random_formula(random, 3)
    monitor = monitor_of(formula, ALPHABET)
    for _ in range(8):
        word = random_word(random)
        state = monitor.initial
        for letter in numbered(ALPHABET, word).letters:
            state = monitor.step(state, letter)
        verdict = monitor.verdicts[state]
        assert verdict is not Truth.VIOLATED or not holds(formula, word)
        assert verdict is not Truth.SATISFIED or holds(formula, word)


@pytest.mark.parametrize("block", range(6))
def test_the_automaton_of_a_formula_accepts_what_the_formula_says(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check_formula(seed)


@pytest.mark.parametrize("block", range(2))
def test_a_property_is_the_meet_of_its_two_parts(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check_automaton(seed)


def test_a_monitor_never_contradicts_a_continuation() -> None:
    for seed in range(BLOCK):
        check_monitor(seed)


def test_the_monitor_of_an_automaton_never_contradicts_a_continuation() -> None:
    for seed in range(BLOCK // 5):
        automaton = random_automaton(Random(f"automaton/{seed}"))
        monitor = monitor_between(automaton, complement(automaton))
        for word in WORDS:
            state = monitor.initial
            for letter in word.letters:
                state = monitor.step(state, letter)
            assert monitor.verdicts[state] is not Truth.VIOLATED or not automaton.accepts(word)
            assert monitor.verdicts[state] is not Truth.SATISFIED or automaton.accepts(word)


def test_hoa_files_are_read_back_as_the_same_automaton() -> None:
    for seed in range(BLOCK):
        formula = random_formula(Random(f"hoa/{seed}"), 3)
        automaton = translate(formula, Alphabet(propositions=atoms(formula)))
        read = from_hoa(to_hoa(automaton, name=str(formula)))
        assert (read.alphabet, read.initial, read.edges, read.accepting) == (
            automaton.alphabet,
            automaton.initial,
            automaton.edges,
            automaton.accepting,
        )


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6, 100))
def test_many_more_formulas(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check_formula(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2, 40))
def test_many_more_automata(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check_automaton(seed)
