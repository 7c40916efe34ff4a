"""Schedules of CronJobs: the times between two runs.

The syntax is that of the library which the CronJob controller uses: five fields (minute, hour, day of the month, month,
day of the week) of numbers, names, ranges, lists and steps, or one of the words such as @hourly. Days count as
86,400 s: changes to summer time and back are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_PART = re.compile(r"(\*|\?|[0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?(?:/([0-9]{1,4}))?", re.ASCII)
_EVERY = re.compile(r"@every ([0-9]{1,9})(s|m|h)", re.ASCII)
_UNITS = {"s": 1, "m": 60, "h": 3600}
_FIRST_DAY = date(2024, 1, 1)
_DAYS_LOOKED_AT = 8 * 366 + 7  # every weekday meets every date, leap years included, often enough
_LONGEST = 200
DAY_S = 86_400

Field = tuple[frozenset[int], bool]  # values, and whether all are meant


def gaps_of(schedule: str) -> tuple[int, ...] | None:
    """The different numbers of seconds between two runs, ascending; None if the schedule is malformed.

    A schedule that never comes, such as the 30th of February, has no gaps.
    """
    text = schedule.strip().lower()
    if len(text) > _LONGEST:
        return None
    every = _EVERY.fullmatch(text)
    if every:
        seconds = int(every[1]) * _UNITS[every[2]]
        return (seconds,) if seconds else None
    fields = _fields(_WORDS.get(text, text))
    return None if fields is None else tuple(sorted(_gaps(*fields)))


def _fields(text: str) -> tuple[Field, Field, Field, Field, Field] | None:
    parts = text.split()
    if len(parts) != 5:
        return None
    minutes, hours = _field(parts[0], 0, 59), _field(parts[1], 0, 23)
    dates, months = _field(parts[2], 1, 31), _field(parts[3], 1, 12, _MONTHS)
    weekdays = _field(parts[4], 0, 6, _DAYS)
    if minutes is None or hours is None or dates is None or months is None or weekdays is None:
        return None
    return minutes, hours, dates, months, weekdays


def _field(text: str, least: int, most: int, names: tuple[str, ...] = ()) -> Field | None:
    """The values of a field; names count from its least value."""
    values: set[int] = set()
    is_star = False
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            return None
        first, last, step = match.groups()
        is_star |= first in ("*", "?") and step in (None, "1")
        chosen = _range(first, last, step, least, most, names)
        if chosen is None:
            return None
        values |= set(chosen)
    return frozenset(values), is_star


def _range(
    first: str, last: str | None, step: str | None, least: int, most: int, names: tuple[str, ...]
) -> range | None:
    """The values that one part of a field means; None if it is out of bounds."""

    def number(text: str) -> int:
        return names.index(text) + least if text in names else int(text) if text.isdecimal() else -1

    if first in ("*", "?"):
        start, end = (least, most) if last is None else (-1, -1)
    else:
        start = number(first)
        end = number(last) if last is not None else most if step is not None else start
    width = int(step) if step is not None else 1
    if not least <= start <= end <= most or width < 1:
        return None
    return range(start, end + 1, width)


def _gaps(minutes: Field, hours: Field, dates: Field, months: Field, weekdays: Field) -> Iterator[int]:
    """Every gap once, in any order."""
    times = sorted(hour * 3600 + minute * 60 for hour in hours[0] for minute in minutes[0])
    days = [day for day in range(_DAYS_LOOKED_AT) if _is_meant(_FIRST_DAY + timedelta(day), dates, months, weekdays)]
    found = {later - earlier for earlier, later in pairwise(times)} if days else set()
    overnight = times[0] - times[-1]
    found |= {(later - earlier) * DAY_S + overnight for earlier, later in pairwise(days)}
    yield from found


def _is_meant(day: date, dates: Field, months: Field, weekdays: Field) -> bool:
    """True if the schedule runs on this day: where both kinds of days are restricted, either will do."""
    if day.month not in months[0]:
        return False
    by_date, by_weekday = day.day in dates[0], day.isoweekday() % 7 in weekdays[0]
    if dates[1] or weekdays[1]:
        return by_date and by_weekday
    return by_date or by_weekday
