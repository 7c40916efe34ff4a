import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.report.escape import escape


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("web", "web"),
        ("größe 東京", "größe 東京"),
        ("a\nb", "a\\nb"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\x7f", "\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202egnp", "\\u202egnp"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("a\u2028b", "a\\u2028b"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
    ],
)
def test_characters_that_do_not_print_as_themselves_are_spelled_out(hostile, shown):
    assert escape(hostile) == shown


@given(st.text())
def test_whatever_comes_in_prints_on_one_line(text):
    assert escape(text).isprintable()
