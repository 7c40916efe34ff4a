"""The streaming engine: events in order of time go to the watches of the rules that name them.

A partition is one stream with one clock: all of an unlabelled stream, or one run of a labelled one. Cost per event is
one look-up by name plus the watches found there; memory is bounded per rule by `most_pending` (see `desk.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kubeproof.monitor.alarms import Alarm
from kubeproof.monitor.arrival import Gaps
from kubeproof.monitor.desk import MOST_PENDING, Desk, Label, Watch
from kubeproof.monitor.event import Event
from kubeproof.monitor.formula_watch import FormulaWatch
from kubeproof.monitor.key_watch import KeyWatch
from kubeproof.monitor.other_watches import (
    EqualCountsWatch,
    HeartbeatWatch,
    NeverWatch,
    RunLimitWatch,
    WindowLimitWatch,
)
from kubeproof.monitor.pair_watches import AnyWatch, CountWatch
from kubeproof.monitor.predicates import parse as parse_predicate
from kubeproof.monitor.rules import (
    AtMost,
    Chain,
    EqualCounts,
    FollowedBy,
    Heartbeat,
    Ltl,
    Matching,
    Never,
    Pattern,
    Rule,
)

Handler = Callable[[Event], None]
_NOBODY: tuple[Handler, ...] = ()


class Partition:
    """The state of all rules for one stream. With `has_runs` false, rules about whole runs have no meaning and rest."""

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        run: str = "",
        gaps: Gaps | None = None,
        skew_us: int = 0,
        has_runs: bool = True,
        most_pending: int = MOST_PENDING,
    ) -> None:
        self._desk = Desk(run, gaps if gaps is not None else Gaps(), most_pending)
        self._skew_us, self._has_runs = skew_us, has_runs
        self._table: dict[str, tuple[Handler, ...]] = {}
        self._always: tuple[Handler, ...] = _NOBODY
        self._watches: list[Watch] = []
        self.now: int | None = None
        for rule in rules:
            self._add(rule)
        for name in self._table:
            self._table[name] += self._always

    def feed(self, events: Iterable[Event]) -> None:
        """Judges events, which must be in order of time."""
        table, others, agenda, expire = self._table, self._always, self._desk.agenda, self._desk.expire
        time = self.now
        for event in events:
            time = event[0]
            if agenda[0][0] < time:
                expire(time)
            for handle in table.get(event[1], others):
                handle(event)
        self.now = time

    def advance(self, now: int) -> None:
        """Lets time pass without an event."""
        if self.now is None or now > self.now:
            self._desk.expire(now)
            self.now = now

    def finish(self, *, complete: bool) -> int:
        """Ends the stream; a complete one owes nothing any more. Gives the number of obligations left open."""
        if not complete:
            return sum(watch.open() for watch in self._watches)
        for watch in self._watches:
            watch.finish(self.now or 0)
        return 0

    def fetch(self) -> list[Alarm]:
        """The alarms since the last time."""
        found, self._desk.raised = self._desk.raised, []
        return found

    @property
    def has_raised(self) -> bool:
        return bool(self._desk.raised)

    def open(self) -> int:
        """Obligations that wait."""
        return sum(watch.open() for watch in self._watches)

    def state(self) -> dict[str, Any]:
        """Everything that decides how the partition goes on, as JSON can hold it."""
        return {"now": self.now, "watches": [watch.state() for watch in self._watches]}

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from a state of a partition with the same rules."""
        self.now = state["now"]
        for watch, remembered in zip(self._watches, state["watches"], strict=True):
            watch.restore(remembered)

    def _add(self, rule: Rule) -> None:
        label = Label(rule.name, rule.severity)
        match rule.body:
            case FollowedBy() as pair:
                self._add_pair(pair, label)
            case Chain() as chain:
                for link in chain.links:
                    self._add_pair(link, label)
            case AtMost(event, _, per) as limit:
                self._add_limit(limit, event, per, label)
            case EqualCounts(events, per) as equal:
                if per is not None or self._has_runs:
                    watch = EqualCountsWatch(equal, label, self._desk)
                    self._keep(watch, *((event, watch.handler(place)) for place, event in enumerate(events)))
            case Never(event) as never:
                forbidding = NeverWatch(never, label, self._desk)
                self._keep(forbidding, (event, forbidding.on_event))
            case Heartbeat(event) as heartbeat:
                listening = HeartbeatWatch(heartbeat, label, self._desk)
                self._keep(listening, (event, listening.on_event))
            case Ltl() as formula:
                following = FormulaWatch(formula, label, self._desk)
                self._watches.append(following)
                self._always += (following.on_event,)

    def _add_pair(self, pair: FollowedBy, label: Label) -> None:
        pair_watch: AnyWatch | CountWatch | KeyWatch
        if pair.matching is Matching.COUNT:
            pair_watch = CountWatch(pair, label, self._desk, self._skew_us)
        elif pair.matching is Matching.KEY:
            pair_watch = KeyWatch(pair, label, self._desk)
        else:
            pair_watch = AnyWatch(pair, label, self._desk)
        self._keep(pair_watch, (pair.then, pair_watch.on_then), (pair.first, pair_watch.on_first))

    def _add_limit(self, body: AtMost, event: Pattern, per: int | None, label: Label) -> None:
        if per is not None:
            limit = WindowLimitWatch(body, per, label, self._desk)
            self._keep(limit, (event, limit.on_event))
        elif self._has_runs:
            whole = RunLimitWatch(body, label, self._desk)
            self._keep(whole, (event, whole.on_event))

    def _keep(self, watch: Watch, *handlers: tuple[Pattern, Handler]) -> None:
        self._watches.append(watch)
        for pattern, handle in handlers:
            wanted = _guarded(pattern, handle)
            self._table[pattern.name] = (*self._table.get(pattern.name, _NOBODY), wanted)


def _guarded(pattern: Pattern, handle: Handler) -> Handler:
    """The handler, for those events only for which the pattern's predicate holds."""
    if not pattern.where:
        return handle
    holds = parse_predicate(pattern.where).holds

    def wanted(event: Event) -> None:
        if holds(event):
            handle(event)

    return wanted
