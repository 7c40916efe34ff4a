"""The memory of a monitor in one SQLite file: where it is in the input, what its rules wait for, what it has raised.

All three change in one transaction. After a crash the monitor goes on from the last one: it reads again what came
after, raises the same alarms with the same numbers, and cuts its own output files back to what the transaction knew.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kubeproof.errors import CheckpointError, EnvironmentProblem
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.alarms import from_value, to_value
from kubeproof.monitor.intake.stream import Numbered
from kubeproof.values import dataclass

VERSION = 3
_SCHEMA = """
CREATE TABLE IF NOT EXISTS progress (one INTEGER PRIMARY KEY CHECK (one = 1), value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS runs (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS alarms (id INTEGER PRIMARY KEY, value TEXT NOT NULL, delivered INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a monitor has come."""

    fingerprint: str  # of rules, options and inputs: only the same ones can be continued
    taken: int  # events of the input
    lost: int  # records of the input that could not be read
    stream: dict[str, Any]
    files: dict[str, int]  # output file -> bytes that belong to raised alarms
    is_finished: bool = False


class Store:
    """An open state file. Only one monitor may have it."""

    def __init__(self, path: str) -> None:
        self._shown = printable(path)
        with self._tell_problems():
            self._database = sqlite3.connect(path, timeout=1.0, isolation_level=None)
            self._database.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")  # enough when a process dies
            self._database.executescript(_SCHEMA)
            self._database.execute("BEGIN IMMEDIATE")  # takes the lock for good
            self._database.execute("COMMIT")

    def close(self) -> None:
        """Lets another monitor have the file."""
        self._database.close()

    def load(self, fingerprint: str) -> Checkpoint | None:
        """Where the last transaction ended; None in a new file. Checkpoint with something else is refused."""
        with self._tell_problems():
            row = self._database.execute("SELECT value FROM progress").fetchone()
        if row is None:
            return None
        try:
            value = json.loads(row[0])
            version = value.pop("version")
            progress = Checkpoint(**value)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise CheckpointError(f"{self._shown} is damaged", "Delete it to begin anew.") from None
        if version != VERSION or progress.fingerprint != fingerprint:
            problem = f"{self._shown} belongs to other rules, options or inputs, or to another version"
            raise CheckpointError(problem, "Name another file, or delete it to begin anew.")
        return progress

    def runs(self) -> dict[str, Any]:
        """The states of all runs that are not over."""
        with self._tell_problems():
            rows = self._database.execute("SELECT name, value FROM runs").fetchall()
        return {json.loads(name): json.loads(value) for name, value in rows}

    def save(self, progress: Checkpoint, alarms: Sequence[Numbered], runs: Mapping[str, Any]) -> None:
        """Makes progress, alarms, and the states of runs that have changed permanent, all or nothing."""
        fields = ("fingerprint", "taken", "lost", "stream", "files", "is_finished")
        value = {"version": VERSION, **{name: getattr(progress, name) for name in fields}}
        rows = [(number, json.dumps(to_value(alarm, number))) for number, alarm in alarms]
        with self._tell_problems():
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany("INSERT INTO alarms VALUES (?, ?, 0)", rows)
            gone = [(json.dumps(run),) for run, state in runs.items() if state is None]
            self._database.executemany("DELETE FROM runs WHERE name = ?", gone)
            kept = [(json.dumps(run), json.dumps(state)) for run, state in runs.items() if state is not None]
            self._database.executemany("INSERT OR REPLACE INTO runs VALUES (?, ?)", kept)
            self._database.execute("INSERT OR REPLACE INTO progress VALUES (1, ?)", (json.dumps(value),))
            self._database.execute("COMMIT")

    def find_undelivered(self) -> list[Numbered]:
        """Alarms that are permanent but were not yet told to everybody."""
        return self._alarms("SELECT value FROM alarms WHERE delivered = 0 ORDER BY id")

    def alarms(self) -> list[Numbered]:
        """All alarms ever raised, in order."""
        return self._alarms("SELECT value FROM alarms ORDER BY id")

    def note_delivered(self, last: int) -> None:
        """Everybody has been told of the alarms up to this one."""
        with self._tell_problems():
            self._database.execute("UPDATE alarms SET delivered = 1 WHERE id <= ? AND delivered = 0", (last,))

    def _alarms(self, query: str) -> list[Numbered]:
        with self._tell_problems():
            rows = self._database.execute(query).fetchall()
        values = [json.loads(row[0]) for row in rows]
        return [(value["id"], from_value(value)) for value in values]

    @contextmanager
    def _tell_problems(self) -> Iterator[None]:
        """Tells what is wrong with the file instead of what SQLite says."""
        try:
            yield
        except sqlite3.OperationalError as problem:
            if "locked" in str(problem):
                raise CheckpointError(f"{self._shown} is in use", "Another monitor is writing it.") from None
            raise EnvironmentProblem(f"E401 cannot use {self._shown}: {problem}.") from None
        except sqlite3.DatabaseError as problem:
            raise CheckpointError(f"{self._shown}: {problem}", "Name another file for the state.") from None
