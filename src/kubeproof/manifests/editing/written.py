"""The objects of an input as they are written: which document of which file, and their plain values."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kubeproof.errors import InternalError
from kubeproof.manifests.editing.operations import Operation, Path, Plain, apply, value_at
from kubeproof.manifests.editing.splicing import CannotSpliceError, append_object, read_plain, remove_document, splice
from kubeproof.manifests.yaml.writer import as_yaml
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

Texts = tuple[tuple[str, str], ...]  # files by name and content
OWN_GROUP = "kubeproof.dev/"
APPLIED = " (as event "
DO_NOT_TOUCH = "kubeproof.dev/do-not-touch"
DENIED_EDITS = "kubeproof.dev/deny-edits"


@dataclass(frozen=True, slots=True)
class Written:
    """One object, and where it stands."""

    file: str
    document: int  # of the file
    base: Path  # of the object in its document: () unless it is an item of a list, or what an event applies
    value: Plain
    applied_by: str = ""  # the event that applies it; "": it is there from the start

    @property
    def kind(self) -> str:
        return str(self.value.get("kind", ""))

    @property
    def api_version(self) -> str:
        return str(self.value.get("apiVersion", ""))

    @property
    def name(self) -> str:
        return str(value_at(self.value, ("metadata", "name")) or "")

    @property
    def namespace(self) -> str:
        """As written; "" if it states none."""
        return str(value_at(self.value, ("metadata", "namespace")) or "")

    @property
    def ref(self) -> str:
        """How verdicts name it: "Deployment/shop/web", and by which event it is applied."""
        told = f"{APPLIED}{self.applied_by} applies it)" if self.applied_by else ""
        return f"{name_object(self.value)}{told}"

    @property
    def is_protected(self) -> bool:
        """True if an annotation says that nobody is to touch it."""
        said = value_at(self.value, ("metadata", "annotations", DO_NOT_TOUCH))
        return said is not None and str(said).lower() != "false"

    @property
    def denied(self) -> frozenset[str]:
        """The kinds of edits that an annotation says are not to be made here."""
        said = value_at(self.value, ("metadata", "annotations", DENIED_EDITS))
        return frozenset(word.strip() for word in str(said).split(",")) if said is not None else frozenset()

    def at(self, *path: str | int) -> Plain:
        """What stands in a field; None if nothing does."""
        return value_at(self.value, path)


_CLUSTERED = frozenset(
    {"Node", "PriorityClass", "Namespace", "PersistentVolume", "StorageClass", "DeschedulerPolicy",
     "KubeSchedulerConfiguration"}
)  # fmt: skip


def name_object(value: Plain) -> str:
    """How verdicts name an object: "Deployment/shop/web"."""
    kind, name = str(value_at(value, ("kind",)) or ""), str(value_at(value, ("metadata", "name")) or "")
    namespace = str(value_at(value, ("metadata", "namespace")) or "default")
    if not name:
        return kind  # policies and configurations need none
    return f"{kind}/{name}" if kind in _CLUSTERED else f"{kind}/{namespace}/{name}"


def list_written(texts: Texts) -> tuple[Written, ...]:
    """The objects of the files that may be changed: those of Kubeproof itself, which ask, are left out.

    What events of a Scenario apply is no question, but what somebody is about to do: that may be changed.
    """
    plain = [one for file, text in texts for one in _objects(file, text)]
    events = [one for file, text in texts for one in _list_applications(file, text)]
    by_file = {one.file: one.event for one in events if one.file}
    found = [replace(one, applied_by=by_file.get(os.path.normpath(one.file), "")) for one in plain]
    found += [one.written for one in events if one.written is not None]
    count: dict[str, int] = {}
    for one in found:
        count[one.ref] = count.get(one.ref, 0) + 1
    return tuple(one for one in found if count[one.ref] == 1)  # of two of one name only one counts


class _Application(NamedTuple):
    """An event that applies a manifest: a file, or one of its own."""

    event: str
    file: str
    written: Written | None


def _list_applications(file: str, text: str) -> Iterator[_Application]:
    if OWN_GROUP not in text or ("apply:" not in text and '"apply"' not in text):
        return
    for number, root in enumerate(read_plain(text, file)):
        events = value_at(root, ("spec", "events")) if isinstance(root, dict) else None
        for place, event in enumerate(events if isinstance(events, list) else ()):
            told = event.get("apply") if isinstance(event, dict) else None
            if not isinstance(told, dict):
                continue
            name = str(told.get("name") or f"apply {place + 1}")
            other = os.path.normpath(os.path.join(os.path.dirname(file), str(told["file"]))) if "file" in told else ""
            base: Path = ("spec", "events", place, "apply", "manifest")
            own = told.get("manifest")
            yield _Application(name, other, Written(file, number, base, own, name) if isinstance(own, dict) else None)


def _objects(file: str, text: str) -> Iterator[Written]:
    for number, root in enumerate(read_plain(text, file)):
        yield from _unpack(file, number, (), root)


def _unpack(file: str, document: int, base: Path, value: Plain) -> Iterator[Written]:
    if not isinstance(value, dict) or str(value.get("apiVersion", "")).startswith(OWN_GROUP):
        return
    items = value.get("items")
    if str(value.get("kind", "")).endswith("List") and isinstance(items, list):
        for number, item in enumerate(items):
            yield from _unpack(file, document, (*base, "items", number), item)
    elif "kind" in value:
        yield Written(file, document, base, value)


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Files after a change."""

    texts: Texts
    refused: tuple[tuple[str, str], ...] = ()  # (file, why): written anew, so that only a patch can be given


def rewrite(
    texts: Texts,
    changes: Sequence[tuple[Written, tuple[Operation, ...]]],
    added: Iterable[Plain],
    removed: Sequence[Written] = (),
) -> Rewritten:
    """The files with the changes of objects, with new objects at the end of the file of the first one, and without
    those that go.

    A file in which a change has no place of its own is written anew: as good for verifying, not for writing back.
    """
    by_name = dict(texts)
    refused: dict[str, str] = {}
    for one, operations in changes:
        based = tuple(replace(operation, path=(*one.base, *operation.path)) for operation in operations)
        try:
            by_name[one.file] = splice(by_name[one.file], one.document, based, file=one.file)
        except CannotSpliceError as problem:
            refused[one.file] = str(problem)
            by_name[one.file] = _write_anew(by_name[one.file], one, based)
    new = list(added)
    if new and not changes:
        raise InternalError("E700 nobody says where new objects are to stand.")
    for value in new:
        file = changes[0][0].file
        by_name[file] = append_object(by_name[file], value)
    for one in sorted(removed, key=lambda gone: (gone.document, str(gone.base)), reverse=True):
        by_name[one.file] = _remove(by_name[one.file], one, refused)
    return Rewritten(tuple((file, by_name[file]) for file, _ in texts), tuple(refused.items()))


def _remove(text: str, one: Written, refused: dict[str, str]) -> str:
    """The text without an object: a whole document, or an item of a list."""
    try:
        if one.base:
            return splice(text, one.document, (Operation(one.base, is_removed=True),), file=one.file)
        return remove_document(text, one.document, file=one.file)
    except CannotSpliceError as problem:
        refused[one.file] = str(problem)
        if one.base:
            return _write_anew(text, one, (Operation(one.base, is_removed=True),))
        roots = read_plain(text, one.file)
        return "---\n".join(as_yaml(root) for number, root in enumerate(roots) if number != one.document)


def _write_anew(text: str, one: Written, operations: tuple[Operation, ...]) -> str:
    roots = read_plain(text, one.file)
    roots[one.document] = apply(roots[one.document], operations)
    return "---\n".join(as_yaml(root) for root in roots)
