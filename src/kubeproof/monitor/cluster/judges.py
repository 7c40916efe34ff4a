"""An intent on a stream: true, false, or not yet.

A property of single states or steps is judged at once. One about what happens for ever needs a bound on a finite
stream: what is wrong for as long as `within`, or comes back to the same state `repeats` times, is taken to be so for
ever; a cluster in which nothing has changed for so long is taken as stable. Events from outside begin anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kubeproof.cluster.objects import family
from kubeproof.intents.catalogue import entry
from kubeproof.intents.monitor import CYCLE, FRESH, IN_STABLE, NEVER, PERSISTENT, RECURRENT, STEP, WORD, Monitor
from kubeproof.model.plan import Plan
from kubeproof.monitor.alarms import Alarm, Kind
from kubeproof.monitor.cluster.sight import Members, Sight, Views
from kubeproof.monitor.times import show_duration
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

FAR = float("inf")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is for ever."""

    within_us: int = 600_000_000
    repeats: int = 3  # visits to one state


class Judge(Protocol):
    """Follows one intent."""

    def look(self, sight: Sight) -> Iterator[Alarm]:
        """What a moment shows."""

    def due(self) -> float:
        """When the passing of time alone shows something; FAR if never."""

    def expire(self, now_us: int) -> Iterator[Alarm]:
        """What time has shown."""

    def begin_anew(self) -> None:
        """Something was missed: what was counted so far tells nothing."""


class Loops:
    """Recognises states that come again after others have been; what was counted between two visits is told."""

    def __init__(self, members: Members | None) -> None:
        self._members = members
        self._visits: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._last: int | None = None

    def visit(self, sight: Sight, counts: tuple[int, ...]) -> tuple[int, tuple[int, ...]] | None:
        """How often the state was there before, and the counts at the last time; None while it lasts."""
        number = sight.number(self._members)
        if number == self._last:
            return None
        self._last = number
        return self._visits.get(number, (0, counts))

    def note(self, visits: int, counts: tuple[int, ...]) -> None:
        """Remembers the visit to the present state."""
        if self._last is not None:
            self._visits[self._last] = (visits, counts)

    def forget(self) -> None:
        """Begins anew."""
        self._visits.clear()
        self._last = None


class _Base:
    """What all judges share: the monitor, its memory, and how alarms are made."""

    def __init__(self, monitor: Monitor, members: Members | None, patience: Patience) -> None:
        self.monitor, self.patience = monitor, patience
        self.memory = FRESH
        self._views = Views(monitor.fact) if monitor.fact is not None else None
        self.loops = Loops(members)
        self.is_told = False
        self.since_us = 0
        self.calm_us = 0  # the last event from outside

    def observe(self, sight: Sight) -> bool:
        """Brings the memory up to date; True in bad states."""
        if self._views is not None:
            self.memory = self.monitor.observe(self.memory, self._views.see(sight))
        return bool(self.memory[1])

    def alarm(self, text: str, start_us: int, now_us: int) -> Alarm:
        intent = self.monitor.intent
        return Alarm(
            intent.name, Kind.INTENT, intent.target or intent.key, text, start_us, now_us, now_us, intent.severity
        )

    def comes_again(self, sight: Sight, count: int) -> bool:
        """True if the state was there often enough, and something was counted every time before it came again."""
        found = self.loops.visit(sight, (count,))
        if found is None:
            return False
        visits, before = found
        counts = not visits or before != (count,)
        self.loops.note(visits + 1 if counts else visits, (count,))
        return bool(visits) and counts and visits + 1 >= self.patience.repeats

    def due(self) -> float:
        return FAR

    def expire(self, now_us: int) -> Iterator[Alarm]:
        return iter(())

    def begin_anew(self) -> None:
        self.loops.forget()

    @property
    def _span(self) -> str:
        return show_duration(self.patience.within_us)


class StateJudge(_Base):
    """Kind `never`: a bad state is a violation."""

    def look(self, sight: Sight) -> Iterator[Alarm]:
        bad = self.observe(sight)
        if bad and not self.is_told:
            yield self.alarm(f"not so: {self.monitor.intent.key}", sight.time_us, sight.time_us)
        self.is_told = bad


class StepJudge(_Base):
    """Kind `step`: a step of this kind is a violation."""

    def look(self, sight: Sight) -> Iterator[Alarm]:
        if sight.tags & self.monitor.tags:
            yield self.alarm(f"happened: what {self.monitor.intent.key} forbids", sight.time_us, sight.time_us)


class StableJudge(_Base):
    """Kind `stable`: bad while nothing changes."""

    is_bad = False

    def look(self, sight: Sight) -> Iterator[Alarm]:
        self.is_bad, self.since_us = self.observe(sight), sight.time_us
        self.is_told = self.is_told and self.is_bad
        return iter(())

    def due(self) -> float:
        return self.since_us + self.patience.within_us if self.is_bad and not self.is_told else FAR

    def expire(self, now_us: int) -> Iterator[Alarm]:
        self.is_told = True
        yield self.alarm(f"not so, and nothing has changed for {self._span}", self.since_us, now_us)


class PersistentJudge(_Base):
    """Kind `persistent`: bad for ever, without a step that excuses it."""

    is_bad = False
    good = excused = 0

    def look(self, sight: Sight) -> Iterator[Alarm]:
        was, self.is_bad = self.is_bad, self.observe(sight)
        excuse = bool(sight.tags & self.monitor.tags)
        self.excused += excuse
        self.good += not self.is_bad
        if not self.is_bad or excuse or not was or sight.is_external:
            self.since_us = sight.time_us
        if not self.is_bad or sight.is_external:
            self.is_told = False
            self.loops.forget()
        if self.is_bad and not self.is_told:
            yield from self._again(sight)

    def _again(self, sight: Sight) -> Iterator[Alarm]:
        counts = (self.good, self.excused)
        found = self.loops.visit(sight, counts)
        if found is None:
            return
        visits, before = found
        self.loops.note(visits + 1 if before == counts else 1, counts)
        if visits + 1 >= self.patience.repeats and before == counts:
            self.is_told = True
            yield self.alarm("not so in a loop that goes on for ever", self.since_us, sight.time_us)

    def due(self) -> float:
        return self.since_us + self.patience.within_us if self.is_bad and not self.is_told else FAR

    def expire(self, now_us: int) -> Iterator[Alarm]:
        self.is_told = True
        yield self.alarm(f"not so for {self._span}", self.since_us, now_us)


class RecurrentJudge(_Base):
    """Kind `recurrent`: bad again and again, or at last, once events are over."""

    is_bad = False
    bad = 0

    def look(self, sight: Sight) -> Iterator[Alarm]:
        self.is_bad = self.observe(sight)
        self.bad += self.is_bad
        if sight.is_external or not self.calm_us:
            self.calm_us, self.is_told = sight.time_us, False
            self.loops.forget()
        if self.is_told:
            return
        late = self.is_bad and sight.time_us - self.calm_us > self.patience.within_us
        if late or self.comes_again(sight, self.bad):
            self.is_told = True
            yield self.alarm("not so again, though nothing came from outside", self.calm_us, sight.time_us)

    def due(self) -> float:
        return self.calm_us + self.patience.within_us if self.is_bad and not self.is_told else FAR

    def expire(self, now_us: int) -> Iterator[Alarm]:
        self.is_told = True
        yield self.alarm(f"not so {self._span} after the last event from outside", self.calm_us, now_us)


class CycleJudge(_Base):
    """Kind `cycle`: steps that go on for ever."""

    steps = 0

    def look(self, sight: Sight) -> Iterator[Alarm]:
        if sight.is_external or not self.calm_us:
            self.calm_us, self.steps, self.is_told = sight.time_us, 0, False
            self.loops.forget()
        hit = bool(sight.tags & self.monitor.tags)
        self.steps += hit
        again = self.comes_again(sight, self.steps)
        late = hit and self.steps >= self.patience.repeats and sight.time_us - self.calm_us > self.patience.within_us
        if not self.is_told and (late or again):
            self.is_told = True
            yield self.alarm(self._words(sight, late=late), self.calm_us, sight.time_us)

    def _words(self, sight: Sight, *, late: bool) -> str:
        if late:
            return f"{self.steps} such steps, the last more than {self._span} after the last event from outside"
        return f"the cluster is where it was, for the {self.patience.repeats}. time: it goes round in a loop"


def members_of(plan: Plan, monitor: Monitor) -> Members | None:
    """The workloads whose state decides whether a loop has closed; None for all."""
    target = monitor.intent.target
    numbers = [i for i, w in enumerate(plan.setup.workloads) if w.ref == target and w.owner is None]
    return frozenset(family(plan.setup, numbers[0])) if numbers else None


class Unwatchable(NamedTuple):
    """An intent that no stream can show."""

    monitor: Monitor
    why: str


_JUDGES: dict[str, type[StateJudge | StepJudge | StableJudge | PersistentJudge | RecurrentJudge | CycleJudge]] = {
    NEVER: StateJudge,
    STEP: StepJudge,
    IN_STABLE: StableJudge,
    PERSISTENT: PersistentJudge,
    RECURRENT: RecurrentJudge,
    CYCLE: CycleJudge,
}


def judge_of(plan: Plan, monitor: Monitor, patience: Patience) -> Judge | Unwatchable:
    """Who follows an intent."""
    if unseen := entry(monitor.intent.key).unseen:
        return Unwatchable(monitor, unseen)
    if monitor.temporal is not None and monitor.temporal.reads_events:
        return Unwatchable(monitor, "events of a Scenario are in no object")
    members = members_of(plan, monitor)
    if monitor.kind == WORD:
        from kubeproof.monitor.cluster.words import WordJudge

        return WordJudge(monitor, members, patience)
    return _JUDGES[monitor.kind](monitor, members, patience)
