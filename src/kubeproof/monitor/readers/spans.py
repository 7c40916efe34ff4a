"""Spans of distributed traces as JSON: Zipkin version 2, and OpenTelemetry (OTLP).

A file holds one document, or one per line. A span becomes an event at its start: name, service as source, peer as
target, trace as key. Spans of several services are sorted by time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from kubeproof.errors import EventError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.jsonl import parse_value, show
from kubeproof.monitor.readers.losses import Lost, refuse
from kubeproof.monitor.times import parse_time

MOST_BYTES = 2**30  # of a document over several lines, which has to be read as a whole
_MICROSECOND, _NANOSECOND = Fraction(1), Fraction(1, 1000)


def looks_like_spans(value: Any) -> bool:
    """True for a Zipkin span, a list of them, or an OTLP document."""
    if isinstance(value, list):
        return bool(value) and looks_like_spans(value[0])
    return isinstance(value, dict) and ("resourceSpans" in value or {"traceId", "timestamp"} <= value.keys())


def read_spans(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[Event]:
    """The spans of a file as events, in order of time."""
    found: list[Event] = []
    for number, document in _documents(lines, file, lost):
        for read in _spans(document, file, number):
            try:
                found.append(read())
            except EventError as problem:
                lost(problem)
    yield from sorted(found, key=lambda event: event.time_us)


def _documents(lines: Iterable[str], file: str, lost: Lost) -> Iterator[tuple[int, Any]]:
    """Documents of one line each; if none of the lines is one, the whole file is one document."""
    read, size = [], 0
    for number, line in enumerate(lines, 1):
        size += len(line)
        if size > MOST_BYTES:
            raise EventError("more than a gibibyte of spans", file=file, line=number, remedy="Split the file")
        read.append(line)
    documents: list[tuple[int, Any]] = []
    problems: list[EventError] = []
    for place, line in enumerate(read, 1):
        try:
            documents += [(place, parse_value(line, file=file, line=place))] if line.strip() else []
        except EventError as problem:
            problems.append(problem)
    if problems and not any(looks_like_spans(document) for _, document in documents):
        documents, problems = [(1, parse_value("".join(read), file=file, line=1))], []
    for unreadable in problems:
        lost(unreadable)
    yield from documents


def _spans(document: Any, file: str, line: int) -> Iterator[Callable[[], Event]]:
    """Each span of a document, still to be read."""
    if isinstance(document, dict) and "resourceSpans" in document:
        for service, span in _otlp_spans(document):
            yield partial(_otlp, span, service, file, line)
        return
    for span in document if isinstance(document, list) else [document]:
        yield partial(_zipkin, span, file, line)


def _zipkin(span: Any, file: str, line: int) -> Event:
    if not isinstance(span, dict):
        raise EventError("not a span", file=file, line=line, remedy="Zipkin spans are JSON objects")
    local, remote, tags = (_object(span, name) for name in ("localEndpoint", "remoteEndpoint", "tags"))
    attributes = {f"tag.{name}": value for name, value in tags.items() if isinstance(value, str)}
    attributes |= {name: text for name in ("kind", "duration") if (text := show(span.get(name)))}
    return Event(
        _moment(span.get("timestamp"), _MICROSECOND, file, line),
        _name(span, file, line),
        show(local.get("serviceName")) or "",
        show(remote.get("serviceName")) or "",
        show(span.get("traceId")) or "",
        "",
        _identity(span.get("traceId"), span.get("id"), span.get("kind")),
        None,
        attributes,
    )


def _otlp_spans(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for resource in _objects(document, "resourceSpans"):
        service = _attributes(_object(resource, "resource")).get("service.name", "")
        for scope in _objects(resource, "scopeSpans"):
            yield from ((service, span) for span in _objects(scope, "spans"))


def _otlp(span: dict[str, Any], service: str, file: str, line: int) -> Event:
    attributes = {f"tag.{name}": value for name, value in _attributes(span).items()}
    if show(_object(span, "status").get("code")) in ("2", "STATUS_CODE_ERROR"):
        attributes["error"] = "true"
    return Event(
        _moment(span.get("startTimeUnixNano"), _NANOSECOND, file, line),
        _name(span, file, line),
        service,
        attributes.get("tag.peer.service", ""),
        show(span.get("traceId")) or "",
        "",
        _identity(span.get("traceId"), span.get("spanId"), None),
        None,
        attributes,
    )


def _attributes(holder: dict[str, Any]) -> dict[str, str]:
    """Attributes of OTLP, which are lists of keys and typed values."""
    found = {}
    for entry in _objects(holder, "attributes"):
        key, value = show(entry.get("key")), next(iter(_object(entry, "value").values()), None)
        if key and (text := show(value)) is not None:
            found[key] = text
    return found


def _identity(*parts: Any) -> str:
    texts = [show(part) or "" for part in parts]
    return ":".join(texts) if texts[1] else ""


def _name(span: dict[str, Any], file: str, line: int) -> str:
    name = show(span.get("name"))
    if not name:
        raise EventError("a span without a name", file=file, line=line, remedy="Name the operation")
    return name


def _moment(value: Any, unit: Fraction, file: str, line: int) -> int:
    moment = parse_time(show(value) or "", unit)
    if moment is None:
        raise EventError("a span without a start", file=file, line=line, remedy="Spans have their start as a number")
    return moment


def _object(holder: dict[str, Any], name: str) -> dict[str, Any]:
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def _objects(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    value = holder.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
