"""Advice with the lines that it is about: what it would write, as it stands in the files."""

from __future__ import annotations

from dataclasses import replace

from kubeproof.manifests.editing.places import find_place
from kubeproof.manifests.editing.written import Texts
from kubeproof.verify.explained import Remedy, tell_changes
from kubeproof.verify.result import IntentResult


def cite_lines(texts: Texts, result: IntentResult) -> IntentResult:
    """The result with file and line behind each thing to do; objects that are in no file have none."""
    told = result.explanation
    if told is None or not any(one.fields for one in told.changes):
        return result
    changes = tuple(_cite(texts, one) for one in told.changes)
    sentence = tell_changes(changes)
    return replace(result, remedy=sentence, explanation=replace(told, change=sentence, changes=changes))


def _cite(texts: Texts, one: Remedy) -> Remedy:
    found = (find_place(texts, field.object, field.path) for field in one.fields)
    return replace(one, places=tuple(place for place in found if place is not None))
