"""Files that are whole or not there, whatever happens while they are written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

Write = Callable[[bytes | memoryview], None]


@contextmanager
def durable_file(path: Path) -> Iterator[Write]:
    """Hands out a function that writes to a new file, which takes the place of the old one at the end, if all is well.

    The new content is on the disk before it gets its name, and the name before this returns.
    """
    draft = path.with_name(path.name + ".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        yield lambda data: write_all(descriptor, data)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(draft, path)
    sync_directory(path.parent)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Writes everything; the system may take it in pieces."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync_directory(directory: Path) -> None:
    """Makes names in a directory durable, where the system knows how."""
    if os.name != "posix":
        return
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
