"""Notifications of a running cluster as changes, with the time at which they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubeproof.monitor.cluster.change import RELISTED, TIME, WRITTEN, Change, Object, key_of
from kubeproof.monitor.cluster.watching import WatchReader
from kubeproof.monitor.event import SECOND_US


class LiveChanges:
    """Holds the first lists back until all kinds are there: half a cluster is no state to judge."""

    def __init__(self, kinds: int, clock: Callable[[], float]) -> None:
        self._missing, self._clock = kinds, clock
        self._held: list[Change] = []
        self._reader = WatchReader()

    def tick(self) -> Change:
        """Time passes."""
        return Change(self._now(), TIME)

    def changes(
        self, kind: str, what: str, objects: Sequence[Object], *, is_list: bool, is_first: bool
    ) -> Iterator[Change]:
        """What a notification tells."""
        found = list(self._listed(kind, objects, is_first=is_first)) if is_list else self._told(what, objects)
        self._missing -= is_first
        if self._missing > 0:
            self._held += found
            return
        now = self._now()
        yield from (change._replace(time_us=now) for change in (*self._held, *found))
        self._held = []

    def _listed(self, kind: str, objects: Sequence[Object], *, is_first: bool) -> Iterator[Change]:
        yield Change(0, RELISTED, (kind, "", ""), not is_first)
        for value in objects:
            yield Change(0, WRITTEN, key_of(value), value)

    def _told(self, what: str, objects: Sequence[Object]) -> list[Change]:
        return [change for value in objects for change in self._reader.changes(what, value, 0)]

    def _now(self) -> int:
        return int(self._clock() * SECOND_US)
