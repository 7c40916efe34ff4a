"""One run per directory: a lock that the system takes back when its holder dies, however it dies."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from kubeproof.errors import CheckpointError


class DirectoryLock:
    """Holds the file `lock` of a directory until closed."""

    def __init__(self, directory: Path) -> None:
        self._descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _take(self._descriptor)
        except OSError as problem:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise CheckpointError(
                f"another run (process {holder}) is writing to {directory}", "Wait for it, or name another directory."
            ) from problem
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode("ascii"), 0)

    def close(self) -> None:
        """Lets the next run in; the file stays, since removing it would race with that run."""
        with suppress(OSError):
            os.close(self._descriptor)


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        """Locks a byte far behind the text, since Windows forbids reading locked bytes."""
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
