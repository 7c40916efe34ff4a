"""Finds the files of the input and reads them, never blocking on a pipe or following a loop of links."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn

from kubeproof.errors import HostileInputError, ManifestError, UsageError
from kubeproof.manifests.guard import Bounds
from kubeproof.manifests.own_reports import is_report
from kubeproof.manifests.printable import printable
from kubeproof.values import dataclass

STDIN = "-"
_ENDINGS = (".yaml", ".yml", ".json")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_CHART = "Chart.yaml"
RECIPES = (_CHART, *_KUSTOMIZATIONS)

Named = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]  # one path or several
Render = Callable[[str, Bounds], bytes]  # a recipe -> the manifests it stands for


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of the input: its path (None for standard input), the name to show, and its bytes.

    A report of ours that lies in a directory of the input is told from manifests, and not to be read as one.
    """

    path: str | None
    shown: str
    content: bytes
    is_report: bool = False


def listed(paths: Named) -> tuple[str, ...]:
    """The paths as texts; a single one is not taken for its letters."""
    if isinstance(paths, str | os.PathLike):
        return (os.fspath(paths),)
    return tuple(os.fspath(path) for path in paths)


def read_inputs(
    paths: Sequence[str], *, stdin: Callable[[], bytes] | None, bounds: Bounds, render: Render | None = None
) -> Iterator[InputFile]:
    """Yields the files that the paths name, each once, directories in sorted order, recipes rendered."""
    if not paths:
        raise UsageError("no input", "Name files or directories, or - for standard input")
    seen: set[str] = set()
    for path in paths:
        if path == STDIN:
            if STDIN not in seen:
                yield InputFile(None, "<stdin>", _read_stdin(stdin))
            seen.add(STDIN)
            continue
        is_named = not _is_directory(path)
        for file in [path] if is_named else _manifests_below(path, bounds):
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                is_recipe = os.path.basename(file) in RECIPES
                yield _rendered(file, bounds, render) if is_recipe else _read(file, bounds, is_named)


def _read(file: str, bounds: Bounds, is_named: bool) -> InputFile:
    content = read_file(file, bounds)
    return InputFile(
        file, printable(file), content, not is_named and file.endswith(".json") and is_report(content, bounds.nodes)
    )


def _rendered(recipe: str, bounds: Bounds, render: Render | None) -> InputFile:
    """What a recipe stands for; its lines are those of the rendered text, which is named as such."""
    if render is None:
        _refuse_recipe(recipe)
    else:
        return InputFile(None, rendered_name(printable(recipe)), render(recipe, bounds))


def rendered_name(recipe: str) -> str:
    """How rendered manifests are named: they are in no file."""
    return f"<rendered from {recipe}>"


def _read_stdin(stdin: Callable[[], bytes] | None) -> bytes:
    if stdin is None:
        raise UsageError("standard input is not available here", "Name a file instead of -")
    return stdin()


def read_file(path: str, bounds: Bounds) -> bytes:
    """The bytes of a regular file, at most one more than the bound; anything else is refused."""
    try:
        # O_NONBLOCK: opening a FIFO must not wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as problem:
        raise _unreadable(path, problem) from None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ManifestError("not a regular file", file=printable(path), line=0, remedy="Use - to read from a pipe")
        try:
            return file.read(bounds.file_bytes + 1)
        except OSError as problem:
            raise _unreadable(path, problem) from None


def _unreadable(path: str, problem: Exception) -> ManifestError:
    reason = (problem.strerror if isinstance(problem, OSError) else None) or "not a usable path"
    return ManifestError(
        f"cannot be read: {reason}", file=printable(path), line=0, remedy="Check the path and its permissions"
    )


def _manifests_below(path: str, bounds: Bounds) -> list[str]:
    """The files below a directory whose names say that they are manifests."""
    files: list[str] = []
    pending, visited = [path], set()
    while pending:
        directory = pending.pop()
        real = os.path.realpath(directory)
        if real in visited:
            continue
        visited.add(real)
        inner, found = _entries(directory)
        files += found
        pending += reversed(inner)
        if len(files) > bounds.files or len(visited) > bounds.files:
            raise HostileInputError(
                f"more than {bounds.files:,} files",
                file=printable(path),
                line=0,
                remedy="Name fewer directories",
            )
    return sorted(files)


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as problem:
        raise _unreadable(path, problem) from None


def _entries(directory: str) -> tuple[list[str], list[str]]:
    """Directories and manifests in a directory, sorted, hidden ones left out."""
    try:
        names = sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except OSError as problem:
        raise _unreadable(directory, problem) from None
    for recipe in RECIPES:
        if recipe in names:  # what is beside and below it are its ingredients
            return [], [os.path.join(directory, recipe)]
    inner, found = [], []
    for name in names:
        path = os.path.join(directory, name)
        if os.path.isdir(path):
            inner.append(path)
        elif name.endswith(_ENDINGS):
            found.append(path)
    return inner, found


def _refuse_recipe(recipe: str) -> NoReturn:
    """Charts and kustomizations are recipes, not objects; reading them as they are would mislead."""
    shown = printable(os.path.dirname(recipe))
    is_chart = os.path.basename(recipe) == _CHART
    raise ManifestError(
        f"a {'Helm chart' if is_chart else 'kustomization'}, which is not rendered here",
        file=shown,
        line=0,
        remedy=f"Run: {'helm template' if is_chart else 'kustomize build'} {shown} | kubeproof verify -",
    )
