"""The use case: the changes of a cluster, a Scenario, and everybody who is to hear of alarms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.arrival import Counts
from kubeproof.monitor.cluster.change import Change
from kubeproof.monitor.cluster.judges import Patience
from kubeproof.monitor.cluster.monitor import ClusterMonitor
from kubeproof.monitor.metrics import Metrics
from kubeproof.monitor.run import Summary
from kubeproof.monitor.sinks import FileSink, Render, Sink
from kubeproof.stop import Stop, until
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class ClusterWatch:
    """What is judged, and who is told."""

    texts: tuple[tuple[str, str], ...]  # the Scenario and manifests, by name
    patience: Patience = Patience()
    files: tuple[tuple[str, Render], ...] = ()
    sinks: tuple[Sink, ...] = ()
    is_seeded: bool = True  # what the manifests hold is there at the beginning; otherwise the stream tells all


def watch_cluster(
    wanted: ClusterWatch, changes: Iterable[Change], metrics: Metrics | None = None, stop: Stop | None = None
) -> Summary:
    """Judges until the changes end or somebody asks to stop; every alarm is told at once."""
    stop = stop or Stop()
    with ExitStack() as stack:
        watching = _Watching(wanted, metrics or Metrics(), stack)
        return replace(watching.run(until(stop, changes)), is_interrupted=stop.is_asked)


class _Watching:
    def __init__(self, wanted: ClusterWatch, metrics: Metrics, stack: ExitStack) -> None:
        self._monitor = ClusterMonitor(wanted.texts, wanted.patience, is_seeded=wanted.is_seeded)
        self._wanted, self._metrics = wanted, metrics
        self._files = [FileSink(path, render, length=None) for path, render in wanted.files]
        for file in self._files:
            stack.callback(file.close)
        self._verdicts = {"VIOLATED": 0, "UNKNOWN": 0}
        self._number = self._taken = self._undelivered = 0

    def run(self, changes: Iterable[Change]) -> Summary:
        for alarm in self._monitor.feed(self._counted(changes)):
            self._tell([alarm])
        waiting = self._monitor.finish()
        gaps = self._monitor.gaps
        violated, unknown = self._verdicts["VIOLATED"], self._verdicts["UNKNOWN"]
        return Summary(self._taken, 0, 0, gaps, violated, unknown, waiting, (), self._undelivered)

    def _counted(self, changes: Iterable[Change]) -> Iterator[Change]:
        for change in changes:
            self._taken += 1
            self._metrics.newest_us = change.time_us
            self._metrics.counts = Counts(self._taken, 0, 0, self._monitor.gaps)
            yield change

    def _tell(self, alarms: Sequence[Alarm]) -> None:
        self._metrics.add(alarms)
        for alarm in alarms:
            self._number += 1
            self._verdicts[alarm.verdict] += 1
            numbered = [(self._number, alarm)]
            for file in self._files:
                file.write(numbered)
            self._undelivered += sum(sink.tell(numbered) == 0 for sink in self._wanted.sinks)
