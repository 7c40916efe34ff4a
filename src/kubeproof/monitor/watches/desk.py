"""Where the watches of one partition report: makes alarms, and one only for each event that is missing.

A lost event breaks every rule that speaks of it. The first rule to notice raises the alarm; the others are told to
count the event as if it had come (`settle_then`, `settle_first`), so that counting goes on in step.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.intake.arrival import Gaps
from kubeproof.named_tuples import NamedTuple
from kubeproof.verdicts import Verdict

NEVER = float("inf")
MOST_PENDING = 10_000  # obligations that one rule remembers


class Watch(Protocol):
    """The state of one rule, or of one link of a chain, in one partition."""

    number: int  # its place among all: what is due at the same moment is reported in this order

    def expire(self, now: int) -> None:
        """Reports what is overdue."""

    def due(self) -> float:
        """When the watch has to be asked again; NEVER if it waits for nothing."""

    def finish(self, now: int) -> int:
        """Reports what is still owed at the end of a complete run; gives the number."""

    def open(self) -> int:
        """How many obligations are still waiting."""

    def settle_then(self, now: int) -> None:
        """Counts the second event as if it had come."""

    def settle_first(self, now: int) -> None:
        """Counts the first event as if it had come."""

    def state(self) -> Any:
        """What the watch remembers, as JSON can hold it."""

    def restore(self, state: Any) -> None:
        """Continues from such a state."""


Affected = Callable[[str], tuple[Sequence[Watch], Sequence[Watch]]]


class Label(NamedTuple):
    """What alarms say about their rule, and its place among all."""

    rule: str
    severity: str
    number: int = 0


class Desk:
    """Takes reports, keeps the clock of what is due, and holds the alarms until they are fetched."""

    def __init__(self, run: str, gaps: Gaps, most_pending: int = MOST_PENDING, skew_us: int = 0) -> None:
        self.run, self.gaps, self.most_pending, self.skew_us = run, gaps, most_pending, skew_us
        self.raised: list[Alarm] = []
        self.agenda: list[tuple[float, int, Watch | None]] = [(NEVER, -1, None)]  # a heap that is never empty
        self.affected: Affected = _nobody  # by the loss of an event: those that wait for it, those that begin with it

    def forget(self) -> None:
        """Lets go of all watches."""
        self.agenda = [(NEVER, -1, None)]
        self.affected = _nobody

    def schedule(self, moment: float, watch: Watch) -> None:
        """Asks the watch again once the moment has passed."""
        heapq.heappush(self.agenda, (moment, watch.number, watch))

    def expire(self, now: int) -> None:
        """Lets every watch report what is overdue."""
        agenda = self.agenda
        while agenda[0][0] < now:
            watch = heapq.heappop(agenda)[2]
            if watch is not None:
                watch.expire(now)
                moment = watch.due()
                if moment < NEVER:
                    self.schedule(moment, watch)

    def report(self, alarm: Alarm, watch: Watch, lost: str = "", since_us: int | None = None) -> None:
        """Raises an alarm; `lost` names the event whose absence explains it, so that other rules stay quiet.

        What was lost since `since_us` may be the reason as well.
        """
        if alarm.kind not in _CERTAIN and self.gaps.spans and self._may_lack(alarm, since_us):
            alarm = alarm._replace(verdict=Verdict.UNKNOWN, text=f"{alarm.text}; events were lost meanwhile")
        self.raised.append(alarm._replace(run=self.run))
        if lost:
            self._settle(alarm.detected_us, watch, lost)

    def _may_lack(self, alarm: Alarm, since_us: int | None) -> bool:
        start = alarm.start_us if since_us is None else min(since_us, alarm.start_us)
        return self.gaps.touch(start - self.skew_us, alarm.end_us + self.skew_us)

    def _settle(self, now: int, reporter: Watch, lost: str) -> None:
        thens, firsts = self.affected(lost)
        for other in thens:
            if other is not reporter:
                other.settle_then(now)
        for other in firsts:
            if other is not reporter:
                other.settle_first(now)


def _nobody(lost: str) -> tuple[Sequence[Watch], Sequence[Watch]]:
    return (), ()


_CERTAIN = (Kind.TOO_MANY, Kind.FORBIDDEN)  # lost events could only make it worse
