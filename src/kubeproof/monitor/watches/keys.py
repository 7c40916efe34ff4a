"""Watch for "a is followed by b with the same key"."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.rules import FollowedBy
from kubeproof.monitor.watches.busy import LONG_AGO
from kubeproof.monitor.watches.desk import NEVER, Desk, Label
from kubeproof.monitor.watches.pair_report import PairReport


class EarlyAnswers:
    """Answers that nobody waits for yet, by key: where clocks differ, the question may still come."""

    __slots__ = ("_limit", "_order", "_skew", "_times")

    def __init__(self, skew_us: int, limit: int) -> None:
        self._skew, self._limit = skew_us, limit
        self._times: dict[str, deque[int]] = {}
        self._order: deque[tuple[int, str]] = deque()

    def add(self, key: str, time: int) -> None:
        """One more answer."""
        self._times.setdefault(key, deque()).append(time)
        self._order.append((time, key))
        self._forget(time - self._skew)

    def take(self, key: str, time: int) -> bool:
        """True if the question at this time has been answered; the answer is used up."""
        self._forget(time - self._skew)
        return bool(self._times.get(key)) and self._drop(key)

    def _forget(self, before: int) -> None:
        """Drops what is too old for any question, or too much to be remembered."""
        while self._order and (self._order[0][0] < before or len(self._order) > self._limit):
            time, key = self._order.popleft()
            queue = self._times.get(key)
            if queue and queue[0] == time:
                self._drop(key)

    def _drop(self, key: str) -> bool:
        queue = self._times[key]
        queue.popleft()
        if not queue:
            del self._times[key]
        return True

    def state(self) -> Any:
        """All of them, as they came."""
        return sorted([time, key] for key, queue in self._times.items() for time in queue)

    def restore(self, state: Any) -> None:
        """Remembers them again."""
        for time, key in state:
            self._times.setdefault(key, deque()).append(time)
            self._order.append((time, key))


class KeyWatch:
    """An answer serves the oldest obligation with its key; events without a key are passed over."""

    __slots__ = (
        "_desk", "_early", "_has_given_up", "_limit", "_order", "_queues", "_report", "_scheduled", "_since", "_skew",
        "_spans", "_waiting", "_within", "number",
    )  # fmt: skip

    def __init__(self, pair: FollowedBy, label: Label, desk: Desk) -> None:
        self._desk, self._limit, self.number = desk, desk.most_pending, label.number
        self._skew = (
            desk.skew_us
        )  # by how much clocks may differ: an answer may seem to be this much too early, or late
        self._within = pair.within_us + self._skew
        self._early = EarlyAnswers(self._skew, self._limit) if self._skew else None
        self._spans = desk.gaps.spans
        self._since: dict[str, int] = {}  # key -> since when somebody waits, after something was lost
        self._report = PairReport(pair, label, desk)
        self._queues: dict[str, deque[int]] = {}  # key -> times of first events that wait
        self._order: deque[tuple[int, str]] = deque()  # all of them as they fall due, served ones included
        self._waiting = 0
        self._scheduled = False
        self._has_given_up = False  # said once, until nobody waits any more

    def on_first(self, event: Event) -> None:
        """Owes an answer with this key."""
        time, key = event[0], event[4]
        if not key:
            return
        if self._early is not None and self._early.take(key, time):
            return
        if self._spans and key not in self._queues:
            self._since[key] = time
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
        elif self._early is not None and event[4]:
            self._early.add(event[4], event[0])

    def _missing(self, time: int, end: int, key: str, *, at_end: bool) -> None:
        """Reports; since somebody waits for this key, a lost answer shifts who is served."""
        since_us = self._since.get(key, LONG_AGO) if self._spans else None
        self._serve(key)
        self._report.missing(self, time, end, at_end=at_end, key=key, since_us=since_us)

    def _serve(self, key: str) -> int:
        queue = self._queues[key]
        self._waiting -= 1
        time = queue.popleft()
        if not queue:
            del self._queues[key]
            self._since.pop(key, None)
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
        self._order = deque((time, key) for time, key in self._list_waiting())

    def _list_waiting(self) -> Iterator[tuple[int, str]]:
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
                self._missing(time, time + self._within, key, at_end=False)

    def finish(self, now: int) -> int:
        """Reports answers that never came."""
        count = 0
        while self._order:
            time, key = self._order.popleft()
            if self._waits(time, key):
                self._missing(time, now, key, at_end=True)
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
        early = None if self._early is None else self._early.state()
        return [[[time, key] for time, key in self._list_waiting()], self._has_given_up, early, self._since]

    def restore(self, state: Any) -> None:
        """Waits for the same again."""
        self._has_given_up = state[1]
        if self._early is not None:
            self._early.restore(state[2])
        self._since = dict(state[3])
        for time, key in state[0]:
            self._queues.setdefault(key, deque()).append(time)
            self._order.append((time, key))
        self._waiting = len(self._order)
        if self._order:
            self._scheduled = True
            self._desk.schedule(self._order[0][0] + self._within, self)
