"""The requests that a pod works on: all at once, one unit each in turn."""

from __future__ import annotations

from typing import NamedTuple


class Batch(NamedTuple):
    """Equal requests: what each of them still needs, and when they came."""

    remaining: int
    arrived: float
    cost: int


class Finished(NamedTuple):
    """Requests that ended now, and when they came."""

    arrived: float
    requests: int


class Backlog:
    """Requests in service, oldest first; each unit of CPU goes to the next request, and so on in turns."""

    def __init__(self) -> None:
        self._batches: dict[Batch, int] = {}
        self.requests = 0
        self.units = 0  # what all of them still need

    def add(self, cost: int, arrived: float, count: int = 1) -> None:
        """So many requests more, each of the same cost."""
        batch = Batch(cost, arrived, cost)
        self._batches[batch] = self._batches.get(batch, 0) + count
        self.requests += count
        self.units += cost * count

    def serve(self, units: int) -> list[Finished]:
        """Spends CPU, not more than is needed; returns the requests that ended."""
        self.units -= units
        finished: list[Finished] = []
        while units:
            rounds = min(units // self.requests, min(batch.remaining for batch in self._batches))
            if rounds:
                units -= rounds * self.requests
                finished += self._all_served(rounds)
            else:
                finished += self._some_served(units)
                units = 0
        return finished

    def _all_served(self, rounds: int) -> list[Finished]:
        """Every request gets so many units."""
        before, self._batches = self._batches, {}
        return [done for batch, count in before.items() for done in self._kept(batch, count, rounds)]

    def _some_served(self, units: int) -> list[Finished]:
        """The oldest requests get one unit each."""
        before, self._batches = self._batches, {}
        finished: list[Finished] = []
        for batch, count in before.items():
            served = min(units, count)
            units -= served
            finished += self._kept(batch, served, 1)
            finished += self._kept(batch, count - served, 0)
        return finished

    def _kept(self, batch: Batch, count: int, spent: int) -> list[Finished]:
        if not count:
            return []
        after = batch._replace(remaining=batch.remaining - spent)
        if after.remaining:
            self._batches[after] = self._batches.get(after, 0) + count
            return []
        self.requests -= count
        return [Finished(batch.arrived, count)]
