"""Proofs without a search, from the sizes that are ever written and from budgets (`kubeproof.verify.proofs.bounds`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from kubeproof.model.plan import Plan
from kubeproof.values import replace
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.options import ABSTRACTION, VerifyOptions
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.searching import Beginning, engine_name, statistics_of
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.first_look import options_at_first
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.reference import decline_other_engine
from kubeproof.verify.strategies.whole import options_at_last
from kubeproof.verify.words.summary import claim, describe_stop, intent_result


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Any intent may hold by bounds."""
    return decline_other_engine(inquiry)


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt | Declined:
    """The intents that hold from the first states on because of sizes or budgets."""
    return inquiry.whole.search(options_at_first(inquiry), partial(_prove, inquiry, numbers))


def decline_again(inquiry: Inquiry, number: int) -> Declined | None:
    """A second time only if the first look was too short to find out where runs begin."""
    had_no_start = inquiry.was_passed_over(STRATEGY.name, number, Reason.NO_START)
    return None if inquiry.is_looked_at and had_no_start else Declined(Reason.TRIED)


def attempt_again(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt | Declined:
    """The same, with the limits of the search that comes next."""
    return inquiry.whole.search(options_at_last(inquiry), partial(_prove, inquiry, numbers))


def _prove(
    inquiry: Inquiry, numbers: Sequence[int], plan: Plan, beginning: Beginning, options: VerifyOptions
) -> Attempt | Declined:
    """The same from these first states on."""
    if beginning.search is not None and beginning.search.stopped_by:
        return Declined(Reason.NO_START, describe_stop(statistics_of(beginning.search, plan)))
    from kubeproof.verify.proofs.bounds import prove_by_bounds

    held = prove_by_bounds(plan, beginning.cells)
    found = {number: held[number] for number in numbers if number in held}
    if not found:
        return Declined(Reason.NO_BOUND)
    return Attempt(
        {number: (_result(inquiry, plan, number, why),) for number, why in found.items()},
        inquiry.add(_statistics(plan, beginning, options, found)),
        {number: Declined(Reason.NO_BOUND) for number in numbers if number not in found},
    )


def _result(inquiry: Inquiry, plan: Plan, number: int, reason: str) -> IntentResult:
    found = intent_result(inquiry.loaded, plan, number, Verdict.HOLDS, Statistics())
    return replace(found, detail=f"proved from {reason}: {claim(plan.monitors[number].intent)}")


def _statistics(plan: Plan, beginning: Beginning, options: VerifyOptions, found: Mapping[int, str]) -> Statistics:
    """What deciding without a search took: that for the first states, if there was one."""
    words = tuple(f"proved from {reason}" for reason in dict.fromkeys(found.values()))
    if beginning.search is None:
        return Statistics(engine=engine_name(options), reductions=words)
    deployed = statistics_of(beginning.search, plan)
    return replace(deployed, states=0, transitions=0, start_states=deployed.states, reductions=words)


STRATEGY = Strategy("bounds", Answers.PROOFS, Cost.NO_SEARCH, decline, attempt, needs=(ABSTRACTION,))
AGAIN = replace(STRATEGY, decline=decline_again, attempt=attempt_again)
