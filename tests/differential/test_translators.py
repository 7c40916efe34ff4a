"""Our automata against those of other programs, where these are installed: equal languages, not samples of words."""

from __future__ import annotations

import shutil
from random import Random

import pytest

from kubeproof.logic.automata.automaton import is_empty
from kubeproof.logic.automata.operations import intersection
from kubeproof.logic.automata.translate import translate
from kubeproof.logic.formula import Formula, Op, unary
from kubeproof.logic.lasso import holds
from kubeproof.logic.normal import negate
from tests.differential import translators
from tests.differential.translators import ALPHABET, Translator, is_for_spin
from tests.property.automata import PROPOSITIONS, random_formula, random_word

FEW, MANY = 120, 4_000


def check_same_language(formula: Formula, other: Translator) -> None:
    """Neither program accepts a word that the other one accepts for the negated formula."""
    ours, opposite = translate(formula, ALPHABET), translate(negate(formula), ALPHABET)

    assert is_empty(intersection(other(formula), opposite)), str(formula)
    assert is_empty(intersection(other(unary(Op.NOT, formula)), ours)), str(formula)


def check_many(name: str, seeds: range) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    for seed in seeds:
        formula = random_formula(Random(f"{name}/{seed}"), 2 + seed % 2)
        if name == "lbt" or is_for_spin(formula):
            check_same_language(formula, getattr(translators, name))


@pytest.mark.parametrize("name", ["lbt", "spin"])
def test_another_program_gives_the_same_language(name: str) -> None:
    check_many(name, range(FEW))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lbt", "spin"])
def test_another_program_gives_the_same_language_for_many_more_formulas(name: str) -> None:
    check_many(name, range(FEW, MANY))


def storm_text(formula: Formula) -> str:
    """The formula in the words of Storm, which knows neither implications nor releases in paths."""
    parts = [f"({storm_text(part)})" for part in formula.parts]
    match formula.op:
        case Op.TRUE | Op.FALSE:  # as labels: Storm stumbles over negated constants
            return f'"{formula.op.value}"'.replace("true", "yes").replace("false", "no")
        case Op.ATOM:
            return f'"{formula.name}"'
        case Op.NOT | Op.NEXT | Op.FINALLY | Op.GLOBALLY:
            return f"{formula.op.value} {parts[0]}"
        case Op.AND | Op.OR | Op.UNTIL:
            return f" {formula.op.value} ".join(parts)
        case Op.IMPLIES:
            return f"(!{parts[0]}) | {parts[1]}"
        case Op.EQUIVALENT:
            return f"({parts[0]} & {parts[1]}) | ((!{parts[0]}) & (!{parts[1]}))"
        case Op.WEAK_UNTIL:
            return f"({parts[0]} U {parts[1]}) | (G {parts[0]})"
        case Op.RELEASE:
            return f"!((!{parts[0]}) U (!{parts[1]}))"
        case _:
            return f"{parts[1]} U ({parts[0]} & {parts[1]})"


WORDS = [random_word(Random(f"storm word/{number}")) for number in range(16)]


def chain() -> str:
    """A Markov chain that picks one of the words at its first step and follows it."""
    first, lines, place = [], [], 1
    labels: dict[str, list[int]] = {name: [] for name in PROPOSITIONS}
    for word in WORDS:
        first.append(place)
        for number, letter in enumerate(word.letters):
            lines.append(f"  [] s={place + number} -> (s'={place + word.after(number)});")
            for name in letter:
                labels[name].append(place + number)
        place += len(word.letters)
    choice = " + ".join(f"1/{len(WORDS)}: (s'={target})" for target in first)
    named = [
        f'label "{name}" = {" | ".join(f"s={state}" for state in states) or "false"};'
        for name, states in labels.items()
    ]
    head = ["dtmc", "module words", f"  s : [0..{place - 1}] init 0;", f"  [] s=0 -> {choice};"]
    return "\n".join([*head, *lines, "endmodule", *named, 'label "yes" = true;', 'label "no" = false;', ""])


def test_storm_finds_the_same_share_of_words(tmp_path) -> None:
    stormpy = pytest.importorskip("stormpy")
    file = tmp_path / "words.prism"
    file.write_text(chain())
    program = stormpy.parse_prism_program(str(file))
    model = stormpy.build_model(program)
    for seed in range(60):
        formula = random_formula(Random(f"storm/{seed}"), 2 + seed % 2)
        (wanted,) = stormpy.parse_properties(f"P=? [ X ({storm_text(formula)}) ]", program)
        found = stormpy.model_checking(model, wanted).get_value(model.initial_states[0])
        automaton = translate(formula, ALPHABET)
        words = [[tuple(ALPHABET.letter(letter) for letter in part) for part in word] for word in WORDS]
        accepted = sum(automaton.accepts(type(WORDS[0])(*word)) for word in words)

        assert round(found * len(WORDS), 6) == accepted == sum(holds(formula, word) for word in WORDS), str(formula)
