"""Searches that hold more than fits into memory: parts of their stores move to files on a disk.

The files have no name, so that nothing is left of them however the process ends. They are mapped into memory: what was
read or written lately stays there as long as there is room, and the system drops the rest.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Protocol

from kubeproof.engine.stopped import NoDisk
from kubeproof.values import dataclass

PARTS = 3  # of a store: edges and parents; states; tables
FREE_SHARE = 20  # one part in so many of a disk is left to others
IN_MEMORY = frozenset({"tmpfs", "ramfs"})  # file systems that are no disk
MOUNTS = Path("/proc/self/mounts")


class Disk:
    """Room in files without a name in a directory; NoDisk where there is none."""

    def __init__(self, directory: str, *, free_share: int = FREE_SHARE) -> None:
        self.directory = directory
        self.bytes = 0  # in use
        self._free_share = free_share
        self._places: dict[int, mmap.mmap] = {}

    def claim(self, size: int) -> mmap.mmap:
        """So many bytes, all zero. They are on the disk before they are written: it cannot be full later."""
        try:
            self._check_room(size)
            with tempfile.TemporaryFile(dir=self.directory) as file:
                os.posix_fallocate(file.fileno(), 0, size)
                place = mmap.mmap(file.fileno(), size)
        except (OSError, AttributeError) as problem:
            raise NoDisk(f"{self.directory}: {getattr(problem, 'strerror', None) or problem}") from problem
        self._places[_address(place)] = place
        self.bytes += size
        return place

    def _check_room(self, size: int) -> None:
        state = os.statvfs(self.directory)
        if state.f_bavail * state.f_frsize - size < state.f_blocks * state.f_frsize // self._free_share:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def release(self, address: int) -> None:
        """Gives back what `claim` gave at an address."""
        place = self._places.pop(address)
        self.bytes -= len(place)
        place.close()

    def clear(self) -> None:
        """Gives back everything."""
        for address in list(self._places):
            self.release(address)

    def trim(self) -> None:
        """Lets go of all pages that are in memory; those that are needed come back when they are read."""
        for place in self._places.values():
            place.madvise(mmap.MADV_DONTNEED)


def _address(place: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(place))


def find_disk(directory: str | None = None) -> Disk | None:
    """The directory, or one for temporary files that is not itself in memory; None if there is none."""
    wanted = [directory] if directory is not None else [tempfile.gettempdir(), "/var/tmp"]
    can_trim = hasattr(mmap, "MADV_DONTNEED") and hasattr(os, "posix_fallocate")
    fitting = (path for path in wanted if can_trim and os.path.isdir(path) and not lies_in_memory(path))
    return next((Disk(path) for path in fitting), None)


def lies_in_memory(path: str, mounts: Path = MOUNTS) -> bool:
    """True if a directory is on a file system that keeps its files in memory."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    real = Path(os.path.realpath(path))
    kinds = {fields[1]: fields[2] for fields in map(str.split, lines) if len(fields) > 2}
    at = next((str(above) for above in (real, *real.parents) if str(above) in kinds), None)
    return at is not None and kinds[at] in IN_MEMORY


class Spillable(Protocol):
    """A store that can move parts of itself to a disk."""

    relieve: Callable[[], object] | None

    def spill(self, disk: Disk, part: int) -> None: ...


@dataclass(slots=True)
class Spill:
    """Keeps what a process holds within a limit: moves its store to the disk part by part, and drops pages."""

    store: Spillable
    disk: Disk
    limit: int
    resident: Callable[[], int]
    _parts: int = field(default=0, init=False)  # that are on the disk

    def relieve(self) -> bool:
        """Makes room if the process holds too much; False if it does so still."""
        if self.resident() <= self.limit:
            return True
        self.disk.trim()
        while self.resident() > self.limit and self._parts < PARTS:
            self.store.spill(self.disk, self._parts)
            self._parts += 1
            self.disk.trim()
            _give_back()
        return self.resident() <= self.limit


def _give_back() -> None:
    """Returns freed memory to the system, where the C library keeps it unless it is asked."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
