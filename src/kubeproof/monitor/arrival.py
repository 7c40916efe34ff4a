"""Puts events in order of time as they arrive, drops copies, and notes what was lost.

Clocks differ and messages overtake each other; `lateness_us` bounds by how much. An event is held back until no event
that may still come, according to the bound, can be earlier. What comes later than the bound allows is not used.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import chain
from typing import Any

from kubeproof.monitor.event import Event
from kubeproof.values import dataclass

MOST_REMEMBERED = 100_000  # identities, for finding copies
MOST_GAPS = 1_000
MOST_SOURCES = 10_000  # whose sequences are followed


@dataclass(slots=True)
class Gaps:
    """Stretches of time in which events are known to be missing; the oldest of too many are joined into one."""

    spans: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start_us: int, end_us: int) -> None:
        """Notes that events between these moments were lost."""
        self.spans.append((start_us, end_us))
        if len(self.spans) > MOST_GAPS:
            (start, end), (begin, stop) = self.spans[:2]
            self.spans[:2] = [(min(start, begin), max(end, stop))]

    def touch(self, start_us: int, end_us: int) -> bool:
        """True if something may be missing between these moments."""
        return any(start <= end_us and start_us <= end for start, end in self.spans)


@dataclass(slots=True)
class Counts:
    """What happened on arrival."""

    taken: int = 0
    copies: int = 0
    late: int = 0
    gaps: int = 0


class Arrival:
    """One stream on its way in; its state can be saved and restored."""

    def __init__(self, lateness_us: int = 0) -> None:
        self.lateness_us = lateness_us
        self.gaps = Gaps()
        self.counts = Counts()
        self._newest = -(2**63)
        self._released = -(2**63)  # nothing earlier is handed out any more
        self._held: list[tuple[int, int, Event]] = []  # a heap; the second entry keeps order among equals
        self._number = 0
        self._lost: int | None = None  # something was lost after this moment, and nothing has come since
        self._sequences: dict[str, tuple[int, int]] = {}  # source -> last sequence, its time
        self._known: dict[str, None] = {}
        self._known_order: deque[str] = deque()

    def take(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events that can be judged now, in order of time."""
        for event in events:
            self.counts.taken += 1
            if event.id and self._is_copy(event):
                self.counts.copies += 1
            elif event.time_us < self._released:
                self.counts.late += 1
                self.gaps.add(event.time_us, event.time_us)
            else:
                yield from self._admit(event)

    def lose(self) -> None:
        """Notes that an event was lost about now."""
        self.counts.gaps += 1
        start = self._newest - self.lateness_us
        self.gaps.add(start, self._newest)
        self._lost = start if self._lost is None else self._lost

    def advance(self, now_us: int) -> Iterator[Event]:
        """What need not be held back any more once time has come so far, without an event."""
        while self._held and self._held[0][0] <= now_us - self.lateness_us:
            yield from self._release(heapq.heappop(self._held)[2])

    def finish(self) -> Iterator[Event]:
        """What is still held back, at the end of the stream."""
        while self._held:
            yield from self._release(heapq.heappop(self._held)[2])

    def _admit(self, event: Event) -> Iterator[Event]:
        if event.time_us > self._newest:
            self._newest = event.time_us
        if self._lost is not None:
            self.gaps.add(self._lost, self._newest)  # what was lost came before this one
            self._lost = None
        if not self.lateness_us:
            yield from self._release(event)
            return
        self._number += 1
        heapq.heappush(self._held, (event.time_us, self._number, event))
        while self._held and self._held[0][0] <= self._newest - self.lateness_us:
            yield from self._release(heapq.heappop(self._held)[2])

    def _release(self, event: Event) -> Iterator[Event]:
        """Hands the event out, unless its sequence tells that it is a copy; notes a gap before it."""
        self._released = event.time_us
        if event.sequence is not None:
            last, moment = self._sequences.get(event.source, (event.sequence - 1, event.time_us))
            begins_anew = event.sequence < last and event.time_us > moment  # a copy has the time of the first
            if event.sequence <= last and not begins_anew:
                self.counts.copies += 1
                return
            if begins_anew or event.sequence > last + 1:  # what a source sent last before it died, nobody knows
                self.counts.gaps += 1
                self.gaps.add(moment, event.time_us)
            self._remember(event.source, event.sequence, event.time_us)
        yield event

    def _remember(self, source: str, sequence: int, time_us: int) -> None:
        """Where a source is; those that have been silent longest are forgotten."""
        self._sequences.pop(source, None)
        self._sequences[source] = (sequence, time_us)
        if len(self._sequences) > MOST_SOURCES:
            del self._sequences[next(iter(self._sequences))]

    def _is_copy(self, event: Event) -> bool:
        if event.id in self._known:
            return True
        self._known[event.id] = None
        self._known_order.append(event.id)
        if len(self._known_order) > MOST_REMEMBERED:
            del self._known[self._known_order.popleft()]
        return False

    def state(self) -> dict[str, Any]:
        """Everything that decides how the stream goes on, as JSON can hold it."""
        counts = self.counts
        return {
            "newest": self._newest,
            "released": self._released,
            "number": self._number,
            "lost": self._lost,
            "held": [[time, number, [*event[:-1], dict(event.attributes)]] for time, number, event in self._held],
            "sequences": {source: list(pair) for source, pair in self._sequences.items()},
            "known": list(self._known_order),
            "gaps": [list(span) for span in self.gaps.spans],
            "counts": [counts.taken, counts.copies, counts.late, counts.gaps],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from a state that `state` gave."""
        self._newest, self._released, self._number = state["newest"], state["released"], state["number"]
        self._lost = state.get("lost")
        self._held = [(time, number, Event(*fields)) for time, number, fields in state["held"]]
        self._sequences = {source: (last, moment) for source, (last, moment) in state["sequences"].items()}
        self._known_order = deque(state["known"])
        self._known = dict.fromkeys(self._known_order)
        self.gaps.spans[:] = [(start, end) for start, end in state["gaps"]]
        self.counts = Counts(*state["counts"])


def in_order(events: Iterable[Event], arrival: Arrival) -> Iterator[Event]:
    """All events of a finite stream in order of time."""
    return chain(arrival.take(events), arrival.finish())
