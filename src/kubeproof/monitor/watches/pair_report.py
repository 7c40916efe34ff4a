"""How watches of pairs tell what is wrong."""

from __future__ import annotations

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.rules.rules import FollowedBy
from kubeproof.monitor.times import show_duration, show_time
from kubeproof.monitor.watches.desk import Desk, Label, Watch
from kubeproof.verdicts import Verdict


class PairReport:
    """Words and places of the alarms of one pair."""

    __slots__ = ("_desk", "_first", "_label", "_then", "_within")

    def __init__(self, pair: FollowedBy, label: Label, desk: Desk) -> None:
        self._first, self._then, self._within = str(pair.first), str(pair.then), pair.within_us
        self._label, self._desk = label, desk

    def missing(
        self, watch: Watch, start: int, end: int, *, at_end: bool, key: str = "", since_us: int | None = None
    ) -> None:
        """The second event did not come; one with a key concerns nobody else."""
        whose = f" with key {key}" if key else ""
        until = "before the run ended" if at_end else f"within {show_duration(self._within)}"
        text = f"{self._first}{whose} at {show_time(start)} was not followed by {self._then} {until}"
        alarm = self._alarm(Kind.MISSING, self._then, text, start, end)._replace(key=key, at_end=at_end)
        self._desk.report(alarm, watch, "" if key else self._then, since_us)

    def report_unexpected(self, watch: Watch, moment: int, now: int, since_us: int | None = None) -> None:
        """The second event came without the first."""
        text = f"{self._then} at {show_time(moment)} without the {self._first} that comes before it"
        alarm = self._alarm(Kind.UNEXPECTED, self._first, text, moment - self._within, now)
        self._desk.report(alarm, watch, self._first, since_us)

    def overflow(self, watch: Watch, start: int, now: int) -> None:
        """The oldest obligation is given up."""
        text = f"too many obligations wait; the oldest, of {show_time(start)}, is given up"
        alarm = self._alarm(Kind.OVERFLOW, self._then, text, start, now)._replace(verdict=Verdict.UNKNOWN)
        self._desk.report(alarm, watch)

    def _alarm(self, kind: Kind, about: str, text: str, start: int, end: int) -> Alarm:
        return Alarm(self._label.rule, kind, about, text, start, end, end, self._label.severity)
