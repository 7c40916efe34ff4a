"""CSV with a header: one event per row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from kubeproof.errors import EventError
from kubeproof.monitor.event import NO_ATTRIBUTES, Event
from kubeproof.monitor.readers.losses import Lost, refuse
from kubeproof.monitor.readers.record import ALIASES, MOST_DIGITS, NAME_PARTS, NAMES, SPOKEN_FOR, TIME_UNITS, event_of

Row = list[str]
MOST_NAMES = 10_000  # that are joined once and kept


def read_csv(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[Event]:
    """One event per row; the header names the fields as in JSON lines. Without a usable header there is no table."""
    rows = csv.reader(lines, strict=True)
    try:
        header = next(rows, None)
    except csv.Error:
        raise _make_broken(file, rows.line_num) from None
    if header is None:
        return
    _check_header(header, file)
    yield from _events(header, _sound_rows(rows, file, lost, lambda: rows.line_num), file, lost)


def _check_header(header: Row, file: str) -> None:
    if not any(name in TIME_UNITS for name in header):
        remedy = f"A table begins with the names of its columns, one of them {', '.join(TIME_UNITS)}; or name --format"
        raise EventError("the first line names no column of times", file=file, line=1, remedy=remedy)


def _sound_rows(rows: Iterator[Row], file: str, lost: Lost, line: Callable[[], int]) -> Iterator[tuple[int, Row]]:
    """The rows with their lines; after one that is broken the table goes on with the next line."""
    while True:
        try:
            for row in rows:
                yield line(), row
            return
        except csv.Error:
            lost(_make_broken(file, line()))


def _make_broken(file: str, line: int) -> EventError:
    remedy = "Separate by commas, quote with double quotes"
    return EventError("not valid CSV", file=file, line=line, remedy=remedy)


def _events(header: Row, rows: Iterator[tuple[int, Row]], file: str, lost: Lost) -> Iterator[Event]:
    columns = _Columns(header)
    for line, row in rows:
        try:
            if len(row) == len(header):
                event = columns.event(row) or event_of(dict(zip(header, row, strict=True)), file=file, line=line)
            elif row:
                problem = f"{len(row)} fields where the header has {len(header)}"
                raise EventError(problem, file=file, line=line, remedy="Correct the row, or quote its commas")
            else:
                continue
        except EventError as problem:
            lost(problem)
        else:
            yield event


class _Columns:
    """Where things stand in a row, found once: large files have few surprises and many rows."""

    def __init__(self, header: Row) -> None:
        place = {name: position for position, name in enumerate(header)}
        whole = next((place[name] for name, unit in TIME_UNITS.items() if name in place and unit == Fraction(1)), None)
        others = [name for name, unit in TIME_UNITS.items() if name in place and unit != Fraction(1)]
        sequences = [name for name in ALIASES["sequence"] if name in place]
        self._time = None if others or sequences else whole  # the slow way reads dates, fractions and sequences
        self._name = next((place[name] for name in NAMES if name in place), None)
        self._parts = [place[name] for name in NAME_PARTS if name in place]
        wanted = [names for field, names in ALIASES.items() if field != "sequence"]
        self._others = [next((place[name] for name in names if name in place), -1) for names in wanted]
        self._attributes = [(name, position) for name, position in place.items() if name not in SPOKEN_FOR]
        self._names: dict[tuple[str, str], str] = {}

    def event(self, row: Row) -> Event | None:
        """The event of an ordinary row; None where the slow way has to look."""
        if self._time is None:
            return None
        text = row[self._time]
        if not (text.isdecimal() or (text[:1] == "-" and text[1:].isdecimal())) or len(text) > MOST_DIGITS:
            return None
        name = row[self._name] if self._name is not None else self._join(row)
        if not name:
            return None
        attributes = {field: row[position] for field, position in self._attributes if row[position]}
        source, target, key, run, identity = self._others
        row.append("")  # what the last position, -1, stands for
        return Event(
            int(text), name, row[source], row[target], row[key], row[run], row[identity], None,
            attributes or NO_ATTRIBUTES,
        )  # fmt: skip

    def _join(self, row: Row) -> str:
        if len(self._parts) != len(NAME_PARTS):
            return ""
        pair = (row[self._parts[0]], row[self._parts[1]])
        name = self._names.get(pair)
        if name is None and all(pair) and len(self._names) < MOST_NAMES:
            name = self._names[pair] = "_".join(pair)
        return name or ""
