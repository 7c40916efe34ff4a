"""On what of the input a verdict depends, and what was left out: in one line, and for JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from kubeproof.report.escape import escape
from kubeproof.report.sentences import count
from kubeproof.report.style import Style
from kubeproof.verify.dependence import EVERY_NODE, Apart, DependsOn

MOST_NAMED = 6  # objects that a line names; JSON has all of them


def depends_lines(found: DependsOn, style: Style) -> Iterator[str]:
    """One sentence, folded."""
    labels = f" ({_list_names([f'label {key}' for key in found.labels])})" if found.labels else ""
    events = [f"event {name}" for name in found.events]
    told = [*_first(found.objects), f"{count(found.nodes, 'node')}{labels}", *_first(events)]
    aside = _first(list(_aside(found.not_on)))
    yield from style.fold(f"{style.faint('depends on')} ", escape(", ".join(told) + _unless(aside)))


def _unless(aside: Sequence[str]) -> str:
    return f"; not on {', '.join(aside)}" if aside else ""


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(_first(names))


def _first(names: Sequence[str]) -> list[str]:
    """The first few names; with one more it is told how many are left."""
    if len(names) <= MOST_NAMED + 1:
        return list(names)
    return [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]


def _aside(not_on: Sequence[Apart]) -> Iterator[str]:
    """Whole objects first, then fields; a field that says nothing of several objects is told once."""
    yield from (one.object for one in not_on if not one.field)
    fields: dict[str, list[str]] = {}
    for one in not_on:
        if one.field:
            fields.setdefault(one.field, []).append("nodes" if one.object == EVERY_NODE else one.object)
    for field, objects in fields.items():
        yield f"{field} of {objects[0] if len(objects) == 1 else f'{len(objects)} workloads'}"


def depends_document(found: DependsOn | None) -> dict[str, object] | None:
    """The same for JSON, complete."""
    if found is None:
        return None
    return {
        "objects": list(found.objects),
        "nodes": {"count": found.nodes, "labels": list(found.labels), "resources": list(found.resources)},
        "events": list(found.events),
        "not_on": [
            {"objects": [one.object for one in group], "field": field, "why": why}
            for (field, why), group in groupby(found.not_on, lambda one: (one.field, one.why))
        ],
    }
