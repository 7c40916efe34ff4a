"""kill -9 at any moment of a watched stream, then the same command: the same alarms, each once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = """apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec:
  rules:
  - name: answered
    followedBy: {first: ask, then: answer, within: 3s}
  - name: closed
    followedBy: {first: open, then: close, within: 5s, match: key}
  - name: rare
    atMost: {event: retry, count: 20, per: 10s}
  - name: fresh
    ltl: {formula: 'G (o -> X !o)', where: {o: name == open}, byKey: true}
"""
LINUX = pytest.mark.skipif(not Path("/proc/self/fdinfo").is_dir(), reason="only Linux tells how far a process has read")
ALARMS, STATE = "alarms.ndjson", "state.db"


def write_stream(path: Path, events: int) -> None:
    """Questions of which one in two thousand has no answer, keyed pairs, and retries that come in bursts."""
    chance = random.Random(4)
    now = 0
    with path.open("w") as file:
        for number in range(events // 4):
            now += 200_000
            key = f"k{number % 50}"
            lines = [(now, "ask", ""), (now + 1, "open", key), (now + 3, "close", key)]
            if chance.random() > 0.0005:
                lines.append((now + 2, "answer", ""))
            else:
                lines.append((now + 2, "retry", ""))
            file.writelines(
                f'{{"t_us": {time}, "name": "{name}", "key": "{key}"}}\n' for time, name, key in sorted(lines)
            )


def command(folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "kubeproof.cli.main", "monitor", "run", "--rules", "rules.yaml", "--lateness", "1s",
        "--state", str(folder / STATE), "-o", f"ndjson={folder / ALARMS}", "stream.jsonl",
    ]  # fmt: skip


def started(tmp_path: Path, folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(command(folder), cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)


def position(process: subprocess.Popen[bytes], stream: Path) -> int:
    """How far into the stream the process has read; Linux tells."""
    place = Path(f"/proc/{process.pid}")
    with suppress(OSError):
        for descriptor in (place / "fd").iterdir():
            if descriptor.readlink() == stream:
                return int((place / "fdinfo" / descriptor.name).read_text().split()[1])
    return 0


def killed_at(process: subprocess.Popen[bytes], stream: Path, offset: int) -> bool:
    """Kills the process when it has read so far; false if it has ended before."""
    while process.poll() is None and position(process, stream) < offset:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return process.returncode == -signal.SIGKILL


def check(tmp_path: Path, events: int, kills: int) -> None:
    (tmp_path / "rules.yaml").write_text(RULES)
    write_stream(tmp_path / "stream.jsonl", events)
    calm, rough = tmp_path / "calm", tmp_path / "rough"
    calm.mkdir()
    rough.mkdir()
    assert started(tmp_path, calm).wait() == 1
    expected = (calm / ALARMS).read_bytes()
    stream = (tmp_path / "stream.jsonl").resolve()
    size, chance = stream.stat().st_size, random.Random(5)
    offsets = sorted(chance.randrange(size // 20, size * 9 // 10) for _ in range(kills))

    dead = [killed_at(started(tmp_path, rough), stream, offset) for offset in offsets]
    assert started(tmp_path, rough).wait() == 1

    assert dead == [True] * kills  # each in the middle of the stream
    assert (rough / ALARMS).read_bytes() == expected
    assert expected.count(b"\n") > events // 10_000


@LINUX
def test_kills_lose_no_alarm_and_repeat_none(tmp_path: Path) -> None:
    check(tmp_path, 60_000, 3)


@LINUX
@pytest.mark.slow
def test_twenty_kills_in_half_a_million_events(tmp_path: Path) -> None:
    check(tmp_path, 500_000, 20)
