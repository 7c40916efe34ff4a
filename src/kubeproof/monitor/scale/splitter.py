"""The way in: puts events in order as the embedded engine does, then splits them over partitions.

Order, copies and gaps concern the stream as a whole, so they are dealt with before it is split. What every partition
must know travels in line: how far time has come in a run, and which stretches of it are known to be incomplete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field
from itertools import groupby
from typing import Any

from kubeproof.errors import UsageError
from kubeproof.monitor.arrival import Arrival, Counts, Gaps
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules import RuleSet
from kubeproof.monitor.scale.lanes import Lanes
from kubeproof.monitor.stream import StreamOptions
from kubeproof.values import dataclass

Item = list[Any]  # [lane, *fields of the event], or a word and what it is about
TIME, GAP, CLOCK, FINISH = "time", "gap", "clock", "finish"


@dataclass(slots=True)
class _NotedGaps(Gaps):
    """Gaps that are remembered until every partition has been told."""

    fresh: list[tuple[int, int]] = field(default_factory=list)

    def add(self, start_us: int, end_us: int) -> None:
        """Notes a gap."""
        self.fresh.append((start_us, end_us))
        Gaps.add(self, start_us, end_us)


class _Run:
    """One run on its way in."""

    def __init__(self, lateness_us: int) -> None:
        self.arrival = Arrival(lateness_us)
        self.gaps = _NotedGaps()
        self.arrival.gaps = self.gaps
        self.now: int | None = None  # of the last event that was handed on


class Splitter:
    """Turns the stream into items for each partition; its state can be saved and restored."""

    def __init__(self, rules: RuleSet, options: StreamOptions, partitions: int) -> None:
        self._lanes, self._options, self._partitions = Lanes(rules.rules, partitions), options, partitions
        self._runs: dict[str, _Run] = {}
        self._items: dict[int, list[Item]] = defaultdict(list)

    def feed(self, events: Iterable[Event]) -> dict[int, list[Item]]:
        """What these events, which come next, mean for each partition."""
        for name, group in groupby(events, key=lambda event: event.run):
            run = self._run(name)
            self._hand_on(name, run, run.arrival.take(group))
            self._everybody([TIME, name, run.now])
        return self._fetch()

    def lose(self) -> dict[int, list[Item]]:
        """Something was lost now, nobody knows of which run."""
        for name, run in self._runs.items():
            run.arrival.lose()
            self._tell_gaps(name, run)
        return self._fetch()

    def advance(self, now_us: int) -> dict[int, list[Item]]:
        """Time passes without events."""
        for name, run in self._runs.items():
            self._hand_on(name, run, run.arrival.advance(now_us))
        self._everybody([CLOCK, now_us - self._options.lateness_us])
        return self._fetch()

    def finish(self) -> dict[int, list[Item]]:
        """Nothing more will come."""
        for name, run in self._runs.items():
            self._hand_on(name, run, run.arrival.finish())
            self._everybody([TIME, name, run.now])
        self._everybody([FINISH])
        return self._fetch()

    @property
    def counts(self) -> Counts:
        """What happened on arrival, over all runs."""
        every = [run.arrival.counts for run in self._runs.values()]
        return Counts(*(sum(getattr(one, name) for one in every) for name in ("taken", "copies", "late", "gaps")))

    @property
    def has_runs(self) -> bool:
        return any(self._runs) or not self._runs

    def state(self) -> dict[str, Any]:
        """Everything that decides how the stream goes on, as JSON can hold it."""
        return {name: [run.arrival.state(), run.now] for name, run in self._runs.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from such a state."""
        for name, (arrived, now) in state.items():
            run = self._run(name)
            run.arrival.restore(arrived)
            run.now = now

    def _hand_on(self, name: str, run: _Run, events: Iterable[Event]) -> None:
        for event in events:
            self._tell_gaps(name, run)
            run.now = event.time_us
            for partition, lane in self._lanes.routes(event):
                self._items[partition].append([lane, *event[:-1], dict(event.attributes)])
        self._tell_gaps(name, run)

    def _tell_gaps(self, name: str, run: _Run) -> None:
        for start, end in run.gaps.fresh:
            self._everybody([GAP, name, run.now, start, end])  # what was overdue by now had nothing to do with it
        run.gaps.fresh.clear()

    def _everybody(self, item: Item) -> None:
        for partition in range(self._partitions):
            self._items[partition].append(item)

    def _fetch(self) -> dict[int, list[Item]]:
        found, self._items = dict(self._items), defaultdict(list)
        return found

    def _run(self, name: str) -> _Run:
        found = self._runs.get(name)
        if found is None:
            if len(self._runs) >= self._options.most_runs:
                remedy = "Watch them in several streams; a run is never known to be over."
                raise UsageError(f"more than {self._options.most_runs:,} runs in one stream", remedy)
            found = self._runs[name] = _Run(self._options.lateness_us)
        return found
