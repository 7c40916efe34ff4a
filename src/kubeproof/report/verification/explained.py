"""Why a violation happens: three sentences, and who does not help; as lines, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.report.escape import escape
from kubeproof.report.style import Style
from kubeproof.verify.explained import Explanation, Inaction
from kubeproof.verify.result import IntentResult


def explanation_lines(found: Explanation, style: Style) -> Iterator[str]:
    """The three sentences."""
    yield from style.fold(f"{style.heading('What happens')}: ", escape(found.happens))
    for number, said in enumerate(found.why):
        head = f"{style.heading('Why')}: " if number == 0 else "     "
        yield from style.fold(head, escape(f"{said}{'.' if number == len(found.why) - 1 else ';'}"))
    yield from style.fold(f"{style.heading('What to change')}: ", escape(found.change))


def told(one: IntentResult) -> Iterator[tuple[str, str]]:
    """What other formats say of a violation: each sentence with its heading; what to change, where that is all."""
    if one.explanation is not None and not one.faults:
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
    return None if found is None else {"happens": found.happens, "why": list(found.why), "change": found.change}


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
    }
