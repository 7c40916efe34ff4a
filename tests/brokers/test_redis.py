"""A real Redis: work that is shared by several processes, any of which may die, raises the alarms of one process."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest
import redis as client

from kubeproof.cli.main import main
from kubeproof.monitor.brokers.address import parse_address
from kubeproof.monitor.scale.board import Board, Plan
from tests.brokers.servers import HOST, Broker, redis, until

ROOT = Path(__file__).parents[2]
RULES = """apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec:
  rules:
  - {name: answered, followedBy: {first: ask, then: answer, within: 3s}}
  - {name: closed, followedBy: {first: open, then: close, within: 5s, match: key}}
  - {name: rare, atMost: {event: retry, count: 2, per: 10s}}
  - {name: fresh, ltl: {formula: 'G (o -> X !o)', where: {o: name == open}, byKey: true}}
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with redis(tmp_path_factory.mktemp("redis")) as running:
        yield running


def write_stream(path: Path, turns: int) -> None:
    """Ten runs at once; a few answers are missing, a few doors stay open, events are a little out of order."""
    chance = random.Random(3)
    with path.open("w") as file:
        for number in range(turns):
            run, key, now = f"r{number % 10}", f"k{number % 17}", number * 100_000
            names = ["ask", "open", "retry" if chance.random() < 0.02 else "answer"]
            names += ["close"] if chance.random() > 0.01 else []
            for place, name in enumerate(names):
                moment = now + place - chance.randrange(500_000)
                event = {"t_us": moment, "name": name, "run": run, "key": key, "id": f"{number}.{place}"}
                file.write(json.dumps(event) + "\n")


def run(folder: Path, name: str, *options: str) -> subprocess.Popen[bytes]:
    (folder / "rules.yaml").write_text(RULES)
    command = [
        sys.executable, "-m", "kubeproof.cli.main", "monitor", "run", "--rules", "rules.yaml", "--lateness", "1s",
        "-o", f"ndjson={name}", *options, "stream.jsonl",
    ]  # fmt: skip
    return subprocess.Popen(command, cwd=folder, env=environment(), stderr=subprocess.PIPE)


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def worker(address: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "kubeproof.cli.main", "monitor", "work", address]
    return subprocess.Popen(command, env=environment())


def ended(process: subprocess.Popen[bytes]) -> str:
    """What it said; it must have found something."""
    told = process.communicate(timeout=300)[1].decode()
    assert process.returncode == 1, told
    return told


def alarms(path: Path) -> list[str]:
    """All alarms without their numbers and incidents, which are those of the order in which they became known."""
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(json.dumps({**alarm, "id": 0, "incident": 0, "level": ""}) for alarm in found)


def keys(server: Broker, name: str) -> list[str]:
    with client.Redis(HOST, server.port, decode_responses=True) as connection:
        return sorted(key for key in connection.keys("{" + name + "}*") if not key.endswith("workers"))


def test_several_processes_raise_the_alarms_of_one(server: Broker, tmp_path: Path) -> None:
    write_stream(tmp_path / "stream.jsonl", 1_500)
    alone = ended(run(tmp_path, "alone"))

    address = f"redis://{HOST}:{server.port}/plain"
    shared = ended(run(tmp_path, "shared", "--executor", address, "--workers", "3", "--partitions", "7"))

    assert alarms(tmp_path / "shared") == alarms(tmp_path / "alone")
    assert len(alarms(tmp_path / "alone")) > 40
    assert shared == alone
    assert keys(server, "plain") == []


def open_for_writing(path: Path) -> BinaryIO | None:
    """The end of a pipe that somebody reads, None as long as nobody does."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "wb")


def check_deaths(server: Broker, folder: Path, turns: int) -> None:
    """A worker, the feeder and Redis itself are killed; a new worker and a new feeder go on.

    At first the stream is a pipe with a part of it, so that the end cannot come before the deaths.
    """
    stream, whole = folder / "stream.jsonl", folder / "whole.jsonl"
    write_stream(stream, turns)
    ended(run(folder, "alone"))
    lines = stream.rename(whole).read_bytes().splitlines(keepends=True)
    os.mkfifo(stream)
    name = f"deaths-{turns}"
    address = f"redis://{HOST}:{server.port}/{name}"
    shared = ("--executor", address, "--workers", "0", "--partitions", "5")
    feeder = run(folder, "shared", *shared)
    pipes: list[BinaryIO] = []
    until(lambda: bool(pipes.extend(filter(None, [open_for_writing(stream)])) or pipes), "the feeder begins", feeder)
    until(lambda: bool(keys(server, name)), "the plan is there", feeder)
    workers = [worker(address), worker(address)]

    with pipes[0] as pipe, client.Redis(HOST, server.port, decode_responses=True) as connection:
        pipe.writelines(lines[: len(lines) * 2 // 3])
        pipe.flush()
        until(lambda: connection.xlen("{" + name + "}:alarms") > 5, "alarms", feeder)
        workers[0].kill()
        feeder.send_signal(signal.SIGKILL)
        feeder.communicate()
    whole.rename(stream)
    workers.append(worker(address))
    server.stop(signal.SIGKILL)
    server.start()
    feeder = run(folder, "shared", *shared)
    ended(feeder)

    assert alarms(folder / "shared") == alarms(folder / "alone")
    assert [process.wait(timeout=300) for process in workers] == [-signal.SIGKILL, 0, 0]


def test_whoever_dies_no_alarm_is_lost_and_none_repeated(server: Broker, tmp_path: Path) -> None:
    check_deaths(server, tmp_path, 3_000)


@pytest.mark.slow
def test_whoever_dies_in_a_long_stream_no_alarm_is_lost(server: Broker, tmp_path: Path) -> None:
    check_deaths(server, tmp_path, 60_000)


def test_a_worker_that_was_taken_for_dead_changes_nothing_any_more(server: Broker) -> None:
    board = Board(parse_address(f"redis://{HOST}:{server.port}/fenced"))
    board.begin(Plan("", "", (), 1))
    board.feed({0: [["time", "", 1]]}, {})

    assert board.own(0, "slow", 1)
    ((_, (entry,)),) = board.new([0], "slow", 10, 1)
    until(lambda: board.own(0, "other", 60_000), "the lease ends")

    assert not board.keep(0, "slow", 60_000)
    assert not board.commit(0, "slow", 60_000, {"0|": 1}, ["{}"], [entry[0]])
    assert (board.state(0), board.alarms("")) == ({}, [])
    assert board.inherit(0, "other") == [entry]
    assert board.commit(0, "other", 60_000, {"0|": 2}, ["{}"], [entry[0]])
    assert (board.state(0), len(board.alarms("")), board.waiting(1)) == ({"0|": 2}, 1, [0])
    assert board.inherit(0, "other") == []
    board.remove(1)
    board.close()
    assert keys(server, "fenced") == []


def refused(folder: Path, address: str, *options: str) -> int:
    (folder / "rules.yaml").write_text(RULES)
    (folder / "stream.jsonl").write_text('{"time": 1, "name": "ask"}\n')
    rules, stream = str(folder / "rules.yaml"), str(folder / "stream.jsonl")
    return main(["monitor", "run", "--rules", rules, "--executor", address, "--workers", "0", *options, stream])


def test_alarms_that_nobody_takes_are_told(
    server: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rules.yaml").write_text(RULES)
    (tmp_path / "stream.jsonl").write_text('{"t_us": 1, "name": "ask"}\n')
    monkeypatch.setattr("kubeproof.monitor.sinks.Poster.post", lambda self, value, headers: False)
    files = ["--rules", str(tmp_path / "rules.yaml"), str(tmp_path / "stream.jsonl")]
    shared = ["--executor", f"redis://{HOST}:{server.port}/untold", "--workers", "1"]

    assert main(["monitor", "run", *files, *shared, "--webhook", f"http://{HOST}:9/"]) == 1  # an alarm counts first
    assert "1 alarms could not be delivered" in capsys.readouterr().out


def test_a_stream_of_other_rules_is_left_alone(
    server: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with client.Redis(HOST, server.port) as connection:
        plan = {"fingerprint": "other", "rules": "", "options": [], "partitions": 16}
        connection.set("{taken}:plan", json.dumps(plan))

    assert refused(tmp_path, f"redis://{HOST}:{server.port}/taken") == 2
    assert "belongs to other rules" in capsys.readouterr().err


def test_what_cannot_be_used_is_told(server: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(tmp_path, f"redis://{HOST}:1/stream") == 6
    assert "Check host and port" in capsys.readouterr().err
    assert refused(tmp_path, f"redis://me:secret@{HOST}:{server.port}/stream") == 6
    told = capsys.readouterr().err
    assert "refuses user or password" in told
    assert "secret" not in told
    assert refused(tmp_path, f"amqp://{HOST}/stream") == 2
    assert refused(tmp_path, f"redis://{HOST}:{server.port}/stream", "--state", str(tmp_path / "state.db")) == 2
    assert main(["monitor", "work", f"redis://{HOST}:1/stream"]) == 6


def test_a_missing_client_is_told_with_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "kubeproof.monitor.brokers.address.find_spec", lambda name: None if name == "redis" else find(name)
    )

    assert refused(tmp_path, f"redis://{HOST}/stream") == 6
    assert "pip install 'kubeproof[redis]'" in capsys.readouterr().err
