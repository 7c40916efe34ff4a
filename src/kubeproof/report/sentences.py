"""Sentences that several formats share, without colour and unescaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubeproof.manifests.loaded import ASSUMED_NODES
from kubeproof.values import complete
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade, Matrix
from kubeproof.verify.result import IntentResult, OmittedGroup, SuppressionNote, VerifyResult

MOST_OMITTED = 8  # kinds and fields that one line names
MOST_OTHERS = 4  # other things, a line each
COUNTED = complete(
    Grade,
    {Grade.STEADY: "steady", Grade.DIPS: "dip and recover", Grade.STUCK: "STUCK", Grade.UNKNOWN: "not known"},
)


def title(result: IntentResult) -> str:
    """`S005 schedulable (name) Deployment/shop/web`."""
    name = "" if result.intent == result.key else f" ({result.intent})"
    target = f" {result.target}" if result.target else ""
    return f"{result.id} {result.key}{name}{target}"


def closing(result: VerifyResult) -> str:
    """What follows the overall verdict: how many properties, with which verdicts."""
    told = _checked(result.results) if result.matrix is None else counted(result.matrix)
    if (
        result.results
        and result.not_modelled
        and result.verdict in (Verdict.HOLDS, Verdict.HOLDS_BOUNDED, Verdict.VACUOUS)
    ):
        told += f"; {count(len(result.not_modelled), 'thing')} in the input not modelled"
    if any(key == ASSUMED_NODES for key, _ in result.scope):
        told += "; on assumed nodes"
    errors = sum(one.severity == "error" and one.suppression is None for one in result.checks)
    if errors:
        told += f"; checks found {count(errors, 'error')}"
    return told


def _checked(results: Sequence[IntentResult]) -> str:
    counts = Counter(one.verdict for one in results)
    parts = ", ".join(f"{number:,} {verdict}" for verdict, number in sorted(counts.items()))
    return f"{count(len(results), 'property', 'properties')} checked" + (f" ({parts})" if parts else "")


def counted(matrix: Matrix) -> str:
    """`12 workloads under 9 faults: 36 steady, 3 STUCK`."""
    numbers = Counter(cell.grade for cell in matrix.cells)
    parts = ", ".join(f"{numbers[grade]:,} {COUNTED[grade]}" for grade in Grade if numbers[grade])
    size = f"{count(len(matrix.rows), 'workload')} under {count(len(matrix.columns), 'fault')}"
    return f"{size}: {parts}" if parts else size


def omitted_lines(groups: Sequence[OmittedGroup]) -> Iterator[str]:
    """What is not modelled, a line for kinds and one for fields; whatever may decide first."""
    for sign, told in (("kind ", "objects"), ("field ", "fields")):
        alike = [group for group in groups if group.what.startswith(sign)]
        named = [f"{group.what.removeprefix(sign)} ({group.count})" for group in alike[:MOST_OMITTED]]
        rest = sum(group.count for group in alike[MOST_OMITTED:])
        if named:
            yield f"{told}: {', '.join(named)}" + (f" and {rest:,} more" if rest else "")
    others = [group for group in groups if not group.what.startswith(("kind ", "field "))]
    for group in others[:MOST_OTHERS]:
        yield f"{group.what} ({group.count})" if group.count > 1 else group.what
    if len(others) > MOST_OTHERS:
        yield f"and {len(others) - MOST_OTHERS:,} more"


def summary(result: VerifyResult) -> str:
    """The overall verdict in one line."""
    return f"{result.verdict}: {closing(result)}"


def worst_run(results: Sequence[IntentResult]) -> IntentResult | None:
    """The first result with a run, one that decides about the verdict if there is one."""
    traced = [one for one in results if one.trace is not None]
    return next((one for one in traced if one.is_decisive), traced[0] if traced else None)


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
