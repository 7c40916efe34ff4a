"""Watches for "a is followed by b": by counting, and by any later one."""

from __future__ import annotations

from collections import deque
from typing import Any, cast

from kubeproof.monitor.event import Event
from kubeproof.monitor.rules.rules import FollowedBy
from kubeproof.monitor.watches.busy import Busy
from kubeproof.monitor.watches.desk import NEVER, Desk, Label
from kubeproof.monitor.watches.pair_report import PairReport

_NONE = cast("deque[int]", ())  # most rules never need these, and there may be many runs


class PairWatch:
    """What counting and any have in common: obligations in the order in which they fall due."""

    __slots__ = ("_desk", "_has_given_up", "_limit", "_report", "_scheduled", "_skew", "_within", "number", "pending")

    def __init__(self, pair: FollowedBy, label: Label, desk: Desk) -> None:
        self._desk, self._limit, self.number = desk, desk.most_pending, label.number
        self._report = PairReport(pair, label, desk)
        self._skew = (
            desk.skew_us
        )  # by how much clocks may differ: an answer may seem to be this much too early, or late
        self._within = pair.within_us + self._skew
        self._scheduled = False
        self._has_given_up = False  # said once, until nobody waits any more
        self.pending: deque[int] = deque()  # times of first events that wait

    def on_first(self, event: Event) -> None:
        """Owes one more answer."""
        pending = self.pending
        pending.append(event[0])
        if not self._scheduled:
            self._scheduled = True
            self._desk.schedule(pending[0] + self._within, self)
        if len(pending) > self._limit:
            self._give_up(pending.popleft(), event[0])

    def _give_up(self, start: int, now: int) -> None:
        if not self._has_given_up:
            self._report.overflow(self, start, now)
        self._has_given_up = True

    def due(self) -> float:
        """The end of the oldest obligation's time."""
        self._scheduled = bool(self.pending)
        self._has_given_up &= self._scheduled
        return self.pending[0] + self._within if self.pending else NEVER

    def expire(self, now: int) -> None:
        """Reports answers that did not come in time."""
        while self.pending and self.pending[0] + self._within < now:
            start = self.pending.popleft()
            self._missing(start, start + self._within)

    def finish(self, now: int) -> int:
        """Reports answers that never came."""
        count = 0
        while self.pending:
            self._missing(self.pending.popleft(), now, at_end=True)
            count += 1
        return count

    def open(self) -> int:
        """Obligations that still wait."""
        return len(self.pending)

    def settle_first(self, now: int) -> None:
        """Nothing: without the first event nothing is owed."""

    def settle_then(self, now: int) -> None:
        """The answer would have come: whoever waits is served."""
        self.pending.clear()

    def state(self) -> Any:
        """Times of first events that wait, and whether some were given up."""
        return [list(self.pending), self._has_given_up]

    def restore(self, state: Any) -> None:
        """Waits for the same again."""
        self.pending, self._has_given_up = deque(state[0]), state[1]
        if self.pending:
            self._scheduled = True
            self._desk.schedule(self.pending[0] + self._within, self)

    def _missing(self, start: int, end: int, *, at_end: bool = False) -> None:
        self._report.missing(self, start, end, at_end=at_end)


class AnyWatch(PairWatch):
    """Any later answer serves everybody who waits: `every a -> (timer:interval(w) and not b)` in Esper's language."""

    __slots__ = ()

    def on_then(self, event: Event) -> None:
        """Serves all."""
        if self.pending:
            self.pending.clear()


class SkewedAnyWatch(PairWatch):
    """The same where clocks differ: the last answer may have come after a question that seems to be later."""

    __slots__ = ("_answered",)

    def __init__(self, pair: FollowedBy, label: Label, desk: Desk) -> None:
        super().__init__(pair, label, desk)
        self._answered: float = -NEVER

    def on_first(self, event: Event) -> None:
        """Owes an answer, unless it may have come already."""
        if self._answered < event[0] - self._skew:
            super().on_first(event)

    def on_then(self, event: Event) -> None:
        """Serves all."""
        self.pending.clear()
        self._answered = event[0]

    def state(self) -> Any:
        """Who waits, and when the last answer came."""
        return [super().state(), None if self._answered == -NEVER else self._answered]

    def restore(self, state: Any) -> None:
        """Waits for the same again."""
        self._answered = -NEVER if state[1] is None else state[1]
        super().restore(state[0])


def any_watch(pair: FollowedBy, label: Label, desk: Desk) -> PairWatch:
    """The watch for such a rule; where clocks do not differ there is less to remember."""
    return (SkewedAnyWatch if desk.skew_us else AnyWatch)(pair, label, desk)


class CountWatch(PairWatch):
    """The i-th answer serves the i-th; an answer that nobody waits for is reported, too.

    If every user's answers come in time, so do the i-th of all users together: sorting the answers cannot make the
    longest wait longer.
    """

    __slots__ = ("_busy", "_early", "_forgiven", "_spans")

    def __init__(self, pair: FollowedBy, label: Label, desk: Desk) -> None:
        super().__init__(pair, label, desk)
        self._early = _NONE
        # Answers that may come although nobody waits any more. They run out a window's time after the last one was
        # served: as long as somebody waits, the answer to a lost event serves the next one, and that one's the next.
        self._forgiven = _NONE
        self._spans = desk.gaps.spans
        self._busy: Busy | None = None

    def on_first(self, event: Event) -> None:
        """Owes one more answer, unless clocks differ and it has come already."""
        if self._spans:
            self._note(event[0])
        if self._early:
            self._early.popleft()
        else:
            super().on_first(event)

    def on_then(self, event: Event) -> None:
        """Serves the one who has waited longest."""
        if self._spans:
            self._note(event[0])
        pending = self.pending
        if pending:
            pending.popleft()
            if self._forgiven and not pending:
                self._forgiven = deque([event[0]] * len(self._forgiven))  # whose turn it is shows only now
        elif self._excuse(event[0]):
            pass
        elif self._skew:
            self._early = self._early or deque()
            self._early.append(event[0])
            if not self._scheduled:
                self._scheduled = True
                self._desk.schedule(event[0] + self._skew, self)
        else:
            self._report_unexpected(event[0], event[0])

    def _note(self, now: int) -> None:
        """Follows how long it has been busy: since then, a lost event shifts who answers whom."""
        if self._busy is None:
            self._busy = Busy(self._within, self._spans)
        self._busy.note(now, is_waiting=bool(self.pending))

    def _excuse(self, now: int) -> bool:
        forgiven = self._forgiven
        while forgiven and forgiven[0] + self._within < now:
            forgiven.popleft()
        if forgiven:
            forgiven.popleft()
            return True
        return False

    def expire(self, now: int) -> None:
        """Reports answers that did not come in time, and answers that nobody waits for."""
        while self._early and self._early[0] + self._skew < now:
            moment = self._early.popleft()
            self._report_unexpected(moment, moment + self._skew)
        super().expire(now)

    def due(self) -> float:
        """The end of the oldest obligation's time, or of an early answer's."""
        moments = [super().due()]
        if self._early:
            self._scheduled = True
            moments.append(self._early[0] + self._skew)
        return min(moments)

    def finish(self, now: int) -> int:
        """Reports answers that never came, and those that nobody had waited for."""
        count = len(self._early)
        while self._early:
            self._report_unexpected(self._early.popleft(), now)
        return count + super().finish(now)

    def settle_then(self, now: int) -> None:
        """One who waits is served; if the answer comes after all, nobody minds."""
        if self.pending:
            self.pending.popleft()
            self._forgive(now)

    def settle_first(self, now: int) -> None:
        """The next answer that nobody waits for belongs to the lost event."""
        if self._early:
            self._early.popleft()
        else:
            self._forgive(now)

    def _forgive(self, now: int) -> None:
        self._forgiven = self._forgiven or deque()
        self._forgiven.append(now)
        if len(self._forgiven) > self._limit:
            self._forgiven.popleft()

    def _missing(self, start: int, end: int, *, at_end: bool = False) -> None:
        self._forgive(end)  # late is bad enough: the answer itself is not reported again
        self._report.missing(self, start, end, at_end=at_end, since_us=self._since())

    def _report_unexpected(self, moment: int, now: int) -> None:
        self._report.report_unexpected(self, moment, now, self._since())

    def _since(self) -> int | None:
        return None if self._busy is None else self._busy.since_us

    def state(self) -> Any:
        """Who waits, who came early, who is excused."""
        return [
            super().state(),
            list(self._early),
            list(self._forgiven),
            None if self._busy is None else self._busy.state(),
        ]

    def restore(self, state: Any) -> None:
        """Waits for the same again."""
        self._early, self._forgiven = deque(state[1]), deque(state[2])
        self._busy = None if state[3] is None else Busy(self._within, self._spans, *state[3])
        super().restore(state[0])
        if self._early:
            self._scheduled = True
            self._desk.schedule(self._early[0] + self._skew, self)
