"""Tracing tells what a service does and does it no harm."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

import pytest

from kubeproof import Tracer
from kubeproof.monitor.brokers.address import parse_address
from kubeproof.monitor.readers.formats import read_events
from kubeproof.monitor.trace.names import request_name
from kubeproof.monitor.trace.publishers import AmqpPublisher, publisher_of


class Kept:
    """A publisher that keeps everything."""

    dropped = 0

    def __init__(self):
        self.records = []

    def publish(self, record):
        self.records.append(record)

    def close(self, timeout_s):
        pass

    def shown(self):
        return [(record["name"], *sorted(record.get("attributes", {}).items())) for record in self.records]


class Ticking:
    """A clock that goes on by a microsecond whenever it is asked."""

    now = 0

    def __call__(self):
        self.now += 1000
        return self.now


@pytest.fixture
def kept():
    return Kept()


@pytest.fixture
def tracer(kept):
    made = Tracer(kept, service="shop", clock=Ticking())
    yield made
    made.close()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/v2/servers/0b9e6d1c-3f2a-4c5b-8d7e-1a2b3c4d5e6f/action?x=1", "GET /v2/servers/{id}/action"),
        ("/users/42", "GET /users/{id}"),
        ("/images/deadbeefdeadbeefdeadbeef", "GET /images/{id}"),
        ("", "GET /"),
        ("/face/cafe", "GET /face/cafe"),
    ],
)
def test_names_of_requests_have_no_identities(path, shown):
    assert request_name("get", path) == shown


def test_events_are_numbered_and_readable(tmp_path):
    tracer = Tracer(str(tmp_path / "events.jsonl"), service="shop")
    tracer.event("sold", target="till", key="k", price=3, nothing=None)
    tracer.event("sold")
    tracer.close()

    first, second = read_events(str(tmp_path / "events.jsonl"))

    assert (first.name, first.target, first.key, first.sequence, dict(first.attributes)) == (
        "sold", "till", "k", 1, {"price": "3"},
    )  # fmt: skip
    assert (second.sequence, second.source) == (2, first.source)
    assert first.source.startswith("shop@")
    assert first.id != second.id


def test_a_forked_process_counts_in_a_sequence_of_its_own(tracer, kept, monkeypatch):
    tracer.event("parent")
    monkeypatch.setattr(os, "getpid", lambda: 77)
    tracer.event("child")
    tracer.event("child")

    assert [(record["name"], record["seq"]) for record in kept.records] == [("parent", 1), ("child", 1), ("child", 2)]
    assert len({record["source"] for record in kept.records}) == 2


def test_a_child_does_not_wait_for_a_thread_of_its_parent(tracer, kept):
    with tracer._lock:  # as another thread may hold it at the moment of a fork
        child = os.fork()
        if child == 0:
            threading.Timer(10, os._exit, (1,)).start()
            tracer.event("child")
            os._exit(0 if kept.shown() == [("child",)] else 1)

    assert os.waitpid(child, 0)[1] == 0


def test_requests_to_a_wsgi_application_and_its_answers_are_events(tracer, kept):
    def application(environ, start_response):
        start_response("201 Created", [("Content-Type", "text/plain")])
        return [b"made"]

    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/servers/17",
        "QUERY_STRING": "",
        "SCRIPT_NAME": "",
        "HTTP_X_OPENSTACK_REQUEST_ID": "req-1",
    }
    setup_testing_defaults(environ)
    answer = validator(tracer.wsgi(application))(environ, lambda *_: None)

    assert b"".join(answer) == b"made"
    answer.close()
    assert kept.shown() == [
        ("POST /servers/{id}", ("kind", "served")),
        ("POST /servers/{id} reply", ("dur_us", "2"), ("kind", "answered"), ("status", "201")),
    ]
    assert {record["key"] for record in kept.records} == {"req-1"}


def test_an_application_that_fails_is_seen_to_fail(tracer, kept):
    def application(environ, start_response):
        raise KeyError("no")

    environ = {}
    setup_testing_defaults(environ)
    with pytest.raises(KeyError):
        tracer.wsgi(application)(environ, lambda *_: None)

    assert kept.shown()[1] == ("GET / reply", ("dur_us", "2"), ("err", "KeyError"), ("kind", "answered"))


def test_an_answer_that_breaks_off_is_seen_to_break_off(tracer, kept):
    def application(environ, start_response):
        start_response("200 OK", [])
        yield b"part"
        raise ConnectionError("gone")

    environ = {}
    setup_testing_defaults(environ)
    with pytest.raises(OSError, match="gone"):
        list(tracer.wsgi(application)(environ, lambda *_: None))

    assert kept.shown()[1] == (
        "GET / reply", ("dur_us", "2"), ("err", "ConnectionError"), ("kind", "answered"), ("status", "200"),
    )  # fmt: skip


def asked(application, scope):
    async def ask():
        async def receive():
            return {"type": "http.request"}

        async def send(message):
            pass

        await application(scope, receive, send)

    asyncio.run(ask())


def test_requests_to_an_asgi_application_and_its_answers_are_events(tracer, kept):
    async def application(scope, receive, send):
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    headers = [(b"x-openstack-request-id", b"req-2")]
    scope = {"type": "http", "method": "GET", "path": "/ports/9", "headers": headers, "server": ("host", 80)}
    asked(tracer.asgi(application), scope)
    asked(tracer.asgi(lambda *_: asyncio.sleep(0)), {"type": "lifespan"})

    assert kept.shown() == [
        ("GET /ports/{id}", ("kind", "served")),
        ("GET /ports/{id} reply", ("dur_us", "2"), ("kind", "answered"), ("status", "404")),
    ]
    assert kept.records[0]["target"] == "host"


def test_an_asgi_application_that_fails_is_seen_to_fail(tracer, kept):
    async def application(scope, receive, send):
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        asked(tracer.asgi(application), {"type": "http", "method": "GET", "path": "/"})

    assert kept.shown()[1] == ("GET / reply", ("dur_us", "2"), ("err", "ValueError"), ("kind", "answered"))


@pytest.fixture
def server():
    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running.server_address[1]
        running.shutdown()
        thread.join()


def test_requests_of_clients_and_their_answers_are_events(tracer, kept, server):
    requests = pytest.importorskip("requests")
    tracer.http_clients().http_clients()
    address = f"http://127.0.0.1:{server}/servers/1"
    with urllib.request.urlopen(address), requests.get(address, timeout=10):
        pass
    tracer.close()
    with urllib.request.urlopen(address):
        pass

    one = [
        ("GET /servers/{id}", ("kind", "request")),
        ("GET /servers/{id} reply", ("dur_us", "2"), ("kind", "reply"), ("status", "200")),
    ]
    assert kept.shown() == one * 2
    assert kept.records[0]["target"] == f"127.0.0.1:{server}"


def test_a_request_that_nobody_answers_is_seen_to_fail(tracer, kept, server):
    tracer.http_clients()
    connection = http.client.HTTPConnection("127.0.0.1", server)
    connection.request("GET", "/")
    connection.sock.close()
    with pytest.raises(OSError, match="descriptor"):
        connection.getresponse()
    connection.close()

    assert kept.shown()[1][2] == ("err", "OSError")


def test_a_publisher_that_fails_does_the_service_no_harm(kept):
    kept.publish = lambda record: json.dumps(object())
    tracer = Tracer(kept, service="shop")
    tracer.event("sold")
    tracer.close()

    assert tracer.failures == 1


def test_events_beyond_the_buffer_are_dropped_and_counted(tmp_path):
    publisher = AmqpPublisher(parse_address("amqp://127.0.0.1:1/queue"), most_waiting=3)
    tracer = Tracer(publisher, service="shop")
    for _ in range(600):
        tracer.event("sold")
    tracer.close(0.0)

    assert tracer.dropped >= 600 - 200 - 3 - 1
    assert tracer.failures == 0


def test_events_are_not_published_to_redis():
    with pytest.raises(ValueError, match="amqp"):
        publisher_of("redis://127.0.0.1/0/stream")
