"""Times and durations in whole microseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction

from kubeproof.monitor.event import SECOND_US

LARGEST_US = 2**62  # beyond any date that a log can mean
_DURATION_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(us|ms|s|m|h|d)", re.ASCII)
_DURATION = re.compile(r"(?:[0-9]{1,12}(?:\.[0-9]{1,9})?(?:us|ms|s|m|h|d)){1,8}", re.ASCII)
_UNITS_US = {"us": 1, "ms": 1000, "s": SECOND_US, "m": 60 * SECOND_US, "h": 3600 * SECOND_US, "d": 86400 * SECOND_US}
_NUMBER = re.compile(r"[-+]?[0-9]{1,20}(?:\.[0-9]{1,18})?(?:[eE][-+]?[0-9]{1,2})?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_DATE_US = 253_402_300_800 * SECOND_US  # the year 10000


def parse_duration(text: str) -> int | None:
    """The duration in microseconds, such as 250ms, 40s, 1m30s; None if it is malformed, broken or too long."""
    if not _DURATION.fullmatch(text):
        return None
    total = sum((Fraction(number) * _UNITS_US[unit] for number, unit in _DURATION_PART.findall(text)), Fraction(0))
    return int(total) if total.denominator == 1 and 0 < total <= LARGEST_US else None


def show_duration(duration_us: int) -> str:
    """The duration as rules write it: 1m30s, 12.5s, 40ms; `parse_duration` reads it back."""
    if duration_us % SECOND_US or duration_us < 60 * SECOND_US:
        return _show_seconds(duration_us)
    minutes, seconds = divmod(duration_us // SECOND_US, 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return "".join(f"{number}{unit}" for number, unit in parts if number)


def _show_seconds(duration_us: int) -> str:
    if duration_us and duration_us < SECOND_US:
        return f"{duration_us // 1000}ms" if duration_us % 1000 == 0 else f"{duration_us}us"
    seconds, rest = divmod(duration_us, SECOND_US)
    return f"{seconds}.{rest:06d}".rstrip("0").rstrip(".") + "s"


def parse_time(text: str, unit_us: Fraction = Fraction(SECOND_US)) -> int | None:
    """A moment in microseconds: a number in the unit, or a date as RFC 3339 writes it; None if it is neither.

    Finer fractions are cut off.
    """
    if _NUMBER.fullmatch(text):
        moment = int(Fraction(text) * unit_us)
        return moment if abs(moment) <= LARGEST_US else None
    try:
        date = datetime.fromisoformat(_cut(text))
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    passed = date - _EPOCH
    return (passed.days * 86400 + passed.seconds) * SECOND_US + passed.microseconds


def _cut(text: str) -> str:
    """The date with at most six digits of fraction, as the standard library reads them."""
    return re.sub(r"(\.[0-9]{6})[0-9]+", r"\1", text[:64])


def show_time(time_us: int) -> str:
    """A moment for people: a date if it can be one, seconds from the start otherwise."""
    if 10**14 <= time_us < _LAST_DATE_US:  # 1973; shorter ones count from the start of a run
        return datetime.fromtimestamp(time_us // SECOND_US, UTC).strftime("%Y-%m-%dT%H:%M:%S") + (
            f".{time_us % SECOND_US:06d}".rstrip("0").rstrip(".") + "Z"
        )
    sign = "-" if time_us < 0 else ""
    return f"{sign}{abs(time_us) / SECOND_US:.3f}s"
