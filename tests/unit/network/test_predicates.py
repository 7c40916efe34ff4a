"""Predicates on parameters: what they mean, and where mistakes are."""

from __future__ import annotations

import pytest

from kubeproof.errors import FormulaError, UsageError
from kubeproof.network.properties.automata import Letter, ltl_property, path_automaton
from kubeproof.network.properties.parameters import Parameters, holds
from kubeproof.network.properties.predicates import Both, Either, Flag, Not, OneOf, Order, Same, parse

HERE = Parameters("fw", "a", "b", hop_count=2, path_id=1, process_id="p")


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("DROPPED", Flag("DROPPED")),
        ("DELIVERED", Same("CURRENT_NODE", "DESTINATION")),
        ("CURRENT_NODE == SOURCE", Same("CURRENT_NODE", "SOURCE")),
        ("CURRENT_NODE != fw", Not(OneOf("CURRENT_NODE", ("fw",)))),
        ("SOURCE in [a, 'b c']", OneOf("SOURCE", ("a", "b c"))),
        ("DESTINATION matches 10.0.0.0/8", OneOf("DESTINATION", ("10.0.0.0/8",))),
        ("HOP_COUNT<=6", Order("HOP_COUNT", "<=", 6)),
        (
            "DROPPED or HOP_COUNT > 1 and not DROPPED",
            Either((Flag("DROPPED"), Both((Order("HOP_COUNT", ">", 1), Not(Flag("DROPPED")))))),
        ),
    ],
)
def test_a_predicate_is_read_as_written(text: str, predicate: object) -> None:
    assert parse(text) == predicate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("CURRENT_NODE == fw", True),
        ("CURRENT_NODE matches f*", True),
        ("SOURCE == DESTINATION", False),
        ("HOP_COUNT == 2 and PATH_ID < 2", True),
        ("PROCESS_ID != p", False),
        ("DROP_NODE == fw", False),
        ("DROP_NODE matches *", False),
        ("not (DROPPED or true)", False),
    ],
)
def test_a_predicate_says_of_one_packet(text: str, value: bool) -> None:
    assert holds(parse(text), HERE, {}) is value


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("CURRENT_NOD == a", 1),
        ("CURRENT_NODE = a", 14),
        ("CURRENT_NODE ==", 16),
        ("HOP_COUNT <= many", 14),
        ("SOURCE in a", 11),
        ("DROPPED DROPPED", 9),
        ("CURRENT_NODE == a*", 17),
        ("(DROPPED", 9),
        ("__import__('os')", 1),
        ("(" * 200 + "DROPPED" + ")" * 200, 102),
    ],
)
def test_a_mistake_is_reported_with_its_column(text: str, column: int) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)

    assert caught.value.column == column


def test_an_unknown_proposition_of_a_formula_is_reported_at_its_column() -> None:
    with pytest.raises(FormulaError, match="unknown proposition 'there'") as caught:
        ltl_property("G !DROPPED -> F there")

    assert caught.value.column == 17


def test_a_mistake_in_a_quoted_predicate_is_reported_inside_the_formula() -> None:
    with pytest.raises(FormulaError) as caught:
        ltl_property('G "CURRENT_NODE = a"')

    assert caught.value.column == 17


def test_a_condition_sees_only_what_it_declares() -> None:
    one = path_automaton(
        letters=[Letter("x", lambda at: at.source == "a", reads=["CURRENT_NODE"]), Letter("y")],
        transitions=[],
        initial=["p"],
        accepting=[],
    )
    from kubeproof.network.check import check
    from kubeproof.network.files.generate import home
    from kubeproof.network.properties.machine import prepare

    with pytest.raises(UsageError, match="reads SOURCE, which it does not declare"):
        check(home(), prepare(one))


@pytest.mark.parametrize(
    ("letters", "transitions", "problem"),
    [
        ([Letter("x", "DROPPED")], [], "may match no letter"),
        ([Letter("x")], [("p", "z", "p")], "reads 'z', which no letter stands for"),
        ([Letter("x", lambda at: True, reads=["HOP_COUNT"]), Letter("y")], [], "counts without a bound"),
        ([Letter("x", lambda at: True, reads=["SKEWED"]), Letter("y")], [], "SKEWED cannot be read"),
    ],
)
def test_an_unusable_automaton_is_refused(
    letters: list[Letter], transitions: list[tuple[str, str, str]], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        path_automaton(letters=letters, transitions=transitions, initial=["p"], accepting=["p"])
