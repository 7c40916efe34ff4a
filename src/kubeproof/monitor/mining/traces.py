"""Recorded runs, as mining sees them: the times of each event."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import pairwise

from kubeproof.monitor.event import Event
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Trace:
    """One run: its name, and for each event name its times in ascending order, in microseconds."""

    name: str
    times: dict[str, Sequence[int]]
    start_us: int
    end_us: int

    @property
    def size(self) -> int:
        return sum(len(times) for times in self.times.values())


def traces_of(events: Iterable[Event], fallback: str = "run") -> list[Trace]:
    """One trace per run label, sorted by name; events without one belong to the run `fallback`."""
    runs: dict[str, dict[str, array[int]]] = {}
    for event in events:
        times = runs.setdefault(event[5] or fallback, {})
        name = event[1]
        if name in times:
            times[name].append(event[0])
        else:
            times[name] = array("q", (event[0],))
    return [_trace(name, times) for name, times in sorted(runs.items())]


def _trace(name: str, times: dict[str, array[int]]) -> Trace:
    ordered: dict[str, Sequence[int]] = {event: _ascending(found) for event, found in sorted(times.items())}
    ends = [(found[0], found[-1]) for found in ordered.values()]
    return Trace(name, ordered, min(first for first, _ in ends), max(last for _, last in ends))


def _ascending(times: array[int]) -> array[int]:
    return times if _is_ascending(times) else array("q", sorted(times))


def _is_ascending(times: array[int]) -> bool:
    return all(left <= right for left, right in pairwise(times))
