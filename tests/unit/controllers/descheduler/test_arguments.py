"""Plugin arguments and selectors in text form."""

import pytest

from kubeproof.controllers.descheduler.arguments import Arguments, parse_selector


@pytest.mark.parametrize(
    ("text", "matches", "fails"),
    [
        ("", {}, None),
        ("a=b", {"a": "b"}, {"a": "c"}),
        ("a==b", {"a": "b"}, {}),
        ("a!=b", {}, {"a": "b"}),
        ("a", {"a": ""}, {}),
        ("!a", {}, {"a": "x"}),
        ("a in (b, c),d", {"a": "c", "d": ""}, {"a": "d", "d": ""}),
        ("a notin (b,c)", {"a": "d"}, {"a": "b"}),
        ("a>3", {"a": "4"}, {"a": "3"}),
        ("a<3", {"a": "2"}, {"a": "3"}),
    ],
)
def test_selectors_follow_kubectls_notation(text, matches, fails):
    assert parse_selector(text).matches(matches)
    assert fails is None or not parse_selector(text).matches(fails)


@pytest.mark.parametrize(
    ("value", "seconds"), [("1h30m", 5400.0), ("90s", 90.0), ("500ms", 0.5), ("1.5m", 90.0), (7, 7.0), (None, None)]
)
def test_durations_are_gos(value, seconds):
    assert Arguments({"age": value}).seconds("age") == seconds


def test_fields_of_another_type_count_as_absent():
    odd = Arguments({"flag": "yes", "number": True, "text": 3, "texts": "a", "map": 4})

    assert (odd.flag("flag"), odd.number("number"), odd.text("text"), odd.texts("texts")) == (False, None, "", ())
    assert odd.open_nested("map").fields == {}


def test_percentages_may_have_a_fraction():
    assert Arguments({"thresholds": (("cpu", "20.5"), ("pods", 30))}).percentages("thresholds") == {
        "cpu": 20.5,
        "pods": 30.0,
    }
