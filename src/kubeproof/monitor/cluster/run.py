"""The use case: the changes of a cluster, a Scenario, and everybody who is to hear of alarms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from kubeproof.errors import EventError
from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.cluster.change import Change
from kubeproof.monitor.cluster.judges import Patience
from kubeproof.monitor.cluster.monitor import ClusterMonitor
from kubeproof.monitor.cluster.steady import SteadyTimes
from kubeproof.monitor.incidents.book import IncidentBook
from kubeproof.monitor.intake.arrival import Counts
from kubeproof.monitor.metrics import Metrics
from kubeproof.monitor.readers.losses import Tally
from kubeproof.monitor.run import Summary
from kubeproof.monitor.sinks import FileSink, Render, Sink
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class ClusterWatch:
    """What is judged, and who is told."""

    texts: tuple[tuple[str, str], ...]  # the Scenario and manifests, by name
    patience: Patience = Patience()
    files: tuple[tuple[str, Render], ...] = ()
    sinks: tuple[Sink, ...] = ()
    is_seeded: bool = True  # what the manifests hold is there at the beginning; otherwise the stream tells all


def watch_cluster(
    wanted: ClusterWatch,
    changes: Iterable[Change],
    metrics: Metrics | None = None,
    stop: Stop | None = None,
    tally: Tally | None = None,
) -> Summary:
    """Judges until the changes end or somebody asks to stop; every alarm is told at once.

    `tally` knows what could not be read.
    """
    stop = stop or Stop()
    with ExitStack() as stack:
        watching = _Watching(wanted, metrics or Metrics(), tally or Tally(), stack)
        return replace(watching.run(until(stop, changes)), is_interrupted=stop.is_asked)


class _Watching:
    def __init__(self, wanted: ClusterWatch, metrics: Metrics, tally: Tally, stack: ExitStack) -> None:
        self._tally, self._steady = tally, SteadyTimes(wanted.patience.within_us)
        self._refused: EventError | None = None
        self._monitor = ClusterMonitor(wanted.texts, wanted.patience, is_seeded=wanted.is_seeded)
        self._wanted, self._metrics = wanted, metrics
        self._files = [FileSink(path, render, length=None) for path, render in wanted.files]
        for file in self._files:
            stack.callback(file.close)
        self._book = IncidentBook()
        self._verdicts = {Verdict.VIOLATED: 0, Verdict.UNKNOWN: 0}
        self._number = self._taken = self._undelivered = 0

    def run(self, changes: Iterable[Change]) -> Summary:
        for alarm in self._monitor.feed(self._steady.pass_on(self._count(changes))):
            self._tell([alarm])
        if self._refused is not None and not self._verdicts[Verdict.VIOLATED]:
            raise self._refused
        waiting = self._monitor.finish()
        gaps = max(0, self._monitor.gaps - self._tally.count)
        violated, unknown = self._verdicts[Verdict.VIOLATED], self._verdicts[Verdict.UNKNOWN]
        return Summary(
            self._taken, 0, 0, gaps, violated, unknown, waiting, (), self._undelivered, self._tally.count,
            tuple(self._tally.places), self._steady.outliers, refused=self._refused,
            incidents=self._book.levels,
        )  # fmt: skip

    def _count(self, changes: Iterable[Change]) -> Iterator[Change]:
        try:
            for change in changes:
                self._taken += 1
                self._metrics.newest_us, self._metrics.is_watching = change.time_us, True
                outliers, lost = self._steady.outliers, self._tally.count
                self._metrics.counts = Counts(self._taken, 0, 0, self._monitor.gaps, outliers, lost)
                yield change
        except EventError as problem:  # what came before counts
            self._refused = problem

    def _tell(self, alarms: Sequence[Alarm]) -> None:
        self._metrics.add(alarms)
        self._metrics.incidents = self._book.levels
        for alarm in alarms:
            self._number += 1
            self._verdicts[alarm.verdict] += 1
            numbered = [(self._number, self._book.take(alarm))]
            for file in self._files:
                file.write(numbered)
            self._undelivered += sum(sink.tell(numbered) == 0 for sink in self._wanted.sinks)
