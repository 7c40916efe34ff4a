"""Notifications of a running cluster as changes, with the time at which they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubeproof.monitor.cluster.change import RELISTED, TIME, Change, Object
from kubeproof.monitor.cluster.watching import WatchReader
from kubeproof.monitor.event import SECOND_US


class LiveChanges:
    """Holds the first lists back until all kinds are there: half a cluster is no state to judge."""

    def __init__(self, kinds: int, clock: Callable[[], float]) -> None:
        self._missing, self._clock = kinds, clock
        self._held: list[Change] = []
        self._reader = WatchReader()
        self._begun_us: int | None = None

    def has_lasted(self, duration_us: int | None) -> bool:
        """True once so much time has passed since there was a cluster to judge."""
        if duration_us is None or self._begun_us is None:
            return False
        return self._now() - self._begun_us > duration_us

    def tick(self) -> Iterator[Change]:
        """Time passes, once there is a cluster."""
        if self._missing <= 0:
            yield Change(self._now(), TIME)

    def take_listed(self, kind: str, objects: Sequence[Object], *, is_first: bool) -> Iterator[Change]:
        """All objects of a kind; if it is not for the first time, something was missed."""
        has_begun = self._missing <= 0
        found = [Change(0, RELISTED, (kind, "", ""), has_begun and not is_first)]
        found += [change for value in objects for change in self._reader.changes("ADDED", value, 0)]
        self._missing -= is_first
        yield from self._now_or_later(found)

    def take_notice(self, what: str, objects: Sequence[Object]) -> Iterator[Change]:
        """What a notification tells."""
        found = [change for value in objects for change in self._reader.changes(what, value, 0)]
        yield from self._now_or_later(found)

    def _now_or_later(self, found: list[Change]) -> Iterator[Change]:
        self._held += found
        if self._missing <= 0:
            now = self._now()
            self._begun_us = self._begun_us or now
            yield from (change._replace(time_us=now) for change in self._held)
            self._held = []

    def _now(self) -> int:
        return int(self._clock() * SECOND_US)
