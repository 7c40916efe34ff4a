"""Spans of distributed traces as JSON: Zipkin version 2, and OpenTelemetry (OTLP), whose log records are read as well.

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
from kubeproof.monitor.readers.otlp import identity_of, looks_like_otlp, moment_of, name_of, object_in, read_otlp

MOST_BYTES = 2**30  # of a document over several lines, which has to be read as a whole
_MICROSECOND = Fraction(1)


def looks_like_spans(value: Any) -> bool:
    """True for a Zipkin span, a list of them, or an OTLP document."""
    if isinstance(value, list):
        return bool(value) and looks_like_spans(value[0])
    return looks_like_otlp(value) or (isinstance(value, dict) and {"traceId", "timestamp"} <= value.keys())


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
    if looks_like_otlp(document):
        yield from read_otlp(document, file, line)
        return
    for span in document if isinstance(document, list) else [document]:
        yield partial(_zipkin, span, file, line)


def _zipkin(span: Any, file: str, line: int) -> Event:
    if not isinstance(span, dict):
        raise EventError("not a span", file=file, line=line, remedy="Zipkin spans are JSON objects")
    local, remote, tags = (object_in(span, name) for name in ("localEndpoint", "remoteEndpoint", "tags"))
    attributes = {f"tag.{name}": value for name, value in tags.items() if isinstance(value, str)}
    attributes |= {name: text for name in ("kind", "duration") if (text := show(span.get(name)))}
    return Event(
        moment_of(span.get("timestamp"), _MICROSECOND, "a span without a start", file, line),
        name_of(span, file, line),
        show(local.get("serviceName")) or "",
        show(remote.get("serviceName")) or "",
        show(span.get("traceId")) or "",
        "",
        identity_of(span.get("traceId"), span.get("id"), span.get("kind")),
        None,
        attributes,
    )
