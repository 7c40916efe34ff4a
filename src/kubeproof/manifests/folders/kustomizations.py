"""What kustomizations are made of, and which of several in a directory stand for one cluster.

A kustomization that another one builds on is a part of it. Of several that build on the same base and lie beside each
other as variants do (`overlays/dev`, `overlays/production`) one is taken: the one for production if a name says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from kubeproof.cluster.objects import Source
from kubeproof.errors import ManifestError
from kubeproof.manifests.loaded import LEFT_ASIDE, ReadingNote
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import Mapping, Scalar, Value
from kubeproof.manifests.yaml.tree import Sequence as List
from kubeproof.values import dataclass

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_BASES = ("resources", "bases")
_COMPONENTS = "components"
_MOST_PATHS = 10_000  # of one kustomization that are looked for
_SHOWN = 3
_FOLDERS_OF_VARIANTS = ("overlay", "env", "environment", "variant", "stage", "cluster")  # and several of them
_FIRST = ("production", "prod", "prd", "live", "release", "main")
_STAGES = ("dev", "develop", "development", "test", "testing", "qa", "uat", "stage", "staging", "stg", "preprod", "ci")
_PLACES = ("local", "minikube", "kind", "k3d", "k3s", "gke", "eks", "aks", "openshift", "gcp", "aws", "azure")
_SHAPES = ("default", "demo", "sandbox", "ha", "small", "large", "e2e")
_VARIANTS = frozenset((*_FIRST, *_STAGES, *_PLACES, *_SHAPES))


@dataclass(frozen=True, slots=True)
class Kustomization:
    """A kustomization as far as it says what it is made of; all paths are normal ones."""

    file: str
    is_component: bool = False  # a part by its own word
    bases: tuple[str, ...] = ()  # other kustomizations among its resources
    components: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()  # files among its resources
    parts: tuple[str, ...] = ()  # all files it names, patches and values among them

    @property
    def folder(self) -> str:
        return os.path.dirname(self.file)


def recipe_in(folder: str) -> str | None:
    """The kustomization of a directory."""
    paths = (os.path.join(folder, name) for name in NAMES)
    return next((path for path in paths if os.path.isfile(path)), None)


def read_kustomization(file: str, content: bytes, bounds: Bounds) -> Kustomization:
    """What a kustomization says; one that cannot be read says nothing, and its program tells why."""
    try:
        roots = list(read_documents(content, file=printable(file), budget=Budget(bounds)))
    except ManifestError:
        roots = []
    found = [root for root in roots if isinstance(root, Mapping)]
    if not found:
        return Kustomization(file)
    folder, root = os.path.dirname(file), found[0]
    resources = [path for key in _BASES for path in _paths(folder, root.get(key))]
    bases = (recipe_in(path) for path in resources)
    components = (recipe_in(path) for path in _paths(folder, root.get(_COMPONENTS)))
    return Kustomization(
        file,
        getattr(root.get("kind"), "text", "") == "Component",
        tuple(path for path in bases if path is not None),
        tuple(path for path in components if path is not None),
        tuple(path for path in resources if os.path.isfile(path)),
        tuple(path for path in _paths(folder, root) if os.path.isfile(path)),
    )


def _paths(folder: str, value: Value | None) -> Iterator[str]:
    """What the texts in a value may name; nothing is looked for on other machines."""
    pending, left = [value], _MOST_PATHS
    while pending and left:
        one, left = pending.pop(0), left - 1
        if isinstance(one, List):
            pending += one.items
        elif isinstance(one, Mapping):
            pending += [entry.value for entry in one.entries.values()]
        elif isinstance(one, Scalar) and 0 < len(one.text) < 300 and not {"\0", "\n"} & set(one.text):
            yield os.path.normpath(os.path.join(folder, one.text))


class Kustomizations:
    """Those of a directory, with those that they build on, wherever these are."""

    def __init__(self, found: Iterable[Kustomization], others: Iterable[Kustomization] = ()) -> None:
        self.found = sorted(found, key=lambda one: one.file)
        self._known = {one.file: one for one in (*others, *self.found)}

    def builds_on(self, one: Kustomization, *, with_components: bool = False) -> set[str]:
        """All kustomizations that this one builds on."""
        seen: set[str] = set()
        pending = [one]
        while pending:
            current = pending.pop()
            inner = (*current.bases, *(current.components if with_components else ()))
            new = [path for path in inner if path not in seen]
            seen.update(new)
            pending += [self._known[path] for path in new if path in self._known]
        return seen

    def roots(self) -> list[Kustomization]:
        """Those that nobody builds on."""
        used = {path for one in self.found for path in self.builds_on(one, with_components=True) - {one.file}}
        return [one for one in self.found if one.file not in used and not one.is_component]

    def choose(self) -> tuple[list[Kustomization], list[ReadingNote]]:
        """The kustomizations to render, and notes about the variants and parts that are not."""
        chosen: list[Kustomization] = []
        left: dict[str, list[Kustomization]] = {}
        for one in sorted(self.roots(), key=lambda one: (*rank(one.folder), one.file)):
            rival = next((other for other in chosen if self._are_variants(one, other)), None)
            if rival is None:
                chosen.append(one)
            else:
                left.setdefault(rival.file, []).append(one)
        notes = [note_variants(file, [one.file for one in left[file]]) for file in sorted(left)]
        return sorted(chosen, key=lambda one: one.file), [*notes, *self._note_parts()]

    def _are_variants(self, one: Kustomization, other: Kustomization) -> bool:
        return bool(self.builds_on(one) & self.builds_on(other)) and lie_as_variants(one.folder, other.folder)

    def _note_parts(self) -> Iterator[ReadingNote]:
        standing = {one.file for one in self.roots()}
        parts = [one for one in self.found if one.file not in standing]
        if parts:
            first, *others = parts
            yield ReadingNote(
                LEFT_ASIDE,
                "note",
                f"{_list_files([one.file for one in parts])} not rendered alone",
                "others build on it" if not others else "others build on them",
                Source(printable(first.file), 0),
                tuple(Source(printable(one.file), 0) for one in others),
            )


def lie_as_variants(one: str, other: str) -> bool:
    """True if two paths differ in one folder only, which is that of a variant by its name or place."""
    parts, others = one.split(os.sep), other.split(os.sep)
    if len(parts) != len(others):
        return False
    differing = [number for number in range(len(parts)) if parts[number] != others[number]]
    if len(differing) != 1:
        return False
    at = differing[0]
    is_placed = at > 0 and parts[at - 1].lower().removesuffix("s") in _FOLDERS_OF_VARIANTS
    return is_placed or all(set(_words(path[at])) & _VARIANTS for path in (parts, others))


def rank(folder: str) -> tuple[int, int, int]:
    """Where a folder stands among its variants: the one for production first, by its whole name before a part."""
    words = [_words(part) for part in reversed(folder.split(os.sep)) if part]
    whole = next((_FIRST.index(name[0]) for name in words if len(name) == 1 and name[0] in _FIRST), len(_FIRST))
    partly = any(set(name) & set(_FIRST) for name in words)
    return whole, not partly, len(folder)


def _words(name: str) -> list[str]:
    return [word for word in name.lower().replace("_", "-").replace(".", "-").split("-") if word]


def note_variants(taken: str, left: Sequence[str]) -> ReadingNote:
    """The one line that says which of several variants was taken, and which were not."""
    shown = printable(os.path.dirname(taken) or ".")
    return ReadingNote(
        LEFT_ASIDE,
        "note",
        f"{_list_files(left)} left out",
        f"the same workloads in another variant; {shown} is verified",
        Source(printable(taken), 0),
        tuple(Source(printable(path), 0) for path in left),
    )


def _list_files(files: Sequence[str]) -> str:
    shown = ", ".join(printable(os.path.dirname(file) or ".") for file in files[:_SHOWN])
    return f"{shown} and {len(files) - _SHOWN} more" if len(files) > _SHOWN else shown
