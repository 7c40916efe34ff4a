"""Runs the command line with short chunks and a snapshot at every moment, and dies where it is told to.

Usage: python dying_run.py MOMENT ARGUMENT...   with MOMENT one of
  never
  write:N      in the middle of the N-th write to the checkpoint, so that half of it is there
  rename:N     after the N-th file is written and before it has its name
  renamed:N    after that, or after the N-th finished task is written down
  interrupt:N  not at all, but is interrupted as by Ctrl-C at the N-th write to the checkpoint
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any

from kubeproof.cli.main import main
from kubeproof.engine import durable, search, snapshot
from kubeproof.verify.journal import journal, verification


class DyingSystem:
    """The module `os` as the checkpoint sees it."""

    def __init__(self, moment: str) -> None:
        self._what, _, number = moment.partition(":")
        self._left = int(number or 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, descriptor: int, data: memoryview) -> int:
        if self._is_time("write"):
            os.write(descriptor, data[: len(data) // 2])
            _die()
        if self._is_time("interrupt"):
            os.kill(os.getpid(), signal.SIGINT)
        return os.write(descriptor, data)

    def replace(self, source: Any, target: Any) -> None:
        if self._is_time("rename"):
            _die()
        os.replace(source, target)
        if self._is_time("renamed"):
            _die()

    def connect(self, *place: Any, **options: Any) -> sqlite3.Connection:
        system = self

        class DyingConnection(sqlite3.Connection):
            def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
                return system._execute(super(), statement, *values)

        return sqlite3.connect(*place, **options, factory=DyingConnection)

    def _execute(self, connection: Any, statement: str, *values: Any) -> sqlite3.Cursor:
        """A finished task is a write, too; dying within it leaves its transaction open."""
        is_write = statement.startswith("INSERT OR REPLACE INTO tasks")
        if is_write and self._is_time("write"):
            connection.execute("BEGIN")
            connection.execute(statement, *values)
            _die()
        if is_write and self._is_time("interrupt"):
            os.kill(os.getpid(), signal.SIGINT)
        done: sqlite3.Cursor = connection.execute(statement, *values)
        if is_write and self._is_time("renamed"):
            _die()
        return done

    def _is_time(self, what: str) -> bool:
        self._left -= what == self._what
        return what == self._what and self._left == 0


class DyingDatabase:
    """The module `sqlite3` as the journal sees it."""

    def __init__(self, system: DyingSystem) -> None:
        self.connect = system.connect

    def __getattr__(self, name: str) -> Any:
        return getattr(sqlite3, name)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run(moment: str, arguments: list[str]) -> int:
    search.STATES_BETWEEN_JUDGEMENTS = 16
    snapshot.SHARE = 0
    verification.verify_kept.__kwdefaults__["interval_s"] = 0.0
    system = DyingSystem(moment)
    durable.os = system  # type: ignore[assignment]
    journal.sqlite3 = DyingDatabase(system)  # type: ignore[assignment]
    return main(arguments)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:]))
