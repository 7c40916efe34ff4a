"""The journal of a run, an SQLite file: which tasks are finished, and what came of them."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kubeproof.errors import CheckpointError, EnvironmentProblem
from kubeproof.verify.journal.binding import Binding, differences, read_binding
from kubeproof.verify.journal.codec import Codec

FILE = "journal"
APPLICATION = 0x6B70726A  # tells our files from those of other programs
FORMAT = 2  # the first was a file of our own format
SYNC_EVERY_S = 1.0
ANOTHER = "Name another directory."
_TABLES = (
    "CREATE TABLE header (one INTEGER PRIMARY KEY CHECK (one = 1), binding TEXT NOT NULL)",
    "CREATE TABLE tasks (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


class Journal:
    """Finished tasks of one run in a directory, one writer at a time.

    A task is handed to the system as soon as it is finished: a killed process loses none. It is forced to the disk at
    most once a second and at the end: a power cut may lose what finished in the last second, which is then done again.
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
        with self._explaining():
            directory.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(directory / FILE, timeout=0, isolation_level=None)
        try:
            with self._explaining():
                self._open(resume)
        except BaseException:
            self._database.close()
            raise
        self._synced_at = clock()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read_known(self) -> dict[str, Any]:
        """The values of finished tasks, by key."""
        return dict(self._known)

    def add(self, key: str, value: Any) -> None:
        """Writes down one finished task."""
        if not self._is_final(value):
            return
        text = self._codec.encode(value)
        row = (json.dumps(key), text.decode("ascii"), zlib.crc32(text))
        with self._explaining():
            self._database.execute("INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)", row)
            if self._clock() - self._synced_at >= SYNC_EVERY_S:
                self.sync()
        self._known[key] = value

    def close(self) -> None:
        """Makes everything durable and lets the next run in."""
        with suppress(sqlite3.Error):  # what the disk did not take is done again
            self._database.close()

    def sync(self) -> None:
        """Forces all finished tasks to the disk."""
        with self._explaining():
            self._database.execute("PRAGMA wal_checkpoint(FULL)")
        self._synced_at = self._clock()

    def _open(self, resume: bool) -> None:
        self._database.execute("PRAGMA locking_mode = EXCLUSIVE")  # until the file is closed
        self._database.execute("BEGIN IMMEDIATE")
        if self._is_new():
            self._begin()
        elif resume:
            self._recall()
        else:
            raise CheckpointError(
                f"{self.directory} holds the checkpoint of an earlier run",
                "Continue that run with --resume, or name another directory.",
            )
        self._database.execute("COMMIT")
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = NORMAL")  # enough when a process dies; `sync` does the rest

    def _is_new(self) -> bool:
        """Whether nothing is in the file yet; one that is not ours is refused before anything is written to it."""
        if not self._ask("SELECT count(*) FROM sqlite_master"):
            return True
        if (self._ask("PRAGMA application_id"), self._ask("PRAGMA user_version")) != (APPLICATION, FORMAT):
            raise self._foreign()
        return False

    def _ask(self, question: str) -> Any:
        return self._database.execute(question).fetchone()[0]

    def _begin(self) -> None:
        for statement in _TABLES:
            self._database.execute(statement)
        header = json.dumps(asdict(self.binding), sort_keys=True)
        self._database.execute("INSERT INTO header VALUES (1, ?)", (header,))

    def _recall(self) -> None:
        """Takes over all finished tasks."""
        try:
            self._compare(read_binding(json.loads(self._ask("SELECT binding FROM header"))))
            for name, value, checksum in self._database.execute("SELECT * FROM tasks ORDER BY rowid"):
                self._known[str(json.loads(name))] = self._value(value, checksum)
        except (ValueError, TypeError) as problem:
            raise self._make_damaged(problem) from problem

    def _value(self, text: str, checksum: int) -> Any:
        content = text.encode()
        if zlib.crc32(content) != checksum:
            raise ValueError("a wrong checksum")
        return self._codec.decode(content)

    def _compare(self, there: Binding) -> None:
        found = differences(there, self.binding)
        if found:
            raise CheckpointError(
                f"{self.directory} holds the checkpoint of another run: {'; '.join(found)}",
                "Repeat the command of that run with --resume, or name another directory.",
            )

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Tells what is wrong with the directory instead of what SQLite says."""
        try:
            yield
        except OSError as problem:
            raise self._unwritable(str(problem.strerror)) from problem
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:  # the rest of the number says how
                raise CheckpointError(
                    f"another run is writing to {self.directory}", "Wait for it, or name another directory."
                ) from problem
            raise self._unwritable(str(problem)) from problem
        except sqlite3.DatabaseError as problem:
            is_foreign = problem.sqlite_errorcode == sqlite3.SQLITE_NOTADB
            raise self._foreign() if is_foreign else self._make_damaged(problem) from problem

    def _unwritable(self, reason: str) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"E401 the checkpoint in {self.directory} cannot be written: {reason}. "
            "Make room or choose another directory, then continue with --resume."
        )

    def _foreign(self) -> CheckpointError:
        problem = (
            f"{self.directory / FILE} is not a journal of this version's format: another version may have written it"
        )
        return CheckpointError(problem, ANOTHER)

    def _make_damaged(self, problem: Exception) -> CheckpointError:
        return CheckpointError(f"{self.directory / FILE} is damaged ({problem})", ANOTHER)
