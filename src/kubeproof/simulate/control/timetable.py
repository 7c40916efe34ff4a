"""Faults at fixed moments."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.control import Loop, Role
from kubeproof.events.common import ends_earlier
from kubeproof.simulate.control.planning import TimedFault
from kubeproof.simulate.control.walk import Taken, Walk


class Timetable:
    """What happens when; `missed` tells what could not happen at its moment."""

    def __init__(self, walk: Walk, faults: tuple[TimedFault, ...]) -> None:
        self._walk = walk
        entries: list[tuple[int, int, TimedFault, bool]] = []
        for number, timed in enumerate(faults):
            entries.append((timed.fault.at_s, number, timed, False))
            if timed.fault.for_s is not None:
                entries.append((timed.fault.at_s + timed.fault.for_s, number, timed, True))
        self._entries = sorted(entries, key=lambda entry: entry[:2])
        self.missed: list[tuple[int, str]] = []

    def next_s(self) -> int | None:
        """The next moment; None if nothing is left."""
        return self._entries[0][0] if self._entries else None

    def take_due(self) -> Iterator[Taken]:
        """Lets happen what is due."""
        while self._entries and self._entries[0][0] <= self._walk.now_s:
            _, _, timed, is_end = self._entries.pop(0)
            taken = self._happen(timed, is_end=is_end)
            if taken is None:
                self.missed.append((self._walk.now_s, timed.fault.event.name))
                continue
            yield taken

    def _happen(self, timed: TimedFault, *, is_end: bool) -> Taken | None:
        source = timed.sources[-1] if is_end else timed.sources[0]
        one = self._walk.views.of(source)
        decisions = [d for d in one.decisions if d.role in (Role.EVENT, Role.OPTIONAL)]
        decisions = [d for d in decisions if ends_earlier(source, d) == is_end]
        weights = [self._walk.model.ways(source, self._walk.state, decision) for decision in decisions]
        if not any(weights):
            return None
        (chosen,) = self._walk.rng.choices(decisions, weights)
        return self._walk.take(one, chosen)


def find_steered(faults: tuple[TimedFault, ...]) -> Iterator[Loop]:
    """The sources that a timetable steers."""
    for timed in faults:
        yield from timed.sources
