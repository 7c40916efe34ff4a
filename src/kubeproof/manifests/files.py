"""Finds the files of the input and reads them, never blocking on a pipe or following a loop of links."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn

from kubeproof.errors import HostileInputError, ManifestError, UsageError
from kubeproof.manifests.fence import REMEDY, Fence, fence_of
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

    A report of ours that lies in a directory of the input is told from manifests, and not to be read as one; a link
    that leads out of the input is not followed.
    """

    path: str | None
    shown: str
    content: bytes
    is_report: bool = False
    leads_out: bool = False


def listed(paths: Named) -> tuple[str, ...]:
    """The paths as texts; a single one is not taken for its letters."""
    if isinstance(paths, str | os.PathLike):
        return (os.fspath(paths),)
    return tuple(os.fspath(path) for path in paths)


def read_inputs(
    paths: Sequence[str],
    *,
    stdin: Callable[[], bytes] | None,
    bounds: Bounds,
    render: Render | None = None,
    fence: Fence | None = None,
) -> Iterator[InputFile]:
    """Yields the files that the paths name, each once, directories in sorted order, recipes rendered.

    Links that lead out of the fence, by default out of the named paths, are told and not followed.
    """
    if not paths:
        raise UsageError("no input", "Name files or directories, or - for standard input")
    inside = fence_of(paths) if fence is None else fence
    seen: set[str] = set()
    for path in paths:
        if path == STDIN:
            if STDIN not in seen:
                yield InputFile(None, "<stdin>", _read_stdin(stdin))
            seen.add(STDIN)
            continue
        is_named = not _is_directory(path)
        files, outside = ([path], []) if is_named else _manifests_below(path, bounds, inside)
        yield from (InputFile(link, printable(link), b"", leads_out=True) for link in outside)
        for file in files:
            real = os.path.realpath(file)
            if real not in seen:
                seen.add(real)
                is_recipe = os.path.basename(file) in RECIPES
                yield _rendered(file, bounds, render) if is_recipe else _read(file, bounds, is_named, inside)


def _read(file: str, bounds: Bounds, is_named: bool, inside: Fence) -> InputFile:
    content = read_file(file, bounds) if is_named else read_file(file, bounds, inside)
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


def read_file(path: str, bounds: Bounds, inside: Fence = Fence()) -> bytes:
    """The bytes of a regular file, at most one more than the bound; anything else is refused.

    What is opened is what was found to lie inside the fence, even if somebody puts a link in its place meanwhile.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        opened = path
        if inside.roots is not None:
            opened, flags = os.path.realpath(path), flags | getattr(os, "O_NOFOLLOW", 0)
            if not inside.admits(opened):
                raise ManifestError("leads out of the input", file=printable(path), line=0, remedy=REMEDY)
        descriptor = os.open(opened, flags)  # O_NONBLOCK: opening a FIFO must not wait for a writer
    except (OSError, ValueError) as problem:
        raise _unreadable(path, problem) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # looked at before Python refuses to open a directory
        os.close(descriptor)
        raise ManifestError("not a regular file", file=printable(path), line=0, remedy="Use - to read from a pipe")
    with os.fdopen(descriptor, "rb") as file:
        try:
            return file.read(bounds.file_bytes + 1)
        except OSError as problem:
            raise _unreadable(path, problem) from None


def _unreadable(path: str, problem: Exception) -> ManifestError:
    reason = (problem.strerror if isinstance(problem, OSError) else None) or "not a usable path"
    return ManifestError(
        f"cannot be read: {reason}", file=printable(path), line=0, remedy="Check the path and its permissions"
    )


def _manifests_below(path: str, bounds: Bounds, inside: Fence) -> tuple[list[str], list[str]]:
    """The files below a directory whose names say that they are manifests, and links that lead out of the fence."""
    files: list[str] = []
    outside: list[str] = []
    pending, visited = [path], set()
    while pending:
        directory = pending.pop()
        real = os.path.realpath(directory)
        if real in visited:
            continue
        visited.add(real)
        inner, found = _entries(directory)
        outside += [one for one in (*inner, *found) if os.path.islink(one) and not inside.admits(one)]
        files += [one for one in found if one not in outside]
        pending += [one for one in reversed(inner) if one not in outside]
        if len(files) > bounds.files or len(visited) > bounds.files:
            raise HostileInputError(
                f"more than {bounds.files:,} files",
                file=printable(path),
                line=0,
                remedy="Name fewer directories",
            )
    return sorted(files), sorted(outside)


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
