"""Watches for limits, absence and heartbeats."""

from __future__ import annotations

from collections import deque
from typing import Any

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.rules import AtMost, Heartbeat, Never
from kubeproof.monitor.times import show_duration, show_time
from kubeproof.monitor.watches.desk import NEVER, Desk, Label
from kubeproof.verdicts import Verdict


class PlainWatch:
    """What these watches have in common: nothing to settle, nothing due."""

    __slots__ = ("_desk", "_label", "number")

    def __init__(self, label: Label, desk: Desk) -> None:
        self._label, self._desk, self.number = label, desk, label.number

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

    def _raise(
        self,
        kind: Kind,
        about: str,
        text: str,
        start: int,
        end: int,
        *,
        key: str = "",
        verdict: Verdict = Verdict.VIOLATED,
    ) -> None:
        label = self._label
        alarm = Alarm(label.rule, kind, about, text, start, end, end, label.severity, verdict, key=key)
        self._desk.report(alarm, self)


class NeverWatch(PlainWatch):
    """Reports every occurrence."""

    __slots__ = ("_body",)

    def __init__(self, body: Never, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body = body

    def on_event(self, event: Event) -> None:
        """It must not be."""
        about = str(self._body.event)
        self._raise(Kind.FORBIDDEN, about, f"{about} at {show_time(event[0])}", event[0], event[0], key=event[4])


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
            text = f"{about} for the {self._count}th time in the run at {show_time(event[0])}"
            self._raise(Kind.TOO_MANY, about, text, self._start, event[0])

    def state(self) -> Any:
        """The count, and when it began."""
        return [self._count, self._start]

    def restore(self, state: Any) -> None:
        """Counts on."""
        self._count, self._start = state


class WindowLimitWatch(PlainWatch):
    """Remembers the last times; reports when a window has one too many, and again only after it had not.

    Where clocks differ, events of several sources may lie further apart than they seem: it is one too many only if it
    is so for all that their clocks may be off, and not so any more likewise.
    """

    __slots__ = ("_body", "_over", "_per", "_sources", "_times")

    def __init__(self, body: AtMost, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._per, self._over = body, body.per_us or 0, False
        self._times: deque[int] = deque(maxlen=body.most + 1)
        self._sources: deque[str] | None = deque(maxlen=body.most + 1) if desk.skew_us else None

    def on_event(self, event: Event) -> None:
        """One more."""
        times = self._times
        times.append(event[0])
        if self._sources is not None:
            self._sources.append(event[2])
        slack = self._slack()
        is_full = len(times) > self._body.most
        if is_full and event[0] - times[0] + slack <= self._per and not self._over:
            about = str(self._body.event)
            text = f"{about} {len(times)} times within {show_duration(self._per)}"
            self._raise(Kind.TOO_MANY, about, text, times[0], event[0])
            self._over = True
        elif not is_full or event[0] - times[0] - slack > self._per:
            self._over = False

    def _slack(self) -> int:
        """By how much the events may be further apart: one source has one clock."""
        if self._sources is None or (self._sources[0] and len(set(self._sources)) == 1):
            return 0
        return self._desk.skew_us

    def state(self) -> Any:
        """The last times, and whether they are too many."""
        return [list(self._times), self._over, None if self._sources is None else list(self._sources)]

    def restore(self, state: Any) -> None:
        """Counts on."""
        self._times.extend(state[0])
        self._over = state[1]
        if self._sources is not None:
            self._sources.extend(state[2])


class HeartbeatWatch(PlainWatch):
    """Reports once when the event stays away; the end of a run is no silence."""

    __slots__ = ("_body", "_every", "_last", "_scheduled")

    def __init__(self, body: Heartbeat, label: Label, desk: Desk) -> None:
        super().__init__(label, desk)
        self._body, self._scheduled = body, False
        self._every = body.every_us + desk.skew_us
        self._last: int | None = None

    def on_event(self, event: Event) -> None:
        """Alive."""
        self._last = event[0]
        if not self._scheduled:
            self._scheduled = True
            self._desk.schedule(self._last + self._every, self)

    def due(self) -> float:
        """When the next beat is overdue."""
        self._scheduled = self._last is not None
        return NEVER if self._last is None else self._last + self._every

    def expire(self, now: int) -> None:
        """Reports silence."""
        if self._last is None or self._last + self._every >= now:
            return
        start, about = self._last, str(self._body.event)
        self._last = None  # silent until it comes again
        text = f"{about} has not come again since {show_time(start)}"
        self._raise(Kind.SILENT, about, text, start, start + self._every)

    def state(self) -> Any:
        """The last beat."""
        return self._last

    def restore(self, state: Any) -> None:
        """Listens on."""
        self._last = state
        if state is not None:
            self._scheduled = True
            self._desk.schedule(state + self._every, self)
