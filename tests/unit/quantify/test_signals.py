"""Ctrl-C and `kill` end `kubeproof quantify` and the process in which Storm computes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.unit.quantify.programs import COIN, needs_storm

pytestmark = [needs_storm, pytest.mark.skipif(sys.platform != "linux", reason="looks for children in /proc")]
ENDLESS = 'R{"cost"}max=? [C<=1000000000]'
PATIENCE_S = 60


def children(parent: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def eventually(done: object) -> None:
    end = time.monotonic() + PATIENCE_S
    while not done():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def computing(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A command that computes for ever, in a group of its own, and its child."""
    (folder / "coin.prism").write_text(COIN)
    script = "import sys; from kubeproof.cli.main import main; sys.exit(main())"
    words = ["quantify", "prism", str(folder / "coin.prism"), "--const", "p=0.4", "-p", ENDLESS]
    command = subprocess.Popen(
        [sys.executable, "-c", script, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, start_new_session=True,
    )  # fmt: skip
    try:
        eventually(lambda: children(command.pid) and _ignores_interrupts(children(command.pid)[0]))
        yield command, children(command.pid)[0]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(command.pid, signal.SIGKILL)
        command.communicate()


def _ignores_interrupts(process: int) -> bool:
    """True as soon as the child is on its own feet."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    ignored = next(int(line.split()[1], 16) for line in lines if line.startswith("SigIgn"))
    return bool(ignored >> (signal.SIGINT - 1) & 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("whole_group", [True, False])
def test_a_signal_is_told_and_ends_both(tmp_path: Path, whole_group: bool, number: signal.Signals) -> None:
    with computing(tmp_path) as (command, child):
        (os.killpg if whole_group else os.kill)(command.pid, number)
        _, told = command.communicate(timeout=PATIENCE_S)

        assert (command.returncode, told.splitlines()[-1]) == (130, "interrupted")
        assert not is_alive(child)


def test_the_child_does_not_outlive_the_command(tmp_path: Path) -> None:
    with computing(tmp_path) as (command, child):
        os.kill(command.pid, signal.SIGKILL)

        assert command.wait(timeout=PATIENCE_S) == -signal.SIGKILL
        eventually(lambda: not is_alive(child))
