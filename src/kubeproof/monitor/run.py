"""The use case: events from files or standard input, rules, and everybody who is to hear of alarms."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from itertools import groupby, islice
from typing import Literal, Protocol, runtime_checkable

from kubeproof.errors import EnvironmentProblem, EventError
from kubeproof.monitor.event import SECOND_US, Event
from kubeproof.monitor.incidents.policy import Level
from kubeproof.monitor.intake.stream import Numbered, StreamMonitor, StreamOptions
from kubeproof.monitor.metrics import Metrics
from kubeproof.monitor.readers.losses import Tally
from kubeproof.monitor.rules.rules import Rule, RuleSet
from kubeproof.monitor.rules.writer import to_yaml
from kubeproof.monitor.sinks import FileSink, Render, Sink
from kubeproof.monitor.store import Checkpoint, Store
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

Clock = Callable[[], float]
BATCH = 20_000  # events between two transactions; a crash costs reading so many again


@dataclass(frozen=True, slots=True)
class Watch:
    """What is watched, how, and who is told."""

    rules: RuleSet
    inputs: tuple[str, ...]  # their names only; the events come from elsewhere
    options: StreamOptions = StreamOptions()
    files: tuple[tuple[str, Render], ...] = ()
    sinks: tuple[Sink, ...] = ()
    state: str | None = None
    is_complete: bool = True  # the end of the input is the end of what happened
    batch: int = BATCH

    @property
    def fingerprint(self) -> str:
        """Changes with everything that decides which alarms are raised."""
        options = [getattr(self.options, name) for name in StreamOptions.__slots__]
        text = json.dumps([to_yaml(self.rules), list(self.inputs), options, self.is_complete])
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Summary:
    """How it ended."""

    events: int
    copies: int
    late: int
    gaps: int
    violated: int
    unknown: int
    open: int
    resting: tuple[Rule, ...]
    undelivered: int
    lost: int = 0  # records that could not be read
    places: tuple[str, ...] = ()  # of the first of them
    outliers: int = 0  # events dated far from the rest of the stream
    ended: int = 0  # runs
    resumed: int = 0  # runs that went on after they had been taken for over
    given_up: int = 0  # runs
    refused: EventError | None = None  # why reading ended before the input did
    is_interrupted: bool = False  # the stream went on
    incidents: Counter[Level] = field(default_factory=Counter)  # as grave as they became

    @property
    def verdict(self) -> Verdict | Literal["quiet"]:
        """In a word. What was lost may have broken any rule: without it, quiet is not known."""
        if self.violated:
            return Verdict.VIOLATED
        return Verdict.UNKNOWN if self.unknown or self.losses else "quiet"

    @property
    def losses(self) -> int:
        """How much was not used, or not understood."""
        return self.gaps + self.late + self.lost + self.outliers + self.resumed + self.given_up

    @property
    def exit_code(self) -> int:
        """The exit code of the command: an alarm counts first, whatever became of telling it."""
        if self.violated:
            return 1
        if self.is_interrupted:
            return 130
        if self.undelivered:
            return 6
        if self.refused is not None and not self.violated:
            return self.refused.exit_code
        if not self.events:
            return 5
        return {Verdict.VIOLATED: 1, Verdict.UNKNOWN: 3, "quiet": 0}[self.verdict]


class Listener(Protocol):
    """Whom a source tells what happens between events."""

    def idle(self) -> None:
        """There is nothing to deliver: what came is judged, and time may pass."""

    def flush(self) -> None:
        """What came is judged at once; time does not pass, more may be on its way."""

    def note_loss(self, problem: EventError) -> None:
        """Something came that cannot be read."""


Source = Callable[[Listener], Iterable[Event]]  # gives the events, and calls back about what is none


@runtime_checkable
class Deliveries(Protocol):
    """A source that delivers again what is not settled, such as a broker; it does not begin anew after a crash."""

    def events(self, listener: Listener) -> Iterable[Event]:
        """The events as they are delivered, copies included."""

    def acknowledge(self) -> None:
        """All events that were handed on so far have become permanent."""


def watch(
    wanted: Watch,
    source: Source | Deliveries,
    metrics: Metrics | None = None,
    clock: Clock | None = None,
    stop: Stop | None = None,
) -> Summary:
    """Watches until the input ends; goes on where the state file, if there is one, says.

    With a clock, in seconds since 1970, time passes also while there are no events. Asked to stop, or interrupted
    while it waits for events, it judges what has come; things go on without it, so that what waits stays open.
    """
    with ExitStack() as stack:
        store = Store(wanted.state) if wanted.state is not None else None
        if store is not None:
            stack.callback(store.close)
        return _Watching(wanted, store, metrics or Metrics(), clock, stack).run(source, stop or Stop())


class _Watching:
    """One process's part of watching a stream."""

    def __init__(
        self, wanted: Watch, store: Store | None, metrics: Metrics, clock: Clock | None, stack: ExitStack
    ) -> None:
        self._wanted, self._store, self._metrics, self._clock = wanted, store, metrics, clock
        self._batch: list[Event | None] = []  # None where something was lost
        self._is_taking = False
        self._monitor = StreamMonitor(wanted.rules, wanted.options)
        self._fingerprint = wanted.fingerprint if store is not None else ""
        before = store.load(self._fingerprint) if store is not None else None
        self._taken = before.taken if before else 0
        self._is_finished = before is not None and before.is_finished
        self._tally = Tally(before.lost if before else 0)
        self._known_losses = 0  # of those that are read again
        self._refused: EventError | None = None
        self._deliveries: Deliveries | None = None
        self._waiting: list[Numbered] = []  # permanent, but not everybody has been told
        self._heard = [0] * len(wanted.sinks)  # how many of them each has taken: who took one is not told again
        self._verdicts = {Verdict.VIOLATED: 0, Verdict.UNKNOWN: 0}
        lengths = before.files if before else {}
        raised = store.alarms() if before is not None and store is not None else []
        self._files = [FileSink(path, render, length=lengths.get(path), before=raised) for path, render in wanted.files]
        for file in self._files:
            stack.callback(file.close)
        if before is not None and store is not None:
            self._monitor.restore(before.stream, store.runs())
            self._count(raised)
            self._waiting = store.find_undelivered()
            self._tell()

    def run(self, source: Source | Deliveries, stop: Stop) -> Summary:
        """Takes everything that is new."""
        if self._is_finished:
            return self._summary()
        try:
            self._follow(source, stop)
            stop.obey()
        except EventError as problem:  # what came before counts
            self._refused = problem
        except KeyboardInterrupt:
            stop.ask()
            stop.obey()
        if stop.is_asked:
            return self._end_interrupted()
        if self._refused is not None:
            self._take()
            return self._refusal(self._refused)
        if self._deliveries is None or self._wanted.is_complete:  # otherwise the next process goes on
            self._commit(self._monitor.finish(complete=self._wanted.is_complete), is_finished=True)
        return self._summary()

    def _follow(self, source: Source | Deliveries, stop: Stop) -> None:
        """Takes event after event until there are no more, or somebody asks to stop."""
        batch, size = self._batch, self._wanted.batch
        for event in self._new(source):
            batch.append(event)
            if len(batch) >= size or stop.is_asked:
                self._take()
            if stop.is_asked:
                return
        self._take()

    def _end_interrupted(self) -> Summary:
        """Judges what has come, unless just that was broken off: then half of it is judged already."""
        if not self._is_taking:
            self._take()
        return replace(self._summary(), open=self._monitor.open(), is_interrupted=True)

    def _new(self, source: Source | Deliveries) -> Iterator[Event]:
        if isinstance(source, Deliveries):
            self._deliveries = source
            return iter(source.events(self))
        self._known_losses = self._tally.count
        stream = iter(source(self))
        _skip(stream, self._taken)
        return stream

    def _refusal(self, problem: EventError) -> Summary:
        """How it ended before the input did: without a violation, there is nothing to tell but the reason."""
        summary = self._summary()
        if not summary.violated:
            raise problem
        return summary

    def _take(self) -> None:
        """Judges what has come, and makes it permanent."""
        self._metrics.is_watching = True
        batch, alarms = self._batch, list[Numbered]()
        if not batch:
            return
        self._is_taking = True
        for is_lost, group in groupby(batch, key=lambda event: event is None):
            events = list(group)
            if is_lost:
                self._tally.count += len(events)
                for _ in events:
                    self._monitor.lose()
            else:
                alarms += self._judge([event for event in events if event is not None])
        batch.clear()
        self._commit(alarms, is_finished=False)
        self._is_taking = False

    def _judge(self, events: list[Event]) -> list[Numbered]:
        self._taken += len(events)
        self._metrics.newest_us = events[-1].time_us
        return self._monitor.feed(events)

    def flush(self) -> None:
        """What came is judged at once."""
        self._take()

    def note_loss(self, problem: EventError) -> None:
        """Notes a loss where it is in the stream, unless it is one that was permanent before a crash."""
        self._tally.note(problem)
        if self._known_losses:
            self._known_losses -= 1
            return
        self._batch.append(None)
        if len(self._batch) >= self._wanted.batch:
            self._take()

    def idle(self) -> None:
        """While nothing comes: what came is judged at once, and time may pass."""
        self._take()
        if self._clock is not None:
            alarms = self._monitor.advance(int(self._clock() * SECOND_US))
            if alarms:
                self._commit(alarms, is_finished=False)

    def _commit(self, alarms: Sequence[Numbered], *, is_finished: bool) -> None:
        """Files first, then the transaction that knows their lengths, then those who cannot be taken back."""
        self._count(alarms)
        self._metrics.counts, self._metrics.pending = self._monitor.counts, self._monitor.open()
        self._metrics.incidents = self._monitor.incidents
        lengths = {file.path: file.write(alarms) for file in self._files}
        if self._store is not None:
            state, lost = self._monitor.state(), self._tally.count
            progress = Checkpoint(self._fingerprint, self._taken, lost, state, lengths, is_finished)
            self._store.save(progress, alarms, self._monitor.changes())
        self._waiting += alarms
        self._tell()
        if self._deliveries is not None:
            self._deliveries.acknowledge()

    def _count(self, alarms: Sequence[Numbered]) -> None:
        self._metrics.add(alarm for _, alarm in alarms)
        for _, alarm in alarms:
            self._verdicts[alarm.verdict] += 1

    def _tell(self) -> None:
        """Tells all sinks of what waits; what one of them does not take, it is told again with the next alarms."""
        if not self._waiting:
            return
        self._heard = [
            heard + sink.tell(self._waiting[heard:])
            for heard, sink in zip(self._heard, self._wanted.sinks, strict=True)
        ]
        told = min(self._heard, default=len(self._waiting))
        if told and self._store is not None:
            self._store.note_delivered(self._waiting[told - 1][0])
        del self._waiting[:told]
        self._heard = [heard - told for heard in self._heard]

    def _summary(self) -> Summary:
        counts = self._monitor.counts
        violated, unknown = self._verdicts[Verdict.VIOLATED], self._verdicts[Verdict.UNKNOWN]
        return Summary(
            counts.taken, counts.copies, counts.late, counts.gaps, violated, unknown,
            0 if self._wanted.is_complete else self._monitor.open(), tuple(self._monitor.resting()), len(self._waiting),
            counts.lost, tuple(self._tally.places), counts.outliers, counts.ended, counts.resumed, counts.given_up,
            self._refused, incidents=self._monitor.incidents,
        )  # fmt: skip


def _skip(stream: Iterator[Event], count: int) -> None:
    """Passes over what was taken before the crash."""
    passed = sum(1 for _ in islice(stream, count))
    if passed < count:
        problem = f"E401 the input has {passed:,} events, but {count:,} had been taken before."
        raise EnvironmentProblem(f"{problem} Give the same input, or delete the state file.")
