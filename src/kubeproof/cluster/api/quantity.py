"""Kubernetes quantities ("500m", "1.5Gi", "1e3") as exact numbers.

Follows the grammar of `k8s.io/apimachinery/pkg/api/resource`. No floats anywhere. One difference: a
quantity beyond 2^63-1, which the API server silently caps, is refused here.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil

LARGEST = 2**63 - 1
_LONGEST_TEXT = 64  # characters; bounds the work on hostile input
_LARGEST_EXPONENT = 40  # 10^40 times anything with a digit in it is out of range or below a nano

_SHAPE = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?P<suffix>[eE][+-]?[0-9]+|[A-Za-z]*)", re.ASCII
)
_SUFFIXES = {
    "": Fraction(1),
    **{suffix: Fraction(1, 1000**power) for power, suffix in enumerate("mun", start=1)},
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", start=1)},
    **{suffix + "i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", start=1)},
}


class QuantityError(ValueError):
    """The text is not a quantity, or too large for one."""


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Fraction:
    """The exact value of a quantity; QuantityError if it is malformed or beyond 2^63-1."""
    if len(text) > _LONGEST_TEXT:
        raise QuantityError(f"a quantity has at most {_LONGEST_TEXT} characters")
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise QuantityError("not a quantity such as 500m, 2 or 1.5Gi")
    value = _decimal(shape["digits"]) * _factor(shape["suffix"])
    if value > LARGEST:
        raise QuantityError("a quantity is at most 2^63-1")
    return -value if shape["sign"] == "-" else value


def milli(text: str) -> int:
    """The quantity in thousandths, rounded up (CPU)."""
    return _check_bounds(ceil(parse_quantity(text) * 1000))


def units(text: str) -> int:
    """The quantity in whole units, rounded up (memory in bytes, everything else)."""
    return _check_bounds(ceil(parse_quantity(text)))


def _decimal(digits: str) -> Fraction:
    """The value of `digits`, `digits.`, `.digits` or `digits.digits`."""
    whole, _, fraction = digits.partition(".")
    return Fraction(int((whole + fraction) or "0"), 10 ** len(fraction))


def _factor(suffix: str) -> Fraction:
    """What the suffix multiplies with; `E` alone is exa, `E3` an exponent."""
    if suffix[:1] in ("e", "E") and suffix[-1].isdigit():
        return _power_of_ten(suffix[1:])
    if suffix not in _SUFFIXES:
        raise QuantityError("unknown suffix; use n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent")
    return _SUFFIXES[suffix]


def _power_of_ten(exponent: str) -> Fraction:
    """10 to the exponent, refused before it costs anything when it is absurd."""
    power = int(exponent)
    if abs(power) > _LARGEST_EXPONENT:
        raise QuantityError(f"an exponent lies between -{_LARGEST_EXPONENT} and {_LARGEST_EXPONENT}")
    return Fraction(10) ** power


def _check_bounds(number: int) -> int:
    if abs(number) > LARGEST:
        raise QuantityError("a quantity is at most 2^63-1")
    return number


def write_amount(resource: str, amount: int) -> str:
    """An amount as people write it: thousandths of a CPU as `500m`, bytes as `800Mi`."""
    if resource == "cpu":
        return f"{amount}m"
    if resource not in ("memory", "ephemeral-storage"):
        return str(amount)
    for suffix, unit in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if amount % unit == 0 and amount:
            return f"{amount // unit}{suffix}"
    return str(amount)
