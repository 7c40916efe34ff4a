"""Figures of a running monitor, as Prometheus reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field

from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.incidents.policy import Level
from kubeproof.monitor.intake.arrival import Counts
from kubeproof.values import dataclass

_BUCKETS_S = (0.1, 1, 5, 10, 30, 60, 300)


@dataclass(slots=True)
class Metrics:
    """What has been counted so far; written by the monitor, read by whoever asks."""

    counts: Counts = field(default_factory=Counts)
    alarms: Counter[tuple[str, str]] = field(default_factory=Counter)  # rule, verdict
    incidents: Counter[Level] = field(default_factory=Counter)  # by how grave they became
    pending: int = 0
    is_watching: bool = False  # the input could be opened, and what came so far is judged
    newest_us: int = 0
    delays_s: list[float] = field(default_factory=lambda: [0.0, 0.0])  # sum, count
    buckets: Counter[float] = field(default_factory=Counter)

    def add(self, alarms: Iterable[Alarm]) -> None:
        """Counts alarms."""
        for alarm in alarms:
            self.alarms[alarm.rule, alarm.verdict] += 1
            delay = alarm.time_to_detect_us / 1_000_000
            self.delays_s = [self.delays_s[0] + delay, self.delays_s[1] + 1]
            self.buckets.update(bound for bound in _BUCKETS_S if delay <= bound)

    def text(self) -> str:
        """Everything in the exposition format."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _plain("events_total", "counter", "Events taken from the input.", self.counts.taken)
        yield from _plain("duplicates_total", "counter", "Events that were copies.", self.counts.copies)
        yield from _plain("late_total", "counter", "Events beyond the lateness bound, not used.", self.counts.late)
        yield from _plain("gaps_total", "counter", "Gaps in the sequences of sources.", self.counts.gaps)
        yield from _plain("lost_total", "counter", "Records that could not be read.", self.counts.lost)
        yield from _plain(
            "outliers_total", "counter", "Events dated far from the rest, set aside.", self.counts.outliers
        )
        yield from _plain("ended_runs_total", "counter", "Runs that are over.", self.counts.ended)
        yield from _plain("pending", "gauge", "Obligations that wait.", self.pending)
        yield from _plain("newest_event_seconds", "gauge", "Time of the newest event.", self.newest_us / 1_000_000)
        yield from _head("alarms_total", "counter", "Alarms raised.")
        for (rule, verdict), count in sorted(self.alarms.copy().items()):
            yield f'{_PREFIX}alarms_total{{rule="{_escape(rule)}",verdict="{verdict}"}} {count}'
        yield from _head("incidents", "gauge", "Incidents so far, by how grave they have become.")
        for level in Level:
            yield f'{_PREFIX}incidents{{level="{level.value}"}} {self.incidents[level]}'
        yield from _head("time_to_detect_seconds", "histogram", "From the start of the evidence to the alarm.")
        total, number = self.delays_s
        for bound in _BUCKETS_S:
            yield f'{_PREFIX}time_to_detect_seconds_bucket{{le="{bound:g}"}} {self.buckets[bound]}'
        yield f'{_PREFIX}time_to_detect_seconds_bucket{{le="+Inf"}} {number:g}'
        yield f"{_PREFIX}time_to_detect_seconds_sum {total:g}"
        yield f"{_PREFIX}time_to_detect_seconds_count {number:g}"


_PREFIX = "kubeproof_monitor_"


def _head(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP {_PREFIX}{name} {text}"
    yield f"# TYPE {_PREFIX}{name} {kind}"


def _plain(name: str, kind: str, text: str, value: float) -> Iterator[str]:
    yield from _head(name, kind, text)
    yield f"{_PREFIX}{name} {value}"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
