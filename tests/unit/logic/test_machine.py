"""Machines, progress and stronger formulas against the direct meaning of formulas."""

from random import Random

import pytest

from kubeproof.logic.alphabet import Alphabet
from kubeproof.logic.lasso import Lasso, holds
from kubeproof.logic.machine import BROKEN, SAFE, Machine
from kubeproof.logic.normal import normal
from kubeproof.logic.parser import names_in, parse
from kubeproof.logic.progress import is_ruled_out, progress
from kubeproof.logic.vacuity import strengthen
from tests.property.automata import PROPOSITIONS, random_formula, random_word


def _follow(machine, word):
    memory = machine.start
    for letter in word:
        memory = machine.step(memory, machine.alphabet.letter(letter))
    return memory


@pytest.mark.parametrize("number", range(4))
def test_a_machine_judges_words_that_end_in_one_letter_as_the_formula_does(number):
    random = Random(number)
    for _ in range(100):
        formula, word = random_formula(random, 3), random_word(random)
        machine = Machine(formula, Alphabet(propositions=PROPOSITIONS))
        letters, last = word.letters, word.letters[-1]
        memory = _follow(machine, letters)

        breaks = machine.breaks_at_rest(memory, machine.alphabet.letter(last))

        assert breaks == (not holds(formula, Lasso(letters, (last,)))), (formula, word)


@pytest.mark.parametrize("number", range(4))
def test_broken_and_safe_are_what_no_continuation_changes(number):
    random = Random(10 + number)
    for _ in range(100):
        formula, word = random_formula(random, 3), random_word(random)
        memory = _follow(Machine(formula, Alphabet(propositions=PROPOSITIONS)), word.letters)

        assert (memory == BROKEN) == is_ruled_out(formula, word.letters), (formula, word)
        assert memory != BROKEN or not holds(formula, Lasso(word.letters, word.loop)), (formula, word)
        assert memory != SAFE or holds(formula, Lasso(word.letters, word.loop)), (formula, word)


def test_progress_keeps_the_meaning():
    random = Random(20)
    for _ in range(300):
        formula, word = random_formula(random, 3), random_word(random)
        rest = Lasso(word.letters[1:], word.loop) if word.stem else Lasso(word.loop[1:], word.loop)

        assert holds(formula, word) == holds(progress(normal(formula), word.letters[0]), rest), (formula, word)


def test_stronger_formulas_imply_the_formula():
    random = Random(30)
    for _ in range(300):
        formula, word = random_formula(random, 4), random_word(random)

        assert all(holds(formula, word) for one in strengthen(formula) if holds(one, word)), (formula, word)


@pytest.mark.parametrize(
    ("formula", "stronger"),
    [
        ("G(p -> F q)", ["G(p -> false)"]),
        ("G F p", []),
        ("!(p -> q)", ["!(p -> true)"]),
        ("(p -> q) -> r", ["(p -> q) -> false", "(p -> true) -> r"]),
        ("p <-> (q -> r)", []),
    ],
)
def test_only_right_sides_of_implications_are_made_harder(formula, stronger):
    assert strengthen(parse(formula)) == tuple(parse(text) for text in stronger)


def test_a_formula_that_nothing_satisfies_is_broken_by_the_first_letter():
    machine = Machine(parse("p & !p"))

    assert machine.step(machine.start, 0) == BROKEN
    assert machine.step(BROKEN, 1) == BROKEN


def test_a_formula_that_always_holds_is_safe_from_the_start():
    machine = Machine(parse("p | !p"))

    assert machine.step(machine.start, 0) == SAFE
    assert machine.breaks_at_rest(SAFE, 0) is False


def test_names_come_with_their_columns():
    assert names_in('G(p -> F "q r") & p') == (("p", 3), ("q r", 10), ("p", 19))
