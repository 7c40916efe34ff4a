"""A validating admission webhook: it answers in time whatever happens, and lets everything in unless told otherwise.

The API server asks before it stores an object, and waits. So the answer never waits for the judgement longer than it
may: whoever is judged too slowly, while another object is judged, or by something that fails, is let in.
"""

from __future__ import annotations

import json
import ssl
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kubeproof.errors import EnvironmentProblem
from kubeproof.manifests.yaml.printable import printable
from kubeproof.named_tuples import NamedTuple

Object = dict[str, Any]
VERSION = "admission.k8s.io/v1"
MOST_BYTES = 4 * 2**20  # of a review; an API server stores no object that is larger than 3 MiB
MOST_LETTERS, MOST_WARNINGS = 256, 8  # that API servers hand on
READ_S = 5.0  # in which a review has to arrive
OUTCOMES = ("silent", "warned", "denied", "late", "busy", "failed", "refused")


class Judged(NamedTuple):
    """What is said of an object."""

    warnings: tuple[str, ...] = ()
    denial: str = ""  # why it must not be stored; "": it may


Judge = Callable[[Object], Judged]


class Desk:
    """Judges one object at a time, and answers in time."""

    def __init__(self, judge: Judge, *, within_s: float) -> None:
        self._judge, self._within_s = judge, within_s
        self._is_free = threading.Semaphore(1)
        self.counts: Counter[str] = Counter(dict.fromkeys(OUTCOMES, 0))

    def ask(self, item: Object) -> tuple[str, Judged]:
        """What became of it, and what is said: nothing, where that is not known in time."""
        if not self._is_free.acquire(blocking=False):
            return self._count("busy"), Judged()
        found: list[Judged] = []
        done = threading.Event()

        def work() -> None:
            try:
                found.append(self._judge(item))
            except Exception:  # whatever is wrong with us, nobody is kept out by it: it is counted
                found.clear()
            finally:
                self._is_free.release()
                done.set()

        threading.Thread(target=work, daemon=True).start()
        if not done.wait(self._within_s):
            return self._count("late"), Judged()
        if not found:
            return self._count("failed"), Judged()
        judged = found[0]
        return self._count("denied" if judged.denial else "warned" if judged.warnings else "silent"), judged

    def _count(self, outcome: str) -> str:
        self.counts[outcome] += 1
        return outcome

    def refuse(self) -> None:
        """Counts a request that is no review."""
        self._count("refused")

    def figures(self) -> str:
        """How often each happened, for Prometheus."""
        lines = [
            "# HELP kubeproof_admissions_total Objects by what became of them.",
            "# TYPE kubeproof_admissions_total counter",
        ]
        lines += [f'kubeproof_admissions_total{{outcome="{one}"}} {self.counts[one]}' for one in OUTCOMES]
        return "\n".join(lines) + "\n"


def review(body: bytes, desk: Desk) -> bytes | None:
    """The answer to an AdmissionReview; None if that is none."""
    try:
        asked = json.loads(body)
        request = asked["request"]
        uid, item = request["uid"], request["object"]
    except (ValueError, KeyError, TypeError, RecursionError):
        desk.refuse()
        return None
    if asked.get("apiVersion") != VERSION or not isinstance(uid, str):
        desk.refuse()
        return None
    judged = desk.ask(item)[1] if isinstance(item, dict) else Judged()
    response: Object = {"uid": uid, "allowed": not judged.denial}
    if judged.warnings:
        response["warnings"] = [_shorten(one) for one in judged.warnings[:MOST_WARNINGS]]
    if judged.denial:
        response["status"] = {"code": 403, "message": _shorten(judged.denial)}
    return json.dumps({"apiVersion": VERSION, "kind": "AdmissionReview", "response": response}).encode()


def _shorten(text: str) -> str:
    return printable(text)[:MOST_LETTERS]


@contextmanager
def serve_reviews(desk: Desk, host: str, port: int, tls: ssl.SSLContext | None) -> Iterator[int]:
    """Answers reviews while the block runs; gives the port, which is chosen if it was 0."""

    class Handler(BaseHTTPRequestHandler):
        """One connection."""

        timeout = READ_S

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if self.path.partition("?")[0] != "/validate" or not length.isdecimal() or int(length) > MOST_BYTES:
                desk.refuse()
                self._send(404 if self.path.partition("?")[0] != "/validate" else 413, b"POST a review to /validate\n")
                return
            answer = review(self.rfile.read(int(length)), desk)
            self._send(400 if answer is None else 200, answer or b"no AdmissionReview\n", "application/json")

        def do_GET(self) -> None:
            pages = {"/healthz": b"ok\n", "/readyz": b"ready\n", "/metrics": desk.figures().encode()}
            found = pages.get(self.path.partition("?")[0])
            self._send(404 if found is None else 200, found or b"there are /healthz, /readyz, /metrics, /validate\n")

        def _send(self, status: int, body: bytes, content: str = "text/plain; charset=utf-8") -> None:
            self.send_response(status)
            self.send_header("Content-Type", content)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing: stderr is for the user."""

    class Server(ThreadingHTTPServer):
        """Tells nobody of connections that break off."""

        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A caller that goes away is its own affair."""

    try:
        server = Server((host, port), Handler)
    except (OSError, OverflowError) as problem:
        raise EnvironmentProblem(f"E401 cannot answer reviews on {host}:{port}: {problem}.") from None
    if tls is not None:  # the handshake is made by the thread of the connection, so that a slow one delays nobody
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def tls_of(certificate: str, key: str) -> ssl.SSLContext:
    """What a server needs to be believed: its certificate and the key to it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ValueError) as problem:
        told = f"E401 {certificate} and {key} are no certificate with its key: {problem}."
        raise EnvironmentProblem(told) from None
    return context
