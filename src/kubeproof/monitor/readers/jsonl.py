"""JSON lines: one event per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.errors import EventError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.losses import Lost, refuse
from kubeproof.monitor.readers.record import SPOKEN_FOR, event_of


def read_jsonl(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[Event]:
    """One event per line that is not empty; nested objects under `attributes` are attributes."""
    for number, record in objects(lines, file, lost):
        try:
            event = event_of(flat(record), file=file, line=number)
        except EventError as problem:
            lost(problem)
        else:
            yield event


def objects(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one per line, each with its line."""
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            value = parse_value(line, file=file, line=number)
        except EventError as problem:
            lost(problem)
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            lost(EventError("not a JSON object", file=file, line=number, remedy="Write one object per line"))


def parse_value(text: str, *, file: str, line: int) -> Any:
    """The JSON value of a text; whatever is wrong with it is told with its place."""
    try:
        value = json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        raise EventError("not valid JSON", file=file, line=line, remedy="Write one JSON object per line") from None
    if holds_half_characters(text, value):
        raise half_character(file, line)
    return value


def holds_half_characters(text: str, value: Any) -> bool:
    """True if a text in the value has half of a surrogate pair, which is no character and cannot be written."""
    if "\\ud" not in text and "\\uD" not in text:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return False


def half_character(file: str, line: int) -> EventError:
    """What is wrong with such a text."""
    return EventError("half of a surrogate pair", file=file, line=line, remedy="Write characters, or both halves")


def flat(record: dict[str, Any]) -> dict[str, str]:
    """The record with texts as values; lists and deeper objects are left out."""
    found = {key: text for key, value in record.items() if (text := show(value)) is not None}
    inner = record.get("attributes")
    if isinstance(inner, dict):
        for key, value in inner.items():
            if (text := show(value)) is not None:
                found[f"attributes.{key}" if key in found or key in SPOKEN_FOR else key] = text
    return found


def show(value: Any) -> str | None:
    """A single value as text; None for null and everything composed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else None
