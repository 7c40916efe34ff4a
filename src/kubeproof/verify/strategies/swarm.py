"""Violations found by random walks, beside a search that takes long.

A search of every run comes last to what happens after many steps, and in a large cluster never. Walks go straight
there: each likes other actors, moments and intents (a swarm), some take the step that brings them nearest to a
violation, and some states are looked at in the order of how near they are. They run where the search has come to so
many states, again whenever these have doubled, and at the latest where it ends at a limit. What they find is a run of
the input: it is made shorter, named and replayed like any other. That they find nothing proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import count
from time import process_time
from typing import TYPE_CHECKING

from kubeproof.engine.search import Search
from kubeproof.engine.stopped import ALL_VIOLATED, INTERRUPTED
from kubeproof.engine.system import Check, Kind
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.reductions.partial_order import orders_of_deploying
from kubeproof.stop import Stop
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.counterexamples.shown import show_finding
from kubeproof.verify.findings.failures import Failure, failure_of, is_open
from kubeproof.verify.options import SearchProgress
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.searching import Beginning, Watch, leave_out
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.reference import decline_other_engine

if TYPE_CHECKING:
    from kubeproof.engine.walking import Explorer
    from kubeproof.verify.strategies.inquiry import Inquiry

STARTS = 3  # placements that walks begin in, with `start: deployed`
WALKS = 6  # of so many parts of a swarm's looks a walk takes at most one,
LEAST_STEPS = 60  # but may have so many steps: before a cluster is deployed little goes wrong
FRUITLESS = 12  # walks in a row that come to nothing new: the walks know all there is, or like the same
NEAREST = 4  # of so many parts of its looks a swarm gives one to the states that are nearest to a violation
FOLLOWED = 4  # intents at most for which it does
TIME_SHARE = 0.1  # of the time of a run, for one swarm, in processor time


class Enough(Stop):
    """Ends a search, and nothing else, where all that it looks for is found; who asks the run to stop ends it, too."""

    __slots__ = ("_whole", "is_found")

    def __init__(self, whole: Stop) -> None:
        self._whole, self.is_found = whole, False

    @property
    def is_asked(self) -> bool:  # type: ignore[override]
        """True if the search is to end."""
        return self.is_found or self._whole.is_asked

    def ask(self) -> None:
        """Passes on what the search has heard, unless it was ended from here."""
        if not self.is_found:
            self._whole.ask()


class Swarm:
    """Walks through the whole input, beside searches of it or of its parts."""

    def __init__(self, inquiry: Inquiry, numbers: Sequence[int]) -> None:
        self._inquiry, self._plan = inquiry, inquiry.plan
        self._open = list(numbers)
        self._next = inquiry.options.effort.max_unaided
        self._walks = count()
        self._begun: tuple[Explorer, Beginning] | None = None
        self._enough = Enough(inquiry.watch.stop)
        self.wanted: frozenset[int] = frozenset()  # whose violation ends the search that is under way
        self.found: dict[int, IntentResult] = {}  # violations, replayed
        self.failure: Failure | None = None
        self.walked = self.longest = 0

    @cached_property
    def _checks(self) -> tuple[Check, ...]:
        """What is asked of runs; most searches end before anybody walks."""
        return GroupedSystem(self._plan).checks

    def accompany(self, watch: Watch) -> Watch:
        """The watch of a search that these walks go beside."""
        return replace(watch, progress=partial(self._follow, watch), stop=self._enough)

    @property
    def is_enough(self) -> bool:
        """True if a search was ended, because all that it looked for is found."""
        return self._enough.is_found

    def _follow(self, watch: Watch, progress: SearchProgress) -> None:
        """Looks at a search under way."""
        if watch.progress is not None:
            watch.progress(progress)
        effort = self._inquiry.options.effort
        if self._open and effort.max_looks and progress.states >= self._next:
            self._next = 2 * progress.states
            self.look(_count_looks(self._inquiry))
        if self.wanted and progress.states >= effort.max_shorter and self.wanted <= self.found.keys():
            self._enough.is_found = True

    # -- looking --

    def look(self, most: int) -> None:
        """Looks at so many states, and notes which open intents they break; what goes wrong ends walks alone."""
        try:
            self._look(most)
        except Exception as problem:
            self.failure, self._open = failure_of(problem), []

    def _look(self, most: int) -> None:
        self._open = [number for number in self._open if self._checks[number].kind != Kind.WORD]
        if not self._open:
            return
        self._begun = self._begun or self._begin(most)
        explorer, beginning = self._begun
        explorer.clear_states()
        starts = [explorer.add_initial(cells) for cells in explorer.system.initial] if self._can_begin else []
        if not starts:
            return
        self._walk(explorer, starts, most - most // NEAREST)
        self._look_nearest(explorer, starts, most // NEAREST)
        left = most  # for shorter runs
        for number in list(self._open):
            before = explorer.looks
            self._find(explorer, starts, beginning, number, left // 2)
            left -= explorer.looks - before

    @property
    def _can_begin(self) -> bool:
        """False if no walk has come to a placement in which runs begin."""
        return self._begun is not None and (not self._is_deployed or bool(self._begun[1].cells))

    @property
    def _is_deployed(self) -> bool:
        return self._inquiry.loaded.scenario.start.mode == "deployed"

    def _walk(self, explorer: Explorer, starts: Sequence[int], most: int) -> None:
        from kubeproof.engine.walking import make_mood, walk

        goes_on, fruitless = self._while_time(), 0
        while explorer.looks < most and fruitless < FRUITLESS:
            mood = make_mood(next(self._walks), self._guided)
            before, steps = explorer.looks, 0
            for _ in walk(explorer, mood.random.choice(starts), mood, max(LEAST_STEPS, most // WALKS)):
                steps += 1
                if explorer.looks >= most or not goes_on():
                    break
            self.walked, self.longest = self.walked + 1, max(self.longest, steps)
            fruitless = 0 if explorer.looks > before else fruitless + 1
            if not goes_on():
                return

    def _look_nearest(self, explorer: Explorer, starts: Sequence[int], most: int) -> None:
        from kubeproof.engine.walking import look_nearest_first

        goes_on, followed = self._while_time(), self._guided[:FOLLOWED]
        for number in followed:
            for _ in look_nearest_first(explorer, starts, number, most // len(followed)):
                if not goes_on():
                    return

    @property
    def _guided(self) -> list[int]:
        """The open intents of which a state tells how near it is."""
        return [n for n in self._open if self._checks[n].kind not in (Kind.STEP, Kind.CYCLE)]

    def _while_time(self) -> Callable[[], bool]:
        """Says whether there is time left for another look: its share is one of the processor, which others may use."""
        watch, given_s = self._inquiry.watch, self._inquiry.options.timeout_s
        end_s = None if given_s is None else process_time() + TIME_SHARE * given_s
        return lambda: not (watch.stop.is_asked or watch.is_over or (end_s is not None and process_time() > end_s))

    # -- where walks begin --

    def _begin(self, most: int) -> tuple[Explorer, Beginning]:
        """With `start: deployed`, a few of the first stable placements; otherwise the start of the input."""
        from kubeproof.engine.walking import Explorer

        system = GroupedSystem(self._plan)
        if not self._is_deployed:
            return Explorer(system), Beginning(())
        beginning = self._deploy(most)
        system.initial = tuple(system.with_nurseries(cells) for cells in beginning.cells)
        return Explorer(system), beginning

    def _deploy(self, most: int) -> Beginning:
        """A few stable placements, with the walks that led there."""
        from kubeproof.engine.walking import Explorer, make_mood, walk

        deploying = self._plan.deploying()
        order = leave_out(deploying, orders_of_deploying(deploying), self._inquiry.options)
        explorer = Explorer(GroupedSystem(deploying, order))
        (start,) = (explorer.add_initial(cells) for cells in explorer.system.initial)
        ends = ([*walk(explorer, start, make_mood(number, ()), most)][-1] for number in range(STARTS))
        stable = tuple(dict.fromkeys(state for state in ends if explorer.is_stable(state)))
        return Beginning(tuple(map(explorer.cells_of, stable)), Search((), explorer, None, 0.0), stable)

    # -- what is found --

    def _find(
        self, explorer: Explorer, starts: Sequence[int], beginning: Beginning, number: int, shortening: int
    ) -> None:
        """Notes a violation of an intent that stands up to replay."""
        from kubeproof.engine.walking import find_broken

        finding = find_broken(explorer, starts, self._checks[number], shortening)
        if finding is None:
            return
        search = Search((), explorer, None, 0.0)
        spent = Statistics(states=len(explorer), transitions=explorer.transitions, engine=explorer.name)
        shown = show_finding(self._inquiry.loaded, self._plan, search, beginning, number, finding, spent)
        if shown.verdict == Verdict.VIOLATED and shown.trace is not None:
            self.found[number] = replace(shown, trace=replace(shown.trace, is_shortest=False))
            self._open.remove(number)
            self._inquiry.watch.known.note([self.found[number]])
            self._inquiry.watch.known.tell()
        elif shown.verdict == Verdict.ERROR:
            self.failure = Failure(Verdict.ERROR, shown.detail)


def release(inquiry: Inquiry, numbers: Sequence[int], wanted: Sequence[int] = ()) -> None:
    """From now on walks go beside searches; those that look for `wanted` end when walks have found all of it."""
    if inquiry.swarm is None and numbers and all(decline(inquiry, number) is None for number in numbers):
        inquiry.swarm = Swarm(inquiry, numbers)
    if inquiry.swarm is not None:
        inquiry.swarm.wanted = frozenset(wanted)


# -- the strategy -------------------------------------------------------------------------------------


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Why walks say nothing of an intent."""
    if other := decline_other_engine(inquiry):
        return other
    if inquiry.options.find_all:
        return Declined(Reason.EVERY_VIOLATION)
    if inquiry.watch.snapshots is not None:
        return Declined(Reason.CHECKPOINT)
    return None if inquiry.result(number).verdict == Verdict.UNKNOWN else Declined(Reason.FAILED)


def decline_at_last(inquiry: Inquiry, number: int) -> Declined | None:
    """Likewise, after all searches."""
    if inquiry.statistics is not None and inquiry.statistics.stopped_by == INTERRUPTED:
        return Declined(Reason.NOTHING_CUT)
    return decline(inquiry, number)


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """The intents that walks have broken, beside searches or after their end."""
    swarm = inquiry.swarm or Swarm(inquiry, numbers)
    most = _count_looks(inquiry)
    if most and not swarm.walked and not inquiry.watch.is_over and not inquiry.watch.stop.is_asked:
        swarm.look(most)
    results = {n: swarm.found.get(n) or _tell(inquiry.result(n), swarm) for n in numbers}
    return Attempt(
        {number: (one,) for number, one in results.items()},
        _sum_up(inquiry, results.values()),
        {number: _explain(swarm) for number, one in results.items() if is_open(one)},
    )


def _count_looks(inquiry: Inquiry) -> int:
    """How many states walks may look at after a search: a small part of what that may have."""
    effort, states = inquiry.options.effort, inquiry.options.max_states
    return effort.max_looks if states is None else min(effort.max_looks, states // effort.states_for_a_look)


def _sum_up(inquiry: Inquiry, results: Iterable[IntentResult]) -> Statistics:
    """What all searches did; if nothing is left open, it does not matter that one was stopped."""
    spent = inquiry.add() if inquiry.statistics is not None else Statistics()
    return spent if any(map(is_open, results)) else replace(spent, stopped_by=ALL_VIOLATED)


def _tell(result: IntentResult, swarm: Swarm) -> IntentResult:
    return replace(result, detail=f"{result.detail}; {_describe(swarm)} broke nothing") if swarm.walked else result


def _explain(swarm: Swarm) -> Declined:
    """Why an intent is still open."""
    if swarm.failure is not None:
        return Declined(Reason.FAILED, swarm.failure.reason)
    return Declined(Reason.NOT_BROKEN, _describe(swarm) if swarm.walked else "")


def _describe(swarm: Swarm) -> str:
    return f"{swarm.walked:,} random walks of up to {swarm.longest:,} steps"


STRATEGY = Strategy("swarm", Answers.VIOLATIONS, Cost.BOUNDED_SEARCH, decline_at_last, attempt)
