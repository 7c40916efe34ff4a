"""The journal of finished tasks: what survives, and what is refused."""

import json
import os
import struct
import subprocess
import sys
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from kubeproof.errors import CheckpointError, EnvironmentProblem
from kubeproof.verify.journal.binding import binding_of
from kubeproof.verify.journal.codec import Codec
from kubeproof.verify.journal.journal import MAGIC, Journal

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
        return journal.known()


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


@pytest.mark.parametrize("cut", range(1, 27))
def test_a_torn_record_at_the_end_is_cut_off_and_the_rest_kept(tmp_path, cut):
    path = written(tmp_path, a=ONE, b=THREE)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])

    with opened(tmp_path) as journal:
        assert journal.known() == {"a": ONE}
        journal.add("b", THREE)

    assert path.read_bytes() == whole


def test_a_record_with_a_wrong_checksum_ends_what_is_believed(tmp_path):
    path = written(tmp_path, a=ONE, b=THREE)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)

    assert recalled(tmp_path) == {"a": ONE}


def test_an_absurd_length_ends_what_is_believed(tmp_path):
    path = written(tmp_path, a=ONE)
    path.write_bytes(path.read_bytes() + struct.pack("<II", 2**32 - 1, 0) + b"tail")

    assert recalled(tmp_path) == {"a": ONE}


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


@pytest.mark.parametrize("content", [b"", b"kubeproof journal 2\n", b"kubeproof jour", b"my diary\n" * 9])
def test_a_foreign_file_is_refused_and_left_alone(tmp_path, content):
    (tmp_path / "journal").write_bytes(content)

    with pytest.raises(CheckpointError, match="is not a journal of this version's format"):
        opened(tmp_path)

    assert (tmp_path / "journal").read_bytes() == content


def framed(payload: bytes) -> bytes:
    return struct.pack("<II", len(payload), zlib.crc32(payload)) + payload


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b"", id="no header"),
        pytest.param(framed(b"[]"), id="a header of another kind"),
        pytest.param(framed(b"{}"), id="an empty header"),
        pytest.param(framed(b"\xff"), id="no text"),
    ],
)
def test_a_damaged_header_is_refused(tmp_path, tail):
    (tmp_path / "journal").write_bytes(MAGIC + tail)

    with pytest.raises(CheckpointError, match="is damaged"):
        opened(tmp_path)


@pytest.mark.parametrize(
    "payload",
    [
        b'["b",["os.system","true"]]',
        b'["b",["Value"]]',
        b'["b",{"number":1}]',
        b'["b",[]]',
        b'["b",' + b"[" * 100_000 + b"]",
        b'["b",["{",1]]',
        b'["b"',
        b"",
    ],
)
def test_a_whole_record_that_is_no_value_of_ours_is_refused(tmp_path, payload):
    path = written(tmp_path, a=ONE)
    path.write_bytes(path.read_bytes() + framed(payload))

    with pytest.raises(CheckpointError, match="is damaged"):
        opened(tmp_path)


def test_two_runs_do_not_share_a_directory(tmp_path):
    with opened(tmp_path, resume=False), pytest.raises(CheckpointError) as refused:
        opened(tmp_path)

    assert str(refused.value) == (
        f"E203 another run (process {os.getpid()}) is writing to {tmp_path}. Wait for it, or name another directory."
    )


def test_the_lock_of_a_killed_run_is_free(tmp_path):
    code = (
        "import os, signal\nfrom pathlib import Path\nfrom tests.unit.verify.journal.test_journal import ONE, opened\n"
        f"journal = opened(Path({str(tmp_path)!r}), resume=False)\njournal.add('a', ONE)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    root = Path(__file__).parents[4]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == -9

    assert recalled(tmp_path) == {"a": ONE}


def test_records_are_forced_to_the_disk_once_a_second_and_at_the_end(tmp_path, monkeypatch):
    now, synced = [0.0], []
    journal = opened(tmp_path, resume=False, clock=lambda: now[0])
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(now[0]))

    for now[0] in (0.1, 0.9, 1.0, 1.9, 2.5):
        journal.add("a", ONE)
    journal.close()
    journal.close()

    assert synced == [1.0, 2.5, 2.5]


def test_a_full_disk_ends_the_run_with_what_to_do(tmp_path, monkeypatch):
    def full(descriptor: int, data: object) -> int:
        raise OSError(28, "No space left on device")

    with opened(tmp_path, resume=False) as journal:
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(EnvironmentProblem, match="cannot be written: No space left on device") as refused:
            journal.add("a", ONE)

    assert refused.value.exit_code == 6


def test_a_directory_that_cannot_be_made_is_an_environment_problem(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(EnvironmentProblem, match="cannot be written"):
        opened(tmp_path / "file" / "below", resume=False)


def test_records_are_readable_with_ordinary_tools(tmp_path):
    path = written(tmp_path, a=ONE)

    assert path.read_bytes().startswith(b"kubeproof journal 1\n")
    assert json.loads(path.read_bytes()[-len(b'["a",["Value",1,["("]]]') :]) == ["a", ["Value", 1, ["("]]]
