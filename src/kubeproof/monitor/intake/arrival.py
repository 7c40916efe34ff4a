"""Puts events in order of time as they arrive, drops copies, and notes what was lost.

Clocks differ and messages overtake each other; `lateness_us` bounds by how much. An event is held back until no event
that may still come, according to the bound, can be earlier. What comes later than the bound allows is not used. A time
stamp far from the stream's is doubted (`doubts.py`): it does not move the stream on unless others confirm it.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import chain
from typing import Any

from kubeproof.monitor.event import Event, event_from, event_value
from kubeproof.monitor.intake.doubts import Doubts
from kubeproof.values import dataclass

MOST_REMEMBERED = 100_000  # identities, for finding copies
MOST_GAPS = 1_000
MOST_SOURCES = 10_000  # whose sequences are followed
LONG_AGO, FOREVER = -(2**63), 2**63


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
    """What happened on arrival; the last four are of the stream as a whole."""

    taken: int = 0
    copies: int = 0
    late: int = 0
    gaps: int = 0
    outliers: int = 0  # dated far from the rest of the stream
    lost: int = 0  # records that could not be read
    ended: int = 0  # runs that are over
    resumed: int = 0  # runs that went on after they had been taken for over
    given_up: int = 0  # runs that were dropped because there were too many

    def add(self, other: Counts) -> None:
        """Counts what the other has counted."""
        for name in Counts.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def value(self) -> list[int]:
        """The numbers in order."""
        return [getattr(self, name) for name in Counts.__slots__]


class Arrival:
    """One stream on its way in; its state can be saved and restored."""

    __slots__ = (
        "_doubts", "_held", "_high", "_is_disturbed", "_known", "_known_order", "_lost", "_number", "_released",
        "_sequences", "counts", "gaps", "lateness_us", "max_ahead_us", "newest_us",
    )  # fmt: skip

    def __init__(self, lateness_us: int = 0, max_ahead_us: int | None = None, anchor_us: int | None = None) -> None:
        """`anchor_us` is how far others have come: a first event near it is not doubted."""
        self.lateness_us, self.max_ahead_us = lateness_us, max_ahead_us
        self.gaps, self.counts = Gaps(), Counts()
        self.newest_us = self._released = LONG_AGO  # nothing earlier than the second is handed out any more
        self._high = FOREVER if max_ahead_us is None else LONG_AGO  # beyond it, a time is doubted
        self._doubts = None if max_ahead_us is None else Doubts(lateness_us, max_ahead_us, anchor_us)
        self._is_disturbed = False  # something was lost or doubted, and has to be looked at before the next event
        self._held: list[tuple[int, int, Event]] = []  # a heap; the second entry keeps order among equals
        self._number = 0
        self._lost: int | None = None  # something was lost after this moment, and nothing has come since
        self._sequences: dict[str, tuple[int, int]] = {}  # source -> last sequence, its time
        self._known: dict[str, None] = {}
        self._known_order: deque[str] | None = None

    @property
    def has_begun(self) -> bool:
        return self.newest_us != LONG_AGO

    @property
    def guess_us(self) -> int | None:
        """How far the stream seems to have come as long as nothing confirms it."""
        return None if self._doubts is None else self._doubts.guess_us

    def take(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events that can be judged now, in order of time."""
        for event in events:
            self.counts.taken += 1
            if event[6] and self._is_copy(event):
                self.counts.copies += 1
            elif self._released <= event[0] <= self._high:
                yield from self._admit(event)
            elif event[0] > self._high:
                yield from self._doubt(event)
            else:
                self._leave_out(event)

    def lose(self) -> None:
        """Notes that an event was lost about now."""
        self._is_disturbed = True
        start = self.newest_us - self.lateness_us if self.has_begun else LONG_AGO
        if self.has_begun:
            self.gaps.add(start, self.newest_us)
        self._lost = start if self._lost is None else min(start, self._lost)

    def advance(self, now_us: int) -> Iterator[Event]:
        """What need not be held back any more once time has come so far, without an event."""
        if self._doubts is not None and self.max_ahead_us is not None:
            self._high = max(self._high, now_us + self.max_ahead_us)
            for event in self._doubts.reach(now_us, self._high):
                self._hold(event)
        yield from self._hand_out(now_us - self.lateness_us)

    def finish(self) -> Iterator[Event]:
        """What is still held back, at the end of the stream; where nothing told what the time is, all of it."""
        if self._doubts is not None and self.has_begun:
            self._set_aside(self._doubts.isolate())
            if self._lost is not None:
                self.gaps.add(self._lost, self.newest_us)
        elif self._doubts is not None:
            for event in self._doubts.reach(FOREVER, FOREVER):
                self._hold(event)
        yield from self._hand_out(FOREVER)

    def _admit(self, event: Event) -> Iterator[Event]:
        """Takes in an event that nobody doubts."""
        time = event[0]
        if self._is_disturbed:
            yield from self._settle(event)
        if time > self.newest_us:
            self.newest_us = time
            if self.max_ahead_us is not None and time + self.max_ahead_us > self._high:
                self._high = time + self.max_ahead_us
        if self.lateness_us:
            self._hold(event)
            yield from self._hand_out(self.newest_us - self.lateness_us)
        elif event[7] is None:
            self._released = time
            yield event
        else:
            yield from self._release(event)

    def _settle(self, event: Event) -> Iterator[Event]:
        """What an event says about those that were doubted or lost before it."""
        if self._doubts is not None:
            self._doubts.hear(event)
            self._set_aside(self._doubts.isolate())
        if self._lost is not None:
            self.gaps.add(self._lost, max(event[0], self.newest_us))  # what was lost came before this one
            self._lost = None
        if self._doubts is not None:
            for one in self._doubts.reach(event[0], LONG_AGO):
                self._hold(one)
            if not self.lateness_us:
                yield from self._hand_out(event[0])
            self._is_disturbed = self._doubts.is_busy
        else:
            self._is_disturbed = False

    def _doubt(self, event: Event) -> Iterator[Event]:
        """Waits for others to confirm an event that is far ahead, or the first of all."""
        if self._doubts is None:  # nothing is doubted: this is beyond all times
            return
        self._is_disturbed = True
        found = self._doubts.weigh(event, has_clock=self.has_begun)
        if found is None:
            return
        if not self.has_begun:
            for early in found.before:
                self.counts.outliers += 1
                self.gaps.add(early[0], found.events[0][0])
        self._set_aside(found.contradicted)
        if self._lost is not None:
            self.gaps.add(self._lost, found.events[-1][0])
            self._lost = None
        self._is_disturbed = False
        for one in (*found.before, *found.events):
            self._doubts.hear(one)
            yield from self._admit(one)
        self._is_disturbed = True

    def _set_aside(self, outliers: Iterable[Event]) -> None:
        """Counts events whose time is not to be believed: they happened about now, so something is missing here."""
        for _ in outliers:
            self.counts.outliers += 1
            start = self.newest_us - self.lateness_us if self.has_begun else LONG_AGO
            self._lost = start if self._lost is None else min(start, self._lost)

    def _leave_out(self, event: Event) -> None:
        """Passes over an event that comes too late, or that is dated far back."""
        if self.max_ahead_us is not None and event[0] < self._released - self.max_ahead_us:
            self._is_disturbed = True
            self._set_aside((event,))
        else:
            self.counts.late += 1
            self.gaps.add(event[0], event[0])

    def _hold(self, event: Event) -> None:
        self._number += 1
        heapq.heappush(self._held, (event[0], self._number, event))

    def _hand_out(self, until: int) -> Iterator[Event]:
        while self._held and self._held[0][0] <= until:
            yield from self._release(heapq.heappop(self._held)[2])

    def _release(self, event: Event) -> Iterator[Event]:
        """Hands the event out, unless its sequence tells that it is a copy; notes a gap before it."""
        self._released = max(self._released, event[0])
        if event[0] > self.newest_us:
            self.newest_us = event[0]
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
        if self._known_order is None:
            self._known_order = deque()
        self._known_order.append(event.id)
        if len(self._known_order) > MOST_REMEMBERED:
            del self._known[self._known_order.popleft()]
        return False

    def state(self) -> dict[str, Any]:
        """Everything that decides how the stream goes on, as JSON can hold it."""
        return {
            "newest": self.newest_us,
            "released": self._released,
            "high": self._high,
            "disturbed": self._is_disturbed,
            "number": self._number,
            "lost": self._lost,
            "held": [[time, number, event_value(event)] for time, number, event in self._held],
            "sequences": {source: list(pair) for source, pair in self._sequences.items()},
            "known": list(self._known_order or ()),
            "gaps": [list(span) for span in self.gaps.spans],
            "counts": self.counts.value(),
            "doubts": None if self._doubts is None else self._doubts.state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from a state that `state` gave."""
        self.newest_us, self._released, self._number = state["newest"], state["released"], state["number"]
        self._high, self._is_disturbed, self._lost = state["high"], state["disturbed"], state["lost"]
        self._held = [(time, number, event_from(fields)) for time, number, fields in state["held"]]
        self._sequences = {source: (last, moment) for source, (last, moment) in state["sequences"].items()}
        self._known_order = deque(state["known"]) if state["known"] else None
        self._known = dict.fromkeys(state["known"])
        self.gaps.spans[:] = [(start, end) for start, end in state["gaps"]]
        self.counts = Counts(*state["counts"])
        if self._doubts is not None:
            self._doubts.restore(state["doubts"])


def in_order(events: Iterable[Event], arrival: Arrival) -> Iterator[Event]:
    """All events of a finite stream in order of time."""
    return chain(arrival.take(events), arrival.finish())
