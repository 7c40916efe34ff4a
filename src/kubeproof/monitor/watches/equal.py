"""Watches for events that occur equally often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubeproof.monitor.alarms import Kind
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.rules import EqualCounts
from kubeproof.monitor.times import show_time
from kubeproof.monitor.watches.desk import NEVER, Desk, Label
from kubeproof.monitor.watches.other import PlainWatch
from kubeproof.verdicts import Verdict


def equal_counts_watch(body: EqualCounts, label: Label, desk: Desk) -> EqualCountsWatch | SkewedCountsWatch:
    """The watch for such a rule; clocks that differ blur the ends of stretches."""
    kind = SkewedCountsWatch if desk.skew_us and body.per_us is not None else EqualCountsWatch
    return kind(body, label, desk)


class EqualCountsWatch(PlainWatch):
    """Counts in stretches that follow each other, from the first event on; judged when a stretch is over."""

    __slots__ = ("_body", "_counts", "_start")

    def __init__(self, body: EqualCounts, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._counts = body, [0] * len(body.events)
        self._start: int | None = None

    def handler(self, number: int) -> Callable[[Event], None]:
        """What to do with the events of one of the patterns."""

        def on_event(event: Event) -> None:
            if self._start is None:
                self._start = event[0]
                if self._body.per_us is not None:
                    self._desk.schedule(self._start + self._body.per_us, self)
            self._counts[number] += 1

        return on_event

    def due(self) -> float:
        """The end of the stretch."""
        return NEVER if self._start is None or self._body.per_us is None else self._start + self._body.per_us

    def expire(self, now: int) -> None:
        """Judges the stretch; the next begins with the next event."""
        if self._start is not None and self._body.per_us is not None and self._start + self._body.per_us < now:
            self._judge(self._start + self._body.per_us)

    def finish(self, now: int) -> int:
        """Judges the last stretch."""
        return self._judge(now) if self._start is not None else 0

    def _judge(self, end: int) -> int:
        counts, start = self._counts, self._start or 0
        is_unequal = max(counts) - min(counts) > self._body.tolerance
        if is_unequal:
            shown = ", ".join(f"{event} {count}" for event, count in zip(self._body.events, counts, strict=True))
            about = str(self._body.events[counts.index(min(counts))])
            self._raise(Kind.UNEQUAL, about, f"unequal counts from {show_time(start)}: {shown}", start, end)
        self._counts, self._start = [0] * len(counts), None
        return int(is_unequal)

    def state(self) -> Any:
        """The counts, and when they began."""
        return [self._counts, self._start]

    def restore(self, state: Any) -> None:
        """Counts on."""
        self._counts, self._start = list(state[0]), state[1]
        if self._start is not None and self._body.per_us is not None:
            self._desk.schedule(self._start + self._body.per_us, self)


class SkewedCountsWatch(PlainWatch):
    """The same where clocks differ by up to `skew`: which stretch an event near an end belongs to is open.

    A stretch is judged a while after its end. Events near the end count for either side; after such an end it is open
    where the next stretches begin, until there is a pause longer than a stretch. What is only likely is unknown.
    """

    __slots__ = ("_blur", "_body", "_counts", "_is_open", "_last", "_near", "_per", "_start")

    def __init__(self, body: EqualCounts, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._per, self._blur = body, body.per_us or 0, 2 * desk.skew_us
        self._counts = [0] * len(body.events)
        self._start: int | None = None
        self._last: int | None = None  # event of all
        self._near = 0  # events of this stretch near its end, and after it
        self._is_open = False  # where this stretch begins

    def handler(self, number: int) -> Callable[[Event], None]:
        """What to do with the events of one of the patterns."""

        def on_event(event: Event) -> None:
            time = event[0]
            if self._start is not None and time > self._start + self._per:
                self._is_open |= time <= self._start + self._per + self._blur
                self._judge(self._start + self._per)
            if self._start is None:
                self._begin(time)
            self._counts[number] += 1
            self._near += time >= (self._start or 0) + self._per - self._blur
            self._last = time

        return on_event

    def _begin(self, time: int) -> None:
        if self._last is not None and time - self._last > self._per + self._blur:
            self._is_open = False
        self._start = time
        self._desk.schedule(time + self._per + self._blur, self)

    def due(self) -> float:
        """A while after the end of the stretch."""
        return NEVER if self._start is None else self._start + self._per + self._blur

    def expire(self, now: int) -> None:
        """Judges the stretch; the next begins with the next event."""
        if self._start is not None and self._start + self._per + self._blur < now:
            self._judge(self._start + self._per)

    def finish(self, now: int) -> int:
        """Judges the last stretch."""
        return self._judge(now) if self._start is not None else 0

    def _judge(self, end: int) -> int:
        counts, start = self._counts, self._start or 0
        difference = max(counts) - min(counts)
        is_unequal = difference > self._body.tolerance
        if is_unequal:
            is_certain = not self._is_open and difference > self._body.tolerance + self._near
            shown = ", ".join(f"{event} {count}" for event, count in zip(self._body.events, counts, strict=True))
            about = str(self._body.events[counts.index(min(counts))])
            text = f"unequal counts from {show_time(start)}: {shown}"
            text += "" if is_certain else "; clocks may differ too much to tell"
            verdict = Verdict.VIOLATED if is_certain else Verdict.UNKNOWN
            self._raise(Kind.UNEQUAL, about, text, start, end, verdict=verdict)
        self._is_open |= self._near > 0
        self._counts, self._start, self._near = [0] * len(counts), None, 0
        return int(is_unequal)

    def state(self) -> Any:
        """The counts, when they began, and what is open."""
        return [self._counts, self._start, self._last, self._near, self._is_open]

    def restore(self, state: Any) -> None:
        """Counts on."""
        self._counts, self._start, self._last, self._near, self._is_open = state
        if self._start is not None:
            self._desk.schedule(self._start + self._per + self._blur, self)
