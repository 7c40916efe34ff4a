"""Proofs by following one pod of each workload (`kubeproof.verify.proofs.crowd.pod_by_pod`).

Asked first where a first look at the whole could not come to an end, and otherwise after that look: what is small is
searched as it is, and every number of a report is then one of the input itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.options import ABSTRACTION, SLICING
from kubeproof.verify.proofs.slicing import Slice
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.parts import add_parts, limit_part, lone_pods_of, share_input
from kubeproof.verify.words.summary import claim, combine, intent_result

if TYPE_CHECKING:
    from kubeproof.verify.proofs.crowd.proving import Memo, Proofs

MANY = 60  # nodes and pods together, from which on the whole is not looked at first


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """The intents that follow from what becomes of one pod of every workload that they speak of."""
    memo: Memo = {}
    found: list[tuple[Slice, Proofs]] = []
    for part in lone_pods_of(inquiry).parts:
        if set(part.intents).isdisjoint(numbers):
            continue
        inquiry.watch.go_on()
        found.append((part, _prove(inquiry, part, memo)))
    proved = [n for n in numbers if all(n in one.intents for part, one in found if n in part.intents)]
    spent = [one.statistics for _, one in found if one.statistics is not None]
    return Attempt(
        {number: (_result(inquiry, number, spent, _sizes(inquiry, number, found)),) for number in proved},
        add_parts(inquiry, spent or [Statistics()], is_decided=len(proved) == len(inquiry.open)),
        {number: Declined(Reason.NOT_PROVED) for number in numbers if number not in proved},
    )


def _prove(inquiry: Inquiry, part: Slice, memo: Memo) -> Proofs:
    from kubeproof.verify.proofs.crowd.proving import Proofs, prove_pod_by_pod  # only large inputs need it

    try:
        return prove_pod_by_pod(
            share_input(inquiry), part, inquiry.plan_part, limit_part(inquiry), inquiry.watch, memo,
            asks_for_sizes=len(inquiry.loaded.setup.workloads) == 1,
        )  # fmt: skip
    except Exception as problem:
        return Proofs(obstacle=failure_of(problem).reason)


def _result(inquiry: Inquiry, number: int, spent: Sequence[Statistics], sizes: str) -> IntentResult:
    result = intent_result(inquiry.loaded, inquiry.plan, number, Verdict.HOLDS, combine(spent))
    said = claim(inquiry.plan.monitors[number].intent)
    return replace(result, detail=f"proved for each pod, whatever the others do: {said}{sizes}")


def _sizes(inquiry: Inquiry, number: int, found: Sequence[tuple[Slice, Proofs]]) -> str:
    """For which other sizes of its workload the intent holds on the same nodes, in words; "" if that is not known."""
    intent = inquiry.plan.monitors[number].intent
    largest = next((one.largest for part, one in found if part.workloads == (intent.target,)), 0)
    least = intent.count.number if intent.count is not None and not intent.count.percent else 1
    is_more = largest > max((w.replicas for w in inquiry.loaded.setup.workloads if w.ref == intent.target), default=0)
    return f"; so it is on these nodes at any size from {max(least, 1)} to {largest}" if is_more else ""


def _is_large(inquiry: Inquiry) -> bool:
    setup = inquiry.loaded.setup
    largest = {one.target: one.max_replicas for one in setup.autoscalers}
    return len(setup.nodes) + sum(max(w.replicas, largest.get(w.ref, 0)) for w in setup.workloads) > MANY


def decline_at_first(inquiry: Inquiry, number: int) -> Declined | None:
    """Only inputs that are certainly too large to be looked at as a whole."""
    return decline(inquiry, number) if _is_large(inquiry) else Declined(Reason.TRIED)


def decline_afterwards(inquiry: Inquiry, number: int) -> Declined | None:
    """What is still open after a first look at the whole."""
    return Declined(Reason.TRIED) if _is_large(inquiry) else decline(inquiry, number)


def decline(inquiry: Inquiry, number: int) -> Declined | None:
    """Why an intent is not proved by following single pods."""
    if number in inquiry.final:
        return Declined(Reason.WHOLE_IS_LARGER)
    lone = lone_pods_of(inquiry)
    return None if number in lone.intents else lone.why


AT_FIRST = Strategy(
    "pod-by-pod",
    Answers.PROOFS,
    Cost.SEARCHES_OF_PARTS,
    decline_at_first,
    attempt,
    needs=(SLICING, ABSTRACTION),
)
AFTERWARDS = replace(AT_FIRST, decline=decline_afterwards)
