"""A real RabbitMQ: nothing is lost and nothing counted twice, whoever dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pika
import pytest

from kubeproof.cli.main import main
from tests.brokers.servers import HOST, Broker, until

ROOT = Path(__file__).parents[2]
RULES = """apiVersion: kubeproof.dev/v1alpha1
kind: MonitorRules
spec:
  rules:
  - name: answered
    followedBy: {first: ask, then: answer, within: 3s, match: key}
"""
LOST = 777  # every so many questions have no answer


def connected(broker: Broker) -> pika.BlockingConnection:
    return pika.BlockingConnection(pika.ConnectionParameters(HOST, broker.port, socket_timeout=5))


def bodies(count: int) -> list[bytes]:
    """Questions and answers, one second between questions; a few answers are missing."""
    lines = []
    for number in range(count // 2):
        lines.append({"t_us": number * 1_000_000, "name": "ask", "key": f"{number}", "id": f"a{number}"})
        name = "other" if number % LOST == LOST - 1 else "answer"
        lines.append({"t_us": number * 1_000_000 + 5, "name": name, "key": f"{number}", "id": f"b{number}"})
    return [json.dumps(line).encode() for line in lines]


def published(broker: Broker, queue: str, messages: list[bytes], **properties: str) -> None:
    with connected(broker) as connection:
        channel = connection.channel()
        channel.queue_declare(queue, durable=True)
        for body in messages:
            channel.basic_publish("", queue, body, pika.BasicProperties(delivery_mode=2, **properties))


def left(broker: Broker, queue: str) -> int:
    """Messages that the broker has not been told to forget."""
    with connected(broker) as connection:
        count: int = connection.channel().queue_declare(queue, passive=True).method.message_count
        return count


def watched(folder: Path, address: str, *options: str) -> int:
    (folder / "rules.yaml").write_text(RULES)
    output = f"ndjson={folder / 'alarms.ndjson'}"
    return main(["monitor", "run", "--rules", str(folder / "rules.yaml"), "-o", output, *options, address])


def alarms(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "alarms.ndjson").read_text().splitlines()]


def test_messages_are_judged_and_forgotten_by_the_broker(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"amqp://guest:guest@{HOST}:{broker.port}/judged"
    published(broker, "judged", bodies(20)[:-1])
    state = str(tmp_path / "state.db")

    assert watched(tmp_path, address, "--until-idle", "100ms", "--state", state) == 0
    assert "1 obligations are still open" in capsys.readouterr().err
    published(broker, "judged", [b'{"time": 99, "name": "other"}'])
    assert watched(tmp_path, address, "--until-idle", "100ms", "--state", state) == 1

    assert [alarm["about"] for alarm in alarms(tmp_path)] == ["answer"]
    assert left(broker, "judged") == 0


def test_copies_are_recognised_by_identity_of_event_message_or_content(broker: Broker, tmp_path: Path) -> None:
    asked = b'{"time": 1, "name": "ask", "key": "k"}\n{"time": 1, "name": "ask", "key": "k"}\n'
    published(broker, "copies", [asked, asked], message_id="m1")
    published(broker, "copies", [b'{"time": 2, "name": "answer", "key": "k"}'] * 3)
    published(broker, "copies", [b'{"time": 2, "name": "answer", "key": "k", "id": "x"}'] * 3)

    address = f"amqp://{HOST}:{broker.port}/copies"
    assert watched(tmp_path, address, "--until-idle", "100ms", "--closed-end") == 0


def test_what_cannot_be_read_is_rejected_and_makes_verdicts_unknown(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = [b"\xff\xfe", b"word", b'{"name": "ask", "key": "k"}', b"[" * 100_000, b'{"a":' * 5000]
    published(
        broker,
        "hostile",
        [b'{"time": 1, "name": "ask", "key": "k"}', *hostile, b'{"time": 9, "name": "ask", "key": "k"}'],
    )
    published(broker, "hostile", [b'{"time": 9.5, "name": "answer", "key": "k"}'])

    address = f"amqp://{HOST}:{broker.port}/hostile"
    assert watched(tmp_path, address, "--until-idle", "100ms", "--closed-end") == 3

    assert [(alarm["verdict"], alarm["start_us"]) for alarm in alarms(tmp_path)] == [("UNKNOWN", 1_000_000)]
    assert f"{len(hostile)} records could not be read" in capsys.readouterr().err
    assert left(broker, "hostile") == 0


def test_a_missing_event_is_noticed_in_a_silent_queue(broker: Broker, tmp_path: Path) -> None:
    published(broker, "silent", [b'{"time": "2026-01-01T00:00:00Z", "name": "ask", "key": "k"}'])

    assert watched(tmp_path, f"amqp://{HOST}:{broker.port}/silent", "--until-idle", "100ms", "--wall-clock") == 1


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("amqp://{host}:1/queue", "Check host and port"),
        ("amqp://guest:secret@{host}:{port}/queue", "refuses user, password or virtual host"),
        ("amqp://guest@{host}:{port}/nowhere/queue", "refuses user, password or virtual host"),
        ("amqp://{host}:{port}/amq.gone", "The broker says: ACCESS_REFUSED"),
    ],
)
def test_a_broker_that_cannot_be_used_is_told_without_secrets(
    broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str, said: str
) -> None:
    assert watched(tmp_path, address.format(host=HOST, port=broker.port)) == 6

    told = capsys.readouterr().err
    assert said in told
    assert "secret" not in told
    assert "Traceback" not in told


class Publisher(threading.Thread):
    """Sends everything with confirmations; what was not confirmed when the broker died is sent again."""

    def __init__(self, broker: Broker, queue: str, messages: list[bytes], pause_at: int) -> None:
        super().__init__(daemon=True)
        self._broker, self._queue, self._messages, self._pause_at = broker, queue, messages, pause_at
        self.is_half_way, self.may_go_on = threading.Event(), threading.Event()
        self.repeated = 0

    def run(self) -> None:
        chunks = [self._messages[start : start + 500] for start in range(0, len(self._messages), 500)]
        for number, chunk in enumerate(chunks):
            if number * 500 == self._pause_at:
                self.is_half_way.set()
                self.may_go_on.wait()
            while not self._sent(chunk):
                self.repeated += 1
                self._broker.wait_until_up()

    def _sent(self, chunk: list[bytes]) -> bool:
        try:
            with connected(self._broker) as connection:
                channel = connection.channel()
                channel.queue_declare(self._queue, durable=True)
                channel.tx_select()
                for body in chunk:
                    channel.basic_publish("", self._queue, body, pika.BasicProperties(delivery_mode=2))
                channel.tx_commit()
            return True
        except (pika.exceptions.AMQPError, OSError):
            return False


def started(folder: Path, address: str) -> subprocess.Popen[bytes]:
    (folder / "rules.yaml").write_text(RULES)
    command = [
        sys.executable, "-m", "kubeproof.cli.main", "monitor", "run", "--rules", "rules.yaml", "--state", "state.db",
        "-o", "ndjson=alarms.ndjson", "--until-idle", "2s", address,
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE)


def check_restart(broker: Broker, folder: Path, events: int, how: signal.Signals) -> None:
    """The broker dies half-way, then the monitor; both come back."""
    queue = f"restart-{events}-{how}"
    messages = bodies(events)
    publisher = Publisher(broker, queue, messages, events // 2)
    address = f"amqp://{HOST}:{broker.port}/{queue}"
    publisher.start()
    first = started(folder, address)
    publisher.is_half_way.wait()
    until((folder / "alarms.ndjson").exists, "the monitor begins", first)
    broker.stop(how)
    publisher.may_go_on.set()
    broker.start()
    publisher.join()
    first.kill()
    first.wait()
    assert first.stderr is not None
    first.stderr.close()

    second = started(folder, address)
    told = second.communicate()[1].decode()

    found = [alarm["start_us"] for alarm in alarms(folder)]
    assert found == [number * 1_000_000 for number in range(events // 2) if number % LOST == LOST - 1]
    assert found
    assert second.returncode == 1, told
    assert f"{len(found)} alarms, 0 unknown" in told
    assert "gaps" not in told
    assert left(broker, queue) == 0


def test_a_broker_that_restarts_and_a_monitor_that_is_killed_lose_nothing(broker: Broker, tmp_path: Path) -> None:
    check_restart(broker, tmp_path, 20_000, signal.SIGTERM)


@pytest.mark.slow
def test_two_hundred_thousand_events_survive_a_restart(broker: Broker, tmp_path: Path) -> None:
    check_restart(broker, tmp_path, 200_000, signal.SIGKILL)
