"""Changes as an audit log tells them: whole objects at level RequestResponse, less at lower levels."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qs

from kubeproof.cluster.loops.tags import Tag
from kubeproof.errors import EventError
from kubeproof.monitor.cluster.change import (
    BLIND,
    BOUND,
    DELETED,
    KINDS,
    LOST,
    REFUSED,
    TIME,
    WRITTEN,
    Change,
    Key,
    Object,
    items,
    key_of,
    mapping,
)
from kubeproof.monitor.readers.audit import is_audit
from kubeproof.monitor.readers.jsonl import half_character, holds_half_characters
from kubeproof.monitor.readers.losses import Lost, refuse
from kubeproof.monitor.times import parse_time

RESOURCES = {f"{kind.lower()}s": kind for kind in KINDS}
_FINAL = ("ResponseComplete", "Panic")
_WRITING = ("create", "update", "patch", "delete", "deletecollection")
_EVICTORS = (("descheduler", Tag.BY_DESCHEDULER), ("vpa", Tag.BY_VPA))
_TAINTERS = ("taint-eviction-controller", "node-controller")
_AGAIN = 409  # the object was changed meanwhile; nothing happened


def changes_of_audit(lines: Iterable[str], file: str, lost: Lost = refuse) -> Iterator[Change]:
    """The changes of a log, in its order; requests that were refused or changed nothing only let time pass."""
    last = 0
    for number, line in enumerate(lines, 1):
        if line.isspace():
            continue
        try:
            record = _record(line, file, number)
            if record.get("stage") not in _FINAL:
                continue
            last = _time(record, file, number)
        except EventError as problem:
            lost(problem)
            yield Change(last, LOST)
            continue
        yield from _changes(record, last)


def _record(line: str, file: str, number: int) -> Object:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise EventError(
            "not valid JSON", file=file, line=number, remedy="Audit logs hold one event per line"
        ) from None
    if holds_half_characters(line, record):
        raise half_character(file, number)
    if not isinstance(record, dict) or not is_audit(record):
        raise EventError("not an audit event", file=file, line=number, remedy="Audit logs hold audit.k8s.io Events")
    return record


def _time(record: Object, file: str, line: int) -> int:
    moment = parse_time(str(record.get("stageTimestamp") or record.get("requestReceivedTimestamp") or ""))
    if moment is None:
        remedy = "An audit event has stageTimestamp"
        raise EventError("an audit event without a time", file=file, line=line, remedy=remedy)
    return moment


def _changes(record: Object, time_us: int) -> Iterator[Change]:
    about, verb = mapping(record, "objectRef"), record.get("verb")
    kind = RESOURCES.get(str(about.get("resource", "")))
    who = str(mapping(record, "user").get("username", ""))
    code = mapping(record, "responseStatus").get("code")
    granted = isinstance(code, int) and 200 <= code < 300
    if kind is None or verb not in _WRITING or _is_rehearsed(record):
        yield Change(time_us, TIME)
        return
    key: Key = (kind, str(about.get("namespace") or ""), str(about.get("name") or ""))
    part = str(about.get("subresource") or "")
    if part == "eviction":
        yield _eviction(time_us, key, who, code)
    elif not granted:
        yield Change(time_us, TIME)
    elif part == "binding":
        node = mapping(mapping(record, "requestObject"), "target").get("name")
        yield Change(time_us, BOUND, key, str(node), who=who) if node else Change(time_us, BLIND, key)
    elif part in ("", "status", "scale", "ephemeralcontainers", "resize"):
        yield from _read_written(record, time_us, key, who, verb=str(verb), is_scale=part == "scale")


def _is_rehearsed(record: Object) -> bool:
    """True for a dry run, which is answered like a real request and changes nothing."""
    query = str(record.get("requestURI", "")).partition("?")[2]
    body = mapping(record, "requestObject")
    return any(parse_qs(query).get("dryRun", ())) or any(
        options.get("dryRun") for options in (body, mapping(body, "deleteOptions"))
    )


def _eviction(time_us: int, key: Key, who: str, code: Any) -> Change:
    if isinstance(code, int) and 200 <= code < 300:
        return Change(time_us, DELETED, key, is_external=is_external(who), evictor=evictor_of(who), who=who)
    return Change(time_us, REFUSED if code == 429 else TIME, key, is_external=is_external(who), who=who)


def evictor_of(who: str) -> int:
    """The tag of who uses the eviction API: everybody who is not known otherwise drains."""
    return int(next((tag for name, tag in _EVICTORS if name in who), Tag.BY_DRAIN))


def is_external(who: str) -> bool:
    """True for people and pipelines; components and service accounts are control loops."""
    return not who.startswith("system:")


def _read_written(record: Object, time_us: int, key: Key, who: str, *, verb: str, is_scale: bool) -> Iterator[Change]:
    answer = mapping(record, "responseObject")
    external = is_external(who)
    if verb == "deletecollection":
        listed = items(answer, "items")
        for one in listed:
            named: Key = (key[0], *key_of(one)[1:])
            yield Change(time_us, WRITTEN, named, is_external=external, who=who)
        if not listed:  # an empty list tells that nothing was there to delete
            yield Change(time_us, TIME if "items" in answer else BLIND, key)
        return
    if verb == "delete":
        yield _read_deleted(record, answer, time_us, key, who)
    elif is_scale:
        yield (
            Change(time_us, WRITTEN, key, {"spec": mapping(answer, "spec")}, external, who=who)
            if answer
            else Change(time_us, BLIND, key)
        )
    elif mapping(answer, "metadata").get("name"):
        named = (
            key[0],
            str(mapping(answer, "metadata").get("namespace") or key[1]),
            str(mapping(answer, "metadata")["name"]),
        )
        yield Change(time_us, WRITTEN, named, answer, external, who=who)
    else:
        yield Change(time_us, BLIND, key, who=who)  # at level Metadata, and Request for patches, nobody tells


def _read_deleted(record: Object, answer: Object, time_us: int, key: Key, who: str) -> Change:
    """A pod with a grace period is there until its kubelet has ended it; everything else is gone at once."""
    evictor = _who_deletes(who) if key[0] == "Pod" else 0
    options = mapping(record, "requestObject")
    grace = mapping(answer, "metadata").get("deletionGracePeriodSeconds", options.get("gracePeriodSeconds"))
    stays = (
        key[0] == "Pod"
        and grace not in (0, "0")
        and answer.get("kind") == "Pod"
        and mapping(answer, "spec").get("nodeName")
    )
    if stays:
        return Change(time_us, DELETED, key, is_external=is_external(who), evictor=evictor, who=who)
    waits = bool(mapping(answer, "metadata").get("finalizers"))
    value = answer if waits and key[0] != "Pod" else None
    return Change(time_us, WRITTEN, key, value, is_external(who), evictor, who)


def _who_deletes(who: str) -> int:
    if any(name in who for name in _TAINTERS):
        return int(Tag.BY_TAINT)
    return int(Tag.BY_PREEMPTION) if who == "system:kube-scheduler" else 0
