"""Changes that are proved to help, beside the violations that they mend: as lines, for the page and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.report.escape import escape
from kubeproof.report.fix import costs_of, diffs_of
from kubeproof.report.frame import Frame
from kubeproof.report.style import Style
from kubeproof.verify.explained import Repair
from kubeproof.verify.fix.result import FixResult, Proposal
from kubeproof.verify.result import IntentResult, VerifyResult


def with_repairs(result: VerifyResult, found: FixResult, frame: Frame) -> VerifyResult:
    """The result with the proposals beside what each of them mends."""
    repairs = [(one.repairs, _repair(number, one, frame)) for number, one in enumerate(found.proposals, start=1)]

    def add(one: IntentResult) -> IntentResult:
        own = tuple(repair for mended, repair in repairs if one.trace is not None and describe_question(one) in mended)
        return replace(one, repairs=own) if own else one

    return replace(result, results=tuple(map(add, result.results)))


def describe_question(one: IntentResult) -> str:
    """What a result answers, as proposals name it."""
    return f"{one.target} ({' and '.join(one.faults)})" if one.faults else one.intent


def _repair(number: int, one: Proposal, frame: Frame) -> Repair:
    return Repair(
        number=number,
        edits=tuple(edit.title for edit in one.edits),
        gives_up=one.gives_up,
        costs=costs_of(one),
        diff=diffs_of(one, frame),
        patch=one.patch,
    )


def repair_lines(found: Sequence[Repair], style: Style) -> Iterator[str]:
    """The first repair with its diff, and what others would change."""
    for one in found[:1]:
        yield from style.fold(f"{style.heading('Proved to help')}: ", escape("; ".join(one.edits)))
        yield from (line for lost in one.gives_up for line in style.fold("  gives up: ", escape(lost)))
        yield from (f"    {escape(line)}" for line in (one.diff or one.patch).splitlines())
    for one in found[1:]:
        yield from style.fold("  or: ", escape("; ".join(one.edits)))


def repair_document(one: Repair) -> dict[str, object]:
    """A repair for JSON and for the page."""
    return {
        "number": one.number,
        "edits": list(one.edits),
        "gives_up": list(one.gives_up),
        "costs": one.costs,
        "diff": one.diff,
        "patch": one.patch,
    }
