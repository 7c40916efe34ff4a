"""Time stamps that are far from the rest of the stream: one of them is a mistake, several that agree are the time.

An event that is ahead by more than a bound waits. If the next ones are near the stream again, it was an outlier: it is
set aside until the stream gets there. If the next ones are as far ahead (a night without events), the stream moves on.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.monitor.event import Event, event_from, event_value
from kubeproof.named_tuples import NamedTuple

WITNESSES = 2  # later events that confirm a time
ENOUGH = 100  # events in a row that confirm it, even if they are all of one source among several
MOST_ASIDE = 1_000  # outliers that are remembered


class Confirmed(NamedTuple):
    """What is known to be right: `before` are events that lie far before the others at the very beginning."""

    before: list[Event]
    events: list[Event]
    contradicted: list[Event]


class Doubts:
    """Events of one stream that are waiting to be confirmed, and those that were not."""

    __slots__ = (
        "_anchor",
        "_aside",
        "_bound",
        "_has_many_voices",
        "_heard",
        "_lateness",
        "_number",
        "_voice",
        "_waiting",
    )

    def __init__(self, lateness_us: int, bound_us: int, anchor_us: int | None) -> None:
        self._lateness, self._bound, self._anchor = lateness_us, bound_us, anchor_us
        self._waiting: list[Event] = []  # since the last event that nobody doubted, as they came
        self._aside: list[tuple[int, int, Event]] = []  # a heap of outliers
        self._number = 0
        self._voice: str | None = None
        self._has_many_voices, self._heard = False, 0

    @property
    def is_busy(self) -> bool:
        return bool(self._waiting or self._aside) or self._heard < ENOUGH

    @property
    def guess_us(self) -> int | None:
        """The time of the last event that waits."""
        return self._waiting[-1][0] if self._waiting else None

    def hear(self, event: Event) -> None:
        """Learns from the first events whether the stream has one source or several."""
        self._heard += 1
        if self._voice is None:
            self._voice = event[2]
        self._has_many_voices |= event[2] != self._voice

    def weigh(self, event: Event, *, has_clock: bool) -> Confirmed | None:
        """Takes in an event that is far ahead, or one of the first; what is confirmed by now."""
        self._waiting.append(event)
        if not has_clock:
            return self._begin()
        moment = self._find_confirmed()
        if moment is None:
            return None
        return self._divide(moment)

    def isolate(self) -> list[Event]:
        """The events that wait, which turned out to be outliers."""
        if not self._waiting:
            return []
        found, self._waiting = self._waiting, []
        self._set_aside(found)
        return found

    def reach(self, now_us: int, high_us: int) -> Iterator[Event]:
        """What is not ahead any more once the stream has come so far, or once a clock says that it may be."""
        while self._aside and self._aside[0][0] <= now_us:
            yield heapq.heappop(self._aside)[2]
        near = [event for event in self._waiting if event[0] <= high_us]
        if near:
            self._waiting = [event for event in self._waiting if event[0] > high_us]
            yield from sorted(near, key=lambda event: event[0])

    def _begin(self) -> Confirmed | None:
        """Where the stream begins: two that agree tell, or others that go on, or a clock that is known."""
        *others, last = self._waiting
        near = [event[0] for event in others if abs(event[0] - last[0]) <= self._bound]
        is_known = self._anchor is not None and abs(last[0] - self._anchor) <= self._bound
        moment = min([*near, last[0]]) if near or is_known else self._find_confirmed()
        return None if moment is None else self._divide(moment)

    def _find_confirmed(self) -> int | None:
        """The earliest time that enough later events have reached."""
        waiting = self._waiting
        if len(waiting) <= WITNESSES:
            return None
        for place, event in sorted(enumerate(waiting), key=lambda one: one[1][0]):
            later = [one for one in waiting[place + 1 :] if one[0] >= event[0] - self._lateness]
            if len(later) >= WITNESSES and self._are_several([event, *later]):
                return event[0]
        if len(waiting) > 2 * ENOUGH:  # they go back and forth
            self._set_aside(waiting[:ENOUGH])
            del waiting[:ENOUGH]
        return None

    def _are_several(self, events: list[Event]) -> bool:
        if not self._has_many_voices or len(events) >= ENOUGH:
            return True
        return len({event[2] for event in events}) > 1

    def _divide(self, moment: int) -> Confirmed:
        """Splits what waits: near the moment and confirmed, before it, or further ahead."""
        places = {id(event): place for place, event in enumerate(self._waiting)}
        ascending = sorted(self._waiting, key=lambda event: event[0])
        before = [event for event in ascending if event[0] < moment - self._lateness]
        events: list[Event] = []
        newest = moment
        for event in ascending[len(before) :]:
            if event[0] > newest + self._bound:
                break
            events.append(event)
            newest = max(newest, event[0])
        last = max(places[id(event)] for event in events)
        ahead = [event for event in self._waiting if event[0] > newest + self._bound]
        contradicted = [event for event in ahead if places[id(event)] < last]
        self._waiting = [event for event in ahead if places[id(event)] > last]
        self._set_aside(contradicted)
        return Confirmed(before, events, contradicted)

    def _set_aside(self, events: Iterable[Event]) -> None:
        for event in events:
            self._number += 1
            heapq.heappush(self._aside, (event[0], self._number, event))
        while len(self._aside) > MOST_ASIDE:
            self._aside.remove(max(self._aside))
            heapq.heapify(self._aside)

    def state(self) -> Any:
        """What waits, what is set aside, and who was heard."""
        aside = [[time, number, event_value(event)] for time, number, event in self._aside]
        waiting = [event_value(event) for event in self._waiting]
        return [waiting, aside, self._number, self._voice, self._has_many_voices, self._heard, self._anchor]

    def restore(self, state: Any) -> None:
        """Waits for the same again."""
        waiting, aside, self._number, self._voice, self._has_many_voices, self._heard, self._anchor = state
        self._waiting = [event_from(fields) for fields in waiting]
        self._aside = [(time, number, event_from(fields)) for time, number, fields in aside]
