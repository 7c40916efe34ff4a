"""Quantities are exact and bounded."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubeproof.cluster.api.quantity import QuantityError, milli, parse_quantity, units


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("2", 2),
        ("+2", 2),
        ("-2", -2),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("0.1", Fraction(1, 10)),
        ("500m", Fraction(1, 2)),
        ("1u", Fraction(1, 10**6)),
        ("1n", Fraction(1, 10**9)),
        ("1k", 1000),
        ("1M", 10**6),
        ("1G", 10**9),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("1Ki", 1024),
        ("1Mi", 2**20),
        ("1.5Gi", 3 * 2**29),
        ("1Ti", 2**40),
        ("1Pi", 2**50),
        ("1Ei", 2**60),
        ("1e3", 1000),
        ("1E3", 1000),
        ("12e-1", Fraction(6, 5)),
        ("9223372036854775807", 2**63 - 1),
    ],
)
def test_every_notation_has_its_exact_value(text: str, value: Fraction | int) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1K",
        "1mi",
        "1KiB",
        ".",
        "1e",
        "1e+",
        "--1",
        "1_000",
        "0x10",
        "1,5",
        "NaN",
        "inf",
        "\u0661",
        "1Gi\n",
    ],
)
def test_what_is_not_a_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


@pytest.mark.parametrize("text", ["1e999999999", "1e-999999999", "9" * 5000, "9223372036854775808", "8Ei"])
def test_absurd_quantities_are_refused_without_computing_them(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


def test_cpu_is_rounded_up_to_a_milli() -> None:
    assert (milli("0.1"), milli("1m"), milli("1u"), milli("1.0001"), milli("2")) == (100, 1, 1, 1001, 2000)


def test_other_resources_are_rounded_up_to_a_unit() -> None:
    assert (units("1.5"), units("100m"), units("1Ki"), units("0")) == (2, 1, 1024, 0)


def test_milli_beyond_the_bound_is_refused() -> None:
    with pytest.raises(QuantityError):
        milli("1E")
    with pytest.raises(QuantityError):
        milli("9223372036854776")


@given(st.integers(0, 10**12))
def test_equivalent_notations_are_equal(number: int) -> None:
    assert parse_quantity(f"{number}k") == parse_quantity(f"{number}e3") == parse_quantity(f"{number}000")


@given(st.text(max_size=80))
def test_any_text_is_a_quantity_or_a_quantity_error(text: str) -> None:
    with suppress(QuantityError):
        assert abs(parse_quantity(text)) < 2**63
