"""What a running monitor serves over HTTP, on the loopback interface unless told otherwise.

`/metrics` for Prometheus, `/healthz` and `/readyz` for whoever keeps it running, `/` for people.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.monitor.metrics import Metrics
from kubeproof.named_tuples import NamedTuple

LOOPBACK = "127.0.0.1"
_PLAIN, _FIGURES, _PAGE = "text/plain", "text/plain; version=0.0.4", "text/html"


class Answer(NamedTuple):
    """What is sent back."""

    text: str
    content: str = _PLAIN
    status: int = 200


Pages = Mapping[str, Callable[[], Answer]]


def pages_of(metrics: Metrics, render: Callable[[], str] | None = None) -> Pages:
    """The pages of a monitor; `render` makes the one for people, as HTML."""
    found: dict[str, Callable[[], Answer]] = {
        "/metrics": lambda: Answer(metrics.text(), _FIGURES),
        "/healthz": lambda: Answer("ok\n"),
        "/readyz": lambda: Answer("ready\n") if metrics.is_watching else Answer("nothing has come yet\n", status=503),
    }
    return found if render is None else {**found, "/": lambda: Answer(render(), _PAGE)}


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `PORT` or `HOST:PORT`."""
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) < 65536):
        raise UsageError(f"--metrics {text!r} is no address", "Write PORT, or HOST:PORT.")
    return host.strip("[]") or LOOPBACK, int(port)


@contextmanager
def serve(pages: Pages, host: str, port: int) -> Iterator[int]:
    """Serves the pages while the block runs; gives the port, which is chosen if it was 0."""
    nothing = Answer(f"there are {', '.join(sorted(pages))}\n", status=404)

    class Handler(BaseHTTPRequestHandler):
        """Answers with what is true at this moment."""

        timeout = 5

        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            answer = nothing if page is None else page()
            body = answer.text.encode()
            self.send_response(answer.status)
            self.send_header("Content-Type", f"{answer.content}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing: stderr is for the user."""

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except (OSError, OverflowError) as problem:
        raise EnvironmentProblem(f"E401 cannot serve metrics on {host}:{port}: {problem}.") from None
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
