"""Sizes of a sweep that need no look, because all intents are proved for any size like them."""

from __future__ import annotations

from collections.abc import Mapping

from kubeproof.verdicts import Verdict
from kubeproof.verify.holds_for import HoldsFor
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.scaling.plan import SweepPlan
from kubeproof.verify.scaling.result import SizeAnswer, Skipped
from kubeproof.verify.scaling.setups import why_trivial

PROVED = "proved for any size"
LOOKED_AT = 4  # smallest sizes that are verified all the same: there it is seen whether runs come to what is asked


def answer_proved(plan: SweepPlan, proofs: Mapping[str, HoldsFor]) -> dict[str, SizeAnswer]:
    """By key the sizes at which every intent is proved, with their answers, but for the smallest ones."""
    intents = plan.loaded.scenario.intents
    if any(intent.name not in proofs for intent in intents):
        return {}
    asked = [proofs[intent.name] for intent in intents]
    found: dict[str, SizeAnswer] = {}
    small = 0
    for size in plan.sizes:
        if not all(is_proved(size, one) for one in asked):
            continue
        reason = why_trivial(resize(plan.loaded, plan.scale, size))
        small += not reason
        if reason or small > LOOKED_AT:
            found[size.key] = _answer(reason)
    return found


def _answer(reason: str) -> SizeAnswer:
    return SizeAnswer(Skipped.TRIVIAL, note=reason) if reason else SizeAnswer(Verdict.HOLDS, note=PROVED)


def is_proved(size: Size, proof: HoldsFor) -> bool:
    """True if the size is one of those that a proof is about."""
    return proof.admits(dict(size.nodes), dict(size.pods).get(proof.target, 0))
