"""What is to be told of the reading itself, in the order of IDs and places."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.objects import Source
from kubeproof.errors import ManifestError, RecipeError
from kubeproof.manifests.folders.collected import Collected
from kubeproof.manifests.folders.recognising import UNRENDERED
from kubeproof.manifests.loaded import REFUSED, SKIPPED, ReadingNote


def notes_of(collected: Collected) -> tuple[ReadingNote, ...]:
    """Everything that was left out or assumed while reading, refused objects among them."""
    found = [*_note_skipped(collected), *map(refusal, collected.errors), *collected.notes]
    return tuple(sorted(dict.fromkeys(found), key=lambda note: (note.id, note.source.file, note.source.line)))


def _note_skipped(collected: Collected) -> Iterable[ReadingNote]:
    """One note per reason."""
    for reason in sorted(collected.skipped):
        first, *others = collected.skipped[reason]
        what = f"{first.file} and {len(others)} more" if others else first.file
        why, is_unrendered = f"left out: {reason}", reason in UNRENDERED
        yield ReadingNote(SKIPPED, "note", what, why, first, tuple(others), is_unrendered=is_unrendered)


def refusal(problem: ManifestError | RecipeError) -> ReadingNote:
    """A file or object that is refused, so that no verdict speaks of it; a warning if that is a part of a recipe."""
    is_partly_read = isinstance(problem, ManifestError) and problem.rest is not None
    severity = "warning" if is_partly_read else "error"
    return ReadingNote(REFUSED, severity, problem.problem, problem.remedy, Source(problem.file, problem.line))
