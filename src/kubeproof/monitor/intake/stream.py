"""Watches a stream: one partition per run, alarms numbered in the order in which they are raised.

The state can be saved after any event and restored in another process, which then raises the same alarms with the
same numbers. A stream without runs is one partition; whoever scales out splits the stream by key before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.engine import Partition
from kubeproof.monitor.event import Event
from kubeproof.monitor.incidents.book import IncidentBook
from kubeproof.monitor.incidents.policy import Level
from kubeproof.monitor.intake.arrival import Counts
from kubeproof.monitor.intake.runs import Incoming, Intake, StreamOptions
from kubeproof.monitor.rules.rules import AtMost, EqualCounts, Rule, RuleSet
from kubeproof.monitor.watches.plan import Plan

__all__ = ["Numbered", "StreamMonitor", "StreamOptions", "resting_rules"]

Numbered = tuple[int, Alarm]


class StreamMonitor:
    """All partitions of a stream."""

    def __init__(self, rules: RuleSet, options: StreamOptions = StreamOptions()) -> None:
        self._rules, self._options = rules, options
        self._intake = Intake(rules, options, self)
        self._plans = {has_runs: Plan(rules.rules, has_runs=has_runs) for has_runs in (False, True)}
        self._partitions: dict[str, Partition] = {}
        self._found: list[Alarm] = []
        self._book = IncidentBook(rules.rules, rules.incidents)
        self.raised = 0

    def feed(self, events: Iterable[Event]) -> list[Numbered]:
        """The alarms that these events, which come next, give rise to."""
        self._intake.feed(events)
        return list(self._number())

    def advance(self, now_us: int) -> list[Numbered]:
        """The alarms that the passing of time alone gives rise to, up to this moment less the lateness bound."""
        self._intake.advance(now_us)
        return list(self._number())

    def lose(self) -> None:
        """Notes that something was lost now, nobody knows of which run."""
        self._intake.lose()

    def finish(self, *, complete: bool) -> list[Numbered]:
        """The alarms at the end: all of them if nothing more can come, otherwise only those that time has shown."""
        self._intake.finish()
        for run, partition in self._partitions.items():
            partition.finish(complete=complete)
            self._intake.touched[run] = None
            self._found += partition.fetch()
        return list(self._number())

    def open(self) -> int:
        """Obligations that wait."""
        return sum(partition.open() for partition in self._partitions.values())

    @property
    def counts(self) -> Counts:
        """What happened on arrival, over all runs."""
        return self._intake.counts

    @property
    def incidents(self) -> Counter[Level]:
        """How many incidents there were, as grave as they became."""
        return self._book.levels

    @property
    def runs(self) -> int:
        """How many runs are watched at the moment."""
        return sum(bool(run) for run in self._partitions)

    def resting(self) -> list[Rule]:
        """Rules about whole runs, if the stream has none."""
        return [] if self._intake.has_runs else resting_rules(self._rules)

    # -- what the way in tells ------------------------------------------------------------------

    def give(self, run: str, incoming: Incoming, events: Iterable[Event]) -> None:
        """Judges the next events of a run."""
        partition = self._partition(run, incoming)
        partition.feed(events)
        if partition.has_raised:
            self._found += partition.fetch()

    def pass_time(self, run: str, incoming: Incoming, now_us: int) -> None:
        """Lets time pass in a run."""
        partition = self._partition(run, incoming)
        partition.advance(now_us)
        self._found += partition.fetch()

    def end(self, run: str, incoming: Incoming, *, is_known: bool) -> None:
        """Concludes a run and forgets it."""
        partition = self._partitions.pop(run, None)
        if partition is None:
            return
        if is_known:
            partition.finish(complete=True)
        else:
            partition.give_up()
        self._found += partition.fetch()
        partition.forget()

    # -- state ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that decides how the stream goes on but for its runs, as JSON can hold it."""
        return {"raised": self.raised, "incidents": self._book.state(), "intake": self._intake.state()}

    def changes(self) -> dict[str, Any]:
        """The states of the runs that have changed since the last time; None for those that are over."""
        found: dict[str, Any] = {}
        for run in self._intake.touched:
            is_there = run in self._intake.runs
            found[run] = self._run_state(run) if is_there else None
        self._intake.touched.clear()
        return found

    def _run_state(self, run: str) -> list[Any]:
        partition = self._partitions.get(run)
        return [self._intake.run_state(run), None if partition is None else partition.state()]

    def restore(self, state: dict[str, Any], runs: dict[str, Any]) -> None:
        """Continues from states of a monitor with the same rules and options."""
        self.raised = state["raised"]
        self._book.restore(state["incidents"])
        self._intake.restore(state["intake"], {run: value[0] for run, value in runs.items()})
        for run, incoming in self._intake.runs.items():
            if runs[run][1] is not None:
                self._partition(run, incoming).restore(runs[run][1])

    def _partition(self, run: str, incoming: Incoming) -> Partition:
        found = self._partitions.get(run)
        if found is None:
            found = self._partitions[run] = Partition(
                self._plans[bool(run)],
                run=run,
                gaps=incoming.arrival.gaps,
                skew_us=self._options.skew_us,
                most_pending=self._options.most_pending,
            )
        return found

    def _number(self) -> Iterator[Numbered]:
        found, self._found = self._found, []
        for alarm in found:
            self.raised += 1
            yield self.raised, self._book.take(alarm)


def resting_rules(rules: RuleSet) -> list[Rule]:
    """Rules about whole runs."""
    bounded = (AtMost, EqualCounts)
    return [rule for rule in rules.rules if isinstance(rule.body, bounded) and rule.body.per_us is None]
