"""The requests that a pod works on: all at once, one quantum each in turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from heapq import heappop, heappush

from kubeproof.named_tuples import NamedTuple


class Finished(NamedTuple):
    """Requests that ended now, and when they came."""

    arrived: float
    requests: int


class _Batch(NamedTuple):
    """Equal requests: at which level of service they end, and when they came."""

    end: int
    arrived: float


class Backlog:
    """Requests in service, in a line: the first gets a quantum of CPU and goes to its end.

    Costs are counted in quanta; what is spent of one that is not whole yet is kept until it is. A whole round raises
    the level that all have reached; so it takes the same time for any number of requests. Requests that come to an
    empty line are usually served before others come: they are lined up only if they are not.
    """

    def __init__(self, quantum: int = 1) -> None:
        self._quantum, self._begun = quantum, 0  # units of the quantum that the first request is getting
        self._level = 0
        self._only: tuple[int, float, int] | None = None  # (cost, arrived, requests) that are not lined up yet
        self._line: OrderedDict[_Batch, int] = OrderedDict()  # in the order of their turns
        self._ends: list[_Batch] = []  # a heap; batches that are no longer in the line are passed over
        self.requests = 0
        self.units = 0  # what all of them still need

    def add(self, cost: int, arrived: float, count: int = 1) -> None:
        """So many requests more, each of the same cost."""
        self.units += cost * count
        cost //= self._quantum
        if self.requests:
            self._line_up()
            self._join(_Batch(self._level + cost, arrived), count)
        else:
            self._only = cost, arrived, count
        self.requests += count

    def _line_up(self) -> None:
        if self._only is not None:
            cost, arrived, count = self._only
            self._only = None
            self._join(_Batch(self._level + cost, arrived), count)

    def _join(self, batch: _Batch, count: int) -> None:
        if batch not in self._line:
            heappush(self._ends, batch)
        self._line[batch] = self._line.get(batch, 0) + count

    def serve(self, units: int) -> list[Finished]:
        """Spends CPU, not more than is needed; returns the requests that ended."""
        if units == self.units:
            return self._empty()
        self.units -= units
        if self._quantum > 1:
            units, self._begun = divmod(self._begun + units, self._quantum)
        self._line_up()
        finished: list[Finished] = []
        while units >= self.requests:
            rounds = min(units // self.requests, self._next_end() - self._level)
            units -= rounds * self.requests
            self._level += rounds
            finished += self._end()
        self._serve_first(units)
        return finished + list(self._end())

    def _next_end(self) -> int:
        while self._ends[0] not in self._line:
            heappop(self._ends)
        return self._ends[0].end

    def _end(self) -> Iterator[Finished]:
        """The requests that have all they need leave the line."""
        while self.requests and self._next_end() <= self._level:
            batch = heappop(self._ends)
            count = self._line.pop(batch)
            self.requests -= count
            yield Finished(batch.arrived, count)

    def _serve_first(self, units: int) -> None:
        """The first requests of the line get one unit each, and go to its end."""
        while units:
            batch, count = self._line.popitem(last=False)
            served = min(units, count)
            units -= served
            if served < count:  # the rest of the batch is next in turn
                self._line[batch] = count - served
                self._line.move_to_end(batch, last=False)
            self._join(batch._replace(end=batch.end - 1), served)

    def _empty(self) -> list[Finished]:
        """Every request gets all it needs."""
        self.requests = self.units = self._begun = 0
        if self._only is not None:
            _, arrived, count = self._only
            self._only = None
            return [Finished(arrived, count)]
        finished = [Finished(batch.arrived, count) for batch, count in self._line.items()]
        self._line.clear()
        self._ends.clear()
        return finished
