"""The journal of a run: which tasks are finished, and what came of them."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kubeproof.engine.durable import durable_file, write_all
from kubeproof.errors import CheckpointError, EnvironmentProblem
from kubeproof.verify.journal.binding import Binding, differences, read_binding
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.lock import DirectoryLock
from kubeproof.verify.journal.records import framed, whole_frames

FILE = "journal"
MAGIC = b"kubeproof journal 1\n"  # the number is the version of this format
SYNC_EVERY_S = 1.0
ANOTHER = "Name another directory."


class Journal:
    """Finished tasks of one run in a directory, one writer at a time.

    A record is handed to the system as soon as its task is finished: a killed process loses none. It is forced to
    the disk at most once a second and at the end: a power cut may lose what finished in the last second, which is
    then done again. Records are never changed; a torn one at the end is cut off.
    """

    def __init__(
        self,
        directory: Path,
        binding: Binding,
        codec: Codec,
        *,
        resume: bool,
        is_final: Callable[[Any], bool] = lambda value: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begins a journal, or with `resume` continues one if it is there.

        Values for which `is_final` is false, such as those cut short by a limit of time, are not written down, so
        that a resumed run works them out again.
        """
        self.directory, self.binding = directory, binding
        self._codec, self._is_final, self._clock = codec, is_final, clock
        self._known: dict[str, Any] = {}
        self._lock = _locked(directory)
        try:
            self._descriptor = self._opened(directory / FILE, resume)
        except BaseException:
            self._lock.close()
            raise
        self._synced_at = clock()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def known(self) -> dict[str, Any]:
        """The values of finished tasks, by key."""
        return dict(self._known)

    def add(self, key: str, value: Any) -> None:
        """Writes down one finished task."""
        if not self._is_final(value):
            return
        name = json.dumps(key).encode("ascii")
        try:
            write_all(self._descriptor, framed(b"[" + name + b"," + self._codec.encode(value) + b"]"))
            if self._clock() - self._synced_at >= SYNC_EVERY_S:
                self.sync()
        except OSError as problem:
            raise unwritable(self.directory, problem) from problem
        self._known[key] = value

    def close(self) -> None:
        """Makes everything durable and lets the next run in."""
        if self._descriptor < 0:
            return
        with suppress(OSError):  # what the disk did not take is done again
            os.fsync(self._descriptor)
        os.close(self._descriptor)
        self._descriptor = -1
        self._lock.close()

    def sync(self) -> None:
        """Forces all records to the disk."""
        os.fsync(self._descriptor)
        self._synced_at = self._clock()

    def _opened(self, path: Path, resume: bool) -> int:
        if not path.exists():
            self._begin(path)
            return os.open(path, os.O_WRONLY | os.O_APPEND)
        if not resume:
            raise CheckpointError(
                f"{self.directory} holds the checkpoint of an earlier run",
                "Continue that run with --resume, or name another directory.",
            )
        end = self._recall(path.read_bytes())
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.ftruncate(descriptor, end)
        return descriptor

    def _begin(self, path: Path) -> None:
        header = json.dumps(asdict(self.binding), sort_keys=True).encode("ascii")
        try:
            with durable_file(path) as write:
                write(MAGIC + framed(header))
        except OSError as problem:
            raise unwritable(self.directory, problem) from problem

    def _recall(self, content: bytes) -> int:
        """Takes over all whole records; returns where they end."""
        if not content.startswith(MAGIC):
            raise CheckpointError(f"{self.directory / FILE} is not a journal of this version's format", ANOTHER)
        frames = whole_frames(content, len(MAGIC))
        header, end = next(frames, (b"", len(MAGIC)))
        try:
            self._compare(read_binding(json.loads(header)))
            for payload, place in frames:
                key, value = self._read(payload)
                self._known[key], end = value, place
        except ValueError as problem:
            raise CheckpointError(f"{self.directory / FILE} is damaged ({problem})", ANOTHER) from problem
        return end

    def _read(self, payload: bytes) -> tuple[str, Any]:
        key, end = json.JSONDecoder().raw_decode(payload.decode("ascii"), 1)
        return str(key), self._codec.decode(payload[end + 1 : -1])

    def _compare(self, there: Binding) -> None:
        found = differences(there, self.binding)
        if found:
            raise CheckpointError(
                f"{self.directory} holds the checkpoint of another run: {'; '.join(found)}",
                "Repeat the command of that run with --resume, or name another directory.",
            )


def unwritable(directory: Path, problem: OSError) -> EnvironmentProblem:
    """The error for a directory that takes no checkpoint."""
    return EnvironmentProblem(
        f"E401 the checkpoint in {directory} cannot be written: {problem.strerror}. "
        "Make room or choose another directory, then continue with --resume."
    )


def _locked(directory: Path) -> DirectoryLock:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return DirectoryLock(directory)
    except OSError as problem:
        raise unwritable(directory, problem) from problem
