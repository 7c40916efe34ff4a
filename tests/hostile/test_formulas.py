"""Formulas of any shape and length end in an answer or in an error that names the column, never in a full stack."""

import pytest

from kubeproof.errors import FormulaError, LimitReached
from kubeproof.logic.automata import tableau
from kubeproof.logic.automata.decompose import PropertyClass
from kubeproof.logic.parser import MOST_DEPTH, MOST_OPERATORS
from kubeproof.logic.property import from_formula

DEEPEST = {
    "parentheses": "(" * MOST_DEPTH + "p" + ")" * MOST_DEPTH,
    "negations": "!" * MOST_DEPTH + "p",
    "next": "X " * MOST_DEPTH + "p",
    "conjunctions": "p & " * MOST_OPERATORS + "p",
    "equivalences": "p <-> " * MOST_OPERATORS + "p",
    "implications": "p -> " * MOST_DEPTH + "p",
    "untils": "p U " * MOST_DEPTH + "q",
}
TOO_DEEP = {
    "parentheses": ("(" * 5000 + "p" + ")" * 5000, "nested too deeply"),
    "negations": ("!" * 5000 + "p", "too many operators"),
    "next": ("X " * (MOST_DEPTH + 1) + "p", "nested too deeply"),
    "conjunctions": ("p & " * 5000 + "p", "too many operators"),
    "implications": ("p -> " * (MOST_DEPTH + 1) + "p", "nested too deeply"),
    "untils": ("p U " * (MOST_DEPTH + 1) + "q", "nested too deeply"),
}


@pytest.mark.parametrize("shape", DEEPEST)
def test_the_deepest_formula_that_is_read_is_also_judged(shape):
    one = from_formula(DEEPEST[shape])

    assert one.kind is not None
    assert one.parts.safety.alphabet == one.automaton.alphabet


@pytest.mark.parametrize("shape", TOO_DEEP)
def test_a_deeper_formula_is_refused_with_its_column(shape):
    text, problem = TOO_DEEP[shape]

    with pytest.raises(FormulaError, match=rf"column \d+: the formula .*{problem}"):
        from_formula(text)


def test_a_liveness_property_of_many_propositions_needs_no_subsets():
    text = " & ".join(f"(G F p{i} -> G F q{i})" for i in range(3))

    assert from_formula(text).kind is PropertyClass.LIVENESS


def test_an_automaton_that_takes_too_long_to_build_is_a_limit(monkeypatch):
    monkeypatch.setattr(tableau, "MOST_COMPARISONS", 50)

    with pytest.raises(LimitReached, match="E302 the automaton of the formula takes too long to build"):
        from_formula(" & ".join(f"(G F p{i} -> G F q{i})" for i in range(3)))
