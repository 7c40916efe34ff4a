"""The streaming engine: events in order of time go to the watches of the rules that name them.

A partition is one stream with one clock: all of an unlabelled stream, or one run of a labelled one. Cost per event is
one look-up by name plus the watches found there; memory is bounded per rule by `most_pending` (see `desk.py`). There
may be many partitions, so what rules say is worked out once (`Plan`), and a watch is made when its first event comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.event import Event
from kubeproof.monitor.intake.arrival import Gaps
from kubeproof.monitor.rules.rules import Rule
from kubeproof.monitor.watches.desk import MOST_PENDING, Desk, Watch
from kubeproof.monitor.watches.plan import Handler, Plan
from kubeproof.verdicts import Verdict

_NOBODY: tuple[Handler, ...] = ()


class Partition:
    """The state of all rules for one stream. With `has_runs` false, rules about whole runs have no meaning and rest."""

    def __init__(
        self,
        rules: Iterable[Rule] | Plan,
        *,
        run: str = "",
        gaps: Gaps | None = None,
        skew_us: int = 0,
        has_runs: bool = True,
        most_pending: int = MOST_PENDING,
    ) -> None:
        self._plan = rules if isinstance(rules, Plan) else Plan(rules, has_runs=has_runs)
        self._desk = Desk(run, gaps if gaps is not None else Gaps(), most_pending, skew_us)
        self._desk.affected = self._find_affected
        self._watches: dict[int, Watch] = {}
        self._always: tuple[Handler, ...] = _NOBODY
        for number in self._plan.always:
            self._always += (self._plan.slots[number].handlers(self._watch(number))[0][1],)
        self._table: dict[str, tuple[Handler, ...]] = dict.fromkeys(self._plan.names, (self._listen,))
        self.now: int | None = None

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
            return self.open()
        for watch in self._in_order():
            watch.finish(self.now or 0)
        return 0

    def give_up(self) -> None:
        """Ends the stream before its time: whatever waits will never be known."""
        waiting, now = self.open(), self.now or 0
        if waiting:
            text = f"too many runs at once; this one is given up while {waiting} obligations wait"
            alarm = Alarm("runs", Kind.OVERFLOW, self._desk.run, text, now, now, now, verdict=Verdict.UNKNOWN)
            self._desk.raised.append(alarm._replace(run=self._desk.run))

    def forget(self) -> None:
        """Lets go of everything but alarms that were not fetched; what refers to itself would stay for a while."""
        self._table.clear()
        self._watches.clear()
        self._always = _NOBODY
        self._desk.forget()

    def fetch(self) -> list[Alarm]:
        """The alarms since the last time."""
        found, self._desk.raised = self._desk.raised, []
        return found

    @property
    def has_raised(self) -> bool:
        return bool(self._desk.raised)

    def open(self) -> int:
        """Obligations that wait."""
        return sum(watch.open() for watch in self._watches.values())

    def state(self) -> dict[str, Any]:
        """Everything that decides how the partition goes on, as JSON can hold it."""
        return {"now": self.now, "watches": [[watch.number, watch.state()] for watch in self._in_order()]}

    def restore(self, state: dict[str, Any]) -> None:
        """Continues from a state of a partition with the same rules."""
        self.now = state["now"]
        for number, remembered in state["watches"]:
            self._watch(number).restore(remembered)

    def _listen(self, event: Event) -> None:
        """Makes the watches that an event concerns, when the first of its name comes."""
        name, found = event[1], list(_NOBODY)
        for number in self._plan.names[name]:
            slot = self._plan.slots[number]
            found += [handle for listened, handle in slot.handlers(self._watch(number)) if listened == name]
        self._table[name] = (*found, *self._always)
        for handle in self._table[name]:
            handle(event)

    def _find_affected(self, lost: str) -> tuple[Sequence[Watch], Sequence[Watch]]:
        thens, firsts = self._plan.thens.get(lost, ()), self._plan.firsts.get(lost, ())
        return [self._watch(number) for number in thens], [self._watch(number) for number in firsts]

    def _watch(self, number: int) -> Watch:
        found = self._watches.get(number)
        if found is None:
            found = self._watches[number] = self._plan.slots[number].make(self._desk)
        return found

    def _in_order(self) -> list[Watch]:
        return [watch for _, watch in sorted(self._watches.items())]
