"""Runs on their way in: each is put in order on its own, and is over after its last event or a long silence.

What is over is handed on as such and forgotten, so that as many runs as one likes can come and go. Both the embedded
engine and the one that shares the work take events through here: they see the same runs end at the same moments.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import groupby
from typing import Any, Protocol

from kubeproof.monitor.event import SECOND_US, Event
from kubeproof.monitor.intake.arrival import LONG_AGO, Arrival, Counts
from kubeproof.monitor.rules.predicates import parse as parse_predicate
from kubeproof.monitor.rules.rules import Pattern, RuleSet
from kubeproof.monitor.watches.desk import MOST_PENDING
from kubeproof.values import dataclass

LEAST_AHEAD_US = 3600 * SECOND_US
LEAST_IDLE_US = 600 * SECOND_US
SPARE = 10  # times the longest time of a rule
MOST_GONE = 10_000  # runs that were taken for over, to notice if they go on
WITNESSES = 3  # runs that move the common clock far ahead
MOST_BEGUN = 100  # runs that are compared to find out where all begin


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is watched; None is derived from the rules."""

    lateness_us: int = 0  # by how much events may be out of order
    skew_us: int = 0  # by how much the clocks of two sources may differ
    most_pending: int = MOST_PENDING  # obligations that one rule remembers, per run
    most_runs: int = 10_000  # at once
    max_ahead_us: int | None = None  # by how much an event may be ahead before its time is doubted
    idle_us: int | None = None  # after which silence a run is over

    @property
    def bound_us(self) -> int:
        """How long an event is held back: with clocks that differ, they are out of order by as much."""
        return self.lateness_us + self.skew_us

    def ahead_of(self, rules: RuleSet) -> int:
        """By how much an event may be ahead."""
        if self.max_ahead_us is not None:
            return self.max_ahead_us
        return max(SPARE * (rules.longest_us + self.bound_us), LEAST_AHEAD_US)

    def idle_of(self, rules: RuleSet) -> int:
        """After which silence a run is over: never before all that it waits for is decided."""
        wanted = SPARE * self.find_settling_time(rules) if self.idle_us is None else self.idle_us
        least = LEAST_IDLE_US if self.idle_us is None else 0
        return max(wanted, self.find_settling_time(rules), least)

    def find_settling_time(self, rules: RuleSet) -> int:
        """After which silence nothing that a run waits for can still come in time."""
        return rules.longest_us + self.skew_us + self.bound_us


class Incoming:
    """One run on its way in."""

    __slots__ = ("arrival", "ends_us", "is_ending", "losses")

    def __init__(self, arrival: Arrival, losses: int) -> None:
        self.arrival, self.losses = arrival, losses
        self.ends_us: int | None = None  # its last event has come, and those beside it until then
        self.is_ending = False  # and the agenda says so


class Sink(Protocol):
    """Who judges runs."""

    def give(self, run: str, incoming: Incoming, events: Iterable[Event]) -> None:
        """These events come next in the run."""

    def pass_time(self, run: str, incoming: Incoming, now_us: int) -> None:
        """Time has come so far in the run."""

    def end(self, run: str, incoming: Incoming, *, is_known: bool) -> None:
        """The run is over: to our knowledge, or because there are too many."""


class Intake:
    """All runs of a stream; its state can be saved and restored run by run."""

    def __init__(self, rules: RuleSet, options: StreamOptions, sink: Sink) -> None:
        self._options, self._sink = options, sink
        self._max_ahead_us, self._idle_us = options.ahead_of(rules), options.idle_of(rules)
        self._settled_us = options.find_settling_time(rules)
        self._ends = [_test(pattern) for pattern in rules.ends]
        self.runs: dict[str, Incoming] = {}  # the one that was silent longest first
        self._agenda: list[tuple[int, str]] = []  # a heap: when to ask whether a run is over
        self._waiting: set[str] = set()  # runs in the agenda
        self._clock = _Clock(self._max_ahead_us)
        self._current: str | None = None
        self._losses = 0
        self._lost_us: int | None = None  # when something was lost last
        self._gone: dict[str, None] = {}
        self._past = Counts()  # of runs that are over, and of the stream
        self.touched: dict[str, None] = {}  # runs that have changed, or are over, since somebody asked

    def feed(self, events: Iterable[Event]) -> None:
        """Hands on what these events, which come next, mean."""
        for run, group in groupby(events, key=_run):
            if run != self._current:
                self._switch(run)
            incoming = self._enter(run)
            self._give(run, incoming, incoming.arrival.take(group))
            self._note(run, incoming)

    def lose(self) -> None:
        """Notes that something was lost now, nobody knows of which run."""
        self._losses += 1
        self._past.lost += 1
        self._lost_us = self._clock.now_us

    def advance(self, now_us: int) -> None:
        """Lets time pass without an event."""
        for run, incoming in list(self.runs.items()):
            self._hear_of_losses(incoming)
            self._give(run, incoming, incoming.arrival.advance(now_us))
            self._sink.pass_time(run, incoming, now_us - self._options.bound_us)
        self._clock.set(now_us - self._options.bound_us)
        self._end_those_over("")

    def finish(self) -> None:
        """Hands on what was held back: nothing more will come."""
        for run, incoming in self.runs.items():
            self._hear_of_losses(incoming)
            self._give(run, incoming, incoming.arrival.finish())

    @property
    def counts(self) -> Counts:
        """What happened on arrival, over all runs."""
        total = Counts(*self._past.value())
        for incoming in self.runs.values():
            total.add(incoming.arrival.counts)
        return total

    @property
    def has_runs(self) -> bool:
        """True if the stream tells runs apart, or has not begun."""
        return any(self.runs) or bool(self._past.ended or self._past.given_up) or not self.runs

    # -- runs -----------------------------------------------------------------------------------

    def _enter(self, run: str) -> Incoming:
        found = self.runs.get(run)
        if found is None:
            return self._begin(run)
        if len(self.runs) > 1:
            self.runs[run] = self.runs.pop(run)
        self._hear_of_losses(found)
        return found

    def _begin(self, run: str) -> Incoming:
        if len(self.runs) >= self._options.most_runs:
            self._make_room()
        anchor = self._clock.now_us if run else None
        incoming = Incoming(Arrival(self._options.bound_us, self._max_ahead_us, anchor), self._losses)
        self.runs[run] = incoming
        if _digest(run) in self._gone:
            del self._gone[_digest(run)]
            self._past.resumed += 1
            incoming.arrival.lose()  # what was known of it
        elif self._losses and self._is_soon(self._lost_us):
            incoming.arrival.lose()  # perhaps its first event
        return incoming

    def _is_soon(self, moment_us: int | None) -> bool:
        """True if a run that was there at that moment would not be over."""
        now = self._clock.now_us
        return moment_us is None or now is None or now - moment_us <= self._idle_us

    def _hear_of_losses(self, incoming: Incoming) -> None:
        """Tells a run of what was lost since it was last looked at: it may have been one of its events."""
        if incoming.losses != self._losses:
            incoming.losses = self._losses
            incoming.arrival.lose()

    def _give(self, run: str, incoming: Incoming, events: Iterator[Event]) -> None:
        self.touched[run] = None
        if not self._ends or not run:
            self._sink.give(run, incoming, events)
            return
        part: list[Event] = []
        for event in events:
            if incoming.ends_us is not None and event.time_us > incoming.ends_us:
                self._sink.give(run, incoming, part)
                self._sink.end(run, incoming, is_known=True)
                self._past.ended += 1
                part, incoming.ends_us = [], None
            part.append(event)
            if any(test(event) for test in self._ends):
                incoming.ends_us = max(incoming.ends_us or LONG_AGO, event.time_us + self._options.skew_us)
        self._sink.give(run, incoming, part)

    def _note(self, run: str, incoming: Incoming) -> None:
        """Keeps the common clock, and when to ask whether the run is over."""
        if run and incoming.arrival.has_begun:
            self._clock.observe(incoming.arrival.newest_us, run)
        elif run and incoming.arrival.guess_us is not None:
            self._clock.suppose(incoming.arrival.guess_us, run)
        is_ending = incoming.ends_us is not None
        if run and (run not in self._waiting or (is_ending and not incoming.is_ending)):
            self._waiting.add(run)
            heapq.heappush(self._agenda, (self._over_us(incoming), run))
        incoming.is_ending = is_ending

    def _over_us(self, incoming: Incoming) -> int:
        if incoming.ends_us is not None:
            return incoming.ends_us
        arrival = incoming.arrival
        return (arrival.newest_us if arrival.has_begun else arrival.guess_us or 0) + self._idle_us

    def _switch(self, run: str) -> None:
        """Another run is heard: whatever is over by now is handed on first."""
        self._current = run
        self._end_those_over(run)

    def _end_those_over(self, speaking: str) -> None:
        """Ends runs whose time has come; one that speaks has not been silent, unless its last event has come."""
        now, again = self._clock.now_us, []
        while now is not None and self._agenda and self._agenda[0][0] < now:
            _, run = heapq.heappop(self._agenda)
            incoming = self.runs.get(run)
            if incoming is None:
                self._waiting.discard(run)
            elif self._over_us(incoming) >= now:
                heapq.heappush(self._agenda, (self._over_us(incoming), run))
            elif run == speaking and incoming.ends_us is None:
                again.append((self._over_us(incoming), run))
            else:
                self._end(run, incoming, is_known=True)
        for entry in again:
            heapq.heappush(self._agenda, entry)
        self._tidy_agenda()

    def _end(self, run: str, incoming: Incoming, *, is_known: bool) -> None:
        self._hear_of_losses(incoming)
        self._give(run, incoming, incoming.arrival.finish())
        self._sink.end(run, incoming, is_known=is_known)
        has_ended = incoming.ends_us is not None
        self._past.add(incoming.arrival.counts)
        self._past.ended += is_known
        self._past.given_up += not is_known
        self._waiting.discard(run)
        self.runs.pop(run, None)
        self.touched[run] = None
        if not has_ended:
            self._gone[_digest(run)] = None
            if len(self._gone) > MOST_GONE:
                del self._gone[next(iter(self._gone))]

    def _make_room(self) -> None:
        """Ends the run that has been silent longest; what it waits for is decided only if enough time has passed."""
        run = next(name for name in self.runs if name)
        incoming, now = self.runs[run], self._clock.now_us
        newest = incoming.arrival.newest_us
        is_settled = now is not None and incoming.arrival.has_begun and now - newest > self._settled_us
        self._end(run, incoming, is_known=is_settled)

    def _tidy_agenda(self) -> None:
        """Drops entries of runs that are gone, before they are more than those that are there."""
        if len(self._agenda) > 2 * len(self.runs) + 16:
            self._agenda = [(self._over_us(incoming), run) for run, incoming in self.runs.items() if run]
            heapq.heapify(self._agenda)

    # -- state ----------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What concerns the stream as a whole, as JSON can hold it."""
        return {
            "clock": self._clock.state(),
            "current": self._current,
            "losses": self._losses,
            "lost": self._lost_us,
            "gone": list(self._gone),
            "past": self._past.value(),
            "order": list(self.runs),
        }

    def run_state(self, run: str) -> list[Any]:
        """What concerns one run."""
        incoming = self.runs[run]
        return [incoming.arrival.state(), incoming.losses, incoming.ends_us]

    def restore(self, state: dict[str, Any], runs: dict[str, list[Any]]) -> None:
        """Continues from such states."""
        self._clock.restore(state["clock"])
        self._current, self._losses, self._lost_us = state["current"], state["losses"], state["lost"]
        self._gone = dict.fromkeys(state["gone"])
        self._past = Counts(*state["past"])
        for run in state["order"]:
            arrived, losses, ends_us = runs[run]
            incoming = self.runs[run] = Incoming(Arrival(self._options.bound_us, self._max_ahead_us), losses)
            incoming.arrival.restore(arrived)
            incoming.ends_us = ends_us
            if run:
                self._waiting.add(run)
                heapq.heappush(self._agenda, (self._over_us(incoming), run))


class _Clock:
    """How far the runs have come together; one run that is far ahead of the others does not move it."""

    def __init__(self, max_ahead_us: int) -> None:
        self._max_ahead_us = max_ahead_us
        self.now_us: int | None = None
        self._ahead: dict[str, int] = {}  # runs that are far ahead, since one was near

    def observe(self, time_us: int, run: str) -> None:
        """A run has come so far."""
        now = self.now_us
        if now is None or now < time_us <= now + self._max_ahead_us:
            self.now_us = time_us
            self._ahead.clear()
        elif time_us > now:
            self._ahead[run] = time_us
            if len(self._ahead) >= WITNESSES:
                self.now_us = min(self._ahead.values())
                self._ahead.clear()
        elif time_us >= now - self._max_ahead_us:
            self._ahead.clear()

    def suppose(self, time_us: int, run: str) -> None:
        """A run that has only begun seems to have come so far: two such runs that agree tell where all begin."""
        if self.now_us is not None:
            self.observe(time_us, run)
        elif any(abs(time_us - other) <= self._max_ahead_us for name, other in self._ahead.items() if name != run):
            self.now_us = time_us
            self._ahead.clear()
        elif len(self._ahead) < MOST_BEGUN:
            self._ahead[run] = time_us

    def set(self, now_us: int) -> None:
        """A real clock says what time it is."""
        self.now_us = now_us if self.now_us is None else max(now_us, self.now_us)

    def state(self) -> Any:
        return [self.now_us, list(self._ahead.items())]

    def restore(self, state: Any) -> None:
        self.now_us, self._ahead = state[0], dict(state[1])


def _run(event: Event) -> str:
    return event[5]


def _digest(run: str) -> str:
    return blake2b(run.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _test(pattern: Pattern) -> Callable[[Event], bool]:
    """Whether an event is one of the pattern."""
    holds = parse_predicate(pattern.where).holds if pattern.where else None
    name = pattern.name
    return lambda event: event[1] == name and (holds is None or holds(event))
