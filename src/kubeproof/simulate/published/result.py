"""What a timed run gives: readings per service and interval."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


class Reading(NamedTuple):
    """A service at the beginning of an interval, and what it used in the one before."""

    interval: int
    service: str
    pods: int
    cpu: int
    ratio: float  # mean over pods of use by request


@dataclass(frozen=True, slots=True)
class Responses:
    """How long the requests to a service took, in intervals; those that did not end are counted apart."""

    service: str
    counts: tuple[tuple[float, int], ...]  # (intervals, requests), quickest first
    unfinished: int = 0

    @property
    def finished(self) -> int:
        return sum(count for _, count in self.counts)

    def percentile(self, percent: int) -> float | None:
        """The least time within which so many percent of the finished requests ended; None without any."""
        needed, seen = -(-self.finished * percent // 100), 0
        for intervals, count in self.counts:
            seen += count
            if seen >= needed:
                return intervals
        return None


@dataclass(frozen=True, slots=True)
class Curves:
    """All readings of a run, interval by interval."""

    name: str
    interval_s: float
    readings: tuple[Reading, ...]
    responses: tuple[Responses, ...] = ()

    @property
    def services(self) -> tuple[str, ...]:
        """The services, as declared."""
        return tuple(dict.fromkeys(reading.service for reading in self.readings))

    def of(self, service: str) -> tuple[Reading, ...]:
        """The readings of one service."""
        return tuple(reading for reading in self.readings if reading.service == service)

    def changes(self, service: str) -> Iterator[tuple[int, int]]:
        """When the number of pods changes, and to what; the first reading included."""
        for pods, same in groupby(self.of(service), key=lambda reading: reading.pods):
            yield next(same).interval, pods
