"""Watches for counts, absence and heartbeats."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.desk import NEVER, Desk, Label
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules import AtMost, EqualCounts, Heartbeat, Never
from kubeproof.monitor.times import shown_duration, shown_time


class PlainWatch:
    """What these watches have in common: nothing to settle, nothing due."""

    __slots__ = ("_desk", "_label")

    def __init__(self, label: Label, desk: Desk) -> None:
        self._label, self._desk = label, desk
        desk.enlist(self)

    def expire(self, now: int) -> None:
        """Nothing is ever overdue."""

    def due(self) -> float:
        """Never."""
        return NEVER

    def finish(self, now: int) -> int:
        """Nothing is owed."""
        return 0

    def open(self) -> int:
        """Nothing waits."""
        return 0

    def settle_then(self, now: int) -> None:
        """Does not pair events."""

    def settle_first(self, now: int) -> None:
        """Does not pair events."""

    def state(self) -> Any:
        """Nothing is remembered."""
        return None

    def restore(self, state: Any) -> None:
        """Nothing is remembered."""

    def _raise(self, kind: Kind, about: str, text: str, start: int, end: int, *, key: str = "") -> None:
        label = self._label
        self._desk.report(Alarm(label.rule, kind, about, text, start, end, end, label.severity, key=key), self)


class NeverWatch(PlainWatch):
    """Reports every occurrence."""

    __slots__ = ("_body",)

    def __init__(self, body: Never, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body = body

    def on_event(self, event: Event) -> None:
        """It must not be."""
        about = str(self._body.event)
        self._raise(Kind.FORBIDDEN, about, f"{about} at {shown_time(event[0])}", event[0], event[0], key=event[4])


class RunLimitWatch(PlainWatch):
    """Counts in a run; reports once."""

    __slots__ = ("_body", "_count", "_start")

    def __init__(self, body: AtMost, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._count, self._start = body, 0, 0

    def on_event(self, event: Event) -> None:
        """One more."""
        if not self._count:
            self._start = event[0]
        self._count += 1
        if self._count == self._body.most + 1:
            about = str(self._body.event)
            text = f"{about} for the {self._count}th time in the run at {shown_time(event[0])}"
            self._raise(Kind.TOO_MANY, about, text, self._start, event[0])

    def state(self) -> Any:
        """The count, and when it began."""
        return [self._count, self._start]

    def restore(self, state: Any) -> None:
        """Counts on."""
        self._count, self._start = state


class WindowLimitWatch(PlainWatch):
    """Remembers the last times; reports when a window has one too many, and again only after it had not."""

    __slots__ = ("_body", "_over", "_per", "_times")

    def __init__(self, body: AtMost, per_us: int, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._per, self._over = body, per_us, False
        self._times: deque[int] = deque(maxlen=body.most + 1)

    def on_event(self, event: Event) -> None:
        """One more."""
        times = self._times
        times.append(event[0])
        is_over = len(times) > self._body.most and event[0] - times[0] <= self._per
        if is_over and not self._over:
            about = str(self._body.event)
            text = f"{about} {len(times)} times within {shown_duration(self._per)}"
            self._raise(Kind.TOO_MANY, about, text, times[0], event[0])
        self._over = is_over

    def state(self) -> Any:
        """The last times, and whether they are too many."""
        return [list(self._times), self._over]

    def restore(self, state: Any) -> None:
        """Counts on."""
        self._times.extend(state[0])
        self._over = state[1]


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
            self._raise(Kind.UNEQUAL, about, f"unequal counts from {shown_time(start)}: {shown}", start, end)
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


class HeartbeatWatch(PlainWatch):
    """Reports once when the event stays away; the end of a run is no silence."""

    __slots__ = ("_body", "_last", "_scheduled")

    def __init__(self, body: Heartbeat, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._scheduled = body, False
        self._last: int | None = None

    def on_event(self, event: Event) -> None:
        """Alive."""
        self._last = event[0]
        if not self._scheduled:
            self._scheduled = True
            self._desk.schedule(self._last + self._body.every_us, self)

    def due(self) -> float:
        """When the next beat is overdue."""
        self._scheduled = self._last is not None
        return NEVER if self._last is None else self._last + self._body.every_us

    def expire(self, now: int) -> None:
        """Reports silence."""
        if self._last is None or self._last + self._body.every_us >= now:
            return
        start, about = self._last, str(self._body.event)
        self._last = None  # silent until it comes again
        text = f"{about} has not come again since {shown_time(start)}"
        self._raise(Kind.SILENT, about, text, start, start + self._body.every_us)

    def state(self) -> Any:
        """The last beat."""
        return self._last

    def restore(self, state: Any) -> None:
        """Listens on."""
        self._last = state
        if state is not None:
            self._scheduled = True
            self._desk.schedule(state + self._body.every_us, self)
