"""What bounds a session: lines, calls that wait, answers; and the message where the extra is missing."""

from __future__ import annotations

import importlib.util
import io
import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from kubeproof.cli.main import main

pytest.importorskip("mcp", reason="the server needs the extra mcp")
anyio = pytest.importorskip("anyio")
answers = pytest.importorskip("kubeproof.cli.assistants.answers")
calls = pytest.importorskip("kubeproof.cli.assistants.calls")
server = pytest.importorskip("kubeproof.cli.assistants.server")


def lines_of(content: bytes, most: int) -> list[bytes]:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as end:
        end.write(content)
    with os.fdopen(reading, "rb"):
        return io.BufferedReader(server.BoundedLines(reading, most), 7).readlines()


def test_of_a_line_that_is_too_long_the_end_is_missing():
    assert lines_of(b"short\n" + b"x" * 50 + b"\nnext\n\nlast", 10) == [
        b"short\n", b"x" * 10 + b"\n", b"next\n", b"\n", b"last",
    ]  # fmt: skip


def test_reading_ends_when_it_is_told_to():
    reading, writing = os.pipe()
    with ExitStack() as closing:
        for descriptor in (reading, writing):
            closing.callback(os.close, descriptor)
        lines = server.BoundedLines(reading)
        lines.end()

        assert lines.read(1) == b""


def test_a_call_too_many_is_refused_and_leaves_its_place():
    async def fill() -> str:
        gate = server.Gate()
        async with anyio.create_task_group() as tasks:

            async def wait() -> None:
                async with gate():
                    await anyio.sleep_forever()

            for _ in range(server.AT_ONCE + server.MOST_WAITING):
                tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(server.ToolError, match="too many calls"):
                async with gate():
                    pass
            tasks.cancel_scope.cancel()
        async with gate():
            return "free again"

    assert anyio.run(fill) == "free again"


def test_a_long_report_is_shortened_in_the_middle():
    text = answers.text_of(calls.Ended(0, "a" * 30_000 + "b" * 30_000, {}, "", ("k8s/link",)))

    assert len(text) < 50_000
    assert "12000 characters left out" in text
    assert text.endswith("Links that were not followed: k8s/link")


def test_of_many_rows_those_that_are_not_well_come_first():
    rows = [{"id": "S001", "verdict": "HOLDS"}] * 500 + [{"id": "S002", "verdict": "VIOLATED", "trace": []}]

    told = answers.structure(calls.Ended(1, "", {"verdict": "VIOLATED", "results": rows}, ""))

    assert (len(told["results"]), told["results_left_out"]) == (400, 101)
    assert told["results"][0] == {"id": "S002", "verdict": "VIOLATED"}


@pytest.mark.skipif(sys.platform != "linux", reason="bounds of other systems differ")
def test_a_call_cannot_take_more_memory_than_it_may():
    script = (
        "from kubeproof.cli.assistants.confined import confine; confine(256)\n"
        "try: bytearray(512 << 20)\nexcept MemoryError: print('refused')"
    )

    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "refused\n"


def test_without_the_extra_the_command_says_what_to_install(monkeypatch, capsys):
    find = importlib.util.find_spec
    monkeypatch.setattr("kubeproof.cli.commands.mcp.find_spec", lambda name: None if name == "mcp" else find(name))

    assert main(["mcp"]) == 6
    assert "pip install 'kubeproof[mcp]'" in capsys.readouterr().err


def test_a_root_that_is_no_folder_is_wrong_usage(capsys, tmp_path):
    assert main(["mcp", "--root", str(tmp_path / "nothing")]) == 2
    assert "is no folder" in capsys.readouterr().err
