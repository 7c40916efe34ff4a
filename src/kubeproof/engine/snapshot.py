"""Long searches written to disk now and then, so that a killed one continues where it was.

Only numbers are written: the states, and in which order the kernel learned what from the system. Cells, views and
effects are not: they are had again by asking the system the same questions in the same order, which gives every
value its old number. So nothing in a file can be mistaken for code, and a file fits no other system.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import field
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from kubeproof.engine.durable import Write, durable_file
from kubeproof.engine.kernel import Mark
from kubeproof.errors import CheckpointError
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

MAGIC = b"kubeproof snapshot 1\n"  # the number is the version of this format
SECTION = struct.Struct("<QI")  # length, CRC-32
BLOCK = 65536  # states per section: a chunk of the compiled kernel
INTERVAL_S = 30.0
SHARE = 20  # writing takes at most one part in so many of the time


class Restorable(Protocol):
    """A kernel that can be written down and restored; both kernels read what the other wrote."""

    def mark(self) -> Mark: ...

    def lessons(self, end: int) -> bytes: ...

    def rows(self, first: int, last: int) -> tuple[int, bytes]: ...

    def parents(self, first: int, last: int) -> bytes: ...

    def edges(self, first: int, last: int) -> tuple[bytes, bytes]: ...

    def relearn(self, lessons: bytes) -> None: ...

    def restore_states(self, width: int, rows: bytes, parents: bytes) -> None: ...

    def restore_edges(self, degrees: bytes, edges: bytes) -> None: ...

    def restore_counts(self, mark: Mark) -> None: ...


def save(path: Path, kernel: Restorable, mark: Mark, *, binding: str, elapsed_s: float) -> None:
    """Writes the search as it was at the mark; the file is replaced whole or not at all."""
    header = {"binding": binding, "byteorder": sys.byteorder, "elapsed_s": elapsed_s, "mark": mark}
    with durable_file(path) as write:
        write(MAGIC)
        _put(write, json.dumps(header).encode("ascii"))
        _put(write, kernel.lessons(mark.lessons))
        for first, last in _blocks(mark.states):
            width, rows = kernel.rows(first, last)
            _put(write, bytes([width]))
            _put(write, rows)
            _put(write, kernel.parents(first, last))
        for first, last in _blocks(mark.expanded):
            for part in kernel.edges(first, last):
                _put(write, part)


def load(path: Path, kernel: Restorable, *, binding: str) -> float:
    """Restores a search into a fresh kernel and returns the seconds it took so far.

    ValueError if the file is damaged or belongs to another search; the kernel is of no use then.
    """
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError("not a snapshot of this version's format")
        header = _header(_get(file), binding)
        mark = header["mark"]
        kernel.relearn(_get(file))
        for _ in _blocks(mark.states):
            kernel.restore_states(_get(file)[0], _get(file), _get(file))
        for _ in _blocks(mark.expanded):
            kernel.restore_edges(_get(file), _get(file))
        kernel.restore_counts(mark)
    return float(header["elapsed_s"])


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + BLOCK, count)) for first in range(0, count, BLOCK))


def _put(write: Write, data: bytes) -> None:
    write(SECTION.pack(len(data), zlib.crc32(data)))
    write(data)


def _get(file: BinaryIO) -> bytes:
    head = file.read(SECTION.size)
    if len(head) != SECTION.size:
        raise ValueError("cut short")
    length, checksum = SECTION.unpack(head)
    if length > os.fstat(file.fileno()).st_size:
        raise ValueError("cut short")
    data = file.read(length)
    if len(data) != length or zlib.crc32(data) != checksum:
        raise ValueError("a checksum does not match")
    return data


def _header(text: bytes, binding: str) -> dict[str, Any]:
    try:
        header = json.loads(text)
        if (header["binding"], header["byteorder"]) != (binding, sys.byteorder):
            raise ValueError("it belongs to another search")
        return {**header, "mark": Mark(*map(int, header["mark"])), "elapsed_s": float(header["elapsed_s"])}
    except (KeyError, TypeError) as problem:
        raise ValueError(f"no header: {problem}") from problem


@dataclass(slots=True)
class Keeper:
    """Keeps one search on disk: restores it at the beginning, saves it at moments that cost little.

    A search that ends within the interval leaves no file and is simply done again.
    """

    path: Path
    binding: str
    interval_s: float = INTERVAL_S
    clock: Callable[[], float] = time.monotonic
    earlier_s: float = 0.0  # what the restored search took
    problem: str = ""  # why a snapshot could not be written; the search goes on without
    writes: int = 0
    is_cut_short: bool = False  # another run may come further
    _is_active: bool = field(default=False, init=False)
    _began_at: float = field(default=0.0, init=False)
    _saved_at: float = field(default=0.0, init=False)
    _cost_s: float = field(default=0.0, init=False)  # per state
    _saved: Mark | None = field(default=None, init=False)
    _mark: Mark | None = field(default=None, init=False)

    def restore(self, kernel: Restorable) -> bool:
        """Continues the search on disk, if there is one; True if the kernel now holds it.

        A kernel that has learned from an earlier search is left alone: its numbers would differ.
        """
        self._is_active = kernel.mark().lessons == 0
        self._began_at = self._saved_at = self.clock()
        if not self._is_active or not self.path.exists():
            return False
        try:
            self.earlier_s = load(self.path, kernel, binding=self.binding)
        except ValueError as problem:
            raise CheckpointError(
                f"{self.path} cannot be continued: {problem}", "Delete it to repeat this search from its beginning."
            ) from problem
        self._mark = self._saved = kernel.mark()
        return True

    def pause(self, kernel: Restorable) -> None:
        """Takes note of a moment at which the search can continue, and saves it if that is due."""
        if not self._is_active:
            return
        self._mark = kernel.mark()
        if self._is_due(self._mark):
            self._save(kernel, self._mark)

    def finish(self, kernel: Restorable, *, is_explored: bool, is_cut_short: bool) -> None:
        """Saves what an end of the exploration leaves to do.

        Explored to the end: the work that follows may be long, so it is saved if that is due. Cut short: the last
        moment at which the search can continue is saved at once, unless it is on disk already.
        """
        self.is_cut_short = is_cut_short
        if not self._is_active:
            return
        if is_explored:
            self._mark = kernel.mark()
        mark = self._mark
        if mark is not None and mark != self._saved and (is_cut_short or self._is_due(mark)):
            self._save(kernel, mark)

    def _is_due(self, mark: Mark) -> bool:
        waited_s = self.clock() - self._saved_at
        return waited_s >= max(self.interval_s, SHARE * self._cost_s * mark.states)

    def _save(self, kernel: Restorable, mark: Mark) -> None:
        start = self.clock()
        try:
            elapsed_s = self.earlier_s + start - self._began_at
            save(self.path, kernel, mark, binding=self.binding, elapsed_s=elapsed_s)
            self._saved, self.problem = mark, ""
            self.writes += 1
        except OSError as problem:
            self.problem = f"{self.path}: {problem.strerror}"
            with suppress(OSError):  # what there is of it fills a disk that may be full
                self.path.with_name(self.path.name + ".new").unlink()
        self._saved_at = self.clock()
        self._cost_s = (self._saved_at - start) / max(1, mark.states)


@dataclass(slots=True)
class Snapshots:
    """Hands out a keeper for every search of a run, in order."""

    directory: Path
    binding: str
    interval_s: float = INTERVAL_S
    clock: Callable[[], float] = time.monotonic
    keepers: list[Keeper] = field(default_factory=list)

    def keeper(self) -> Keeper:
        """The keeper of the next search."""
        number = len(self.keepers)
        path = self.directory / f"search-{number}.snapshot"
        made = Keeper(path, f"{self.binding} {number}", self.interval_s, self.clock)
        self.keepers.append(made)
        return made

    def pass_over(self) -> None:
        """The last search decided nothing and another one does: it need not come to its end."""
        self.keepers[-1].is_cut_short = False

    @property
    def is_cut_short(self) -> bool:
        """True if a search ended before its time."""
        return any(keeper.is_cut_short for keeper in self.keepers)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why snapshots are missing, if any are."""
        return tuple(keeper.problem for keeper in self.keepers if keeper.problem)
