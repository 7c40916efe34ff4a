"""A first look at the whole: a bounded search that spares many inputs the look at their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.verify.options import SLICING, VerifyOptions
from kubeproof.verify.proofs.coarser import within
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.parts import decline_parts, parts_of
from kubeproof.verify.strategies.whole import search_whole


def options_at_first(inquiry: Inquiry) -> VerifyOptions:
    """The options for the first search of the whole, whichever strategy that is."""
    if STRATEGY.is_switched_off(inquiry.options) or not parts_of(inquiry):
        return inquiry.limited
    options = inquiry.options
    return replace(within(options, 0.0, is_relaxed=True), max_states=options.effort.max_at_first)


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """What the whole says, up to a bound."""
    found = search_whole(inquiry, numbers, options_at_first(inquiry))
    statistics = inquiry.add(found.statistics)
    results = found.told_with(inquiry)
    return Attempt(results, statistics, found.left(), models=found.models, passed=found.passed)


STRATEGY = Strategy("first-look", Answers.BOTH, Cost.BOUNDED_SEARCH, decline_parts, attempt, needs=(SLICING,))
