"""A broken or hostile API server on loopback: it answers rightly but for one kind."""

from __future__ import annotations

import gzip
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.unit.live.objects import pod

Answer = Callable[["Handler"], None]
PACE_S = 0.05  # between bytes of those that never end


class Handler(BaseHTTPRequestHandler):
    """Answers lists with nothing in them, and those of pods as it was told."""

    protocol_version = "HTTP/1.1"
    answer: Answer
    stop: threading.Event

    def do_GET(self) -> None:
        if self.path.partition("?")[0].endswith("/pods"):
            self.answer()
        else:
            self.send({"metadata": {"resourceVersion": "1"}, "items": []})

    def send(self, value: Any) -> None:
        self.send_body(value if isinstance(value, bytes) else json.dumps(value).encode())

    def send_body(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, text in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        self.wfile.write(body)

    def trickle(self, first: bytes, piece: bytes = b" ") -> None:
        """Sends a piece again and again, until nobody listens."""
        self.close_connection = True
        try:
            self.wfile.write(first)
            while not self.stop.wait(PACE_S):
                self.wfile.write(piece)
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@contextmanager
def hostile(answer: Answer) -> Iterator[str]:
    """The address of a server that answers so when pods are asked for."""
    stop = threading.Event()
    handler = type("Told", (Handler,), {"answer": answer, "stop": stop})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        stop.set()
        server.shutdown()
        server.server_close()
        thread.join()


def body(value: Any) -> Answer:
    return lambda handler: handler.send(value)


def listing(**others: Any) -> Answer:
    return body({"kind": "PodList", "metadata": {}, **others})


def holding(**parts: Any) -> Answer:
    """A list with one pod, some parts of which are replaced."""
    return listing(items=[{**pod("p", None), **parts}])


def metadata(**parts: Any) -> Answer:
    return holding(metadata={**pod("p", None)["metadata"], **parts})


def nested(levels: int) -> Answer:
    return body(b'{"items":[{"metadata":{"name":"x"},"spec":' + b'{"a":' * levels + b"1" + b"}" * levels + b"}]}")


def _fresh_tokens() -> Answer:
    numbers = itertools.count()
    return lambda handler: handler.send({"metadata": {"continue": str(next(numbers))}, "items": []})


def _chunks(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"zz\r\n{}\r\n0\r\n\r\n")
    handler.close_connection = True


def _truncated(handler: Handler) -> None:
    handler.send_body(b'{"items": []}', Content_Length="1000")
    handler.close_connection = True


def _redirect(handler: Handler) -> None:
    handler.send_body(b"", 302, Location="http://127.0.0.1:9/api/v1/pods")


def _huge(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.trickle(b"", b"100000\r\n" + b" " * 2**20 + b"\r\n")


# What comes -> part of what is told about it.
ANSWERS: dict[str, tuple[Answer, str]] = {
    "items that are a number": (listing(items=5), "sends items: 5 instead of a list of pods"),
    "items that are a text": (listing(items="abc"), "instead of a list of pods"),
    "items that are an object": (listing(items={}), "instead of a list of pods"),
    "no items": (listing(), "sends a PodList instead of a list of pods"),
    "a list of another kind": (body({"kind": "SecretList", "items": []}), "instead of a list of pods"),
    "a status that is a success": (body({"kind": "Status", "status": "Success"}), "sends a Status instead"),
    "an item that is a number": (listing(items=[7]), "sends '7' among the pods"),
    "an item that is null": (listing(items=[None]), "sends 'None' among the pods"),
    "an item of another kind": (holding(kind="Secret"), "sends 'Secret' among the pods"),
    "no metadata": (holding(metadata=None), "metadata is required"),
    "metadata that are a text": (holding(metadata="x"), "metadata is a string"),
    "a name that is a number": (metadata(name=5), "metadata.name is an integer"),
    "owners that are a number": (metadata(ownerReferences=5), "metadata.ownerReferences is an integer"),
    "an owner that is null": (metadata(ownerReferences=[None]), "metadata.ownerReferences[0] is null"),
    "labels that are a list": (metadata(labels=["x"]), "metadata.labels is a list"),
    "a label that is an object": (metadata(labels={"x": {}}), "metadata.labels.x is a mapping"),
    "no spec": (holding(spec=None), "spec is required"),
    "containers that are a text": (holding(spec={"containers": "x"}), "spec.containers is a string"),
    "conditions that are a number": (holding(status={"conditions": 5}), "status.conditions is an integer"),
    "half of a pair": (body(b'{"items":[{"metadata":{"name":"\\ud800x"},"spec":{}}]}'), "half of a surrogate pair"),
    "half of a pair as a key": (body(b'{"items":[],"\\udfff":1}'), "half of a surrogate pair"),
    "900 levels": (nested(900), "nested more than 100 levels deep"),
    "100,000 levels": (nested(100_000), "nested more than 100 levels deep"),
    "NaN": (body(b'{"items":[{"metadata":{"name":"x"},"spec":{"priority":NaN}}]}'), "the number NaN"),
    "a number without end": (body(b'{"items":[' + b"9" * 5000 + b"]}"), "more than 64 digits"),
    "an infinite number": (body(b'{"items":[1e999]}'), "the number 1e999"),
    "a key twice": (body(b'{"items":[],"items":[]}'), "the same key twice"),
    "not JSON": (body(b"<html>"), "does not answer as an API server does"),
    "a list": (body(b"[1,2]"), "does not answer as an API server does"),
    "nothing": (body(b""), "does not answer as an API server does"),
    "not UTF-8": (body(b'{"items":["\xff"]}'), "does not answer as an API server does"),
    "compressed, unasked": (
        lambda handler: handler.send_body(gzip.compress(b" " * 2**22), Content_Encoding="gzip"),
        "does not answer as an API server does",
    ),
    "a page as people read it": (
        lambda handler: handler.send_body(b"<h1>Log in</h1>", Content_Type="text/html"),
        "does not answer as an API server does",
    ),
    "a redirection": (_redirect, "answers 302"),
    "broken chunks": (_chunks, "cannot be reached"),
    "an end too early": (_truncated, "cannot be reached"),
    "the same token again": (listing(items=[], metadata={"continue": "same"}), "goes round in circles"),
    "a long text": (metadata(annotations={"x": "y" * 2**21}), "more than 1,048,576 characters"),
}
ENDLESS: dict[str, tuple[Answer, str]] = {
    "byte after byte": (
        lambda handler: handler.trickle(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"),
        "does not finish an answer within",
    ),
    "headers without end": (
        lambda handler: handler.trickle(b"HTTP/1.1 200 OK\r\nX: ", b"x"),
        "does not finish an answer within",
    ),
    "a refusal without end": (
        lambda handler: handler.trickle(b"HTTP/1.1 403 No\r\nContent-Length: 1000000\r\n\r\n"),
        "does not finish an answer within",
    ),
    "silence": (lambda handler: handler.trickle(b"", b""), "does not finish an answer within"),
    "more and more": (_huge, ""),
    "page after page": (_fresh_tokens(), "does not send all of the cluster in time"),
}
