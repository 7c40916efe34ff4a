"""The journal of finished tasks: what survives, and what is refused."""

import os
import sqlite3
import subprocess
import sys
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kubeproof.errors import CheckpointError, EnvironmentProblem
from kubeproof.verify.journal.binding import binding_of
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import Journal

BINDING = binding_of([("web.yaml", "kind: Pod")], {"max_states": 5, "engine": "auto"}, ["a", "b", "c"])


@dataclass(frozen=True, slots=True)
class Value:
    number: int
    words: tuple[str, ...] = ()


CODEC = Codec(Value)
ONE, TWO, THREE = Value(1), Value(2, ("x", "\u2028\ud800")), Value(3)


def opened(directory: Path, *, resume: bool = True, binding=BINDING, **options) -> Journal:
    return Journal(directory, binding, CODEC, resume=resume, **options)


def written(directory: Path, **values: Value) -> Path:
    with opened(directory, resume=False) as journal:
        for key, value in values.items():
            journal.add(key, value)
    return directory / "journal"


def recalled(directory: Path) -> dict[str, Value]:
    with opened(directory) as journal:
        return journal.read_known()


def test_finished_tasks_are_known_to_the_next_run(tmp_path):
    written(tmp_path / "new" / "folder", a=ONE, b=TWO)

    assert recalled(tmp_path / "new" / "folder") == {"a": ONE, "b": TWO}


def test_a_resumed_run_adds_to_the_journal(tmp_path):
    written(tmp_path, a=ONE)
    with opened(tmp_path) as journal:
        journal.add("c", THREE)

    assert recalled(tmp_path) == {"a": ONE, "c": THREE}


def test_what_is_not_final_is_not_written_down(tmp_path):
    with opened(tmp_path, resume=False, is_final=lambda value: value.number != 2) as journal:
        journal.add("a", ONE)
        journal.add("b", TWO)

    assert recalled(tmp_path) == {"a": ONE}


def test_a_directory_without_a_journal_can_be_resumed_since_a_run_may_die_before_its_first_word(tmp_path):
    assert recalled(tmp_path) == {}


def test_an_earlier_run_is_not_overwritten(tmp_path):
    written(tmp_path, a=ONE)

    with pytest.raises(CheckpointError) as refused:
        opened(tmp_path, resume=False)

    assert str(refused.value) == (
        f"E203 {tmp_path} holds the checkpoint of an earlier run. "
        "Continue that run with --resume, or name another directory."
    )
    assert refused.value.exit_code == 2
    assert recalled(tmp_path) == {"a": ONE}


def changed(path: Path, statement: str, *values: object) -> None:
    database = sqlite3.connect(path)
    database.execute(statement, values)
    database.commit()
    database.close()


@pytest.mark.parametrize("cut", [1, 24, 4096, 4119])
def test_a_torn_record_at_the_end_is_cut_off_and_the_rest_kept(tmp_path, cut):
    killed(tmp_path, "journal.add('a', ONE)", "journal.add('b', THREE)")
    log = tmp_path / "journal-wal"
    log.write_bytes(log.read_bytes()[:-cut])

    with opened(tmp_path) as journal:
        assert journal.read_known() == {"a": ONE}
        journal.add("b", THREE)

    assert recalled(tmp_path) == {"a": ONE, "b": THREE}


def test_a_record_with_a_wrong_checksum_is_not_believed(tmp_path):
    changed(written(tmp_path, a=ONE), "UPDATE tasks SET value = replace(value, '1', '2')")

    with pytest.raises(CheckpointError, match=r"is damaged \(a wrong checksum\)"):
        opened(tmp_path)


def test_a_damaged_file_is_refused(tmp_path):
    path = written(tmp_path, a=ONE)
    path.write_bytes(path.read_bytes()[:4096])

    with pytest.raises(CheckpointError, match="is damaged"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (replace(BINDING, version="0.0.1"), "it was written by kubeproof 0.0.1, this is "),
        (binding_of([("web.yaml", "kind: Job")], {"max_states": 5, "engine": "auto"}, "abc"), ": the input differs."),
        (binding_of([("we", "b.yamlkind: Pod")], {"max_states": 5, "engine": "auto"}, "abc"), ": the input differs."),
        (
            binding_of([("web.yaml", "kind: Pod")], {"max_states": 7, "engine": "auto"}, "abc"),
            ": max_states was 7 and is 5.",
        ),
        (binding_of([("web.yaml", "kind: Pod")], {"engine": "auto"}, "abc"), ": max_states was absent and is 5."),
        (
            binding_of([("web.yaml", "kind: Pod")], {"max_states": 5, "engine": "auto"}, "abd"),
            ": its 3 tasks are not the 3 of this run.",
        ),
    ],
)
def test_the_journal_of_another_run_is_refused_with_the_reason(tmp_path, other, reason):
    opened(tmp_path, resume=False, binding=other).close()

    with pytest.raises(CheckpointError, match=r"E203 .* holds the checkpoint of another run: ") as refused:
        opened(tmp_path)

    assert reason in str(refused.value)
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("content", [b"kubeproof journal 1\n" + b"\x10" * 900, b"kubeproof jour", b"my diary\n" * 9])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "journal").write_bytes(content)

    with pytest.raises(CheckpointError, match="is not a journal of this version's format"):
        opened(tmp_path)

    assert (tmp_path / "journal").read_bytes() == content


@pytest.mark.parametrize("statement", ["CREATE TABLE diary (day)", "PRAGMA user_version = 3"])
def test_the_database_of_another_program_or_version_is_refused_and_left_alone(tmp_path, statement):
    path = written(tmp_path, a=ONE) if "PRAGMA" in statement else tmp_path / "journal"
    changed(path, statement)
    content = path.read_bytes()

    with pytest.raises(CheckpointError, match="is not a journal of this version's format"):
        opened(tmp_path)

    assert path.read_bytes() == content


@pytest.mark.parametrize("header", ["", "[]", "{}", "\xff", b"\xff", 3])
def test_a_damaged_header_is_refused(tmp_path, header):
    changed(written(tmp_path), "UPDATE header SET binding = ?", header)

    with pytest.raises(CheckpointError, match="is damaged"):
        opened(tmp_path)


def test_a_missing_header_is_refused(tmp_path):
    changed(written(tmp_path), "DELETE FROM header")

    with pytest.raises(CheckpointError, match="is damaged"):
        opened(tmp_path)


@pytest.mark.parametrize(
    "value",
    [
        '["os.system","true"]',
        '["Value"]',
        '{"number":1}',
        "[]",
        "[" * 100_000 + "]",
        '["{",1]',
        "[1",
        "",
        "\xe9",
    ],
)
def test_a_record_that_is_no_value_of_ours_is_refused(tmp_path, value):
    checksum = zlib.crc32(value.encode())
    changed(written(tmp_path, a=ONE), "INSERT INTO tasks VALUES (?, ?, ?)", '"b"', value, checksum)

    with pytest.raises(CheckpointError, match="is damaged"):
        opened(tmp_path)


def test_two_runs_do_not_share_a_directory(tmp_path):
    with opened(tmp_path, resume=False), pytest.raises(CheckpointError) as refused:
        opened(tmp_path)

    assert str(refused.value) == (f"E203 another run is writing to {tmp_path}. Wait for it, or name another directory.")


def killed(directory: Path, *statements: str) -> None:
    """A run in another process that is killed after the statements."""
    code = (
        "import os, signal\nfrom pathlib import Path\n"
        "from tests.unit.verify.journal.test_journal import ONE, THREE, opened\n"
        f"journal = opened(Path({str(directory)!r}), resume=False)\n"
        + "".join(f"{statement}\n" for statement in statements)
        + "os.kill(os.getpid(), signal.SIGKILL)"
    )
    root = Path(__file__).parents[4]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == -9


def test_the_lock_of_a_killed_run_is_free(tmp_path):
    killed(tmp_path, "journal.add('a', ONE)")

    assert recalled(tmp_path) == {"a": ONE}


def test_a_run_that_is_killed_within_a_record_loses_that_one(tmp_path):
    insert = """journal._database.execute("INSERT INTO tasks VALUES ('b', '3', 0)")"""
    killed(tmp_path, "journal.add('a', ONE)", "journal._database.execute('BEGIN')", insert)

    assert recalled(tmp_path) == {"a": ONE}


def test_records_are_forced_to_the_disk_once_a_second_and_at_the_end(tmp_path):
    now, synced = [0.0], []
    journal = opened(tmp_path, resume=False, clock=lambda: now[0])
    journal._database.set_trace_callback(lambda text: synced.append(now[0]) if "checkpoint" in text else None)

    for now[0] in (0.1, 0.9, 1.0, 1.9, 2.5):
        journal.add("a", ONE)
    journal.close()
    journal.close()

    assert synced == [1.0, 2.5]
    assert [path.name for path in tmp_path.iterdir()] == ["journal"]


def test_a_full_disk_ends_the_run_with_what_to_do(tmp_path):
    with opened(tmp_path, resume=False) as journal:
        journal._database.execute("PRAGMA max_page_count = 1")
        with pytest.raises(EnvironmentProblem, match="cannot be written: database or disk is full") as refused:
            journal.add("a", Value(1, ("x" * 100_000,)))

    assert refused.value.exit_code == 6


def test_a_directory_that_cannot_be_made_is_an_environment_problem(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(EnvironmentProblem, match="cannot be written"):
        opened(tmp_path / "file" / "below", resume=False)


def test_records_are_readable_with_ordinary_tools(tmp_path):
    database = sqlite3.connect(written(tmp_path, a=ONE))

    assert database.execute("SELECT name, value FROM tasks").fetchall() == [('"a"', '["Value",1,["("]]')]
    database.close()
