"""A first look at the whole: a bounded search that spares many inputs the look at their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.options import ABSTRACTION, SLICING, VerifyOptions
from kubeproof.verify.proofs.coarser import within
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.parts import decline_parts, lone_pods_of, parts_of
from kubeproof.verify.strategies.whole import search_whole


def options_at_first(inquiry: Inquiry) -> VerifyOptions:
    """The options for the first search of the whole, whichever strategy that is."""
    if STRATEGY.is_switched_off(inquiry.options) or not _may_need_less(inquiry):
        return inquiry.limited
    options, limit = inquiry.options, inquiry.limited.max_states
    first = options.effort.max_at_first
    return replace(within(options, 0.0, is_relaxed=True), max_states=first if limit is None else min(first, limit))


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Why there is nothing that needs less than the whole."""
    if number in inquiry.final:
        return Declined(Reason.WHOLE_IS_LARGER)
    return None if _may_need_less(inquiry) else decline_parts(inquiry, number)


def _may_need_less(inquiry: Inquiry) -> bool:
    """True if parts, or single pods, can be looked at where the whole is too large."""
    if parts_of(inquiry):
        return True
    return inquiry.options.uses(ABSTRACTION) and not lone_pods_of(inquiry).intents.isdisjoint(inquiry.open)


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """What the whole says, up to a bound."""
    found = search_whole(inquiry, numbers, options_at_first(inquiry))
    statistics = inquiry.add(found.statistics)
    results = found.add_to(inquiry)
    return Attempt(results, statistics, found.explain_open(), models=found.models, passed=found.passed)


STRATEGY = Strategy("first-look", Answers.BOTH, Cost.BOUNDED_SEARCH, decline, attempt, needs=(SLICING,))
