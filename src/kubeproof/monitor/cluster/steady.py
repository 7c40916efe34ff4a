"""Changes with times that make sense: one that is dated far from the others happened when it came.

What a change says is true whatever its time; but a wrong time would let hours pass, and everything that waits for
somebody would be overdue. Two more changes that are as far ahead confirm the time: then nothing happened for long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubeproof.monitor.cluster.change import LOST, Change

WITNESSES = 2
LEAST_US = 3_600_000_000
SPARE = 10  # times the patience of intents


class SteadyTimes:
    """Passes changes on, with the time at which they came where theirs is not to be believed."""

    def __init__(self, within_us: int) -> None:
        self._max_ahead_us = max(SPARE * within_us, LEAST_US)
        self._now: int | None = None
        self._waiting: list[Change] = []  # far ahead, one after the other
        self.outliers = 0

    def pass_on(self, changes: Iterable[Change]) -> Iterator[Change]:
        """All changes, in their order."""
        for change in changes:
            if self._now is None:
                self._waiting.append(change)
                yield from self._begin() if sum(map(_is_dated, self._waiting)) > WITNESSES else ()
            elif not _is_dated(change):
                yield self._remove_dates(change)
            elif change.time_us > self._now + self._max_ahead_us:
                self._waiting.append(change)
                yield from self._confirm() if len(self._waiting) > WITNESSES else ()
            else:
                yield from self._contradict()
                yield self._take(change)
        yield from self._begin() if self._now is None else self._contradict()

    def _begin(self) -> Iterator[Change]:
        """The first changes: the time is that of the one in the middle."""
        times = sorted(change.time_us for change in self._waiting if _is_dated(change)) or [0]
        is_open = len(times) <= WITNESSES  # too few to tell who is wrong
        self._now = times[0] if is_open else times[len(times) // 2]
        held, self._waiting = self._waiting, []
        for change in held:
            is_far = _is_dated(change) and abs(change.time_us - self._now) > self._max_ahead_us and not is_open
            yield self._at_now(change) if is_far else change if _is_dated(change) else self._remove_dates(change)
        middle = self._now
        self._now = max(time for time in times if is_open or time <= middle + self._max_ahead_us)

    def _remove_dates(self, change: Change) -> Change:
        return change._replace(time_us=self._now or 0)

    def _confirm(self) -> Iterator[Change]:
        """Moves on once enough changes in a row have come as far as the first of them."""
        first, *later = self._waiting[-WITNESSES - 1 :]
        if all(change.time_us >= first.time_us for change in later):
            yield from (self._at_now(change) for change in self._waiting[: -WITNESSES - 1])
            self._waiting = []
            self._now = first.time_us
            yield from (self._take(change) for change in (first, *later))

    def _contradict(self) -> Iterator[Change]:
        held, self._waiting = self._waiting, []
        yield from map(self._at_now, held)

    def _take(self, change: Change) -> Change:
        self._now = max(self._now or change.time_us, change.time_us)
        return change

    def _at_now(self, change: Change) -> Change:
        self.outliers += 1
        return change._replace(time_us=self._now or change.time_us)


def _is_dated(change: Change) -> bool:
    """False for what was lost: it has the time of what came before it."""
    return change.what != LOST
