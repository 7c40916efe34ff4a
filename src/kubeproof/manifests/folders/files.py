"""Finds the files of the input and reads them, never blocking on a pipe or following a loop of links."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NoReturn

from kubeproof.cluster.objects import Source
from kubeproof.errors import ManifestError, RecipeError, UsageError
from kubeproof.manifests.folders.directories import CHART, RECIPES, manifests_of, survey, unreadable
from kubeproof.manifests.folders.fence import REMEDY, Fence, fence_of
from kubeproof.manifests.folders.own_reports import is_report
from kubeproof.manifests.loaded import SKIPPED, ReadingNote
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Value
from kubeproof.values import dataclass

STDIN = "-"
_UNPATCHED = "Until then its files are verified as they are, without its patches"

MOST_RENDERING_S = 30.0  # that recipes which nobody named may take together before no further one is begun

Named = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]  # one path or several
Render = Callable[[str, Bounds], bytes]  # a recipe -> the manifests it stands for


@dataclass(frozen=True, slots=True)
class Unit:
    """Files that belong together: those of one directory, or what one recipe stands for."""

    folder: str
    is_named: bool = False  # by the user, who wants it whatever else there is
    is_recipe: bool = False
    is_chart: bool = False
    is_unrendered: bool = False  # the files of a recipe that could not be rendered, without what it does to them


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
    is_found: bool = False  # in a directory: nobody said that it holds manifests
    problem: ManifestError | RecipeError | None = None  # why there is no content
    note: ReadingNote | None = None  # what is to be told of others: there is no content
    unit: Unit | None = None  # what it was found as a part of
    roots: tuple[Value, ...] | None = None  # its documents, where it was never text


def as_tuple(paths: Named) -> tuple[str, ...]:
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
    patient = None if render is None else _Patient(render)
    for path in paths:
        if path == STDIN:
            if STDIN not in seen:
                yield InputFile(None, "<stdin>", _read_stdin(stdin))
            seen.add(STDIN)
            continue
        if not _is_directory(path):
            yield from _once(path, seen, partial(_read_named, path, bounds, render))
            continue
        surveyed = survey(path, bounds, inside, partial(read_file, bounds=bounds, inside=inside))
        yield from (InputFile(link, printable(link), b"", leads_out=True) for link in surveyed.outside)
        yield from (InputFile(None, note.source.file, b"", note=note) for note in surveyed.notes)
        for file in surveyed.files:
            is_named = os.path.normpath(os.path.dirname(file)) == os.path.normpath(path)
            chosen = render if is_named else patient
            yield from _once(file, seen, partial(_read_found, file, is_named, bounds, chosen, inside, seen))


class _Patient:
    """Renders recipes until they have taken too long: a directory may hold hundreds that wait for a network."""

    def __init__(self, render: Render) -> None:
        self._render = render
        self._spent_s = 0.0

    def __call__(self, recipe: str, bounds: Bounds) -> bytes:
        if self._spent_s > MOST_RENDERING_S:
            raise RecipeError(
                f"not rendered, for others took more than {MOST_RENDERING_S:g} s",
                file=printable(recipe),
                remedy="Name its directory to verify it",
            )
        begun = time.monotonic()
        try:
            return self._render(recipe, bounds)
        finally:
            self._spent_s += time.monotonic() - begun


def _once(file: str, seen: set[str], read: Callable[[], Iterable[InputFile]]) -> Iterable[InputFile]:
    real = os.path.realpath(file)
    if real in seen:
        return ()
    seen.add(real)
    return read()


def _read_named(file: str, bounds: Bounds, render: Render | None) -> Iterator[InputFile]:
    if os.path.basename(file) in RECIPES:
        yield _render(file, bounds, render)
    else:
        yield InputFile(file, printable(file), read_file(file, bounds))


def _read_found(
    file: str, is_named: bool, bounds: Bounds, render: Render | None, inside: Fence, seen: set[str]
) -> Iterator[InputFile]:
    """A file or recipe of a directory; that it cannot be read is told with it, for the sake of the others."""
    folder = os.path.dirname(file)
    if os.path.basename(file) == CHART and _is_library(file, bounds, inside):
        yield InputFile(file, printable(file), b"", note=_note_library(file))
        return
    is_recipe = os.path.basename(file) in RECIPES
    try:
        read = _render(file, bounds, render) if is_recipe else _find(file, bounds, inside)
    except (ManifestError, RecipeError) as problem:
        rest = list(_rest_of(file, problem, bounds, seen)) if is_recipe else []
        if rest and os.path.basename(file) != CHART:
            problem.remedy = f"{problem.remedy}. {_UNPATCHED}"
        yield InputFile(file, printable(file), b"", problem=problem)
        yield from rest
    else:
        yield replace(read, unit=Unit(folder, is_named, is_recipe, os.path.basename(file) == CHART))


def _is_library(chart: str, bounds: Bounds, inside: Fence) -> bool:
    from kubeproof.manifests.folders.bare_charts import is_library  # few inputs have a chart

    try:
        return is_library(read_file(chart, bounds, inside))
    except ManifestError:
        return False


def _note_library(chart: str) -> ReadingNote:
    why = "left out: a library chart, which gives no manifests by itself"
    return ReadingNote(SKIPPED, "note", printable(chart), why, Source(printable(chart), 1))


def _find(file: str, bounds: Bounds, inside: Fence) -> InputFile:
    content = read_file(file, bounds, inside)
    is_ours = file.endswith(".json") and is_report(content, bounds.nodes)
    return InputFile(file, printable(file), content, is_ours, is_found=True)


def _rest_of(recipe: str, problem: ManifestError | RecipeError, bounds: Bounds, seen: set[str]) -> Iterator[InputFile]:
    """What is left of a recipe that nobody can render: a chart's own templates, a kustomization's files as they are.

    These are where kustomize itself reads them: a kustomization anywhere, and files below it. What several of them
    build on is read once.
    """
    is_chart = os.path.basename(recipe) == CHART
    unit = Unit(os.path.dirname(recipe), is_recipe=True, is_chart=is_chart, is_unrendered=not is_chart)
    if isinstance(problem, ManifestError) and problem.rest is not None:
        yield InputFile(None, name_rendered(printable(recipe)), problem.rest, unit=unit)
    elif not is_chart:
        for file, below in manifests_of(recipe, bounds, partial(read_file, bounds=bounds)):
            with suppress(ManifestError):  # the recipe is refused already
                yield from _once(file, seen, partial(_find_in, unit, file, bounds, below))


def _find_in(unit: Unit, file: str, bounds: Bounds, inside: Fence) -> Iterable[InputFile]:
    return [replace(_find(file, bounds, inside), unit=unit)]


def _render(recipe: str, bounds: Bounds, render: Render | None) -> InputFile:
    """What a recipe stands for; its lines are those of the rendered text, which is named as such."""
    if render is None:
        _refuse_recipe(recipe)
    else:
        return InputFile(None, name_rendered(printable(recipe)), render(recipe, bounds))


def name_rendered(recipe: str) -> str:
    """How rendered manifests are named: they are in no file."""
    return f"<rendered from {recipe}>"


def is_rendered_chart(name: str) -> bool:
    """True for the name of what a chart stands for."""
    return name == name_rendered(CHART) or (name.startswith("<rendered from ") and name.endswith(f"/{CHART}>"))


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
        raise unreadable(path, problem) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):  # looked at before Python refuses to open a directory
        os.close(descriptor)
        raise ManifestError("not a regular file", file=printable(path), line=0, remedy="Use - to read from a pipe")
    with os.fdopen(descriptor, "rb") as file:
        try:
            return file.read(bounds.file_bytes + 1)
        except OSError as problem:
            raise unreadable(path, problem) from None


def _is_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)
    except (OSError, ValueError) as problem:
        raise unreadable(path, problem) from None


def _refuse_recipe(recipe: str) -> NoReturn:
    """Charts and kustomizations are recipes, not objects; reading them as they are would mislead."""
    shown = printable(os.path.dirname(recipe))
    is_chart = os.path.basename(recipe) == CHART
    raise ManifestError(
        f"a {'Helm chart' if is_chart else 'kustomization'}, which is not rendered here",
        file=shown,
        line=0,
        remedy=f"Run: {'helm template' if is_chart else 'kustomize build'} {shown} | kubeproof verify -",
    )
