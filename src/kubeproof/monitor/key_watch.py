"""Watch for "a is followed by b with the same key"."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from kubeproof.monitor.desk import NEVER, Desk, Label
from kubeproof.monitor.event import Event
from kubeproof.monitor.pair_report import PairReport
from kubeproof.monitor.rules import FollowedBy


class KeyWatch:
    """An answer serves the oldest obligation with its key; events without a key are passed over."""

    __slots__ = (
        "_desk",
        "_has_given_up",
        "_limit",
        "_order",
        "_queues",
        "_report",
        "_scheduled",
        "_waiting",
        "_within",
    )

    def __init__(self, pair: FollowedBy, label: Label, desk: Desk) -> None:
        self._desk, self._limit, self._within = desk, desk.most_pending, pair.within_us
        self._report = PairReport(pair, label, desk)
        self._queues: dict[str, deque[int]] = {}  # key -> times of first events that wait
        self._order: deque[tuple[int, str]] = deque()  # all of them as they fall due, served ones included
        self._waiting = 0
        self._scheduled = False
        self._has_given_up = False  # said once, until nobody waits any more
        desk.enlist(self)

    def on_first(self, event: Event) -> None:
        """Owes an answer with this key."""
        time, key = event[0], event[4]
        if not key:
            return
        self._queues.setdefault(key, deque()).append(time)
        self._order.append((time, key))
        self._waiting += 1
        if not self._scheduled:
            self._scheduled = True
            self._desk.schedule(self._order[0][0] + self._within, self)
        if self._waiting > self._limit:
            self._forget_oldest(time)
        if len(self._order) > 2 * self._limit:
            self._forget_served()

    def on_then(self, event: Event) -> None:
        """Serves the oldest with this key."""
        if event[4] in self._queues:
            self._serve(event[4])

    def _serve(self, key: str) -> int:
        queue = self._queues[key]
        self._waiting -= 1
        time = queue.popleft()
        if not queue:
            del self._queues[key]
        return time

    def _waits(self, time: int, key: str) -> bool:
        queue = self._queues.get(key)
        return queue is not None and queue[0] == time

    def _forget_oldest(self, now: int) -> None:
        time, key = self._order.popleft()
        while not self._waits(time, key):
            time, key = self._order.popleft()
        self._serve(key)
        if not self._has_given_up:
            self._report.overflow(self, time, now)
        self._has_given_up = True

    def _forget_served(self) -> None:
        """Keeps those who wait: few may wait long while many are served at once."""
        self._order = deque((time, key) for time, key in self._left())

    def _left(self) -> Iterator[tuple[int, str]]:
        """Who waits, in order."""
        left = {key: deque(queue) for key, queue in self._queues.items()}
        for time, key in self._order:
            queue = left.get(key)
            if queue and queue[0] == time:
                yield queue.popleft(), key

    def due(self) -> float:
        """The end of the oldest obligation's time."""
        while self._order and not self._waits(*self._order[0]):
            self._order.popleft()
        self._scheduled = bool(self._order)
        self._has_given_up &= self._scheduled
        return self._order[0][0] + self._within if self._order else NEVER

    def expire(self, now: int) -> None:
        """Reports answers that did not come in time."""
        while self._order and self._order[0][0] + self._within < now:
            time, key = self._order.popleft()
            if self._waits(time, key):
                self._serve(key)
                self._report.missing(self, time, time + self._within, at_end=False, key=key)

    def finish(self, now: int) -> int:
        """Reports answers that never came."""
        count = 0
        while self._order:
            time, key = self._order.popleft()
            if self._waits(time, key):
                self._serve(key)
                self._report.missing(self, time, now, at_end=True, key=key)
                count += 1
        return count

    def open(self) -> int:
        """Obligations that still wait."""
        return self._waiting

    def settle_then(self, now: int) -> None:
        """Nothing: what is lost for one key is no loss for another."""

    def settle_first(self, now: int) -> None:
        """Nothing, likewise."""

    def state(self) -> Any:
        """Who waits, in order, and whether some were given up."""
        return [[[time, key] for time, key in self._left()], self._has_given_up]

    def restore(self, state: Any) -> None:
        """Waits for the same again."""
        self._has_given_up = state[1]
        for time, key in state[0]:
            self._queues.setdefault(key, deque()).append(time)
            self._order.append((time, key))
        self._waiting = len(self._order)
        if self._order:
            self._scheduled = True
            self._desk.schedule(self._order[0][0] + self._within, self)
