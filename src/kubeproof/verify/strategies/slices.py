"""Independent parts of the input, each searched on its own (`kubeproof.verify.proofs.slicing`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.engine.search import Search
from kubeproof.named_tuples import NamedTuple
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.counterexamples.shown import show_finding
from kubeproof.verify.findings.failures import Failure, failure_of, is_open
from kubeproof.verify.models import search_shorter
from kubeproof.verify.options import SLICING
from kubeproof.verify.proofs.slicing import Inseparable, Slice, cut
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.searching import Beginning, Decided, engine_name
from kubeproof.verify.strategies.contract import MAX_INTENTS, Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.reference import decline_other_engine
from kubeproof.verify.words.summary import combine, describe_stop, intent_result

if TYPE_CHECKING:
    from kubeproof.verify.proofs.slices import Part, Sliced

Shown = dict[int, IntentResult]
UNSHOWN = "a violation was found but not shown as a run of all workloads"


class _Left(NamedTuple):
    """Why a part leaves an intent to other strategies."""

    reason: Reason
    failure: Failure

    def apply_to(self, result: IntentResult) -> IntentResult:
        if self.reason is not Reason.NOT_SHOWN:
            return self.failure.apply_to(result)
        return replace(self.failure, reason=f"{UNSHOWN}: {self.failure.reason}").apply_to(result)


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Parts stand for the whole unless somebody wants to see, or may read, all of it."""
    if inquiry.options.find_all:
        return Declined(Reason.EVERY_VIOLATION)
    if inquiry.options.controllers:
        return Declined(Reason.OWN_CONTROLLERS)
    return decline_other_engine(inquiry)


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt | Declined:
    """What the parts say; a violation is shown as a run of the whole."""
    slices = cut(inquiry.loaded)
    if isinstance(slices, Inseparable):
        return Declined(Reason.NO_PARTS, slices.reason)
    if any(len(one.intents) > MAX_INTENTS for one in slices):
        return Declined(Reason.MANY_INTENTS)
    from kubeproof.verify.proofs.slices import meet_at_rest

    shown: Shown = {}
    sliced = _search_parts(inquiry, slices, shown)
    return (
        _answer(inquiry, sliced, shown) if meet_at_rest(inquiry.loaded, sliced.parts) else Declined(Reason.PARTS_MEET)
    )


def _search_parts(inquiry: Inquiry, slices: Sequence[Slice], shown: Shown) -> Sliced:
    """The parts, one after the other; what one breaks is shown before the next is searched."""
    from kubeproof.verify.proofs.slices import Sliced, search_part

    begun = inquiry.watch.clock()
    parts: list[Part] = []
    for one in slices:
        if parts:
            shown.update(_show_early(inquiry, parts[-1], shown))
            inquiry.watch.known.note(tuple(shown.values()))
        inquiry.watch.go_on()
        options, spent_s = inquiry.limited, inquiry.watch.clock() - begun
        left_s = None if options.timeout_s is None else max(0.001, options.timeout_s - spent_s)
        plan = inquiry.plan_part(one.loaded)
        parts.append(search_part(one, plan, replace(options, timeout_s=left_s), inquiry.watch))
    return Sliced(tuple(parts), inquiry.watch.clock() - begun)


def _answer(inquiry: Inquiry, sliced: Sliced, shown: Shown) -> Attempt:
    spent = [part.statistics for part in sliced.parts if part.search is not None]
    statistics = combine(spent or [Statistics(engine=engine_name(inquiry.options))])
    found = _results(inquiry, sliced, statistics, shown)
    left = {number: one for number, one in found.items() if isinstance(one, _Left)}
    results = {
        number: one.apply_to(inquiry.unknown(number, statistics)) if isinstance(one, _Left) else one
        for number, one in found.items()
    }
    limit = Declined(Reason.LIMIT, describe_stop(statistics) if statistics.stopped_by else "")
    return Attempt(
        {number: (one,) for number, one in results.items()},
        inquiry.add(statistics),
        {**dict.fromkeys(results, limit), **{n: Declined(one.reason, one.failure.reason) for n, one in left.items()}},
        final=frozenset(number for number, one in results.items() if is_open(one) and number not in left),
        slices=sliced.slices if len(left) < len(results) else (),
    )


def _results(
    inquiry: Inquiry, sliced: Sliced, statistics: Statistics, shown: Mapping[int, IntentResult]
) -> dict[int, IntentResult | _Left]:
    """For every intent its result, or why its part leaves it to other strategies."""
    decisions = [sliced.decision(number) for number in inquiry.numbers]
    again = None
    if any(decided is not None and decided.finding.is_violated for _, decided in decisions):
        again = _search_shorter(inquiry, sliced.elapsed_s)
    results: dict[int, IntentResult | _Left] = {}
    for number, (part, decided) in enumerate(decisions):
        if decided is None:
            assert part.failure is not None
            results[number] = _Left(Reason.FAILED, part.failure)
        elif decided.finding.is_violated and again and again[1].findings[number].is_violated:
            results[number] = _show_shorter(inquiry, again, number, statistics)
        elif number in shown:
            results[number] = replace(shown[number], states=statistics.states, transitions=statistics.transitions)
        else:
            results[number] = _show(inquiry, part, decided, number, statistics)
        inquiry.watch.known.note([one for one in (results[number],) if isinstance(one, IntentResult)])
    return results


def _show_early(inquiry: Inquiry, part: Part, known: Mapping[int, IntentResult]) -> Shown:
    """The violations of a part that are new, each as one of the whole; those that cannot be shown as such wait."""
    found: Shown = {}
    for number in part.slice.intents if part.failure is None else ():
        decided = part.decision(number)
        if decided is not None and decided.finding.is_violated and number not in known:
            result = _show(inquiry, part, decided, number, part.statistics)
            found.update({number: result} if isinstance(result, IntentResult) else {})
    return found


def _show(inquiry: Inquiry, part: Part, decided: Decided, number: int, statistics: Statistics) -> IntentResult | _Left:
    result = intent_result(inquiry.loaded, inquiry.plan, number, decided.finding.verdict, statistics)
    if result.verdict != Verdict.VIOLATED:
        return result
    from kubeproof.verify.proofs.slices import show_violation

    found = show_violation(inquiry.plan, part, decided, number, result, is_exact=True, look=inquiry.watch.look)
    return found if isinstance(found, IntentResult) else _Left(Reason.NOT_SHOWN, found)


def _search_shorter(inquiry: Inquiry, spent_s: float) -> tuple[Beginning, Search] | None:
    """A search of the whole for shorter counterexamples; None if it has none, as the parts have some already."""
    try:
        return search_shorter(inquiry.loaded, inquiry.plan, inquiry.options, inquiry.watch, spent_s)
    except Exception as problem:
        failure_of(problem)
        return None


def _show_shorter(
    inquiry: Inquiry, again: tuple[Beginning, Search], number: int, statistics: Statistics
) -> IntentResult:
    beginning, search = again
    finding = search.findings[number]
    return show_finding(inquiry.loaded, inquiry.plan, search, beginning, number, finding, statistics)


STRATEGY = Strategy("slices", Answers.BOTH, Cost.SEARCHES_OF_PARTS, decline, attempt, needs=(SLICING,))
