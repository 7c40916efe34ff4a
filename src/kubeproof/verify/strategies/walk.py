"""All strategies in order, and the walk through them for the intents that are open."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.strategies import (
    alone,
    bounds,
    events_at_rest,
    first_look,
    pod_by_pod,
    reference,
    slices,
    swarm,
    whatever_others_do,
    whole,
)
from kubeproof.verify.strategies.contract import Strategy
from kubeproof.verify.strategies.inquiry import Inquiry

STRATEGIES: tuple[Strategy, ...] = (
    reference.STRATEGY,
    slices.STRATEGY,
    pod_by_pod.AT_FIRST,
    bounds.STRATEGY,
    first_look.STRATEGY,
    pod_by_pod.AFTERWARDS,
    whatever_others_do.STRATEGY,
    alone.STRATEGY,
    bounds.AGAIN,
    whole.STRATEGY,
    swarm.STRATEGY,
    events_at_rest.STRATEGY,
)


def walk(inquiry: Inquiry) -> None:
    """Asks one strategy after the other about the intents that are open."""
    for strategy in STRATEGIES:
        numbers = [number for number in inquiry.open if _applies(strategy, inquiry, number)]
        if numbers:
            _try(strategy, inquiry, numbers)
    if inquiry.fault is not None and all(one.verdict == Verdict.ERROR for one in inquiry.answer()):
        raise inquiry.fault  # it concerns every intent


def _applies(strategy: Strategy, inquiry: Inquiry, number: int) -> bool:
    """True if a strategy may answer an intent; otherwise it is noted why not."""
    why = _decline_switched_off(strategy, inquiry) or strategy.decline(inquiry, number)
    if why is not None:
        inquiry.pass_over(strategy, number, why)
    return why is None


def _decline_switched_off(strategy: Strategy, inquiry: Inquiry) -> Declined | None:
    options = inquiry.options
    if not strategy.is_switched_off(options):
        return None
    off = [name for name in strategy.needs if not options.uses(name)]
    return Declined(Reason.SWITCHED_OFF, f"--without {','.join(off)}" if options.reductions else "--no-reductions")


def _try(strategy: Strategy, inquiry: Inquiry, numbers: Sequence[int]) -> None:
    """One strategy at work; a fault of ours costs it its answers, and others may have some."""
    inquiry.begin(strategy)
    try:
        found = strategy.attempt(inquiry, numbers)
    except Exception as problem:
        inquiry.fail(strategy, numbers, problem, failure_of(problem))
    else:
        inquiry.note(strategy, numbers, found)
