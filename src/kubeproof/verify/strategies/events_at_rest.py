"""A second look at runs whose events come to a cluster at rest (`kubeproof.verify.proofs.events_at_rest`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.engine.limits import Deadline
from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.coarser import LEAST_S
from kubeproof.verify.proofs.events_at_rest import describe_at_rest, is_calm, search_at_rest
from kubeproof.verify.result import Statistics
from kubeproof.verify.searching import SHOWING_SHARE, Watch
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry

FIRST_LOOK = 0.7  # of the usual timeout; the rest is for runs whose events come at rest
NO_TIME = "the first look has taken all the time"


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
    watch = _last_watch(inquiry)
    if watch.is_late:
        return Attempt({}, inquiry.statistics, dict.fromkeys(numbers, Declined(Reason.LIMIT, NO_TIME)))
    results = [inquiry.result(number) for number in numbers]
    try:
        judged, calm = search_at_rest(
            inquiry.loaded, inquiry.plan, _second_look(inquiry.options, watch), results, inquiry.again, watch.look
        )
    except Exception as problem:
        reason = failure_of(problem).reason
        left = dict.fromkeys(numbers, Declined(Reason.FAILED, reason))
        return Attempt({}, inquiry.statistics, left, also=(("and then", reason),))
    return Attempt(
        {number: (one,) for number, one in zip(numbers, judged, strict=True)},
        inquiry.statistics,
        dict.fromkeys(numbers, Declined(Reason.NOT_BROKEN)),
        also=(("and then", describe_at_rest(calm)),),
    )


def _last_watch(inquiry: Inquiry) -> Watch:
    """The watch of the run, with the deadline of all that comes after the first look."""
    watch = inquiry.watch
    if watch.deadline is None or not inquiry.options.has_usual_timeout:
        return watch
    at_s, given_s = watch.deadline
    return replace(watch, deadline=Deadline(at_s + (1 - SHOWING_SHARE - FIRST_LOOK) * given_s, given_s))


def _second_look(options: VerifyOptions, watch: Watch) -> VerifyOptions:
    """The options for runs whose events come at rest: what the first look has left of the usual timeout."""
    if watch.deadline is None or not options.has_usual_timeout:
        return options
    left_s = watch.deadline.at_s - watch.deadline_clock()
    whole_s = float(int(left_s)) or max(LEAST_S, left_s)  # reports tell of it
    return replace(options, timeout_s=whole_s, spent_s=0.0, has_usual_timeout=False)


STRATEGY = Strategy("events-at-rest", Answers.VIOLATIONS, Cost.FULL_SEARCH, decline, attempt)
