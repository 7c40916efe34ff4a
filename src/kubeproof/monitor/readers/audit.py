"""Kubernetes audit logs: one `audit.k8s.io` Event per line, as the API server's log backend writes them.

The name is verb and resource (`create pods`, `create pods/binding`), source the user, target and key the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.errors import EventError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.jsonl import objects, show
from kubeproof.monitor.readers.losses import Lost, refuse
from kubeproof.monitor.times import parse_time

GROUP = "audit.k8s.io/"
_FINAL = ("ResponseComplete", "Panic")  # earlier stages tell of the same request again


def is_audit(record: dict[str, Any]) -> bool:
    """True for an event of an audit log."""
    return record.get("kind") == "Event" and str(record.get("apiVersion", "")).startswith(GROUP)


def read_audit(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[Event]:
    """One event per finished request; requests that have only been received, or are still served, are passed over."""
    for number, record in objects(lines, file, lost):
        if not is_audit(record):
            remedy = "Audit logs hold one audit.k8s.io Event per line"
            lost(EventError("not an audit event", file=file, line=number, remedy=remedy))
        elif record.get("stage") in _FINAL:
            try:
                event = _event(record, file, number)
            except EventError as problem:
                lost(problem)
            else:
                yield event


def _event(record: dict[str, Any], file: str, line: int) -> Event:
    text = _text(record, "stageTimestamp") or _text(record, "requestReceivedTimestamp")
    moment = parse_time(text)
    verb = _text(record, "verb")
    if moment is None or not verb:
        remedy = "An audit event has stageTimestamp and verb"
        raise EventError("an audit event without time or verb", file=file, line=line, remedy=remedy)
    reference, user, status = (_child(record, name) for name in ("objectRef", "user", "responseStatus"))
    resource = "/".join(filter(None, (_text(reference, "resource"), _text(reference, "subresource"))))
    place = "/".join(filter(None, (_text(reference, "namespace"), _text(reference, "name"))))
    attributes = {
        "verb": verb,
        "resource": resource,
        "namespace": _text(reference, "namespace"),
        "code": _text(status, "code"),
        "reason": _text(status, "reason"),
        "userAgent": _text(record, "userAgent"),
    }
    name = f"{verb} {resource}" if resource else f"{verb} {_text(record, 'requestURI').partition('?')[0]}"
    kept = {field: value for field, value in attributes.items() if value}
    return Event(moment, name, _text(user, "username"), place, place, "", _text(record, "auditID"), None, kept)


def _child(record: dict[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}


def _text(record: dict[str, Any], name: str) -> str:
    return show(record.get(name)) or ""
