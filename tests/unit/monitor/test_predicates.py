"""Predicates on events are parsed, never executed."""

from __future__ import annotations

import pytest

from kubeproof.errors import FormulaError
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.predicates import parse

EVENT = Event(0, "create pods", "system:scheduler", "shop/web-1", "k", attributes={"code": "409", "reason": "Conflict"})


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("name == 'create pods'", True),
        ("name != 'create pods'", False),
        ("source matches system:*", True),
        ("source matches user:*", False),
        ("target in [shop/web-1, shop/web-2]", True),
        ("code >= 400 and code < 500", True),
        ("code > 409 or code <= 1.5", False),
        ("reason > 3", False),
        ("missing exists", False),
        ("reason exists and not (key == m)", True),
        ("true and not false", True),
    ],
)
def test_a_predicate_means_what_it_says(text, holds):
    assert parse(text).holds(EVENT) is holds


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, "lacks a field at its end"),
        ("name", 5, "lacks a comparison"),
        ("name == ", 9, "lacks a value"),
        ("name == a b", 11, "goes on unexpectedly"),
        ("(name == a", 11, "lacks \\)"),
        ("code > x", 8, "lacks a number"),
        ("name in a", 9, "lacks \\["),
        ("name in [a", 11, "lacks \\]"),
        ("(" * 60 + "name == a", 52, "nested too deeply"),
        ("not " * 60 + "name == a", 209, "nested too deeply"),
        ("name == a; import os", 12, "goes on unexpectedly"),
    ],
)
def test_a_mistake_is_told_with_its_column(text, column, problem):
    with pytest.raises(FormulaError, match=problem) as caught:
        parse(text)

    assert caught.value.column == column
