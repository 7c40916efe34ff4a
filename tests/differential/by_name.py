"""The decision process by name: what docs/explanation/chances.md says, on the individual model, orders uniform.

Shares nothing with `kubeproof.quantify` but the settings: weights are lists of named alternatives, rates are read from
the Scenario anew. Every event must have a probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from kubeproof.cluster.chances import Chance
from kubeproof.cluster.loops.actions import Tick
from kubeproof.cluster.loops.control import Role
from kubeproof.events.declarations import CpuLoad, NodeFailure, UsageChange
from kubeproof.intents.monitor import IN_STABLE, STEP, Monitor
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import Plan

ENDS = ("recover", "uncordon")  # first word of what ends an earlier event


@dataclass(frozen=True)
class Place:
    """A state by name; `passes` once time has been chosen there, `broken` after a forbidden step."""

    state: State
    passes: bool = False
    broken: bool = False


@dataclass(frozen=True)
class Branch:
    """One way out of a place."""

    probability: float
    target: Place


@dataclass(frozen=True)
class Event:
    """One event that may come: its rate per second, its probability in a tick of rest, and where it leads."""

    rate: float
    per_tick: float
    target: Place


class NamedProcess:
    """What happens next, by name, and how long it takes."""

    def __init__(self, loaded: Loaded, plan: Plan, monitor: Monitor) -> None:
        self.model = IndividualModel(plan)
        self.number, self.monitor = plan.monitors.index(monitor), monitor
        self.settings = loaded.scenario.quantify
        self.events = {f"event {event.name}": (at, event) for at, event in enumerate(loaded.scenario.events)}

    def start(self) -> Place:
        """Where a run begins."""
        (first,) = self.model.initial()
        return Place(first)

    def is_bad(self, place: Place) -> bool:
        """True if the intent is violated here."""
        if self.monitor.kind == STEP:
            return place.broken
        is_bad = bool(self.model.flags(place.state) >> 2 * self.number & 1)
        return is_bad and (self.monitor.kind != IN_STABLE or self.model.is_stable(place.state))

    def leave(self, place: Place) -> tuple[int, list[Branch]]:
        """Seconds that pass, and where to."""
        steps = self._distinct(place.state)
        events = self._events(place.state, steps)
        acts = [step for step in steps if step.role in (Role.URGENT, Role.OPTIONAL)]
        seconds, target, is_wait = self._later(place, steps)
        if place.passes and is_wait:
            return seconds, [Branch(1.0, target)]
        if acts and not place.passes:
            return 0, self._lottery(place, steps, acts, events, seconds if is_wait else 0)
        if is_wait:
            return 0, self._raced(place, events, seconds)
        return seconds, self._rest(events, target)

    def _distinct(self, state: State) -> list[Transition]:
        """The alternatives: each decision with each outcome by name once, in whatever order it was put together."""
        steps = self.model.steps(state)
        return list({(step.actor, step.decision, step.target): step for step in steps}.values())

    def _lottery(
        self, place: Place, steps: list[Transition], acts: list[Transition], events: list[Event], seconds: int
    ) -> list[Branch]:
        """One of the loops with urgent work, of the optional steps, or time; `seconds` of a wait, else 0."""
        tickets: list[list[Branch]] = []
        for name in dict.fromkeys(step.actor for step in acts if step.role == Role.URGENT):
            own = [step for step in acts if step.role == Role.URGENT and step.actor == name]
            total = math.fsum(map(self._chance, own))
            tickets.append([Branch(self._chance(step) / total, self._after(step)) for step in own])
        tickets += [[Branch(1.0, self._after(step))] for step in acts if step.role == Role.OPTIONAL]
        tickets = [self._end_interrupted(events, ticket) for ticket in tickets]
        if any(step.role == Role.TIME for step in steps):
            tickets.append(self._raced(place, events, seconds))
        return [Branch(one.probability / len(tickets), one.target) for ticket in tickets for one in ticket]

    def _chance(self, step: Transition) -> float:
        """1, or the probability of the start-up time that a binding draws."""
        times = dict(self.model.setup.settings.startup_choices)
        drawn = [part[-1] for part in step.concrete if part[0] == "bind" and isinstance(part[-1], int)]
        return math.prod(times[seconds] for seconds in drawn)

    def _later(self, place: Place, steps: list[Transition]) -> tuple[int, Place, bool]:
        """How long time passes, where to, and whether that is a wait for a clock."""
        for step in steps:
            if step.role == Role.TIME:
                ticks = [action.seconds for action in step.decision.actions if isinstance(action, Tick)]
                return ticks[0] if ticks else self.settings.tick_s, self._after(step), bool(ticks)
        return self.settings.tick_s, Place(place.state), False

    def _raced(self, place: Place, events: list[Event], seconds: int) -> list[Branch]:
        """Before a wait begins: an event that ends it, one that lets it go on, or time."""
        wait = Place(place.state, passes=True)
        goes_on = [self._may_wait(event.target.state, seconds) for event in events]
        ending = seconds * math.fsum(one.rate for one, on in zip(events, goes_on, strict=True) if not on)
        going = seconds * math.fsum(one.rate for one, on in zip(events, goes_on, strict=True) if on)
        spared = math.exp(-ending)
        mean = (1 - spared) / ending if ending else 1.0  # of the part of the wait before it is ended
        total = 1 + going * mean
        return [Branch(spared / total, wait), *(Branch(mean * seconds * e.rate / total, e.target) for e in events)]

    def _may_wait(self, state: State, seconds: int) -> bool:
        """True if a wait of this length may begin here at this instant, perhaps after steps that take no time."""
        seen, todo = {state}, [state]
        while todo:
            steps = self.model.steps(todo.pop())
            times = [step for step in steps if step.role == Role.TIME]
            ticks = [action.seconds for step in times for action in step.decision.actions if isinstance(action, Tick)]
            if seconds in ticks:
                return True
            is_busy = any(step.role in (Role.URGENT, Role.OPTIONAL) for step in steps)
            rests = not ticks if times else not is_busy
            follow = [step for step in steps if step.role != Role.TIME and (step.role != Role.EVENT or not rests)]
            todo += {step.target for step in follow} - seen
            seen |= set(todo)
        return False

    def _rest(self, events: list[Event], target: Place) -> list[Branch]:
        """At the end of a tick of rest: each event as likely as it says, if half of the ticks are left alone."""
        stays = math.exp(-math.fsum(event.rate for event in events) * self.settings.tick_s)
        total = math.fsum(event.per_tick for event in events)
        hit = max(1 - stays, min(total, 0.5))
        return [Branch(1 - hit, target), *(Branch(hit * event.per_tick / total, event.target) for event in events)]

    def _end_interrupted(self, events: list[Event], branches: list[Branch]) -> list[Branch]:
        """Instead of a step."""
        total = math.fsum(event.rate for event in events)
        missed = math.exp(-total * self.settings.step_s)
        kept = [Branch(branch.probability * missed, branch.target) for branch in branches]
        return kept + [Branch((1 - missed) * event.rate / total, event.target) for event in events]

    def _events(self, state: State, steps: list[Transition]) -> list[Event]:
        possible = [step for step in steps if step.role == Role.EVENT]
        return [Event(*self._likely(state, step, possible), self._after(step)) for step in possible]

    def _likely(self, state: State, step: Transition, possible: list[Transition]) -> tuple[float, float]:
        """Rate per second and probability per tick."""
        at, event = self.events[step.actor]
        if isinstance(event, UsageChange | CpuLoad):
            return self._level(event, state.memories[at][0], step.target.memories[at][0])
        ends = any(part[0] in ENDS for part in step.concrete) or _traffic_returns(step)
        together = isinstance(event, NodeFailure) and event.together and not ends
        same = [s for s in possible if s.actor == step.actor and not any(p[0] in ENDS for p in s.concrete)]
        rate, per_tick = self._both(event.recovery if ends else event.chance)
        parts = len(same) if together else 1
        return rate / parts, per_tick / parts

    def _level(self, event: UsageChange | CpuLoad, before: int, after: int) -> tuple[float, float]:
        others = len(event.levels) - 1
        if event.moves is None:
            rate, per_tick = self._both(event.chance)
            return rate / others, per_tick / others
        stays, moves = event.moves[before][before], event.moves[before][after]
        return self._per_s(1 - stays) * moves / (1 - stays), moves

    def _both(self, chance: Chance | None) -> tuple[float, float]:
        assert chance is not None
        if chance.per_hour:
            return chance.per_hour / 3600, 1 - math.exp(-chance.per_hour / 3600 * self.settings.tick_s)
        return self._per_s(chance.per_tick), chance.per_tick or 0.0

    def _per_s(self, probability: float | None) -> float:
        return -math.log(1 - (probability or 0.0)) / self.settings.tick_s

    def _after(self, step: Transition) -> Place:
        return Place(step.target, broken=self.monitor.kind == STEP and bool(step.tags & self.monitor.tags))


def _traffic_returns(step: Transition) -> bool:
    """True for the end of an `unreachable` event: its memory (cut off, left) goes back to 0."""
    values = [part[2] for part in step.concrete if part[0] == "remember"]
    return len(step.concrete) == 1 and len(values) == 1 and len(values[0]) == 2 and values[0][0] == 0


def reached_places(process: NamedProcess, most: int) -> dict[Place, tuple[int, list[Branch]]] | None:
    """Every place with what follows; None beyond `most`."""
    found: dict[Place, tuple[int, list[Branch]]] = {}
    waiting = [process.start()]
    while waiting:
        place = waiting.pop()
        if place in found:
            continue
        if len(found) >= most:
            return None
        is_over = process.is_bad(place)
        found[place] = (0, [Branch(1.0, place)]) if is_over else process.leave(place)
        waiting += [branch.target for branch in found[place][1]]
    return found


def reach_probability(process: NamedProcess, places: dict[Place, tuple[int, list[Branch]]]) -> float:
    """How likely a bad place is reached, by the linear equations of the places from which one can be."""
    import numpy as np

    numbers = {place: number for number, place in enumerate(places)}
    matrix = np.zeros((len(numbers), len(numbers)))
    for place, (_, branches) in places.items():
        for branch in branches:
            matrix[numbers[place], numbers[branch.target]] += branch.probability
    bad = np.array([process.is_bad(place) for place in places])
    able = bad
    while (more := able | ((matrix > 0) @ able)).sum() > able.sum():
        able = more
    rest = np.flatnonzero(able & ~bad)
    value = bad.astype(float)
    inner = np.eye(len(rest)) - matrix[np.ix_(rest, rest)]
    value[rest] = np.linalg.solve(inner, matrix[np.ix_(rest, np.flatnonzero(bad))].sum(axis=1))
    return float(value[numbers[process.start()]])


MOST_AT_ONCE = 1_000  # steps of one instant; a run with more goes round there for ever, since each has its chance


class Walker:
    """Random runs of a process, what was seen once remembered."""

    def __init__(self, process: NamedProcess, random: Random) -> None:
        self._process, self._random = process, random
        self._known: dict[Place, tuple[bool, int, list[Place], list[float]]] = {}

    def violates(self, horizon_s: int) -> bool:
        """True if one random run violates the intent within the horizon."""
        place, passed_s, at_once = self._process.start(), 0, 0
        while True:
            is_bad, seconds, targets, shares = self._seen(place)
            passed_s, at_once = passed_s + seconds, 0 if seconds else at_once + 1
            if is_bad or passed_s > horizon_s or at_once > MOST_AT_ONCE:
                return is_bad
            place = self._random.choices(targets, cum_weights=shares)[0]

    def _seen(self, place: Place) -> tuple[bool, int, list[Place], list[float]]:
        if place not in self._known:
            is_bad = self._process.is_bad(place)
            seconds, branches = (0, []) if is_bad else self._process.leave(place)
            found = is_bad, seconds, [b.target for b in branches], list(accumulate(b.probability for b in branches))
            self._known[place] = found
        return self._known[place]
