"""Which strategy answered an intent, and why those before it did not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from kubeproof.report.escape import escape
from kubeproof.report.style import Style
from kubeproof.verify.answered import Answered, Reason


def strategy_lines(answered: Answered, style: Style) -> Iterator[str]:
    """The strategy, with a line for each that was passed over; not for one that nobody asked for."""
    model = f", {answered.model} model" if answered.model else ""
    yield f"{style.faint('decided by')} {escape(answered.name + model) if answered.name else 'no strategy'}"
    told = [one for one in answered.before if one.reason != Reason.NOT_ASKED]
    for words, alike in groupby(told, lambda one: one.words):
        yield from style.fold(f"  not by {escape(', '.join(one.name for one in alike))}: ", escape(words))


def strategy_document(answered: Answered | None) -> dict[str, object] | None:
    """The same for JSON."""
    if answered is None:
        return None
    before = [{"name": one.name, "reason": one.reason, "detail": one.detail} for one in answered.before]
    return {"name": answered.name, "model": answered.model, "before": before}
