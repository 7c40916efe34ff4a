"""Since when a pair of events has been busy: as long as it is, one lost event shifts who answers whom."""

from __future__ import annotations

LONG_AGO = -(2**63)
Spans = list[tuple[int, int]]


class Busy:
    """Kept only after something was lost. Whoever is quiet for longer than an answer may take owes nothing."""

    __slots__ = ("_last", "_quiet_us", "_spans", "since_us")

    def __init__(self, quiet_us: int, spans: Spans, last: int | None = None, since_us: int = LONG_AGO) -> None:
        self._quiet_us, self._spans, self._last, self.since_us = quiet_us, spans, last, since_us

    def note(self, now: int, *, is_waiting: bool) -> None:
        """One of the events came."""
        last = max(end for _, end in self._spans) if self._last is None else self._last
        if not is_waiting and now - last > self._quiet_us:
            self.since_us = now
        self._last = now

    def state(self) -> list[int | None]:
        """The last event, and since when."""
        return [self._last, self.since_us]
