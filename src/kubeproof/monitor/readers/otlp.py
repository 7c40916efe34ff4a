"""Spans and log records of OpenTelemetry as JSON (OTLP), as files and collectors write them.

A span becomes an event at its start: name, service as source, peer as target, trace as key. A log record becomes one if
it says which event it is, by `eventName` or the attribute `event.name`, otherwise by its body if that is a short text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from kubeproof.errors import EventError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.jsonl import show
from kubeproof.monitor.times import parse_time

LONGEST_NAME = 120  # characters of a body that may be the name of an event
_NANOSECOND = Fraction(1, 1000)
Read = Callable[[], Event]


def looks_like_otlp(value: Any) -> bool:
    """True for a document of spans or of log records."""
    return isinstance(value, dict) and ("resourceSpans" in value or "resourceLogs" in value)


def read_otlp(document: dict[str, Any], file: str, line: int) -> Iterator[Read]:
    """Each span and record of a document, still to be read."""
    for service, span in _records(document, "resourceSpans", "scopeSpans", "spans"):
        yield partial(_span, span, service, file, line)
    for service, record in _records(document, "resourceLogs", "scopeLogs", "logRecords"):
        yield partial(_record, record, service, file, line)


def _records(
    document: dict[str, Any], resources: str, scopes: str, records: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for resource in objects_in(document, resources):
        service = _attributes(object_in(resource, "resource")).get("service.name", "")
        for scope in objects_in(resource, scopes):
            yield from ((service, record) for record in objects_in(scope, records))


def _span(span: dict[str, Any], service: str, file: str, line: int) -> Event:
    attributes = _tags(span)
    if show(object_in(span, "status").get("code")) in ("2", "STATUS_CODE_ERROR"):
        attributes["error"] = "true"
    return Event(
        moment_of(span.get("startTimeUnixNano"), _NANOSECOND, "a span without a start", file, line),
        name_of(span, file, line),
        service,
        attributes.get("tag.peer.service", ""),
        show(span.get("traceId")) or "",
        "",
        identity_of(span.get("traceId"), span.get("spanId"), None),
        None,
        attributes,
    )


def _record(record: dict[str, Any], service: str, file: str, line: int) -> Event:
    attributes = _tags(record)
    if severity := show(record.get("severityText")):
        attributes["severity"] = severity
    body = show(next(iter(object_in(record, "body").values()), None)) or ""
    name = show(record.get("eventName")) or attributes.get("tag.event.name") or (body if _is_short(body) else "")
    if not name:
        remedy = "Give it eventName, or the attribute event.name"
        raise EventError("a log record that does not say which event it is", file=file, line=line, remedy=remedy)
    times = (record.get("timeUnixNano"), record.get("observedTimeUnixNano"))
    moment = next((time for time in times if show(time) not in (None, "", "0")), None)
    return Event(
        moment_of(moment, _NANOSECOND, "a log record without a time", file, line),
        name,
        service,
        attributes.get("tag.peer.service", ""),
        show(record.get("traceId")) or "",
        attributes=attributes,
    )


def _is_short(body: str) -> bool:
    return 0 < len(body) <= LONGEST_NAME and "\n" not in body


def _tags(holder: dict[str, Any]) -> dict[str, str]:
    return {f"tag.{name}": value for name, value in _attributes(holder).items()}


def _attributes(holder: dict[str, Any]) -> dict[str, str]:
    """Attributes of OTLP, which are lists of keys and typed values."""
    found = {}
    for entry in objects_in(holder, "attributes"):
        key, value = show(entry.get("key")), next(iter(object_in(entry, "value").values()), None)
        if key and (text := show(value)) is not None:
            found[key] = text
    return found


# -- what all formats of spans have in common ----------------------------------------------------------


def identity_of(*parts: Any) -> str:
    """By which copies are recognised; empty without the second part."""
    texts = [show(part) or "" for part in parts]
    return ":".join(texts) if texts[1] else ""


def name_of(span: dict[str, Any], file: str, line: int) -> str:
    """What a span is called."""
    name = show(span.get("name"))
    if not name:
        raise EventError("a span without a name", file=file, line=line, remedy="Name the operation")
    return name


def moment_of(value: Any, unit: Fraction, problem: str, file: str, line: int) -> int:
    """A number in the unit as microseconds."""
    moment = parse_time(show(value) or "", unit)
    if moment is None:
        raise EventError(problem, file=file, line=line, remedy="Write the time as a number")
    return moment


def object_in(holder: dict[str, Any], name: str) -> dict[str, Any]:
    """The object of this name; an empty one if there is none."""
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects of the list of this name."""
    value = holder.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
