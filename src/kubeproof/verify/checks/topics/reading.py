"""What reading the input left out or assumed, told like everything else that needs no search."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeproof.manifests.loaded import (
    DUPLICATE,
    LEFT_ASIDE,
    NAMED,
    NAMESPACE,
    READING_NOTES,
    REFUSED,
    SKIPPED,
    ReadingNote,
)
from kubeproof.verify.checks.declaration import ERROR, INFO, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene

_SEVERITIES = {"error": ERROR, "warning": WARNING, "note": INFO}


def _find(id: str) -> Callable[[Scene], Iterator[Found]]:
    def find(scene: Scene) -> Iterator[Found]:
        return (_make_found(note) for note in scene.loaded.notes if note.id == id)

    return find


def _make_found(note: ReadingNote) -> Found:
    severity, also = _SEVERITIES[note.severity], tuple((note.what, place) for place in note.also)
    if note.id == REFUSED:
        return Found("", note.what, note.source, also, severity, note.why)
    return Found("", f"{note.what}: {note.why}", note.source, also, severity)


def _check(id: str, key: str, severity: str, explanation: str, remedy: str) -> Check:
    return Check(id, key, severity, READING_NOTES[id], explanation, remedy, _find(id))


CHECKS = (
    _check(
        SKIPPED,
        "no-manifest",
        INFO,
        "Values, dashboards, templates and settings of other tools lie among manifests; no cluster would take them. "
        "A file that is named on the command line must hold manifests.",
        "Nothing, unless it is meant as a manifest",
    ),
    _check(
        DUPLICATE,
        "duplicate-object",
        WARNING,
        "kubectl apply changes one object twice then, and what counts depends on the order of files. The last one is "
        "verified. A key that comes twice in a mapping is alike. It is info where both say the same, or stand in "
        "different folders, as variants do.",
        "Keep one of them",
    ),
    _check(
        REFUSED,
        "refused",
        ERROR,
        "The API server, or the program that renders it, refuses this file or object. It is not in the cluster that is "
        "verified, so no verdict speaks of it, and the exit code is 4 unless something is violated.",
        "Correct it",
    ),
    _check(
        LEFT_ASIDE,
        "variant",
        INFO,
        "A directory may hold one cluster in several variants: a base and its overlays, a chart and what it gives, "
        "sources and a release. One of them is verified; docs/reference/reading.md has the rule.",
        "Name the one you mean",
    ),
    _check(
        NAMED,
        "generated-name",
        INFO,
        "The API server makes up a name whenever such an object is created; kubectl apply refuses it.",
        "Give it a name if there is to be one of it",
    ),
    _check(
        NAMESPACE,
        "assumed-namespace",
        INFO,
        "A target or selector of a Scenario without a namespace means default, also where all others are elsewhere.",
        "Write the namespace",
    ),
)
