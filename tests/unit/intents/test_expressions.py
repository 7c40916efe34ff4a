"""Predicates: how they are read, and what is refused at which column."""

import pytest

from kubeproof.errors import PredicateError
from kubeproof.intents.predicates.expressions import Call, Constant, Operation, calls, parse_predicate


def test_operators_bind_as_documented():
    found = parse_predicate("ready() + 2 * pending() >= 3 && !stable || desired() == -1")

    assert found == Operation(
        "||",
        (
            Operation(
                "&&",
                (
                    Operation(
                        ">=",
                        (
                            Operation(
                                "+",
                                (
                                    Call("ready", (), 1),
                                    Operation("*", (Constant(2, 11), Call("pending", (), 15)), 13),
                                ),
                                9,
                            ),
                            Constant(3, 28),
                        ),
                        25,
                    ),
                    Operation("!", (Call("stable", (), 34),), 33),
                ),
                30,
            ),
            Operation("==", (Call("desired", (), 44), Constant(-1, 58)), 54),
        ),
        41,
    )


def test_words_may_stand_for_operators():
    assert parse_predicate("not stable and (true or false)") == Operation(
        "&&",
        (
            Operation("!", (Call("stable", (), 5),), 1),
            Operation("||", (Constant(True, 17), Constant(False, 25)), 22),
        ),
        12,
    )


def test_arguments_go_by_place_or_by_name_and_come_in_one_order():
    by_name = parse_predicate("evicted(by='drain', target='Pod/a')")
    by_place = parse_predicate("evicted('Pod/a', 'drain')")

    assert list(calls(by_name)) == list(calls(by_place)) == [Call("evicted", (("target", "Pod/a"), ("by", "drain")), 1)]


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("redy('Pod/a') > 1", 1, "has an unknown name 'redy'. Did you mean ready?"),
        ("ready('Pod/a')", 1, "is a number, not true or false"),
        ("ready('Pod/a') = 1", 16, "goes on unexpectedly before '='. Compare with =="),
        ("ready(Pod) > 1", 7, "gives ready a target that is not text before 'Pod'"),
        ("ready('Pod/a', 'a=b', 'x', 'y') > 1", 28, "gives ready too many arguments"),
        ("ready(targt='Pod/a') > 1", 7, "gives ready an unknown 'targt'. Did you mean target?"),
        ("ready('Pod/a', target='Pod/b') > 1", 16, "gives ready its target twice"),
        ("exists()", 1, "calls exists without target. Write exists(target)"),
        ("nodes(ready='yes') > 1", 13, "gives nodes a ready that is not true or false"),
        ("evicted(by='deschedular')", 12, "an unknown by 'deschedular'. Did you mean descheduler?"),
        ("stable > 1", 8, "compares truth value with number by >"),
        ("stable < stable", 8, "compares truth value with truth value by <"),
        ("1 < 2 < 3", 7, "compares twice in a row"),
        ("ready() && true", 1, "gives && a number"),
        ("!ready()", 2, "gives ! a number"),
        ("stable + 1 > 0", 1, "gives + a truth value"),
        ("(stable", 8, "lacks ) at its end. Close the parenthesis opened in column 1"),
        ("ready() >", 10, "lacks a value at its end"),
        ("ready() > ; 1", 11, "has an unknown character ';'"),
        ("ready() > 10000000000000", 11, "has too large a number"),
        ("", 1, "lacks a value at its end"),
        ("failed() > ready()", 1, "uses failed in a way that needs an exact count"),
        ("3 - failed() > 1", 5, "uses failed in a way that needs an exact count"),
        ("(" * 150 + "stable" + ")" * 150, 32, "is nested too deeply"),
        ("!" * 150 + "stable", 32, "is nested too deeply"),
    ],
)
def test_a_mistake_is_told_with_its_column(text, column, problem):
    with pytest.raises(PredicateError) as refused:
        parse_predicate(text)

    assert (refused.value.column, problem in str(refused.value)) == (column, True), str(refused.value)


def test_failed_pods_are_compared_with_written_numbers():
    assert isinstance(parse_predicate("failed('Pod/a') + running('Pod/a') <= 3"), Operation)


def test_a_text_without_end_is_refused_not_read_for_ever():
    with pytest.raises(PredicateError, match="too long"):
        parse_predicate("1 + " * 3000 + "1 == 1")


def test_a_chain_of_operators_is_read_up_to_a_bound():
    assert isinstance(parse_predicate(" && ".join(["stable"] * 201)), Operation)
    with pytest.raises(PredicateError, match="column 2008: the predicate has too many operators"):
        parse_predicate(" && ".join(["stable"] * 202))
