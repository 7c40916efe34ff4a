"""Copies what a client names out of one folder, and nothing else: a call works on the copy, never on the folder.

Names are resolved first, and then opened from the folder downwards without following any link, so that a link which
is put in place in between leads nowhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path, PurePosixPath

from kubeproof.errors import UsageError
from kubeproof.values import dataclass

MANIFESTS = (".yaml", ".yml", ".json")
MOST_FILES = 5_000
MOST_BYTES = 32 * 1024 * 1024
_SKIPPED = (".git", ".venv", "node_modules")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Fence:
    """A folder outside of which nothing is read."""

    root: str
    takes_all: bool = False  # whatever the name ends in: charts and kustomizations need it
    most_files: int = MOST_FILES
    most_bytes: int = MOST_BYTES


@dataclass(frozen=True, slots=True)
class Copied:
    """What was named, as paths inside the copy, and what was left out."""

    paths: tuple[str, ...]
    left_out: tuple[str, ...]


def copy(fence: Fence, names: Sequence[str], target: Path) -> Copied:
    """Copies files and folders that lie in the fence to the same places below `target`.

    A name that leads out of it is refused; a link inside a folder that does is left out.
    """
    paths: list[str] = []
    left_out: list[str] = []
    files: dict[str, None] = {}
    for name in names:
        inner = resolve(fence, name)
        if inner is None:
            raise UsageError(f"{name!r} is not inside the folder that is served", "Name a path below it.")
        full = os.path.join(fence.root, inner)
        if not os.path.exists(full):
            raise UsageError(f"there is no {name!r}", "Name a file or a folder of manifests.")
        found = list(_files_of(fence, inner, left_out)) if os.path.isdir(full) else [inner]
        files.update(dict.fromkeys(found))
        paths.append(inner)
        if os.path.isdir(full):
            (target / inner).mkdir(parents=True, exist_ok=True)
    _copy_files(fence, files, target)
    return Copied(tuple("./-" if path == "-" else path for path in paths), tuple(left_out))  # "-" is stdin


def resolve(fence: Fence, name: str) -> str | None:
    """The place of a name relative to the folder, links followed; None if that is outside."""
    if "\0" in name:
        return None
    full = os.path.realpath(os.path.join(fence.root, name))
    root = os.path.realpath(fence.root)
    if full != root and not full.startswith(root.rstrip(os.sep) + os.sep):
        return None
    return os.path.relpath(full, root)


def _files_of(fence: Fence, inner: str, left_out: list[str]) -> Iterator[str]:
    """The files of a folder, sorted, each by the place that its links lead to."""
    start = os.path.join(os.path.realpath(fence.root), inner)
    for folder, folders, names in os.walk(start, followlinks=False):
        folders[:] = sorted(one for one in folders if one not in _SKIPPED)
        linked = [one for one in folders if os.path.islink(os.path.join(folder, one))]
        left_out += [os.path.normpath(os.path.join(inner, os.path.relpath(folder, start), one)) for one in linked]
        for name in sorted(names):
            if not fence.takes_all and not name.endswith(MANIFESTS):
                continue
            shown = os.path.normpath(os.path.join(inner, os.path.relpath(folder, start), name))
            if os.path.islink(os.path.join(folder, name)):
                left_out.append(shown)
            else:
                yield shown


def _copy_files(fence: Fence, files: dict[str, None], target: Path) -> None:
    if len(files) > fence.most_files:
        raise UsageError(f"there are {len(files)} files, more than {fence.most_files}", "Name fewer of them.")
    total = 0
    for inner in files:
        content = _read_beneath(fence, inner, fence.most_bytes - total)
        total += len(content)
        place = target / inner
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def _read_beneath(fence: Fence, inner: str, most_bytes: int) -> bytes:
    """The bytes of a regular file, opened folder by folder without following a link."""
    try:
        handle = _open_beneath(os.path.realpath(fence.root), PurePosixPath(inner).parts)
    except OSError as problem:
        raise UsageError(f"{inner!r} cannot be read: {problem.strerror}", "Name a file of manifests.") from None
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UsageError(f"{inner!r} is no file", "Name a file of manifests.")
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise UsageError(f"the files have more than {fence.most_bytes} bytes", "Name fewer of them.")
    return content


def _open_beneath(root: str, parts: Sequence[str]) -> int:
    if os.open not in os.supports_dir_fd:
        return os.open(os.path.join(root, *parts), _READ)
    at = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=at)
            os.close(at)
            at = below
        return os.open(parts[-1], _READ, dir_fd=at)
    finally:
        with suppress(OSError):
            os.close(at)


def write_given(text: str, name: str, target: Path) -> str:
    """Writes a text that the client sent beside the copies, under a name that none of them has."""
    folder = next(one for one in ("given", *(f"given-{number}" for number in range(2, 1000))) if _is_free(target / one))
    (target / folder).mkdir()
    (target / folder / name).write_text(text, encoding="utf-8")
    return f"{folder}/{name}"


def _is_free(path: Path) -> bool:
    return not path.exists() and not path.is_symlink()
