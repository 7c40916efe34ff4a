"""Whatever an API server sends: exit code 6 with the reason, in bounded time, and nothing half-read on stdout."""

import threading

import pytest

from kubeproof.cli.main import main
from kubeproof.errors import ClusterError
from kubeproof.live import client, watching
from kubeproof.live.client import Client
from kubeproof.live.config import Connection
from tests.unit.live.api_server import kubeconfig
from tests.unit.live.hostile_server import ANSWERS, ENDLESS, Handler, hostile
from tests.unit.live.objects import pod


def refuse(answer, words, tmp_path, capsys):
    with hostile(answer) as server:
        code = main([*words, "-A", "--kubeconfig", kubeconfig(tmp_path, server)])
    said = capsys.readouterr()
    assert (code, said.out) == (6, ""), said.err
    assert said.err.startswith("error: E402 ")
    assert "Traceback" not in said.err
    return said.err


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_cannot_be_used_is_told(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(client.time, "sleep", lambda _: None)
    answer, told = ANSWERS[name]

    assert told in refuse(answer, ["snapshot"], tmp_path, capsys)


@pytest.mark.parametrize("name", ["items that are a number", "owners that are a number", "900 levels"])
def test_verify_says_the_same(name, tmp_path, capsys):
    answer, told = ANSWERS[name]

    assert told in refuse(answer, ["verify", "--live"], tmp_path, capsys)


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_that_does_not_end_is_given_up(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(client, "PATIENCE_S", 0.3)
    monkeypatch.setattr(client, "LARGEST_PAGE", 2**22)
    answer, told = ENDLESS[name]
    words = ["snapshot", "--read-timeout", "0.5" if name == "page after page" else "600"]

    assert told in refuse(answer, words, tmp_path, capsys)


def test_a_cluster_without_end_is_given_up(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("kubeproof.live.listing.MOST_OBJECTS", 10)
    items = [pod(f"p-{number}", None) for number in range(11)]
    answer = lambda handler: handler.send({"metadata": {}, "items": items})  # noqa: E731

    assert "more than 10 pods" in refuse(answer, ["snapshot"], tmp_path, capsys)
    monkeypatch.setattr("kubeproof.live.listing.MOST_OBJECTS", 100)
    monkeypatch.setattr("kubeproof.live.snapshot.MOST_BYTES", 1000)
    assert "more than 1,000 bytes" in refuse(answer, ["snapshot"], tmp_path, capsys)


# -- streams ----------------------------------------------------------------------------------------

LINES = {
    "not JSON": b"<html>\n",
    "a number": b"5\n",
    "no object": b'{"type": "ADDED"}\n',
    "an object that is a number": b'{"type": "ADDED", "object": 5}\n',
    "an object without metadata": b'{"type": "ADDED", "object": {}}\n',
    "metadata that are a number": b'{"type": "ADDED", "object": {"metadata": 5}}\n',
    "another kind": b'{"type": "ADDED", "object": {"kind": "Secret", "metadata": {}}}\n',
    "900 levels": b'{"type": "ADDED", "object": ' + b"[" * 900 + b"]" * 900 + b"}\n",
    "half of a pair": b'{"type": "ADDED", "object": {"metadata": {"name": "\\ud800"}}}\n',
    "NaN": b'{"type": "ADDED", "object": {"metadata": {}, "spec": NaN}}\n',
}


def watch(stream, monkeypatch):
    """Follows pods whose watch sends this."""

    def answer(handler: Handler) -> None:
        if "watch=true" in handler.path:
            stream(handler)
        else:
            handler.send({"metadata": {"resourceVersion": "1"}, "items": []})

    ended = threading.Event()
    with hostile(answer) as server:
        asked = Client(Connection(server, "test"), wait=lambda _: None, patience_s=0.3)
        try:
            return list(watching.watch_all(asked, None, kinds=("Pod",), is_over=ended.is_set, wait=lambda _: None))
        finally:
            ended.set()


@pytest.mark.parametrize("name", LINES)
def test_a_stream_of_something_else_ends_the_watch(name, monkeypatch):
    with pytest.raises(ClusterError, match="cannot be watched any longer: "):
        watch(lambda handler: handler.send_body(LINES[name]), monkeypatch)


def test_a_notification_without_end_ends_the_watch(monkeypatch):
    head = b'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{"type": "'
    with pytest.raises(ClusterError, match="does not finish a notification within"):
        watch(lambda handler: handler.trickle(head, b"x"), monkeypatch)


def test_a_notification_that_is_too_long_ends_the_watch(monkeypatch):
    monkeypatch.setattr(client, "LARGEST_LINE", 100)
    with pytest.raises(ClusterError, match="a notification of more than 100 bytes"):
        watch(lambda handler: handler.send_body(b"x" * 1000), monkeypatch)


def test_a_list_that_always_expires_ends_the_watch(monkeypatch):
    def answer(handler: Handler) -> None:
        if "continue" in handler.path:
            handler.send_body(b'{"kind": "Status", "reason": "Expired"}', 410)
        else:
            handler.send({"metadata": {"continue": "x"}, "items": []})

    with hostile(answer) as server, pytest.raises(ClusterError, match="expired 5 times"):
        list(watching.watch_all(Client(Connection(server, "test")), None, kinds=("Pod",)))
