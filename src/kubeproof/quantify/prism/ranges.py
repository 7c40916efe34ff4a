"""Ranges of constants: N=1..9, p=0.1..0.5/0.1; and all that they stand for together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import product

from kubeproof.errors import UsageError
from kubeproof.values import dataclass

MOST_CASES = 1000
PARTS = 20  # of a range of broken numbers, unless a step is given
_NUMBER = r"-?\d{1,15}(?:\.\d{1,15})?(?:e-?\d{1,2})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:/({_NUMBER}))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers between two, and the distance of those that are tried."""

    least: Decimal
    greatest: Decimal
    step: Decimal

    @property
    def values(self) -> tuple[str, ...]:
        """What is tried, from the least on."""
        count = int((self.greatest - self.least) / self.step) + 1
        return tuple(_show(self.least + number * self.step) for number in range(count))

    @property
    def middle(self) -> Decimal:
        return (self.least + self.greatest) / 2


def read_range(name: str, text: str, flag: str) -> Range | None:
    """The range that a text stands for; None if it is a single value."""
    found = _RANGE.fullmatch(text)
    if found is None:
        return None
    least, greatest = Decimal(found[1]), Decimal(found[2])
    is_whole = all(number == number.to_integral_value() for number in (least, greatest))
    step = Decimal(found[3]) if found[3] else Decimal(1) if is_whole else (greatest - least) / PARTS
    if step <= 0 or least >= greatest:
        remedy = f"Write the lesser number first, such as {flag} N=1..9 or {flag} p=0.1..0.5/0.1"
        raise UsageError(f"{flag} {name}={text} is no range", remedy)
    if (greatest - least) / step >= MOST_CASES:
        raise UsageError(f"{flag} {name}={text} has more than {MOST_CASES} values", "Take a larger step.")
    return Range(least, greatest, step)


def list_cases(constants: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[dict[str, str], ...]]:
    """The names of the constants that range, and the constants of every case."""
    ranges = {name: read_range(name, text, "--const") for name, text in constants.items()}
    swept = tuple(name for name, found in ranges.items() if found is not None)
    cases = tuple(_combine(constants, {name: found for name, found in ranges.items() if found is not None}))
    if len(cases) > MOST_CASES:
        raise UsageError(f"--const stands for {len(cases):,} models", f"At most {MOST_CASES} are checked at a time.")
    return swept, cases


def _combine(constants: Mapping[str, str], ranges: Mapping[str, Range]) -> Iterator[dict[str, str]]:
    if not ranges:
        yield dict(constants)
        return
    for values in product(*(found.values for found in ranges.values())):
        yield {**constants, **dict(zip(ranges, values, strict=True))}


def _show(number: Decimal) -> str:
    """The number without zeros at its end."""
    text = f"{number.normalize():f}"
    return "0" if text == "-0" else text
