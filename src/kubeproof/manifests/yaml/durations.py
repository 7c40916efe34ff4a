"""Durations as Kubernetes flags write them: 40s, 1m30s, 5m."""

from __future__ import annotations

import re
from fractions import Fraction

from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_LARGEST_S = 10 * 365 * 24 * 3600
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|s|m|h)", re.ASCII)
_WHOLE = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,12})?(?:ms|s|m|h)){1,8}", re.ASCII)
_LONG = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(h|d|y)", re.ASCII)
_LONG_SECONDS = {"h": Fraction(3600), "d": Fraction(86400), "y": Fraction(365 * 86400)}
_LONGEST_S = 10**6 * 365 * 86400
_SECONDS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}


def read_seconds(fields: Fields, key: str) -> int | None:
    """The duration under a key in whole seconds; None if absent."""
    text = fields.text(key) if not is_bare_number(fields, key) else None
    if text is None:
        if fields.has(key):
            fields.fail(key, "has no unit", remedy="Write a duration such as 40s or 1m30s")
        return None
    seconds = parse_seconds(text)
    if seconds is None:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write whole seconds as a duration such as 40s or 1m30s")
    return seconds


def is_bare_number(fields: Fields, key: str) -> bool:
    """True for a number where a duration should be: it has no unit."""
    value = fields.value(key)
    return value is not None and getattr(value, "plain", False) and getattr(value, "text", "").isdigit()


def parse_seconds(text: str) -> int | None:
    """The duration in whole seconds; None if it is malformed, broken or beyond ten years."""
    if not _WHOLE.fullmatch(text):
        return None
    total = _seconds(text)
    return int(total) if total.denominator == 1 and total <= _LARGEST_S else None


def parse_long_seconds(text: str) -> int | None:
    """The duration in whole seconds, perhaps one number of days or years (of 365 days); up to a million years."""
    found = _LONG.fullmatch(text)
    if found is None:
        return parse_seconds(text)
    total = Fraction(found[1]) * _LONG_SECONDS[found[2]]
    return int(total) if total.denominator == 1 and total <= _LONGEST_S else None


def parse_milliseconds(text: str) -> int | None:
    """The duration in whole milliseconds; None if it is malformed, broken or beyond ten years."""
    if not _WHOLE.fullmatch(text):
        return None
    total = _seconds(text) * 1000
    return int(total) if total.denominator == 1 and total <= _LARGEST_S * 1000 else None


def _seconds(text: str) -> Fraction:
    return sum((Fraction(number) * _SECONDS[unit] for number, unit in _PART.findall(text)), Fraction(0))
