"""A second look at runs whose events come to a cluster at rest (`kubeproof.verify.proofs.events_at_rest`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.events_at_rest import calmed, is_calm, told
from kubeproof.verify.result import Statistics
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry

FIRST_LOOK = 0.7  # of the usual timeout; the rest is for runs whose events come at rest


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Only where a search that nobody limited has left the intent open: the built-in scenario, the usual timeout."""
    options, spent = inquiry.options, inquiry.statistics or Statistics()
    if options.is_limited or not (inquiry.loaded.scenario.is_default or options.has_usual_timeout):
        return Declined(Reason.USER_LIMIT)
    if is_calm(inquiry.loaded):
        return Declined(Reason.AT_REST_ANYWAY)
    if not spent.stopped_by or spent.stopped_by == INTERRUPTED:
        return Declined(Reason.NOTHING_CUT)
    return None if inquiry.result(number).verdict == Verdict.UNKNOWN else Declined(Reason.FAILED)


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """The intents that such runs break; runs of the scenario as it stands, too."""
    assert inquiry.statistics is not None
    results = [inquiry.result(number) for number in numbers]
    try:
        judged, calm = calmed(inquiry.loaded, _second_look(inquiry.options), results, inquiry.again)
    except Exception as problem:
        reason = failure_of(problem).reason
        left = dict.fromkeys(numbers, Declined(Reason.FAILED, reason))
        return Attempt({}, inquiry.statistics, left, also=(("and then", reason),))
    return Attempt(
        {number: (one,) for number, one in zip(numbers, judged, strict=True)},
        inquiry.statistics,
        dict.fromkeys(numbers, Declined(Reason.NOT_BROKEN)),
        also=(("and then", told(calm)),),
    )


def _second_look(options: VerifyOptions) -> VerifyOptions:
    """The options for runs whose events come at rest: what the first look has left of the usual timeout."""
    if options.timeout_s is None or not options.has_usual_timeout:
        return options
    return replace(options, timeout_s=(1 - FIRST_LOOK) * options.timeout_s, has_usual_timeout=False)


STRATEGY = Strategy("events-at-rest", Answers.VIOLATIONS, Cost.FULL_SEARCH, decline, attempt)
