"""Looks for the cheapest sets of edits that the verifier proves to be repairs.

Best first: the cost of the edits orders the candidates, and what counterexamples name goes first among them. A
candidate is refuted by a run that is known already if the same steps still break the same intent in it; else the
violated questions are asked, and all others only if these hold. What breaks a candidate is a run for the next ones.

An edit that mends at least one goal, or makes its first run impossible, is tried together with others: first with those
that do the same for the goals that are left.
"""

from __future__ import annotations

import heapq
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from kubeproof.errors import EnvironmentProblem, KubeproofError
from kubeproof.manifests.loaded import Loaded
from kubeproof.stop import Stop
from kubeproof.values import dataclass
from kubeproof.verify.checks.run import run_checks
from kubeproof.verify.fix.edits import Edit, are_apart, cost_of
from kubeproof.verify.fix.hints import Hints, distance, is_aside, read_hints
from kubeproof.verify.fix.inputs import Input, load_change
from kubeproof.verify.fix.judging import Effort, Judge
from kubeproof.verify.fix.outcomes import Key, Level, Outcomes, find_worse
from kubeproof.verify.result import IntentResult

MOST_EDITS = 3
MOST_RUNS = 40  # counterexamples that are kept for replays
REPLAYED_EACH = 6  # of them for one candidate
FIRST_STATES, LATER_STATES = 20_000, 400_000
FIRST_SHARE, LATER_SHARE = 0.25, 0.5  # of the time that is left, for one candidate
REST_SHARE = 0.8  # for what held before, once the goals are met: no other candidate has come so far
UNHELPED = 40  # on top of the cost, for each goal that none of several edits helps
OTHER_RUN = 20  # or, once, if one of them at least changes how it comes to the violation
AGAIN = 40  # on top of the cost: a candidate that a limit left open comes again later
PATIENCE_SHARE, PATIENCE_S = 0.15, 1.0  # of the budget: how long better ones than the first are looked for
Clock = Callable[[], float]
Kinds = tuple[tuple[str, str], ...]  # of edits: what each changes, and of what


@dataclass(frozen=True, slots=True)
class Found:
    """A repair: its edits, and what the verifier said of it."""

    edits: tuple[Edit, ...]
    outcomes: Outcomes


@dataclass(slots=True)
class Counts:
    """What was done so far."""

    candidates: int = 0
    refused: int = 0
    replayed: int = 0
    verified: int = 0
    full: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a candidate is no repair."""

    why: str
    helped: frozenset[Key] = frozenset()  # goals that are met, or whose first run is gone
    is_other: bool = False  # no goal is met, but by another run than at first
    is_open: bool = False  # a limit was in the way


@dataclass(slots=True)
class Search:
    """One search for one set of goals."""

    given: Input
    judge: Judge
    before: Outcomes
    goals: tuple[Key, ...]
    edits: Sequence[Edit]
    base: tuple[Edit, ...]  # that are made already
    deadline_s: float
    stop: Stop
    counts: Counts
    wanted: int = 3
    max_candidates: int | None = None
    clock: Clock = time.monotonic
    runs: list[IntentResult] = field(default_factory=list)
    failures: dict[str, list[tuple[str, str]]] = field(default_factory=dict)  # kind -> (what, why) of single edits
    found: list[Found] = field(default_factory=list)
    ended_by: str = ""
    _heap: list[tuple[int, int, tuple[int, ...], bool]] = field(default_factory=list)
    _seen: set[frozenset[int]] = field(default_factory=set)
    _repairs: list[tuple[frozenset[int], Kinds]] = field(default_factory=list)
    _errors: frozenset[tuple[str, str]] = frozenset()
    _others: set[int] = field(default_factory=set)  # single edits that only change which run it is
    _helped: dict[int, frozenset[Key]] = field(default_factory=dict)  # by single edits
    _hints: Hints = Hints(frozenset(), frozenset())

    def run(self) -> list[Found]:
        """The repairs, the cheapest first."""
        self._hints = read_hints(self.before[key].result for key in self.goals)
        self._errors = _errors_of(self.given.loaded)
        for number in range(len(self.edits)):
            self._push((number,))
        begun_s, first_s = self.clock(), None
        while self._heap and not self._is_over(begun_s, first_s):
            priority, cost, members, is_again = heapq.heappop(self._heap)
            if self._is_known(members) or not self._is_better(cost):
                continue
            if not is_again and (now := self._priority(members, cost)) > priority:
                heapq.heappush(self._heap, (now, cost, members, False))  # its edits turned out to help less
                continue
            failure = self._try(members, is_again)
            if failure is None:
                first_s = self.clock() if first_s is None else first_s
                self._repairs.append((frozenset(members), self._kinds(members)))
            else:
                self._learn(members, failure, priority, cost, is_again)
        return sorted(self.found, key=lambda one: self._rank(one.edits))

    def _rank(self, edits: Iterable[Edit]) -> int:
        """What edits cost, those behind that write nothing of what the loops of the run ask for."""
        chosen = tuple(edits)
        return cost_of(chosen) + sum(is_aside(one, self._hints) for one in chosen)

    def _members(self, numbers: Iterable[int]) -> tuple[Edit, ...]:
        return (*self.base, *(self.edits[number] for number in numbers))

    def _push(self, members: tuple[int, ...]) -> None:
        chosen = self._members(members)
        if frozenset(members) in self._seen or not are_apart(chosen):
            return
        self._seen.add(frozenset(members))
        cost = cost_of(chosen)
        heapq.heappush(self._heap, (self._priority(members, cost), cost, members, False))

    def _priority(self, members: tuple[int, ...], cost: int) -> int:
        """The cost, how far the edits are from what counterexamples name, and goals that none of them helps."""
        far = sum(distance(self.edits[number], self._hints) for number in members)
        helped = frozenset[Key]().union(*(self._helped.get(number, self.goals) for number in members))
        if len(members) == 1:
            return cost + far
        missing = set(self.goals) - helped
        is_partly = bool(missing) and not self._others.isdisjoint(members)
        return cost + far + (OTHER_RUN if is_partly else UNHELPED * len(missing))

    def _kinds(self, members: Iterable[int]) -> Kinds:
        return tuple(sorted((self.edits[number].kind, self.edits[number].object) for number in members))

    def _is_known(self, members: tuple[int, ...]) -> bool:
        """True if a repair is a part of it, be it with other numbers: those that cost less came first."""
        kinds = Counter(self._kinds(members))
        return any(numbers <= set(members) or Counter(others) <= kinds for numbers, others in self._repairs)

    def _is_better(self, cost: int) -> bool:
        """True unless there are enough repairs that cost less."""
        return len(self.found) < self.wanted or cost < max(self._rank(one.edits) for one in self.found)

    def _is_over(self, begun_s: float, first_s: float | None) -> bool:
        now_s = self.clock()
        if self.stop.is_asked:
            self.ended_by = "interrupted"
        elif now_s > self.deadline_s or self.counts.candidates >= (self.max_candidates or math.inf):
            self.ended_by = "time"
        elif first_s is not None:
            patience_s = max(PATIENCE_S, min(first_s - begun_s, PATIENCE_SHARE * (self.deadline_s - begun_s)))
            return now_s > first_s + patience_s
        return bool(self.ended_by)

    def _learn(self, members: tuple[int, ...], failure: Failure, priority: int, cost: int, is_again: bool) -> None:
        """Notes why it failed; one that was left open comes again, one that helps something grows."""
        if len(members) == 1:
            self._helped[members[0]] = failure.helped
            if failure.is_other:
                self._others.add(members[0])
            edit = self.edits[members[0]]
            self.failures.setdefault(edit.kind, []).append((edit.title, failure.why))
        if failure.is_open and not is_again:
            heapq.heappush(self._heap, (priority + AGAIN, cost, members, True))
        if (failure.helped or failure.is_other) and len(members) < MOST_EDITS and not is_again:
            for number in range(len(self.edits)):
                if number not in members:
                    self._push(tuple(sorted((*members, number))))

    # -- one candidate --

    def _try(self, members: tuple[int, ...], is_again: bool) -> Failure | None:
        """None if the candidate is a repair, which is then noted."""
        chosen = self._members(members)
        self.counts.candidates += 1
        try:
            loaded = load_change(self.given, chosen)
        except EnvironmentProblem:
            raise
        except KubeproofError as problem:
            self.counts.refused += 1
            return Failure(f"refused: {str(problem).splitlines()[0]}")
        first = {key: self.before[key].result for key in self.goals}
        broken = {
            key: one for key, one in first.items() if one.trace is not None and self.judge.still_breaks(loaded, one)
        }
        known = next(iter(broken.values()), None) or self._refute(loaded)
        if known is not None:
            self.counts.replayed += 1
            return Failure(_end_of(known), helped=frozenset(first) - frozenset(broken))
        return self._verify(chosen, loaded, is_again)

    def _refute(self, loaded: Loaded) -> IntentResult | None:
        """A run of another candidate that still breaks its intent; those that did so last go first."""
        for number, one in enumerate(self.runs[:REPLAYED_EACH]):
            if self.judge.still_breaks(loaded, one):
                self.runs.insert(0, self.runs.pop(number))
                return one
        return None

    def _verify(self, chosen: tuple[Edit, ...], loaded: Loaded, is_again: bool) -> Failure | None:
        """First what was violated, then everything."""
        self.counts.verified += 1
        outcomes = self.judge.ask(loaded, self.goals, self._effort(is_again))
        goals = {key: self.before[key] for key in self.goals}
        worse = find_worse(goals, outcomes, self.goals, self.judge.enough)
        if worse:
            return self._fail(outcomes, worse)
        self.counts.full += 1
        rest = [key for key, outcome in self.before.items() if key not in goals and outcome.level < Level.BAD]
        outcomes = {**outcomes, **self.judge.ask(loaded, rest, self._effort(is_again, REST_SHARE))}
        asked = {key: self.before[key] for key in (*self.goals, *rest)}
        worse = find_worse(asked, outcomes, self.goals, self.judge.enough)
        worse = [key for key in worse if not self._was_so(key, outcomes)]
        if worse:
            return self._fail(outcomes, worse)
        if new := _errors_of(loaded) - self._errors:
            return Failure(f"a check refuses it: {min(new)}")
        self.found.append(Found(chosen, outcomes))
        return None

    def _was_so(self, key: Key, outcomes: Outcomes) -> bool:
        """True if what was open turns out to be violated, by a run that the input has without the change, too."""
        before, after = self.before.get(key), outcomes.get(key)
        if before is None or after is None or (before.level, after.level) != (Level.OPEN, Level.BAD):
            return False
        return after.result.trace is not None and self.judge.still_breaks(self.given.loaded, after.result)

    def _effort(self, is_again: bool, share: float = 0.0) -> Effort:
        left_s = max(0.1, self.deadline_s - self.clock())
        share = share or (LATER_SHARE if is_again else FIRST_SHARE)
        return Effort(LATER_STATES if is_again else FIRST_STATES, max(0.5, share * left_s))

    def _fail(self, outcomes: Outcomes, worse: list[Key]) -> Failure:
        helped = frozenset(self.goals) - frozenset(worse)
        bad = [outcomes[key].result for key in worse if key in outcomes and outcomes[key].level == Level.BAD]
        for one in bad:
            if one.trace is not None:
                self.runs.insert(0, one)
        del self.runs[MOST_RUNS:]
        if bad:
            return Failure(_end_of(bad[0]), helped, is_other=not helped)
        first = worse[0]
        told = outcomes[first].told if first in outcomes else "not reached"
        return Failure(f"not proved: {first[0]} is {told}", helped, is_open=True)


def _end_of(one: IntentResult) -> str:
    """What a violation comes to, in a sentence."""
    final = one.trace.final if one.trace is not None else ()
    return f"{one.intent} is violated: {final[0]}" if final else f"{one.intent} is violated"


def _errors_of(loaded: Loaded) -> frozenset[tuple[str, str]]:
    """What checks find that no API server would take."""
    return frozenset((one.id, one.target) for one in run_checks(loaded) if one.severity == "error")
