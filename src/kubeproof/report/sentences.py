"""Sentences that several formats share, without colour and unescaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kubeproof.manifests.loaded import ASSUMED_NODES, Sort
from kubeproof.verdicts import Verdict
from kubeproof.verify.result import IntentResult, OmittedGroup, SuppressionNote, VerifyResult

if TYPE_CHECKING:
    from kubeproof.verify.matrix.result import Matrix

MOST_OMITTED = 8  # kinds and fields that one line names
MOST_OTHERS = 4  # other things, a line each


def title(result: IntentResult) -> str:
    """`S005 schedulable (name) Deployment/shop/web`."""
    name = "" if result.intent == result.key else f" ({result.intent})"
    target = f" {result.target}" if result.target else ""
    return f"{result.id} {result.key}{name}{target}"


def closing(result: VerifyResult, where: str = "") -> str:
    """What follows the overall verdict: how many properties, with which verdicts.

    `where` is said of what is not modelled, if that comes last.
    """
    told = [_say_checked(result.results) if result.matrix is None else _survey(result.matrix)]
    more = [*_say_assumed(result), *_errors(result)]
    if (
        result.results
        and result.not_modelled
        and result.verdict in (Verdict.HOLDS, Verdict.HOLDS_BOUNDED, Verdict.VACUOUS)
    ):
        told.append(f"{count(len(result.not_modelled), 'thing')} in the input not modelled{'' if more else where}")
    return "; ".join((*told, *more))


def _say_assumed(result: VerifyResult) -> Iterator[str]:
    if any(key == ASSUMED_NODES for key, _ in result.scope):
        yield "on assumed nodes"


def _errors(result: VerifyResult) -> Iterator[str]:
    errors = sum(one.severity == "error" and one.suppression is None for one in result.checks)
    if errors:
        yield f"checks found {count(errors, 'error')}"


def _say_checked(results: Sequence[IntentResult]) -> str:
    counts = Counter(one.verdict for one in results)
    parts = ", ".join(f"{number:,} {verdict}" for verdict, number in sorted(counts.items()))
    return f"{count(len(results), 'property', 'properties')} checked" + (f" ({parts})" if parts else "")


def _survey(matrix: Matrix) -> str:
    from kubeproof.report.matrix.words import count_cells

    return count_cells(matrix)


def list_omitted(groups: Sequence[OmittedGroup]) -> Iterator[str]:
    """What is not modelled, a line for kinds and one for fields; whatever may decide first."""
    for sort, told in ((Sort.KIND, "objects"), (Sort.FIELD, "fields")):
        alike = [one for one in groups if one.group.sort == sort]
        named = [f"{one.group.name} ({one.count})" for one in alike[:MOST_OMITTED]]
        rest = sum(one.count for one in alike[MOST_OMITTED:])
        if named:
            yield f"{told}: {', '.join(named)}" + (f" and {rest:,} more" if rest else "")
    others = [one for one in groups if one.group.sort == Sort.OTHER]
    for one in others[:MOST_OTHERS]:
        yield f"{one.group.name} ({one.count})" if one.count > 1 else one.group.name
    if len(others) > MOST_OTHERS:
        yield f"and {len(others) - MOST_OTHERS:,} more"


def summary(result: VerifyResult) -> str:
    """The overall verdict in one line."""
    return f"{result.verdict}: {closing(result)}"


def worst_run(results: Sequence[IntentResult]) -> IntentResult | None:
    """The first result with a run, one that decides about the verdict if there is one."""
    traced = [one for one in results if one.trace is not None]
    return next((one for one in traced if one.is_decisive), traced[0] if traced else None)


def explain_suppressed(result: IntentResult) -> str:
    """Why a violation is accepted, "" if it is not."""
    found = result.suppression
    if found is None:
        return ""
    until = f", until {found.expires}" if found.expires else ""
    return f"suppressed by {found.kind} at {found.source}{until}: {found.reason}"


def write_audit_line(note: SuppressionNote) -> str:
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
