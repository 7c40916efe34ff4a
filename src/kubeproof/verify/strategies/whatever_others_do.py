"""Proofs for parts of a cluster, whatever the others do (`kubeproof.verify.proofs.crowd`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.verdicts import Verdict
from kubeproof.verify.answered import Declined, Reason
from kubeproof.verify.findings.failures import failure_of
from kubeproof.verify.options import ABSTRACTION, SLICING
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.strategies.contract import Answers, Attempt, Cost, Strategy
from kubeproof.verify.strategies.inquiry import Inquiry
from kubeproof.verify.strategies.parts import (
    add_parts,
    decline_parts,
    limit_part,
    name_parts,
    parts_of,
    share_input,
)
from kubeproof.verify.words.summary import claim, combine, intent_result

if TYPE_CHECKING:
    from kubeproof.verify.proofs.crowd.proving import Memo, Proofs
    from kubeproof.verify.proofs.slicing import Slice


def attempt(inquiry: Inquiry, numbers: Sequence[int]) -> Attempt:
    """The intents that every part they speak of proves."""
    parts = parts_of(inquiry)
    memo: Memo = {}
    found: list[tuple[Slice, Proofs]] = []
    for part in parts:
        inquiry.watch.go_on()
        found.append((part, _prove(inquiry, part, memo)))
    proved = [n for n in numbers if all(n in one.intents for part, one in found if n in part.intents)]
    spent = [one.statistics for _, one in found if one.statistics is not None]
    return Attempt(
        {number: (_result(inquiry, parts, number, spent),) for number in proved},
        add_parts(inquiry, spent, is_decided=len(proved) == len(inquiry.open)),
        {number: _why_not(number, found) for number in numbers if number not in proved},
    )


def _prove(inquiry: Inquiry, part: Slice, memo: Memo) -> Proofs:
    """What is proved of one part; nothing if that fails, and then the part is searched as it is."""
    from kubeproof.verify.proofs.crowd.proving import Proofs, prove_part  # only large inputs need it

    try:
        return prove_part(share_input(inquiry), part, inquiry.plan_part, limit_part(inquiry), inquiry.watch, memo)
    except Exception as problem:
        return Proofs(obstacle=failure_of(problem).reason)


def _why_not(number: int, found: Sequence[tuple[Slice, Proofs]]) -> Declined:
    """The first obstacle of a part that the intent speaks of and that does not prove it."""
    obstacles = [one.obstacle for part, one in found if number in part.intents and number not in one.intents]
    return Declined(Reason.NOT_PROVED, next((obstacle for obstacle in obstacles if obstacle), ""))


def _result(inquiry: Inquiry, parts: Sequence[Slice], number: int, spent: Sequence[Statistics]) -> IntentResult:
    result = intent_result(inquiry.loaded, inquiry.plan, number, Verdict.HOLDS, combine(spent))
    said = claim(inquiry.plan.monitors[number].intent)
    return replace(result, detail=f"proved for {name_parts(parts, number)}, whatever the others do: {said}")


STRATEGY = Strategy(
    "whatever-others-do",
    Answers.PROOFS,
    Cost.SEARCHES_OF_PARTS,
    decline_parts,
    attempt,
    needs=(SLICING, ABSTRACTION),
)
