"""CSV with a header: one event per row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from operator import itemgetter

from kubeproof.errors import EventError
from kubeproof.monitor.event import NO_ATTRIBUTES, Event
from kubeproof.monitor.readers.record import ALIASES, NAME_PARTS, NAMES, SPOKEN_FOR, TIME_UNITS, event_of

Row = list[str]


def read_csv(lines: Iterable[str], file: str) -> Iterator[Event]:
    """One event per row; the header names the fields as in JSON lines."""
    rows = csv.reader(lines, strict=True)
    try:
        header = next(rows, None)
        if header is None:
            return
        yield from _events(header, rows, file, lambda: rows.line_num)
    except csv.Error:
        remedy = "Separate by commas, quote with double quotes"
        raise EventError("not valid CSV", file=file, line=rows.line_num, remedy=remedy) from None


def _events(header: Row, rows: Iterator[Row], file: str, line: Callable[[], int]) -> Iterator[Event]:
    columns = _Columns(header)
    for row in rows:
        if len(row) == len(header):
            event = columns.event(row)
            yield event if event is not None else event_of(dict(zip(header, row, strict=True)), file=file, line=line())
        elif row:
            problem = f"{len(row)} fields where the header has {len(header)}"
            raise EventError(problem, file=file, line=line(), remedy="Correct the row, or quote its commas")


class _Columns:
    """Where things stand in a row, found once: large files have few surprises and many rows."""

    def __init__(self, header: Row) -> None:
        place = {name: position for position, name in enumerate(header)}
        self._time = next(((place[name], unit) for name, unit in TIME_UNITS.items() if name in place), None)
        self._whole = self._time is not None and self._time[1] == Fraction(1)
        self._name = next((place[name] for name in NAMES if name in place), None)
        parts = [place[name] for name in NAME_PARTS if name in place]
        self._parts = parts if self._name is None and len(parts) == len(NAME_PARTS) else None
        self._others = [_getter(place, names) for field, names in ALIASES.items() if field != "sequence"]
        self._has_sequence = any(name in place for name in ALIASES["sequence"])
        self._attributes = [(name, position) for name, position in place.items() if name not in SPOKEN_FOR]
        self._names: dict[tuple[str, str], str] = {}

    def event(self, row: Row) -> Event | None:
        """The event of an ordinary row; None where the slow way has to look."""
        if not self._whole or self._time is None or self._has_sequence:
            return None
        text = row[self._time[0]]
        if not text.lstrip("-").isdigit() or not text.isascii() or len(text) > 18:
            return None
        name = row[self._name] if self._name is not None else self._joined(row)
        if not name:
            return None
        attributes = {field: row[position] for field, position in self._attributes if row[position]}
        source, target, key, run, identity = [get(row) for get in self._others]
        return Event(int(text), name, source, target, key, run, identity, None, attributes or NO_ATTRIBUTES)

    def _joined(self, row: Row) -> str:
        if self._parts is None:
            return ""
        pair = (row[self._parts[0]], row[self._parts[1]])
        name = self._names.get(pair)
        if name is None and all(pair) and len(self._names) < 10_000:
            name = self._names[pair] = "_".join(pair)
        return name or ""


def _getter(place: dict[str, int], names: tuple[str, ...]) -> Callable[[Row], str]:
    found = [place[name] for name in names if name in place]
    return itemgetter(found[0]) if found else lambda row: ""
