"""Why a violation happens: three sentences, and who does not help; as lines, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.inaction import Field
from kubeproof.report.escape import escape
from kubeproof.report.style import Style
from kubeproof.verify.explained import Cause, Causes, Explanation, Inaction, Remedy
from kubeproof.verify.result import IntentResult


def explanation_lines(found: Explanation, style: Style) -> Iterator[str]:
    """The three sentences."""
    yield from style.fold(f"{style.heading('What happens')}: ", escape(found.happens))
    yield from why_lines(found.why, style)
    yield from style.fold(f"{style.heading('What to change')}: ", escape(found.change))


def why_lines(why: Sequence[str], style: Style) -> Iterator[str]:
    """The reasons, each in a line of its own."""
    for number, said in enumerate(why):
        head = f"{style.heading('Why')}: " if number == 0 else "     "
        yield from style.fold(head, escape(f"{said}{'.' if number == len(why) - 1 else ';'}"))


def cause_lines(found: Causes, style: Style) -> Iterator[str]:
    """From where on it is lost, and what is needed for it."""
    if found.lost_after is not None:
        yield from style.fold(f"{style.heading('Lost')}: ", _describe_lost(found))
    deciding = [cause for cause in found.needed if cause.decides]
    parts = [cause for cause in found.needed if not cause.decides]
    if deciding:
        yield f"{style.heading('Needed for it')}, each by itself: without it, or with what is said, it does not happen"
        yield from (line for cause in deciding for line in style.fold("  ", escape(_describe_cause(cause))))
    if found.together:
        yield f"{style.heading('Needed for it')}, none of them alone: with all of these otherwise it does not happen"
        yield from (line for cause in found.together for line in style.fold("  ", escape(_describe_cause(cause))))
    if {(one.object, one.field) for one in found.core} - {(one.object, one.field) for one in deciding}:
        yield f"{style.heading('Enough for it, together')}: all else that was tried may be written otherwise at once"
        yield from (line for cause in found.core for line in style.fold("  ", escape(_describe_cause(cause))))
    if parts and style.verbose:
        yield f"{style.heading('Part of this run')}, but others end like it, or nobody knows"
        yield from (line for cause in parts for line in style.fold("  ", escape(_describe_cause(cause))))
    if not found.is_complete:
        yield style.faint(f"the time was over after {found.tried} changes")


def _describe_lost(found: Causes) -> str:
    if found.lost_after == 0:
        return "from the very start: every run fails"
    when = "after" if found.is_exact else "at the latest after"
    return f"{when} step {found.lost_after}: from there on every run fails, whatever happens"


def _describe_cause(cause: Cause) -> str:
    if not cause.field:
        return f"{cause.object}  {cause.place}"
    written = f": {cause.value}" if cause.value else " (not there)"
    return f"{cause.object} {cause.field}{written}  {cause.place}  [{cause.instead}]"


def causes_document(found: Causes | None) -> dict[str, object] | None:
    """The causes for JSON; None where nobody asked for them."""
    if found is None:
        return None
    return {
        "lost_after": found.lost_after,
        "is_exact": found.is_exact,
        "needed": [_cause_document(one) for one in found.needed],
        "core": [_cause_document(one) for one in found.core],
        "together": [_cause_document(one) for one in found.together],
        "tried": found.tried,
        "is_complete": found.is_complete,
    }


def _cause_document(one: Cause) -> dict[str, object]:
    return {
        "object": one.object,
        "field": one.field,
        "value": one.value,
        "file": one.place.file,
        "line": one.place.line,
        "instead": one.instead,
        "decides": one.decides,
    }


def told(one: IntentResult) -> Iterator[tuple[str, str]]:
    """What other formats say of a violation: each sentence with its heading; what to change, where that is all."""
    if one.explanation is not None:
        yield "What happens", one.explanation.happens
        yield "Why", f"{'; '.join(one.explanation.why)}."
    if one.remedy:
        yield "What to change", one.remedy


def inaction_lines(found: Sequence[Inaction], style: Style) -> Iterator[str]:
    """Everybody who could have helped, with the rule by which they do not."""
    if found:
        yield style.heading("Who does not help")
        for one in found:
            yield from style.fold(f"  {escape(one.actor)} ", escape(f"{one.says} [{one.rule}]"))


def explanation_document(found: Explanation | None) -> dict[str, object] | None:
    """The sentences for JSON; None where there are none."""
    if found is None:
        return None
    changes = [_change_document(one) for one in found.changes]
    return {"happens": found.happens, "why": list(found.why), "change": found.change, "changes": changes}


def _change_document(one: Remedy) -> dict[str, object]:
    return {
        "says": one.says,
        "rule": one.rule,
        "fields": _field_documents(one.fields),
        "places": [{"file": place.file, "line": place.line} for place in one.places],
    }


def _field_documents(fields: Sequence[Field]) -> list[dict[str, str]]:
    return [{"object": one.object, "field": one.path} for one in fields]


def inaction_document(one: Inaction) -> dict[str, object]:
    """An entry for JSON."""
    return {
        "actor": one.actor,
        "by": {"kind": one.actor.kind, "object": one.actor.object},
        "object": one.object,
        "rule": one.rule,
        "says": one.says,
        "change": one.change,
        "numbers": dict(one.numbers),
        "step": one.step,
        "fields": _field_documents(one.fields),
    }
