"""The files of an input and their documents, before anything is made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from functools import partial
from typing import NoReturn

from kubeproof.cluster.objects import Source
from kubeproof.errors import HostileInputError, ManifestError, RecipeError, ScenarioError
from kubeproof.manifests.folders import recognising
from kubeproof.manifests.folders.fence import Fence
from kubeproof.manifests.folders.files import InputFile, Unit
from kubeproof.manifests.loaded import DUPLICATE, ReadingNote
from kubeproof.manifests.objects import Document, unpack
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.guard import Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import RepeatedKey, read_documents
from kubeproof.manifests.yaml.reads import Reads
from kubeproof.manifests.yaml.reduced_text import write_reduced
from kubeproof.values import dataclass

_MOST_ERRORS = 20
_OURS = b"kubeproof.dev/"


@dataclass(slots=True)
class Collected:
    """The documents of the input, the files they came from, what was left out, and what went wrong."""

    documents: list[Document] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    paths: dict[str, str | None] = field(default_factory=dict)  # shown name -> path
    units: dict[str, Unit] = field(default_factory=dict)  # shown name -> what it is a part of
    errors: list[ManifestError | RecipeError] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)  # path or shown name -> what was read
    roots: dict[str, list[tree.Value]] = field(default_factory=dict)  # the same name -> its documents, unopened
    reads: Reads = field(default_factory=Reads)
    reports: list[str] = field(default_factory=list)  # files of ours that hold no manifests
    links: list[str] = field(default_factory=list)  # that lead out of the input
    inside: Fence = Fence()  # where files that a Scenario names may lie
    only_given: bool = False  # apply events may name given files only
    is_tolerant: bool = False  # what is wrong with one object does not hide the others
    skipped: dict[str, list[Source]] = field(default_factory=dict)  # reason -> what was left out for it
    notes: list[ReadingNote] = field(default_factory=list)

    def texts(self) -> tuple[tuple[str, str], ...]:
        """What was read of the files, each thing in its line, for a replay without them."""
        return tuple((name, write_reduced(self.roots.get(name, ()), self.reads)) for name in self.contents)

    def is_unrendered(self, file: str) -> bool:
        """True for a file of a recipe that could not be rendered."""
        unit = self.units.get(file)
        return unit is not None and unit.is_unrendered

    @property
    def unpatched(self) -> frozenset[str]:
        """The files of recipes that could not be rendered."""
        return frozenset(file for file in self.files if self.is_unrendered(file))

    def skip(self, reason: str, source: Source) -> None:
        """Leaves out a file or document that is no manifest."""
        self.skipped.setdefault(reason, []).append(source)

    def drop(self, documents: Iterable[Document]) -> None:
        """Takes documents out of the input, also of what a replay reads."""
        dropped = {id(document.mapping) for document in documents}
        self.documents = [one for one in self.documents if id(one.mapping) not in dropped]
        self.reads.dropped |= dropped


def collect(files: Iterable[InputFile], budget: Budget, *, is_tolerant: bool = False) -> Collected:
    """Reads the files; what is wrong with one is kept, so that all of it can be told at once."""
    collected = Collected(is_tolerant=is_tolerant)
    for file in files:
        if file.is_report or file.leads_out:
            (collected.links if file.leads_out else collected.reports).append(file.shown)
        elif file.problem is not None:
            keep_problem(collected, file.problem)
        elif file.note is not None:
            collected.notes.append(file.note)
        elif file.is_found and recognising.lacks_objects(file.content):
            if not _is_blank(file.content):
                collected.skip(recognising.NO_OBJECT, Source(file.shown, 1))
        else:
            before = len(collected.errors)
            is_read = attempt(collected, partial(_add_documents, collected, file, budget))
            if file.unit is not None and file.unit.is_unrendered:
                excuse(collected, before, Source(file.shown, 1), recognising.UNPATCHED)
            if not is_read and is_tolerant and _OURS in file.content:  # without its Scenario it asks something else
                raise_all(collected.errors)
    return collected


def _is_blank(content: bytes) -> bool:
    """True for a file with nothing but comments and separators."""
    return all(not line.strip(b" \t\r-") or line.lstrip().startswith(b"#") for line in content.split(b"\n"))


def _add_documents(collected: Collected, file: InputFile, budget: Budget) -> None:
    repeated: list[RepeatedKey] | None = None if _OURS in file.content else []
    try:
        roots = _read(file, budget, repeated)
    except ManifestError as problem:
        reason = recognising.why_unparsed(file.content) if _may_skip(file, problem) else ""
        if not reason:
            raise
        collected.skip(reason, Source(file.shown, problem.line))
        return
    if file.is_found:
        roots = _objects_of(collected, file, roots)
        if not roots:
            return
    _remember(collected, file, roots)
    collected.notes += [_note_key(file, key) for key in repeated or ()]
    for root in roots:
        collected.documents += unpack(root, file.shown, collected.reads, partial(_refuse, collected))


def _read(file: InputFile, budget: Budget, repeated: list[RepeatedKey] | None) -> list[tree.Value]:
    if file.roots is not None:
        return list(file.roots)
    return list(read_documents(file.content, file=file.shown, budget=budget, repeated=repeated))


def _note_key(file: InputFile, key: RepeatedKey) -> ReadingNote:
    why = "the last one counts, as for kubectl; other tools refuse it"
    what, place = f"key {printable(key.key)} again in the same mapping", Source(file.shown, key.line)
    return ReadingNote(DUPLICATE, "warning", what, why, place, (Source(file.shown, key.first),))


def _may_skip(file: InputFile, problem: ManifestError) -> bool:
    return file.is_found and not (isinstance(problem, HostileInputError) and problem.exhausts_input)


def _objects_of(collected: Collected, file: InputFile, roots: list[tree.Value]) -> list[tree.Value]:
    """The documents of a file that are objects; if there is any, one that has no kind is meant as one, too."""
    reasons = [recognising.why_no_object(root) for root in roots]
    is_mixed = "" in reasons
    kept = []
    for root, reason in zip(roots, reasons, strict=True):
        if not reason or (is_mixed and reason == recognising.NO_OBJECT):
            kept.append(root)
        elif is_mixed or root is roots[0]:
            collected.skip(reason, Source(file.shown, root.line))
    return kept


def _remember(collected: Collected, file: InputFile, roots: list[tree.Value]) -> None:
    collected.files.append(file.shown)
    collected.paths[file.shown] = file.path
    if file.unit is not None:
        collected.units[file.shown] = file.unit
    name = os.path.normpath(file.path or file.shown)
    collected.contents[name] = file.content
    collected.roots[name] = roots


def _refuse(collected: Collected, value: tree.Value, problem: ManifestError) -> None:
    """Keeps the error of something that is no object, which a replay does not read either."""
    keep_problem(collected, problem)
    collected.reads.dropped.add(id(value))


def documents_of(file: InputFile, collected: Collected, budget: Budget) -> list[Document]:
    """The documents of one more file, which is remembered."""
    roots = list(read_documents(file.content, file=file.shown, budget=budget))
    collected.roots[os.path.normpath(file.path or file.shown)] = roots
    return [document for root in roots for document in unpack(root, file.shown, collected.reads)]


def attempt(collected: Collected, action: Callable[[], object]) -> bool:
    """Runs the action; keeps its error for later unless nothing can be read after it. True if there was none."""
    try:
        action()
    except HostileInputError as problem:
        if not collected.is_tolerant or problem.exhausts_input:
            raise
        keep_problem(collected, problem)
    except ManifestError as problem:
        keep_problem(collected, problem)
    else:
        return True
    return False


def excuse(collected: Collected, before: int, source: Source, reason: str) -> None:
    """Takes back the errors since then, of something that is no manifest, and notes why."""
    if len(collected.errors) > before:
        del collected.errors[before:]
        collected.skip(reason, source)


def keep_problem(collected: Collected, problem: ManifestError | RecipeError) -> None:
    """Keeps an error for later, unless there are enough, or it is about no manifest."""
    if isinstance(problem, ScenarioError) or not (collected.is_tolerant or isinstance(problem, ManifestError)):
        raise problem
    collected.errors.append(problem)
    if len(collected.errors) >= _MOST_ERRORS and not collected.is_tolerant:
        raise_all(collected.errors)


def raise_all(errors: Sequence[ManifestError | RecipeError]) -> None:
    """Raises the first error with the text of all; nothing if there is none."""
    if errors:
        raise_first(errors)


def raise_first(errors: Sequence[ManifestError | RecipeError]) -> NoReturn:
    """Raises the first error with the text of all."""
    first = errors[0]
    first.args = ("\n".join(str(error) for error in errors[:_MOST_ERRORS]),)
    raise first
