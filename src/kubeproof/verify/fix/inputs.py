"""The input of a repair: the files that may be written are those that are verified."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from kubeproof.errors import KubeproofError
from kubeproof.manifests.editing.patches import kustomize_patch
from kubeproof.manifests.editing.written import Rewritten, Texts, Written, list_written, rewrite
from kubeproof.manifests.load import ASSUMED_FILE, GIVEN_FILE, load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.values import dataclass
from kubeproof.verify.fix.edits import Edit
from kubeproof.verify.fix.result import FileChange


@dataclass(frozen=True, slots=True)
class Input:
    """What is verified and changed."""

    loaded: Loaded
    texts: Texts
    in_place: frozenset[str]  # files that can be written back; others get a patch
    objects: tuple[Written, ...]


def open_input(loaded: Loaded) -> Input:
    """The files of the input as they lie on the disk, if they read as what was loaded; else what was read of them."""
    whole = tuple((name, _content(name, text)) for name, text in loaded.texts)
    is_same = _reads_as(whole, loaded)
    texts = whole if is_same else loaded.texts
    in_place = frozenset(name for name, _ in texts if is_same and os.path.isfile(name))
    return Input(_reload(texts, loaded), texts, in_place, list_written(texts))


def _content(name: str, text: str) -> str:
    """The file as it is, or what was read of it if it is none that can be written."""
    if name in (ASSUMED_FILE, GIVEN_FILE) or not os.path.isfile(name):
        return text
    try:
        with open(name, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return text


def _reads_as(texts: Texts, loaded: Loaded) -> bool:
    try:
        again = load_texts(texts)
    except KubeproofError:
        return False
    return (again.setup, again.scenario) == (loaded.setup, loaded.scenario)


def _reload(texts: Texts, loaded: Loaded) -> Loaded:
    """The input as its candidates are read; what says it is about nodes and accepted violations is kept."""
    return load_texts(texts) if texts else loaded


def is_untouchable(one: Written) -> bool:
    """True for objects that no file has: nodes that are assumed or told."""
    return one.file in (ASSUMED_FILE, GIVEN_FILE)


def load_change(given: Input, edits: Sequence[Edit]) -> Loaded:
    """The input with the edits, and with its texts as they are then."""
    texts = change(given, edits).texts
    return replace(load_texts(texts, keeps_texts=False), texts=texts)


def change(given: Input, edits: Sequence[Edit]) -> Rewritten:
    """The files with the edits."""
    changes = [change for edit in edits for change in edit.changes]
    added = [value for edit in edits for value in edit.added]
    return rewrite(given.texts, changes, added, [one for edit in edits for one in edit.removed])


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A change as people take it over."""

    files: tuple[FileChange, ...]  # those that can be written
    patch_only: tuple[tuple[str, str], ...]  # files that cannot, each with the reason
    patch: str  # for kustomize


def write_out(given: Input, edits: Sequence[Edit]) -> WrittenOut:
    """The files before and after, and a patch for those that cannot be changed in place."""
    rewritten = change(given, edits)
    refused, old = dict(rewritten.refused), dict(given.texts)
    changed = [(file, text) for file, text in rewritten.texts if text != old[file]]
    reasons = {file: refused.get(file, "it is not a file of the input") for file, _ in changed}
    writable = [file for file, _ in changed if file in given.in_place and file not in refused]
    changes = [(one, operations) for edit in edits for one, operations in edit.changes if operations]
    return WrittenOut(
        tuple(FileChange(file, old[file], text) for file, text in changed if file in writable),
        tuple((file, why) for file, why in reasons.items() if file not in writable),
        kustomize_patch(
            changes,
            [value for edit in edits for value in edit.added],
            [one for edit in edits for one in edit.removed],
        ),
    )
