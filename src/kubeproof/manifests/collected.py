"""The files of an input and their documents, before anything is made of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import partial

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.manifests import tree
from kubeproof.manifests.fence import Fence
from kubeproof.manifests.files import InputFile
from kubeproof.manifests.guard import Budget
from kubeproof.manifests.objects import Document, unpack
from kubeproof.manifests.reader import read_documents
from kubeproof.manifests.reads import Reads
from kubeproof.manifests.reduced_text import write_reduced
from kubeproof.values import dataclass

_MOST_ERRORS = 20


@dataclass(slots=True)
class Collected:
    """The documents of the input, the files they came from, and what went wrong."""

    documents: list[Document] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    paths: dict[str, str | None] = field(default_factory=dict)  # shown name -> path
    errors: list[ManifestError] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)  # path or shown name -> what was read
    roots: dict[str, list[tree.Value]] = field(default_factory=dict)  # the same name -> its documents, unopened
    reads: Reads = field(default_factory=Reads)
    reports: list[str] = field(default_factory=list)  # files of ours that hold no manifests
    links: list[str] = field(default_factory=list)  # that lead out of the input
    inside: Fence = Fence()  # where files that a Scenario names may lie
    only_given: bool = False  # apply events may name given files only

    def texts(self) -> tuple[tuple[str, str], ...]:
        """What was read of the files, each thing in its line, for a replay without them."""
        return tuple((name, write_reduced(self.roots.get(name, ()), self.reads)) for name in self.contents)


def collect(files: Iterable[InputFile], budget: Budget) -> Collected:
    """Reads the files; what is wrong with one is kept, so that all of it can be told at once."""
    collected = Collected()
    for file in files:
        if file.is_report or file.leads_out:
            (collected.links if file.leads_out else collected.reports).append(file.shown)
            continue
        collected.files.append(file.shown)
        collected.paths[file.shown] = file.path
        collected.contents[os.path.normpath(file.path or file.shown)] = file.content
        attempt(collected, partial(_add_documents, collected, file, budget))
    return collected


def _add_documents(collected: Collected, file: InputFile, budget: Budget) -> None:
    collected.documents += documents_of(file, collected, budget)


def documents_of(file: InputFile, collected: Collected, budget: Budget) -> list[Document]:
    """The documents of one more file, which is remembered."""
    roots = list(read_documents(file.content, file=file.shown, budget=budget))
    collected.roots[os.path.normpath(file.path or file.shown)] = roots
    return [document for root in roots for document in unpack(root, file.shown, collected.reads)]


def attempt(collected: Collected, action: Callable[[], object]) -> None:
    """Runs the action; keeps its error for later unless it is hostile or there are enough."""
    try:
        action()
    except HostileInputError:
        raise
    except ManifestError as problem:
        collected.errors.append(problem)
        if len(collected.errors) >= _MOST_ERRORS:
            raise_all(collected.errors)


def raise_all(errors: list[ManifestError]) -> None:
    """Raises the first error with the text of all; nothing if there is none."""
    if not errors:
        return
    first = errors[0]
    first.args = ("\n".join(str(error) for error in errors),)
    raise first
