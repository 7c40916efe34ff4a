"""Meaning of field names that JSON lines and CSV share.

| field | names |
|---|---|
| time | `time`, `timestamp`, `ts` (seconds or a date), `time_ms`, `t_ms`, `time_us`, `t_us`, `time_ns`, `t_ns` |
| name | `name`, `event`; otherwise `topic` and `method`, joined by `_` |
| others | `source`, `target`, `key` or `req`, `run`, `id`, `sequence` or `seq`; everything else is an attribute |
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from kubeproof.errors import EventError
from kubeproof.monitor.event import NO_ATTRIBUTES, SECOND_US, Event
from kubeproof.monitor.times import parse_time

TIME_UNITS = {
    **dict.fromkeys(("time", "timestamp", "ts"), Fraction(SECOND_US)),
    **dict.fromkeys(("time_ms", "t_ms"), Fraction(1000)),
    **dict.fromkeys(("time_us", "t_us"), Fraction(1)),
    **dict.fromkeys(("time_ns", "t_ns"), Fraction(1, 1000)),
}
NAMES = ("name", "event")
NAME_PARTS = ("topic", "method")
UNNAMED = "kind"  # names an event whose topic and method are both empty
ALIASES = {
    "source": ("source",),
    "target": ("target",),
    "key": ("key", "req"),
    "run": ("run",),
    "id": ("id",),
    "sequence": ("sequence", "seq"),
}
SPOKEN_FOR = {*TIME_UNITS, *NAMES, *NAME_PARTS, *(name for names in ALIASES.values() for name in names)}
MOST_DIGITS = 18


def event_of(record: Mapping[str, str], *, file: str, line: int) -> Event:
    """The event that a record of texts describes; a record without time or name is refused."""
    name = name_of(record)
    if not name:
        remedy = "Give each event a field name, or topic and method"
        raise EventError("an event without a name", file=file, line=line, remedy=remedy)
    attributes = {key: value for key, value in record.items() if key not in SPOKEN_FOR and value}
    return Event(
        _time(record, file, line),
        name,
        record.get("source", ""),
        record.get("target", ""),
        record.get("key") or record.get("req", ""),
        record.get("run", ""),
        record.get("id", ""),
        sequence_of(record.get("sequence") or record.get("seq", ""), file=file, line=line),
        attributes or NO_ATTRIBUTES,
    )


def name_of(record: Mapping[str, str]) -> str:
    """The event's name; empty if it has none."""
    for field in NAMES:
        if record.get(field):
            return record[field]
    parts = [record[field] for field in NAME_PARTS if record.get(field)]
    if parts:
        return "_".join(parts)
    return record.get(UNNAMED, "") if any(field in record for field in NAME_PARTS) else ""


def _time(record: Mapping[str, str], file: str, line: int) -> int:
    for field, unit in TIME_UNITS.items():
        text = record.get(field)
        if text:
            moment = parse_time(text, unit)
            if moment is not None:
                return moment
            remedy = "Write seconds, or a date such as 2026-11-16T08:00:00Z"
            raise EventError(f"{field} is no time", file=file, line=line, remedy=remedy)
    remedy = f"Give each event one of {', '.join(TIME_UNITS)}"
    raise EventError("an event without a time", file=file, line=line, remedy=remedy)


def sequence_of(text: str, *, file: str, line: int) -> int | None:
    """The number of the event within its source; None if there is none."""
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS):
        raise EventError("the sequence is no number", file=file, line=line, remedy="Count 1, 2, 3 per source")
    return int(text)
