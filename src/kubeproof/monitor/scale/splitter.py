"""The way in: puts events in order as the embedded engine does, then splits them over partitions.

Order, copies and gaps concern the stream as a whole, so they are dealt with before it is split. What every partition
must know travels in line: how far time has come in a run, and which stretches of it are known to be incomplete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from kubeproof.monitor.event import Event, event_value
from kubeproof.monitor.intake.arrival import Counts
from kubeproof.monitor.intake.runs import Incoming, Intake, StreamOptions
from kubeproof.monitor.rules.rules import RuleSet
from kubeproof.monitor.scale.lanes import Lanes

Item = list[Any]  # [lane, *fields of the event], or a word and what it is about
TIME, GAP, END, FINISH = "time", "gap", "end", "finish"


class Splitter:
    """Turns the stream into items for each partition; its state can be saved and restored."""

    def __init__(self, rules: RuleSet, options: StreamOptions, partitions: int) -> None:
        self._lanes, self._partitions = Lanes(rules.rules, partitions), partitions
        self._intake = Intake(rules, options, self)
        self._now: dict[str, int | None] = {}  # of the last event of a run that was handed on
        self._told: dict[str, list[tuple[int, int]]] = {}  # the gaps of a run that everybody knows
        self._items: dict[int, list[Item]] = defaultdict(list)

    def feed(self, events: Iterable[Event]) -> dict[int, list[Item]]:
        """What these events, which come next, mean for each partition."""
        self._intake.feed(events)
        return self._fetch()

    def lose(self) -> dict[int, list[Item]]:
        """Something was lost now, nobody knows of which run; each is told when it is heard of again."""
        self._intake.lose()
        return self._fetch()

    def advance(self, now_us: int) -> dict[int, list[Item]]:
        """Time passes without events."""
        self._intake.advance(now_us)
        return self._fetch()

    def finish(self) -> dict[int, list[Item]]:
        """Nothing more will come."""
        self._intake.finish()
        self._everybody([FINISH])
        return self._fetch()

    @property
    def counts(self) -> Counts:
        """What happened on arrival, over all runs."""
        return self._intake.counts

    @property
    def has_runs(self) -> bool:
        return self._intake.has_runs

    # -- what the way in tells ------------------------------------------------------------------

    def give(self, run: str, incoming: Incoming, events: Iterable[Event]) -> None:
        """Hands on the next events of a run."""
        for event in events:
            self._tell_gaps(run, incoming)
            self._now[run] = event.time_us
            for partition, lane in self._lanes.routes(event):
                self._items[partition].append([lane, *event_value(event)])
        self._tell_gaps(run, incoming)
        self._everybody([TIME, run, self._now.get(run)])

    def pass_time(self, run: str, incoming: Incoming, now_us: int) -> None:
        """Hands on how far time has come in a run."""
        self._everybody([TIME, run, now_us])

    def end(self, run: str, incoming: Incoming, *, is_known: bool) -> None:
        """Hands on that a run is over."""
        self._everybody([END, run, is_known])
        self._now.pop(run, None)
        self._told.pop(run, None)

    # -- state ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that decides how the stream goes on, as JSON can hold it."""
        runs = {run: [self._intake.run_state(run), self._now.get(run)] for run in self._intake.runs}
        return {"intake": self._intake.state(), "runs": runs}

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from such a state."""
        runs = state["runs"]
        self._intake.restore(state["intake"], {run: value[0] for run, value in runs.items()})
        self._now = {run: value[1] for run, value in runs.items()}
        self._told = {run: list(one.arrival.gaps.spans) for run, one in self._intake.runs.items()}

    def _tell_gaps(self, run: str, incoming: Incoming) -> None:
        """Tells everybody of new gaps; what was overdue by now had nothing to do with them."""
        spans = incoming.arrival.gaps.spans
        known = self._told.get(run, [])
        if spans == known:
            return
        fresh = spans[len(known) :] if spans[: len(known)] == known else None
        if fresh is None:  # old ones were joined
            self._everybody([GAP, run, self._now.get(run), [list(span) for span in spans], True])
        else:
            self._everybody([GAP, run, self._now.get(run), [list(span) for span in fresh], False])
        self._told[run] = list(spans)

    def _everybody(self, item: Item) -> None:
        for partition in range(self._partitions):
            self._items[partition].append(item)

    def _fetch(self) -> dict[int, list[Item]]:
        found, self._items = dict(self._items), defaultdict(list)
        return found
