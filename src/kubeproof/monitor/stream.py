"""Watches a stream: one partition per run, alarms numbered in the order in which they are raised.

The state can be saved after any event and restored in another process, which then raises the same alarms with the
same numbers. A stream without runs is one partition; whoever scales out splits the stream by key before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from kubeproof.errors import UsageError
from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.arrival import Arrival, Counts
from kubeproof.monitor.desk import MOST_PENDING
from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.rules import AtMost, EqualCounts, Rule, RuleSet
from kubeproof.values import dataclass

Numbered = tuple[int, Alarm]


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is watched."""

    lateness_us: int = 0  # by how much events may be out of order
    skew_us: int = 0  # by how much the clocks of two sources may differ
    most_pending: int = MOST_PENDING  # obligations that one rule remembers, per run
    most_runs: int = 10_000


class StreamMonitor:
    """All partitions of a stream."""

    def __init__(self, rules: RuleSet, options: StreamOptions = StreamOptions()) -> None:
        self._rules, self._options = rules, options
        self._partitions: dict[str, tuple[Arrival, Partition]] = {}
        self.raised = 0

    def feed(self, events: Iterable[Event]) -> list[Numbered]:
        """The alarms that these events, which come next, give rise to."""
        found: list[Alarm] = []
        for run, group in groupby(events, key=_run):
            arrival, partition = self._partition(run)
            partition.feed(arrival.take(group))
            if partition.has_raised:
                found += partition.fetch()
        return list(self._numbered(found))

    def advance(self, now_us: int) -> list[Numbered]:
        """The alarms that the passing of time alone gives rise to, up to this moment less the lateness bound."""
        found: list[Alarm] = []
        for arrival, partition in self._partitions.values():
            partition.feed(arrival.advance(now_us))
            partition.advance(now_us - self._options.lateness_us)
            found += partition.fetch()
        return list(self._numbered(found))

    def lose(self) -> None:
        """Notes that something was lost now, nobody knows of which run."""
        for arrival, _ in self._partitions.values():
            arrival.lose()

    def finish(self, *, complete: bool) -> list[Numbered]:
        """The alarms at the end: all of them if nothing more can come, otherwise only those that time has shown."""
        found: list[Alarm] = []
        for arrival, partition in self._partitions.values():
            partition.feed(arrival.finish())
            partition.finish(complete=complete)
            found += partition.fetch()
        return list(self._numbered(found))

    def open(self) -> int:
        """Obligations that wait."""
        return sum(partition.open() for _, partition in self._partitions.values())

    @property
    def counts(self) -> Counts:
        """What happened on arrival, over all runs."""
        every = [arrival.counts for arrival, _ in self._partitions.values()]
        return Counts(*(sum(getattr(one, name) for one in every) for name in ("taken", "copies", "late", "gaps")))

    @property
    def runs(self) -> int:
        return sum(bool(run) for run in self._partitions)

    def resting(self) -> list[Rule]:
        """Rules about whole runs, if the stream has none."""
        if self.runs or not self._partitions:
            return []
        return resting_rules(self._rules)

    def state(self) -> dict[str, Any]:
        """Everything that decides how the stream goes on, as JSON can hold it."""
        partitions = {run: [arrival.state(), part.state()] for run, (arrival, part) in self._partitions.items()}
        return {"raised": self.raised, "partitions": partitions}

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from a state of a monitor with the same rules and options."""
        self.raised = state["raised"]
        for run, (arrived, watched) in state["partitions"].items():
            arrival, partition = self._partition(run)
            arrival.restore(arrived)
            partition.restore(watched)

    def _partition(self, run: str) -> tuple[Arrival, Partition]:
        found = self._partitions.get(run)
        if found is None:
            if len(self._partitions) >= self._options.most_runs:
                remedy = "Watch them in several streams; a run is never known to be over."
                raise UsageError(f"more than {self._options.most_runs:,} runs in one stream", remedy)
            arrival = Arrival(self._options.lateness_us)
            partition = Partition(
                self._rules.rules,
                run=run,
                gaps=arrival.gaps,
                skew_us=self._options.skew_us,
                has_runs=bool(run),
                most_pending=self._options.most_pending,
            )
            found = self._partitions[run] = (arrival, partition)
        return found

    def _numbered(self, alarms: list[Alarm]) -> Iterator[Numbered]:
        for alarm in alarms:
            self.raised += 1
            yield self.raised, alarm


def resting_rules(rules: RuleSet) -> list[Rule]:
    """Rules about whole runs."""
    bounded = (AtMost, EqualCounts)
    return [rule for rule in rules.rules if isinstance(rule.body, bounded) and rule.body.per_us is None]


def _run(event: Event) -> str:
    return event[5]
