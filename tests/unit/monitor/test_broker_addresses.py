"""Addresses of brokers: what they mean, what is refused, and that secrets are never shown."""

from __future__ import annotations

import importlib.util

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import EventError, UsageError
from kubeproof.monitor.brokers.address import Address, is_address, parse_address
from kubeproof.monitor.brokers.messages import LARGEST, MessageReader


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("amqp://host/queue", Address("amqp", "host", 5672, "/", "queue")),
        ("amqp://me:se%2Fcret@host:99/v%2Fh/q%20q", Address("amqp", "host", 99, "v/h", "q q", "me", "se/cret")),
        ("AMQP://host/queue", Address("amqp", "host", 5672, "/", "queue")),
        ("amqps://[::1]/queue", Address("amqps", "::1", 5671, "/", "queue")),
        ("redis://host/stream", Address("redis", "host", 6379, "0", "stream")),
        ("rediss://:word@host:1/3/stream", Address("rediss", "host", 1, "3", "stream", "", "word")),
    ],
)
def test_addresses_name_broker_room_and_queue(text, address):
    assert is_address(text)
    assert parse_address(text) == address
    assert parse_address(address.shown) == Address(*(getattr(address, part) for part in Address.__slots__[:5]))


def test_a_password_can_come_from_elsewhere_and_is_never_shown():
    address = parse_address("amqp://me@host/queue", password="word")

    assert address.password == "word"
    assert "word" not in address.shown
    assert parse_address("amqp://me:own@host/queue", password="word").password == "own"


@pytest.mark.parametrize(
    "text",
    [
        "amqp://host", "amqp://host/", "amqp:///queue", "amqp://host/a/b/c", "amqp://host:word/queue",
        "amqp://host:99999/queue", "amqp://[::/queue", "amqp://host/queue?x=1", "redis://host/word/stream",
        "http://host/queue",
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_repeating_it(text):
    with pytest.raises(UsageError) as told:
        parse_address(text)

    assert text not in str(told.value)


def test_identities_come_from_the_event_the_message_or_the_content():
    reader = MessageReader("queue")
    body = b'{"time": 1, "name": "a"}\n\n{"time": 1, "name": "b", "id": "own"}\n{"time": 2, "name": "c"}'

    assert [event.id for event in reader.events(body, "m")] == ["m", "own", "m/2"]
    assert [event.id for event in reader.events(body)] == [event.id for event in reader.events(body)]
    assert reader.events(body)[0].id != reader.events(body + b" ")[0].id
    assert reader.events(b" \n") == []


@pytest.mark.parametrize(
    "body", [b"\xff", b"word", b"[" * 5000, b"{" * 5000, b'{"name": "a"}', b" " * (LARGEST + 1), b"{" + b" " * 2**20]
)
def test_messages_that_cannot_be_read_are_told(body):
    with pytest.raises(EventError):
        MessageReader("queue").events(body)


def test_messages_can_have_a_reader_of_ones_own(tmp_path):
    (tmp_path / "own.py").write_text(
        "from kubeproof.monitor.event import Event\n"
        "def words(lines, file):\n"
        "    return [Event(1, word) for line in lines for word in line.split()]\n"
    )

    reader = MessageReader("queue", f"{tmp_path / 'own.py'}:words")

    assert [event.name for event in reader.events(b"ask answer")] == ["ask", "answer"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["amqp://host/queue", "file.jsonl"], "a broker is the only input"),
        (["--until-idle", "1s", "file.jsonl"], "--until-idle is for brokers"),
        (["redis://host/0/stream"], "events are read from amqp:// only"),
    ],
)
def test_inputs_that_do_not_go_together_are_wrong_usage(tmp_path, capsys, arguments, said):
    assert main(["monitor", "run", "--rules", rules(tmp_path), *arguments]) == 2
    assert said in capsys.readouterr().err


def rules(folder):
    path = folder / "rules.yaml"
    path.write_text(
        "apiVersion: kubeproof.dev/v1alpha1\nkind: MonitorRules\nspec: {rules: [{never: {event: failure}}]}\n"
    )
    return str(path)


def test_a_missing_client_is_told_with_what_to_install(tmp_path, capsys, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "kubeproof.monitor.brokers.address.find_spec", lambda name: None if name == "pika" else find(name)
    )

    assert main(["monitor", "run", "--rules", rules(tmp_path), "amqp://host/queue"]) == 6
    assert "pip install 'kubeproof[rabbitmq]'" in capsys.readouterr().err
