"""Violations of workloads that have all nodes to themselves, shown as runs of the whole.

For inputs that are too large as a whole. A run of one part in which an intent fails becomes a run of the whole if the
others can run along (`kubeproof.verify.counterexamples.weave`); that run is replayed, so such a violation is one of the
whole. What holds for a part alone is no proof: others take its room and sway the scheduler's choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.findings.failures import choose_best, is_open
from kubeproof.verify.options import SLICING
from kubeproof.verify.result import IntentResult
from kubeproof.verify.searching import Decided
from kubeproof.verify.strategies import swarm
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.parts import add_parts, decline_parts, limit_part, name_parts, parts_of
from kubeproof.verify.words.summary import claim, describe_stop, intent_result

if TYPE_CHECKING:
    from kubeproof.verify.proofs.slices import Part, Sliced

NO_TIME = Declined(Reason.LIMIT, "the time was over before its part was searched")
_UNSHOWN = "no run of all workloads together was found in which it does"


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """The intents that a part breaks, each with a run of the whole."""
    from kubeproof.verify.proofs.slices import Sliced, search_part

    swarm.release(inquiry, numbers)
    searched: list[Part] = []
    shown: dict[int, IntentResult] = {}
    late: set[int] = set()  # intents about parts that no time was left for
    for part in (part for part in parts_of(inquiry) if set(part.intents) & set(numbers)):
        inquiry.watch.go_on()
        if inquiry.watch.is_late:
            late.update(part.intents)
            continue
        searched.append(search_part(part, inquiry.plan_part(part.loaded), limit_part(inquiry), inquiry.watch_of_search))
        _show(inquiry, searched[-1], numbers, shown)
    sliced = Sliced(tuple(searched), inquiry.elapsed_s)
    results = {
        n: inquiry.result(n) if n in late - shown.keys() else _decide(inquiry, sliced, n, shown) for n in numbers
    }
    spent = [part.statistics for part in searched if part.search is not None]
    is_decided = not any(map(is_open, results.values())) and len(numbers) == len(inquiry.open)
    return Attempt(
        {number: (one,) for number, one in results.items()},
        add_parts(inquiry, spent, is_decided=is_decided),
        {n: NO_TIME if n in late else _why_not(sliced, n) for n, one in results.items() if is_open(one)},
    )


def _show(inquiry: Inquiry, part: Part, numbers: Sequence[int], shown: dict[int, IntentResult]) -> None:
    """Shows the violations of a part, each as one of the whole; those that cannot be shown wait for another part's."""
    for number in part.slice.intents if part.failure is None else ():
        decided, is_shown = part.decision(number), number in shown and not is_open(shown[number])
        if decided is not None and number in numbers and not is_shown and decided.finding.is_violated:
            shown[number] = _violation(inquiry, part, decided, number)
            inquiry.watch.known.note([shown[number]])


def _decide(inquiry: Inquiry, sliced: Sliced, number: int, shown: Mapping[int, IntentResult]) -> IntentResult:
    """What the parts say of an intent."""
    known = inquiry.result(number)
    if number in shown:
        return choose_best(shown[number], known) if known.verdict == Verdict.ERROR else shown[number]
    part, decided = sliced.decision(number)
    if decided is None:
        assert part.failure is not None
        return choose_best(part.failure.apply_to(known), known)
    if decided.finding.verdict == Verdict.HOLDS:
        each = name_parts(sliced.slices, number)
        return replace(known, detail=f"{known.detail}; it holds if {each} has all nodes to itself")
    return known


def _violation(inquiry: Inquiry, part: Part, decided: Decided, number: int) -> IntentResult:
    """A part's violation as one of the whole; open if the others do not run along."""
    from kubeproof.verify.proofs.slices import show_violation

    result = intent_result(inquiry.loaded, inquiry.plan, number, Verdict.VIOLATED, part.statistics)
    found = show_violation(inquiry.plan, part, decided, number, result, is_exact=False, look=inquiry.watch.look)
    if isinstance(found, IntentResult):
        return found
    said = claim(inquiry.plan.monitors[number].intent)
    told = f"it fails if others keep out of the way, but {_UNSHOWN} ({found.reason}): {said}"
    return replace(found, reason=told).apply_to(result)


def _why_not(sliced: Sliced, number: int) -> Declined:
    part, decided = sliced.decision(number)
    if decided is None:
        return Declined(Reason.FAILED, "" if part.failure is None else part.failure.reason)
    if decided.finding.is_violated:
        return Declined(Reason.NOT_SHOWN)
    if decided.finding.verdict == Verdict.UNKNOWN:
        return Declined(Reason.LIMIT, describe_stop(part.statistics) if part.statistics.stopped_by else "")
    return Declined(Reason.NOT_BROKEN)


STRATEGY = Strategy("alone", Answers.VIOLATIONS, Cost.SEARCHES_OF_PARTS, decline_parts, attempt, needs=(SLICING,))
