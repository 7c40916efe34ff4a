"""What lies in a directory of the input: manifests, charts and kustomizations, and what of it is taken.

A directory with a chart or kustomization is that recipe: what is beside and below it are its ingredients. Only other
kustomizations are looked for there, so that variants of it are told of.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from kubeproof.errors import HostileInputError, ManifestError
from kubeproof.manifests.folders import kustomizations
from kubeproof.manifests.folders.fence import Fence, fence_of
from kubeproof.manifests.folders.kustomizations import Kustomization, Kustomizations, read_kustomization
from kubeproof.manifests.loaded import ReadingNote
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.manifests.yaml.printable import printable
from kubeproof.values import dataclass

CHART = "Chart.yaml"
RECIPES = (CHART, *kustomizations.NAMES)
_ENDINGS = (".yaml", ".yml", ".json")
_LIBRARIES = {
    "node_modules": "",
    "vendor": "modules.txt",
}  # folders that tools fill with code of others, and their mark

ReadFile = Callable[[str], bytes]


@dataclass(frozen=True, slots=True)
class Survey:
    """The files of a directory that are to be read or rendered, links that lead out of it, and what is not taken."""

    files: tuple[str, ...]
    outside: tuple[str, ...]
    notes: tuple[ReadingNote, ...] = ()


@dataclass(slots=True)
class _Walk:
    """What was met so far."""

    files: list[str]
    outside: list[str]
    below: list[str]  # kustomizations inside the directory of another recipe


def survey(path: str, bounds: Bounds, inside: Fence, read: ReadFile) -> Survey:
    """The manifests and recipes below a directory, in the order in which `kubectl apply -R` takes them."""
    walk = _walk(path, bounds, inside)
    files = sorted(walk.files, key=lambda file: file.split(os.sep))
    outside = tuple(sorted(walk.outside))
    recipes = [os.path.normpath(file) for file in files if os.path.basename(file) in kustomizations.NAMES]
    if not recipes:
        return Survey(tuple(files), outside)
    below = [os.path.normpath(file) for file in walk.below]
    known = _read_all([*recipes, *below], bounds, inside, read)
    if os.path.dirname(recipes[0]) == os.path.normpath(path):  # the user named this one
        return Survey(tuple(files), outside, tuple(_note_overlays(known[recipes[0]], known, below)))
    met = Kustomizations([known[file] for file in recipes], known.values())
    chosen, notes = met.choose()
    left = {*recipes, *(part for one in met.found for part in one.parts)} - {one.file for one in chosen}
    return Survey(tuple(file for file in files if os.path.normpath(file) not in left), outside, tuple(notes))


def manifests_of(recipe: str, bounds: Bounds, read: ReadFile) -> list[tuple[str, Fence]]:
    """The files of manifests that a kustomization and all it builds on are made of, each with where it must lie.

    As for kustomize, a file must lie below the kustomization that names it.
    """
    known = _read_all([os.path.normpath(recipe)], bounds, Fence(), read)
    found: dict[str, Fence] = {}
    for one in known.values():
        below = fence_of([one.folder or "."])
        found |= {file: below for file in one.manifests if file.endswith(_ENDINGS) and below.admits(file)}
    return [(file, found[file]) for file in sorted(found)]


def _note_overlays(top: Kustomization, known: dict[str, Kustomization], below: list[str]) -> list[ReadingNote]:
    """Tells of kustomizations further down that build on the one that was named."""
    everybody = Kustomizations(known.values())
    above = [file for file in sorted(below) if file in known and top.file in everybody.builds_on(known[file])]
    return [kustomizations.note_variants(top.file, above)] if above else []


def _read_all(files: list[str], bounds: Bounds, inside: Fence, read: ReadFile) -> dict[str, Kustomization]:
    """The kustomizations with all that they build on, by file."""
    known: dict[str, Kustomization] = {}
    pending = list(files)
    while pending and len(known) < bounds.files:
        file = pending.pop()
        if file in known or not inside.admits(file):
            continue
        try:
            content = read(file)
        except ManifestError:
            content = b""
        known[file] = read_kustomization(file, content, bounds)
        pending += [*known[file].bases, *known[file].components]
    return known


def _walk(path: str, bounds: Bounds, inside: Fence) -> _Walk:
    walk = _Walk([], [], [])
    pending, visited = [(path, False)], set()
    while pending:
        directory, is_below = pending.pop()
        real = os.path.realpath(directory)
        if real in visited:
            continue
        visited.add(real)
        inner, found, is_recipe = _entries(directory)
        out = [one for one in (*inner, *found) if os.path.islink(one) and not inside.admits(one)]
        walk.outside += [] if is_below else out
        new = [one for one in found if one not in out]
        if is_below:
            walk.below += [one for one in new if os.path.basename(one) in kustomizations.NAMES]
        else:
            walk.files += new
        pending += [(one, is_below or is_recipe) for one in reversed(inner) if one not in out]
        if len(walk.files) > bounds.files or len(visited) > bounds.files:
            raise HostileInputError(
                f"more than {bounds.files:,} files",
                file=printable(path),
                line=0,
                remedy="Name fewer directories",
            )
    return walk


def _entries(directory: str) -> tuple[list[str], list[str], bool]:
    """Directories and manifests in a directory, sorted, hidden ones left out; or its recipe alone."""
    try:
        names = sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except OSError as problem:
        raise unreadable(directory, problem) from None
    paths = [os.path.join(directory, name) for name in names]
    inner = [path for path in paths if os.path.isdir(path) and not _is_library(path)]
    for recipe in RECIPES:
        if recipe in names:  # what is beside and below it are its ingredients
            return ([] if recipe == CHART else inner), [os.path.join(directory, recipe)], True
    return inner, [path for path in paths if path.endswith(_ENDINGS) and not os.path.isdir(path)], False


def _is_library(directory: str) -> bool:
    """True for packages of npm and vendored modules of Go, whose test data is nobody's cluster."""
    mark = _LIBRARIES.get(os.path.basename(directory))
    return mark is not None and os.path.exists(os.path.join(directory, mark))


def unreadable(path: str, problem: Exception) -> ManifestError:
    """The error for a path that the system does not open."""
    reason = (problem.strerror if isinstance(problem, OSError) else None) or "not a usable path"
    return ManifestError(
        f"cannot be read: {reason}", file=printable(path), line=0, remedy="Check the path and its permissions"
    )
