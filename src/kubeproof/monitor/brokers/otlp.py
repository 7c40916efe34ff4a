"""Events that collectors and services of OpenTelemetry post: OTLP over HTTP as JSON, on `/v1/traces` and `/v1/logs`.

A request is answered when its events have been judged and the outcome is permanent. Whoever gets no answer, because the
monitor died, posts again; spans have identities, so that what comes twice counts once.
"""

from __future__ import annotations

import json
import queue
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kubeproof.errors import EnvironmentProblem, EventError, UsageError
from kubeproof.monitor.brokers.messages import LARGEST, MessageReader
from kubeproof.monitor.event import Event
from kubeproof.monitor.run import Listener
from kubeproof.values import dataclass

SCHEME = "otlp://"
PATHS = ("/v1/traces", "/v1/logs")
LOOPBACK, PORT = "127.0.0.1", 4318
MOST_WAITING = 64  # requests; beyond that senders are asked to come again later
PATIENCE_S = 30.0  # in which a request is judged, or its sender posts it again
_QUIET_S = 0.1
Told = dict[str, object]


class _Request:
    """One body, and whoever waits for its fate."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.problem = ""
        self.is_settled = threading.Event()


@dataclass(frozen=True, slots=True)
class Door:
    """Where to listen, and for how long; the clock can be replaced."""

    host: str = LOOPBACK
    port: int = PORT
    silence_s: float | None = None  # the stream is over after so long without a request; None: never
    tell_port: Callable[[int], None] = lambda port: None
    clock: Callable[[], float] = time.monotonic

    @property
    def shown(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{SCHEME}{host}:{self.port}"


def parse_door(text: str) -> Door:
    """Host and port of `otlp://[HOST:]PORT`; the loopback interface unless a host is named."""
    host, _, port = text.removeprefix(SCHEME).rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65536) or "/" in host or "@" in host:
        raise UsageError("not where to listen for OpenTelemetry", "Write otlp://PORT, or otlp://HOST:PORT.")
    return Door(host.strip("[]") or LOOPBACK, int(port))


class OtlpDeliveries:
    """What is posted, as deliveries that are answered when they are settled."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._reader = MessageReader(door.shown, "spans")
        self._arrived: queue.Queue[_Request] = queue.Queue(MOST_WAITING)
        self._taken: list[_Request] = []

    def events(self, listener: Listener) -> Iterator[Event]:
        """The events of all requests, until nothing has come for long enough."""
        with _serve(self._door, self._arrived):
            last = self._door.clock()
            while True:
                try:
                    request = self._arrived.get(timeout=_QUIET_S)
                except queue.Empty:
                    listener.flush()
                    listener.idle()
                    self.acknowledge()
                    if self._door.silence_s is not None and self._door.clock() - last >= self._door.silence_s:
                        return
                    continue
                yield from self._take(request, listener)
                if self._arrived.empty():  # senders wait for their answers
                    listener.flush()
                    self.acknowledge()
                last = self._door.clock()

    def acknowledge(self) -> None:
        """What was handed on is permanent: senders are told."""
        for request in self._taken:
            request.is_settled.set()
        self._taken.clear()

    def _take(self, request: _Request, listener: Listener) -> Iterator[Event]:
        """The events of a request; it counts as taken with its last one, so that it is not answered too early."""
        problems: list[EventError] = []
        try:
            *others, final = self._reader.events(request.body, lost=problems.append) or (None,)
        except EventError as problem:
            others, final, problems = [], None, [problem]
        for event in others:
            if event is not None:
                yield event
        for unreadable in problems:
            listener.note_loss(unreadable)
        request.problem = str(problems[0]) if problems else ""
        self._taken.append(request)
        if final is not None:
            yield final


class _Server(ThreadingHTTPServer):
    """Has what its handlers share: where bodies go, and whether anybody still takes them."""

    daemon_threads = True

    def __init__(self, door: Door, arrived: queue.Queue[_Request]) -> None:
        self.arrived, self.is_closing = arrived, threading.Event()
        super().__init__((door.host, door.port), _Handler)

    def judge(self, body: bytes) -> tuple[int, Told]:
        """Hands the body on, and waits for its fate."""
        request = _Request(body)
        try:
            self.arrived.put_nowait(request)
        except queue.Full:
            return 429, {"message": "too much at once, come again"}
        end = time.monotonic() + PATIENCE_S
        while not request.is_settled.wait(0.2):
            if self.is_closing.is_set() or time.monotonic() >= end:
                return 503, {"message": "not judged, come again"}
        return 200, {"partialSuccess": {"errorMessage": request.problem} if request.problem else {}}


class _Handler(BaseHTTPRequestHandler):
    """Hands on bodies, and answers when they are settled."""

    server: _Server
    timeout = 30
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        found = self._body()
        self.close_connection = not isinstance(found, bytes)  # what was not read would be taken for a request
        status, told = self.server.judge(found) if isinstance(found, bytes) else found
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status in (429, 503):
            self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(body)

    def _body(self) -> bytes | tuple[int, Told]:
        if self.path.partition("?")[0] not in PATHS:
            return 404, {"message": f"post to {' or '.join(PATHS)}"}
        if not self.headers.get("Content-Type", "").startswith("application/json"):
            return 415, {"message": "only JSON is read; set encoding: json in the otlphttp exporter"}
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST:
            return 413, {"message": f"a body of at most {LARGEST} bytes with its length"}
        body = self.rfile.read(int(length))
        return _unpack(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: stderr is for the user."""


@contextmanager
def _serve(door: Door, arrived: queue.Queue[_Request]) -> Iterator[None]:
    """Takes requests while the block runs; those that were not judged by then are not answered well."""
    try:
        server = _Server(door, arrived)
    except (OSError, OverflowError) as problem:
        raise EnvironmentProblem(f"E401 cannot listen on {door.shown}: {problem}.") from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    door.tell_port(server.server_address[1])
    try:
        yield
    finally:
        server.is_closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _unpack(body: bytes) -> bytes | tuple[int, Told]:
    """What was packed, up to a bound: a few bytes may be meant to become gigabytes."""
    unpacking = zlib.decompressobj(wbits=31)
    try:
        found = unpacking.decompress(body, LARGEST)
    except zlib.error:
        return 400, {"message": "not valid gzip"}
    return found if unpacking.eof else (413, {"message": f"at most {LARGEST} bytes when unpacked"})
