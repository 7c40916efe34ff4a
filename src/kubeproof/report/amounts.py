"""Numbers with as many digits as tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

LEAST, MOST = 4, 9  # significant digits


def amount(value: float, digits: int = LEAST) -> str:
    """So many significant digits, at least two after the point: 0.1644, 12.50, 1234.56."""
    if not value:
        return "0.00"
    return f"{value:.{max(2, digits - 1 - floor(log10(abs(value))))}f}"


def amounts(values: Sequence[float | None]) -> list[str]:
    """A column of numbers, with as many digits as it takes that different ones look different; "" for None."""
    different = {f"{value:.{MOST}g}" for value in values if value is not None}
    for digits in range(LEAST, MOST + 1):
        shown = ["" if value is None else amount(value, digits) for value in values]
        if len(set(shown) - {""}) >= len(different):
            break
    return shown
