"""Sentences that several formats share, without colour and unescaped."""

from __future__ import annotations

from collections import Counter

from kubeproof.manifests.loaded import ASSUMED_NODES
from kubeproof.verify.result import HOLDS, HOLDS_BOUNDED, VACUOUS, IntentResult, SuppressionNote, VerifyResult


def title(result: IntentResult) -> str:
    """`S005 schedulable (name) Deployment/shop/web`."""
    name = "" if result.intent == result.key else f" ({result.intent})"
    target = f" {result.target}" if result.target else ""
    return f"{result.id} {result.key}{name}{target}"


def closing(result: VerifyResult) -> str:
    """What follows the overall verdict: how many properties, with which verdicts."""
    counts = Counter(one.verdict for one in result.results)
    parts = ", ".join(f"{number:,} {verdict}" for verdict, number in sorted(counts.items()))
    told = f"{count(len(result.results), 'property', 'properties')} checked" + (f" ({parts})" if parts else "")
    if result.results and result.not_modelled and result.verdict in (HOLDS, HOLDS_BOUNDED, VACUOUS):
        told += f"; {count(len(result.not_modelled), 'thing')} in the input not modelled"
    if any(key == ASSUMED_NODES for key, _ in result.scope):
        told += "; on assumed nodes"
    return told


def summary(result: VerifyResult) -> str:
    """The overall verdict in one line."""
    return f"{result.verdict}: {closing(result)}"


def suppressed_by(result: IntentResult) -> str:
    """Why a violation is accepted, "" if it is not."""
    found = result.suppression
    if found is None:
        return ""
    until = f", until {found.expires}" if found.expires else ""
    return f"suppressed by {found.kind} at {found.source}{until}: {found.reason}"


def audited(note: SuppressionNote) -> str:
    """One line of the audit trail."""
    given = note.suppression
    until = f" until {given.expires}" if given.expires else ""
    target = f" {note.target}" if note.target else ""
    status = f"{note.status}, suppresses nothing" if note.status in ("expired", "no reason") else note.status
    reason = f": {given.reason}" if given.reason else ""
    return f"{status}: {given.kind} for {note.id}{target}{until} ({given.source}){reason}"


def count(number: int, one: str, many: str = "") -> str:
    """`1 step`, `2 steps`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
