"""The use case: one process feeds the input into Redis and gathers the alarms; workers, here or elsewhere, judge."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from typing import Any, TypeVar

from kubeproof.errors import CheckpointError, EnvironmentProblem, EventError, KubeproofError
from kubeproof.monitor.alarms import from_value
from kubeproof.monitor.event import SECOND_US, Event
from kubeproof.monitor.incidents.book import IncidentBook
from kubeproof.monitor.intake.stream import Numbered, StreamOptions, resting_rules
from kubeproof.monitor.metrics import Metrics
from kubeproof.monitor.readers.losses import Tally
from kubeproof.monitor.rules.writer import to_yaml
from kubeproof.monitor.run import Clock, Deliveries, Source, Summary, Watch
from kubeproof.monitor.scale.board import Board, Plan
from kubeproof.monitor.scale.splitter import Splitter
from kubeproof.monitor.sinks import FileSink
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

PARTITIONS = 16
BATCH = 2_000  # events that are split together
LEASE_MS = 10_000  # a feeder that has not been heard of for so long is taken for dead
GIVE_UP_S = 600.0
MOST_WAITING = 200  # entries of one partition; beyond that the feeder waits for the workers
_POLL_S = 0.02
_FEEDER = "feeder"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ScaleOut:
    """How the work is cut, and who feeds; clock and waiting can be replaced."""

    partitions: int = PARTITIONS
    feeder: str = "feeder"
    check: Callable[[], None] = lambda: None  # raises if nobody is left to judge
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


def watch_scaled(
    wanted: Watch,
    source: Source | Deliveries,
    board: Board,
    scale: ScaleOut = ScaleOut(),
    metrics: Metrics | None = None,
    clock: Clock | None = None,
) -> Summary:
    """Watches until the input ends and everything is judged; goes on where an earlier feeder died."""
    with ExitStack() as stack, board.tell_problems():
        return _Feeding(wanted, board, scale, metrics or Metrics(), clock, stack).run(source)


def plan_of(wanted: Watch, partitions: int) -> Plan:
    """What the workers are told."""
    options = tuple(getattr(wanted.options, name) for name in StreamOptions.__slots__)
    return Plan(wanted.fingerprint, to_yaml(wanted.rules), options, partitions)


class _Feeding:
    """The process that feeds and gathers."""

    def __init__(
        self, wanted: Watch, board: Board, scale: ScaleOut, metrics: Metrics, clock: Clock | None, stack: ExitStack
    ) -> None:
        self._wanted, self._board, self._scale, self._metrics, self._clock = wanted, board, scale, metrics, clock
        self._splitter = Splitter(wanted.rules, wanted.options, scale.partitions)
        self._batch: list[Event] = []
        self._deliveries: Deliveries | None = None
        self._taken, self._is_finished = 0, False
        self._tally, self._known_losses = Tally(), 0
        self._refused: EventError | None = None
        self._heard, self._number = "", 0
        self._entries, self._kept = 0, scale.clock()
        self._book = IncidentBook(wanted.rules.rules, wanted.rules.incidents)
        self._untold: list[list[Numbered]] = [[] for _ in wanted.sinks]
        self._verdicts = {Verdict.VIOLATED: 0, Verdict.UNKNOWN: 0}
        self._files = [FileSink(path, render, length=None) for path, render in wanted.files]
        for file in self._files:
            stack.callback(file.close)
        self._own()
        stack.callback(self._disown)
        self._begin()

    def _own(self) -> None:
        """One feeder only: two would feed everything twice. One that died holds us up for a while."""
        end = self._scale.clock() + 1.5 * LEASE_MS / 1000
        while not self._board.own(_FEEDER, self._scale.feeder, LEASE_MS):
            if self._scale.clock() > end:
                raise CheckpointError(f"{self._board.shown} is in use", "Another process feeds it.")
            self._scale.wait(0.2)

    def _disown(self) -> None:
        with suppress(KubeproofError), self._board.tell_problems():
            self._board.give_up(_FEEDER, self._scale.feeder)

    def _keep(self) -> None:
        if self._scale.clock() - self._kept > LEASE_MS / 5000:
            if not self._again(lambda: self._board.keep(_FEEDER, self._scale.feeder, LEASE_MS)):
                raise CheckpointError(f"{self._board.shown} is fed by another process", "It took this one for dead.")
            self._kept = self._scale.clock()

    def _again(self, ask: Callable[[], T]) -> T:
        """The answer, also if Redis has to come back first."""
        import redis

        end = self._scale.clock() + GIVE_UP_S
        while True:
            try:
                return ask()
            except (redis.ConnectionError, redis.TimeoutError):
                if self._scale.clock() > end:
                    raise
                self._scale.wait(0.5)

    def _begin(self) -> None:
        plan, found = plan_of(self._wanted, self._scale.partitions), self._board.plan()
        if found is not None and found != plan:
            problem = f"{self._board.shown} belongs to other rules, options, inputs or partitions"
            raise CheckpointError(problem, "Name another stream, or delete its keys.")
        before = self._board.read_fed()
        if before is not None:
            self._taken, self._is_finished, self._entries = before["taken"], before["finished"], before["entries"]
            self._tally.count = before["lost"]
            self._splitter.restore(before["stream"])
        self._board.begin(plan)

    def run(self, source: Source | Deliveries) -> Summary:
        """Feeds everything that is new, waits for the workers, and gathers."""
        if not self._is_finished:
            try:
                for event in self._new(source):
                    self._batch.append(event)
                    if len(self._batch) >= BATCH:
                        self.flush()
            except EventError as problem:  # what came before counts
                self._refused = problem
            self.flush()
        if not self._is_finished and self._wanted.is_complete and self._refused is None:
            self._is_finished = True
            self._feed(self._splitter.finish())
        while any(self._waiting()):
            self._gather()
        while self._gather():
            pass
        self._tell([])  # once more to those who did not take everything
        if self._is_finished:
            self._board.remove(self._scale.partitions)
        summary = self._summary()
        if self._refused is not None and not summary.violated:
            raise self._refused
        return summary

    def _new(self, source: Source | Deliveries) -> Iterator[Event]:
        if isinstance(source, Deliveries):
            self._deliveries = source
            return iter(source.events(self))
        self._known_losses = self._tally.count
        stream = iter(source(self))
        passed = sum(1 for _ in islice(stream, self._taken))
        if passed < self._taken:
            raise EnvironmentProblem(
                f"E401 the input has {passed:,} events, but {self._taken:,} had been taken before. Give the same input."
            )
        return stream

    def flush(self) -> None:
        """Hands on what came."""
        if self._batch:
            self._taken += len(self._batch)
            self._metrics.newest_us, self._metrics.is_watching = self._batch[-1].time_us, True
            items = self._splitter.feed(self._batch)
            self._batch.clear()
            self._feed(items)

    def note_loss(self, problem: EventError) -> None:
        """Hands on what came before the loss, and the loss, unless it is one that was permanent before a crash."""
        self._tally.note(problem)
        if self._known_losses:
            self._known_losses -= 1
            return
        self.flush()
        self._tally.count += 1
        self._feed(self._splitter.lose())

    def idle(self) -> None:
        """While nothing comes: what came is handed on, alarms are gathered, and time may pass."""
        self.flush()
        self._metrics.is_watching = True
        if self._clock is not None:
            self._feed(self._splitter.advance(int(self._clock() * SECOND_US)))
        self._gather()

    def _waiting(self) -> list[int]:
        return self._again(lambda: self._board.waiting(self._scale.partitions))

    def _feed(self, items: dict[int, list[Any]]) -> None:
        self._keep()
        self._entries += 1
        progress = {
            "taken": self._taken, "stream": self._splitter.state(), "finished": self._is_finished,
            "entries": self._entries, "lost": self._tally.count,
        }  # fmt: skip
        self._again(lambda: self._feed_once(items, progress))
        if self._deliveries is not None:
            self._deliveries.acknowledge()
        self._metrics.counts = self._splitter.counts
        while max(self._waiting()) > MOST_WAITING:
            self._gather()

    def _feed_once(self, items: dict[int, list[Any]], progress: dict[str, Any]) -> None:
        """Feeds, unless an attempt that seemed to fail has done so."""
        before = self._board.read_fed()
        if before is None or before["entries"] < self._entries:
            self._board.feed(items, progress)

    def _gather(self) -> bool:
        """Tells of alarms that workers have raised; waits a little if there are none."""
        self._keep()
        found = self._again(lambda: self._board.alarms(self._heard))
        if not found:
            self._scale.check()
            self._scale.wait(_POLL_S)
            return False
        self._heard = found[-1][0]
        raised = [self._book.take(from_value(value)) for _, value in found]
        alarms = list(enumerate(raised, self._number + 1))
        self._number += len(alarms)
        self._tell(alarms)
        return True

    def _tell(self, alarms: list[Numbered]) -> None:
        self._metrics.add(alarm for _, alarm in alarms)
        self._metrics.incidents = self._book.levels
        for _, alarm in alarms:
            self._verdicts[alarm.verdict] += 1
        for file in self._files:
            file.write(alarms)
        for sink, untold in zip(self._wanted.sinks, self._untold, strict=True):
            untold += alarms
            if untold:
                del untold[: sink.tell(untold)]

    def _summary(self) -> Summary:
        counts, rules = self._splitter.counts, self._wanted.rules
        resting: Iterable[Any] = () if self._splitter.has_runs else resting_rules(rules)
        violated, unknown = self._verdicts[Verdict.VIOLATED], self._verdicts[Verdict.UNKNOWN]
        left = max(map(len, self._untold), default=0)
        return Summary(
            counts.taken, counts.copies, counts.late, counts.gaps, violated, unknown, 0, tuple(resting), left,
            counts.lost, tuple(self._tally.places), counts.outliers, counts.ended, counts.resumed, counts.given_up,
            self._refused, incidents=self._book.levels,
        )  # fmt: skip
