"""`ltl` intents in a Scenario: what is read, and what is refused at which column."""

import json

import pytest

from kubeproof.errors import ScenarioError
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB = "Deployment/shop/web"


def intent_of(formula, **where):
    """The one intent of a scenario on a Deployment and two nodes."""
    text = json.dumps({"ltl": {"formula": formula, "where": where}})
    (intent,) = load_text(node("n1"), node("n2"), deployment("web"), scenario(f"intents: [{text}]")).scenario.intents
    return intent


def test_formula_and_predicates_are_kept_as_they_are_written():
    intent = intent_of("G(p -> F q)", p="ready() > 1", q="stable")

    assert (intent.key, intent.name, intent.target) == ("ltl", "ltl", None)
    assert (intent.formula, intent.where) == ("G(p -> F q)", (("p", "ready() > 1"), ("q", "stable")))


@pytest.mark.parametrize(
    ("formula", "where", "problem"),
    [
        ("G(p -> F qq)", {"p": "stable", "q": "stable"}, "formula column 10: names 'qq', which where does not have"),
        ("G(p -> F qq)", {"p": "stable", "qqq": "stable"}, "Did you mean qqq?"),
        ("G(p ->", {"p": "stable"}, "formula column 7: lacks a proposition at its end, in G(p ->"),
        ("G p", {"p": "stable", "q": "stable"}, "where has 'q', which the formula does not name"),
        ("G p", {"p": "stabel"}, "where.p column 1: has an unknown name 'stabel', in stabel. Did you mean stable?"),
        ("G p", {"p": "ready('Deployment/shop/wbe') > 1"}, "column 1: calls ready with target 'Deployment/shop/wbe'"),
        ("G p", {"p": "true && on('Deployment/shop/web', 'n3') > 1"}, "column 9: calls on with node 'n3'"),
        ("G p", {"p": "nodes(selector='a b') > 1"}, "a selector whose part 'a b' is none"),
        (
            "G p",
            {"p": "ready('Deployment/shop/web', selector='a') > 1"},
            "calls ready with both target and selector, in ",
        ),
        ('G "p q"', {"p q": "stable"}, "where has 'p q', which cannot be a name"),
        ("G p", {"p": ""}, "where.p is required"),
    ],
)
def test_a_mistake_is_refused_with_its_column_and_a_remedy(formula, where, problem):
    with pytest.raises(ScenarioError) as refused:
        intent_of(formula, **where)

    assert problem in str(refused.value), str(refused.value)
    assert str(refused.value).startswith("E201 <stdin>:")


def test_long_texts_are_shown_around_the_mistake():
    with pytest.raises(ScenarioError) as refused:
        intent_of("p & " * 30 + "oops" + " & p" * 30, p="stable")

    assert (
        "column 121: names 'oops', which where does not have, in ...p & p & p & p & p & oops & p & p & p & p ...."
        in str(refused.value)
    )


def test_more_propositions_than_letters_can_bear_are_refused():
    names = [f"p{number}" for number in range(13)]

    with pytest.raises(ScenarioError, match=r"where has 13 predicates. At most 12 are possible"):
        intent_of(" & ".join(names), **dict.fromkeys(names, "stable"))


def test_a_target_has_no_meaning_for_a_formula():
    text = json.dumps({"ltl": {"formula": "G p", "where": {"p": "stable"}, "target": WEB}})

    with pytest.raises(ScenarioError, match=r"unknown field spec\.intents\[0\]\.ltl\.target"):
        load_text(node("n1"), deployment("web"), scenario(f"intents: [{text}]"))
