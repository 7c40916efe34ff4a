"""A verification under way: what is asked, and what is known of each intent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kubeproof.engine.stopped import INTERNAL
from kubeproof.errors import InternalError
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.plan import Plan
from kubeproof.values import replace
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Answered, Declined, PassedOver, Reason
from kubeproof.verify.findings.failures import Failure, is_open
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.proofs.near_nodes import NodeClasses
from kubeproof.verify.result import IntentResult, Statistics, VerifyResult
from kubeproof.verify.searching import Beginning, Watch, begin, engine_name
from kubeproof.verify.strategies.contract import Answers, Attempt, Results, Strategy
from kubeproof.verify.words.summary import combine, intent_result

if TYPE_CHECKING:
    from kubeproof.verify.proofs.crowd.proving import Input
    from kubeproof.verify.proofs.slicing import Slice
    from kubeproof.verify.strategies.parts import LonePods
    from kubeproof.verify.strategies.swarm import Swarm

T = TypeVar("T")
Again = Callable[[Loaded, VerifyOptions], VerifyResult]
FORBIDDEN = {
    Answers.PROOFS: (Verdict.VIOLATED,),
    Answers.VIOLATIONS: (Verdict.HOLDS, Verdict.VACUOUS),
    Answers.BOTH: (),
}


class Inquiry:
    """The intents of an input by number, each with its answer as far as there is one."""

    def __init__(self, loaded: Loaded, plan: Plan, options: VerifyOptions, watch: Watch, again: Again) -> None:
        self.loaded, self.plan, self.options, self.watch = loaded, plan, options, watch
        self.again = again  # verifies another input in the same way
        self.results: dict[int, Results] = {}
        self.statistics: Statistics | None = None  # of all searches so far
        self.slices: tuple[Slice, ...] = ()
        self.also: tuple[tuple[str, str], ...] = ()
        self.final: frozenset[int] = frozenset()  # open ones of which a larger search knows no more
        self.attempted: list[str] = []  # strategies, by name
        self.parts: tuple[Slice, ...] | Declined | None = None  # `kubeproof.verify.strategies.parts` finds them
        self.related: tuple[Slice, ...] | Declined | None = None  # the same with inputs that are one part
        self.lone_pods: LonePods | None = None  # likewise
        self.swarm: Swarm | None = None  # what walks beside the search of the whole, likewise
        self.shared: Input | None = None  # what proofs of parts have in common, likewise
        self.fault: Exception | None = None  # of ours, the first
        self._begun_s = watch.clock()
        self._passed: dict[int, list[PassedOver]] = {number: [] for number in self.numbers}
        self._answered: dict[int, tuple[str, str]] = {}

    @property
    def numbers(self) -> range:
        """All intents."""
        return range(len(self.plan.monitors))

    @property
    def open(self) -> list[int]:
        """The intents without an answer."""
        return [n for n in self.numbers if n not in self.results or any(map(is_open, self.results[n]))]

    @property
    def is_looked_at(self) -> bool:
        """True if the whole was searched up to a bound, and then its parts."""
        return "first-look" in self.attempted

    def was_passed_over(self, name: str, number: int, reason: Reason) -> bool:
        """True if a strategy did not answer an intent for a reason."""
        return any(one.name == name and one.reason == reason for one in self._passed[number])

    @property
    def elapsed_s(self) -> float:
        """The time of the run that is over, with what was over before the verification began."""
        return self.options.spent_s + self.watch.clock() - self._begun_s

    @property
    def limited(self) -> VerifyOptions:
        """The options; a built-in scenario comes to an end by itself unless the user says how far to go."""
        is_bounded = self.options.is_limited or not self.loaded.scenario.is_default
        return self.options if is_bounded else replace(self.options, max_states=self.options.effort.max_unasked)

    @property
    def watch_of_search(self) -> Watch:
        """Who follows a search of the whole: also walks, where they go beside it."""
        return self.watch if self.swarm is None else self.swarm.accompany(self.watch)

    @cached_property
    def whole(self) -> Whole:
        """The cluster with all its workloads."""
        return Whole(self)

    def plan_part(self, loaded: Loaded) -> Plan:
        """The plan of a part of the input."""
        return plan_input(loaded, self.options)

    def unknown(self, number: int, statistics: Statistics | None = None) -> IntentResult:
        """The result of an intent that nothing decides."""
        return intent_result(self.loaded, self.plan, number, Verdict.UNKNOWN, statistics or Statistics())

    def result(self, number: int) -> IntentResult:
        """What is known of an intent: the first of its results, or that nothing is."""
        return self.results[number][0] if number in self.results else self.unknown(number)

    def add(self, *spent: Statistics) -> Statistics:
        """What all searches did, with these."""
        return combine([*([] if self.statistics is None else [self.statistics]), *spent])

    # -- noting --

    def pass_over(self, strategy: Strategy, number: int, why: Declined) -> None:
        """A strategy does not answer an intent."""
        if why.reason is not Reason.TRIED:
            self._passed[number].append(why.by(strategy.name))

    def begin(self, strategy: Strategy) -> None:
        """A strategy is about to work; between two of them a verification may be ended."""
        if self.attempted:
            self.watch.go_on()
        self.attempted.append(strategy.name)

    def note(self, strategy: Strategy, numbers: Sequence[int], found: Attempt | Declined) -> None:
        """Takes over what a strategy found out about intents that were open."""
        if isinstance(found, Declined):
            for number in numbers:
                self.pass_over(strategy, number, found)
            return
        self.statistics, self.final = found.statistics, self.final | found.final
        self.slices, self.also = found.slices or self.slices, (*self.also, *found.also)
        for number in numbers:
            self._note_one(strategy, number, found)
        self.watch.known.note([one for number in numbers for one in self.results.get(number, ())])

    def _note_one(self, strategy: Strategy, number: int, found: Attempt) -> None:
        results = found.results.get(number, self.results.get(number, ()))
        _check_allowed(strategy, results)
        if results:
            self.results[number] = results
        self._passed[number] += found.passed.get(number, ())
        if results and not any(map(is_open, results)):
            self._answered[number] = (strategy.name, found.models.get(number, ""))
        else:
            why = found.left.get(number) or Declined(_why_open(results))
            self.pass_over(strategy, number, why)

    def fail(self, strategy: Strategy, numbers: Sequence[int], problem: Exception, failure: Failure) -> None:
        """A strategy came upon a fault of ours: what it decided before stays, and others may answer the rest."""
        self.fault = self.fault or problem
        known = self.watch.known
        found: dict[int, Results] = {}
        for number in numbers:
            name = self.plan.monitors[number].intent.name
            found[number] = known.results.get(name) or (failure.apply_to(self.result(number)),)
        spent = combine(known.spent) if known.spent else Statistics(engine=engine_name(self.options))
        left = dict.fromkeys(numbers, Declined(Reason.FAILED, failure.reason))
        self.note(strategy, numbers, Attempt(found, replace(spent, stopped_by=INTERNAL), left))

    # -- answering --

    def answer(self) -> list[IntentResult]:
        """The results in the order of the intents, each with who answered it."""
        return [self._sign(number, one) for number in self.numbers for one in self.results.get(number, ())]

    def interrupt(self, spent: Statistics) -> None:
        """Takes over what a strategy under way has decided; the rest stays open."""
        under_way = self.attempted[-1] if self.attempted else ""
        known = self.watch.known.results
        for number in self.numbers:
            name = self.plan.monitors[number].intent.name
            self.results[number] = known.get(name) or (self.unknown(number, spent),)
            self._answered.setdefault(number, (under_way, ""))

    def _sign(self, number: int, one: IntentResult) -> IntentResult:
        name, model = self._answered.get(number, ("", ""))
        return replace(one, strategy=Answered("" if is_open(one) else name, model, tuple(self._passed[number])))


def _check_allowed(strategy: Strategy, results: Results) -> None:
    """A strategy that answers what it may not is a fault of ours: its argument does not cover that."""
    for one in results:
        if one.verdict in FORBIDDEN[strategy.answers]:
            raise InternalError(f"E700 {strategy.name} may find {strategy.answers.value}, and says {one.verdict}")


def _why_open(results: Results) -> Reason:
    return Reason.FAILED if any(one.verdict == Verdict.ERROR for one in results) else Reason.LIMIT


class Whole:
    """The whole cluster, with as few classes of nodes as its searches turn out to allow."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry
        self._classes = NodeClasses(inquiry.plan, inquiry.watch.clock)
        self._begun: tuple[Plan, int | None, Beginning] | None = None  # the last: stores of states are large

    def search(self, options: VerifyOptions, search: Callable[[Plan, Beginning, VerifyOptions], T]) -> T:
        """What a search of it finds, from the states that its runs begin in."""
        return self._classes.search(options, lambda plan, left: search(plan, self._begin(plan, left), left))

    def _begin(self, plan: Plan, options: VerifyOptions) -> Beginning:
        """The first states; one after the other, searches of one plan with the same limit share them."""
        if self._begun is None or self._begun[0] is not plan or self._begun[1] != options.max_states:
            beginning = begin(self._inquiry.loaded, plan, options, self._inquiry.watch_of_search)
            self._begun = (plan, options.max_states, beginning)
        return self._begun[2]
