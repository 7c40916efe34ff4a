"""Counts what becomes of the requests to a service."""

from __future__ import annotations

from math import inf

from kubeproof.simulate.serving.shapes import Tally
from kubeproof.simulate.serving.times import bucket_of


class Counted:
    """Since the last reading; `waiting` since the start."""

    def __init__(self) -> None:
        self._waiting = 0
        self._clear()

    def _clear(self) -> None:
        self.arrived = self.ok = self.late = self.failed = 0
        self._buckets: dict[int, int] = {}
        self._total, self._least, self._most = 0.0, inf, 0.0

    def answer(self, time_s: float, deadline_s: float) -> None:
        """A request was answered after so long."""
        if time_s <= deadline_s:
            self.ok += 1
        else:
            self.late += 1
        bucket = bucket_of(time_s)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1
        self._total += time_s
        self._least, self._most = min(self._least, time_s), max(self._most, time_s)

    def take(self) -> Tally:
        """What was counted; it begins anew."""
        self._waiting += self.arrived - self.ok - self.late - self.failed
        tally = Tally(
            self.arrived, self.ok, self.late, self.failed, self._waiting, tuple(sorted(self._buckets.items())),
            self._total, self._least, self._most,
        )  # fmt: skip
        self._clear()
        return tally
