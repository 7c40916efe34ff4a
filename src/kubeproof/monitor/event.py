"""What is observed: one message, call, request or change, with its time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kubeproof.named_tuples import NamedTuple

NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
SECOND_US = 1_000_000


class Event(NamedTuple):
    """One observation. A named tuple: millions are made, and the engine reads them by position.

    `key` tells which request, user or object it belongs to, where that is known; `run` which recorded run; `id` is the
    same for copies of one event; `sequence` counts the events of one source, so that losses are noticed.
    """

    time_us: int
    name: str
    source: str = ""
    target: str = ""
    key: str = ""
    run: str = ""
    id: str = ""
    sequence: int | None = None
    attributes: Mapping[str, str] = NO_ATTRIBUTES


def event_value(event: Event) -> list[Any]:
    """The event as JSON can hold it."""
    return [*event[:-1], dict(event.attributes)]


def event_from(fields: list[Any]) -> Event:
    """The event that `event_value` wrote."""
    return Event(*fields)
