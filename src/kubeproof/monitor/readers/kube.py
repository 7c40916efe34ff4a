"""Kubernetes objects as events for rules: Events of the API, and watch streams.

Of an Event the name is its reason, source the component, target and key the object that it is about. Of a watch stream
the name is the type and the kind (`MODIFIED Pod`), target and key the object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.errors import EventError
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.json_stream import values_of
from kubeproof.monitor.readers.losses import Lost, refuse
from kubeproof.monitor.times import parse_time

EVENT_GROUPS = ("v1", "events.k8s.io/")
TYPES = ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")
_TIMES = ("creationTimestamp", "deletionTimestamp", "lastTransitionTime", "lastHeartbeatTime", "startTime", "time")


def is_kube(record: dict[str, Any]) -> bool:
    """True for an object of Kubernetes, or for one within a watch stream."""
    value = record.get("object") if record.get("type") in TYPES else record
    return isinstance(value, dict) and isinstance(value.get("kind"), str) and isinstance(value.get("apiVersion"), str)


def read_kube(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[Event]:
    """One event per object; lists are unpacked, bookmarks passed over."""
    last = 0
    for number, record in values_of(lines, file, lost):
        for kind, value in unpack(record):
            if not isinstance(value.get("metadata"), dict) or not isinstance(value.get("kind"), str):
                remedy = "Give Events, or the output of kubectl get --watch -o json"
                lost(EventError("not a Kubernetes object", file=file, line=number, remedy=remedy))
                continue
            if kind == "BOOKMARK":
                continue
            event = _api_event(value) if is_event(value) else _read_watched(kind, value)
            last = max(last, event.time_us)
            yield event if event.time_us else event._replace(time_us=last)


def unpack(record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a record with what happened to each: plain objects are as they are."""
    inner = record.get("object")
    if record.get("type") in TYPES and isinstance(inner, dict):
        yield str(record["type"]), inner
    elif str(record.get("kind", "")).endswith("List") and isinstance(record.get("items"), list):
        kind = str(record["kind"]).removesuffix("List")
        for one in record["items"]:
            if isinstance(one, dict):
                yield "ADDED", {"kind": kind, "apiVersion": record.get("apiVersion"), **one}
    else:
        yield "MODIFIED", record


def is_event(value: dict[str, Any]) -> bool:
    """True for an Event of the API."""
    version = str(value.get("apiVersion", ""))
    return value.get("kind") == "Event" and (version == "v1" or version.startswith("events.k8s.io/"))


def _api_event(value: dict[str, Any]) -> Event:
    metadata, about = _child(value, "metadata"), _child(value, "involvedObject") or _child(value, "regarding")
    series, source = _child(value, "series"), _child(value, "source") or _child(value, "deprecatedSource")
    stamps = [series.get("lastObservedTime"), value.get("lastTimestamp"), value.get("eventTime")]
    stamps += [value.get("deprecatedLastTimestamp"), metadata.get("creationTimestamp")]
    moment = next((m for stamp in stamps if (m := parse_time(str(stamp or ""))) is not None), 0)
    target = "/".join(filter(None, (str(about.get("namespace") or ""), str(about.get("name") or ""))))
    count = series.get("count") or value.get("count") or value.get("deprecatedCount")
    attributes = {
        "kind": str(about.get("kind") or ""),
        "type": str(value.get("type") or ""),
        "message": str(value.get("message") or value.get("note") or ""),
        "count": str(count or ""),
    }
    reporter = str(value.get("reportingComponent") or value.get("reportingController") or source.get("component") or "")
    identity = f"{metadata.get('uid') or metadata.get('name') or ''}:{count or ''}"
    kept = {key: text for key, text in attributes.items() if text}
    return Event(moment, str(value.get("reason") or "Event"), reporter, target, target, "", identity, None, kept)


def _read_watched(what: str, value: dict[str, Any]) -> Event:
    metadata = _child(value, "metadata")
    target = "/".join(filter(None, (str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))))
    version = str(metadata.get("resourceVersion") or "")
    attributes = {"kind": str(value["kind"]), "phase": str(_child(value, "status").get("phase") or "")}
    kept = {key: text for key, text in attributes.items() if text}
    identity = f"{what}:{target}:{version}" if version else ""
    return Event(newest(value), f"{what} {value['kind']}", "", target, target, "", identity, None, kept)


def newest(value: dict[str, Any], latest_us: int | None = None) -> int:
    """The newest moment that an object tells of, up to the latest possible; 0 if it tells none.

    A deletion is set for the future.
    """
    grace = _child(value, "metadata").get("deletionGracePeriodSeconds")
    behind = grace * 1_000_000 if isinstance(grace, int) and 0 <= grace < 2**31 else 0
    moments = [0]
    pending: list[Any] = [value.get("metadata"), value.get("status")]
    while pending:
        one = pending.pop()
        if isinstance(one, list):
            pending += one
        elif isinstance(one, dict):
            for key, inner in one.items():
                if key in _TIMES and (moment := parse_time(str(inner or ""))) is not None:
                    moments.append(moment - behind if key == "deletionTimestamp" else moment)
                elif isinstance(inner, dict | list) and key not in ("annotations", "labels", "fieldsV1"):
                    pending.append(inner)
    return max(moment for moment in moments if latest_us is None or moment <= latest_us or not moment)


def _child(record: dict[str, Any], name: str) -> dict[str, Any]:
    value = record.get(name)
    return value if isinstance(value, dict) else {}
