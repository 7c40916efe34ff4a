"""When requests come: streams that are asked for all requests until the next moment of interest.

What a stream gives does not depend on how the time is cut: random numbers are drawn in blocks of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from kubeproof.named_tuples import NamedTuple
from kubeproof.simulate.serving.numbers import numpy
from kubeproof.simulate.serving.rates import Floats, Rate

LEAST_BLOCK, MOST_BLOCK = 1024, 1 << 16


class Source(Protocol):
    """Requests in the order in which they come."""

    def take(self, until_s: float) -> Floats:
        """The times of all requests before that moment that were not taken yet, sorted."""
        ...


class Points:
    """Requests at a rate: evenly spaced, or at random."""

    def __init__(self, rate: Rate, random: Any | None = None) -> None:
        self._rate, self._random = rate, random
        self._last = 0.0  # count of the last point
        self._block = LEAST_BLOCK
        self._times: Floats = numpy().empty(0)

    def take(self, until_s: float) -> Floats:
        np = numpy()
        parts = []
        while True:
            cut = int(np.searchsorted(self._times, until_s, "left"))
            parts.append(self._times[:cut])
            self._times = self._times[cut:]
            if len(self._times):
                return parts[0] if len(parts) == 1 else np.concatenate(parts)
            self._times = self._rate.inverse(self._next_counts())

    def _next_counts(self) -> Floats:
        np = numpy()
        if self._random is None:
            counts = self._last + 0.5 + np.arange(self._block)
            self._last += self._block
        else:
            counts = self._last + np.cumsum(self._random.standard_exponential(self._block))
            self._last = float(counts[-1])
        self._block = min(2 * self._block, MOST_BLOCK)
        return counts


class Crowd(NamedTuple):
    """Clients that come one after the other, each with requests at a pace; infinite: until `end_s` or for ever."""

    start_s: float
    clients: int
    spacing_s: float
    requests: float
    pause_s: float
    first_pause_s: float = 0.0  # before the first request
    spread_s: float = 0.0  # a random part of each pause, up to this
    end_s: float = float("inf")


class Paced:
    """The requests of a crowd."""

    def __init__(self, crowd: Crowd, random: Any) -> None:
        np = numpy()
        self._crowd, self._random = crowd, random
        self._first = crowd.start_s + crowd.first_pause_s + np.arange(crowd.clients) * crowd.spacing_s
        self._extra = np.zeros(crowd.clients)  # random parts of the pauses so far
        self._sent = np.zeros(crowd.clients)
        self._add_spread(np.ones(crowd.clients, bool))

    def take(self, until_s: float) -> Floats:
        np, crowd = numpy(), self._crowd
        until_s = min(until_s, crowd.end_s)
        parts: list[Floats] = []
        while True:
            times = self._first + self._sent * crowd.pause_s + self._extra
            is_due = (times < until_s) & (self._sent < crowd.requests)
            if not is_due.any():
                return np.sort(np.concatenate(parts)) if parts else np.empty(0)
            parts.append(times[is_due])
            self._sent[is_due] += 1
            self._add_spread(is_due)

    def _add_spread(self, clients: Any) -> None:
        if self._crowd.spread_s:
            self._extra[clients] += self._random.random(int(clients.sum())) * self._crowd.spread_s


class Multiplied:
    """Requests of another source times a factor that changes at some moments; fractions are carried on."""

    def __init__(self, source: Source, starts: Sequence[float], factors: Sequence[float]) -> None:
        self._source = source
        self._starts, self._factors = numpy().asarray(starts, float), numpy().asarray(factors, float)
        self._sum = 0.0

    def take(self, until_s: float) -> Floats:
        np = numpy()
        times = self._source.take(until_s)
        factors = self._factors[np.searchsorted(self._starts, times, "right") - 1]
        sums = self._sum + np.cumsum(factors)
        copies = np.diff(np.floor(np.concatenate(([self._sum], sums)) + 1e-9))
        if len(sums):
            self._sum = float(sums[-1])
        return np.repeat(times, copies.astype(int))


class Merged:
    """All requests of several sources."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources

    def take(self, until_s: float) -> Floats:
        np = numpy()
        if len(self._sources) == 1:
            return self._sources[0].take(until_s)
        parts = [source.take(until_s) for source in self._sources]
        return np.sort(np.concatenate(parts)) if parts else np.empty(0)
