"""A recorded API server on loopback: serves lists of objects page by page, and remembers every request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kubeproof.live.resources import BY_KIND, RESOURCES

KUBECONFIG = """apiVersion: v1
kind: Config
current-context: test
contexts: [{{name: test, context: {{cluster: c, user: u, namespace: shop}}}}]
clusters: [{{name: c, cluster: {{server: "{server}"}}}}]
users: [{{name: u, user: {{token: hush}}}}]
"""


class Recorded:
    """Objects by kind, what is refused, and what was asked for."""

    def __init__(self, objects: list[dict[str, Any]] | None = None) -> None:
        self.objects: dict[str, list[dict[str, Any]]] = {resource.kind: [] for resource in RESOURCES}
        for one in objects or []:
            self.objects[one["kind"]].append(one)
        self.requests: list[tuple[str, str, dict[str, str], str]] = []  # method, path, query, authorization
        self.forbidden: set[str] = set()
        self.unserved: set[str] = set()
        self.expire_after = 0  # so many continued pages are answered with 410, once each
        self.failures: list[int] = []  # answers to give before anything else
        self.generated: dict[str, tuple[int, Any]] = {}  # kind -> how many, and what makes the i-th
        self.watches: dict[str, list[list[dict[str, Any]]]] = {}  # kind -> what each watch sends
        self.gate = threading.Event()  # watches send nothing before
        self.gate.set()
        self.server = ""

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if self.failures:
            return self.failures.pop(0), {"kind": "Status", "message": "try again"}
        kind, namespace, name = self._route(path)
        if kind is None or kind in self.unserved:
            return 404, {"kind": "Status", "reason": "NotFound", "message": "the server could not find it"}
        if kind in self.forbidden:
            message = f'{BY_KIND[kind].plural} is forbidden: User "u" cannot list it'
            return 403, {"kind": "Status", "reason": "Forbidden", "message": message}
        if name is not None:
            found = [one for one in self.objects[kind] if one["metadata"]["name"] == name]
            return (200, found[0]) if found else (404, {"kind": "Status", "message": "not found"})
        if query.get("watch") == "true":
            self.gate.wait(30)
            sent = self.watches.get(kind, [])
            return 200, sent.pop(0) if sent else []
        return self._page(kind, namespace, query)

    def _page(self, kind: str, namespace: str | None, query: dict[str, str]) -> tuple[int, Any]:
        first, limit = int(query.get("continue") or 0), int(query.get("limit") or 0)
        if first and self.expire_after:
            self.expire_after -= 1
            return 410, {"kind": "Status", "reason": "Expired", "message": "the continue token is too old"}
        count, make = self.generated.get(kind, (0, None))
        if make is not None:
            items = [make(number) for number in range(first, min(count, first + limit))]
        else:
            every = [o for o in self.objects[kind] if namespace in (None, o["metadata"].get("namespace"))]
            count, items = len(every), every[first : first + limit if limit else None]
        metadata = {
            "resourceVersion": "42",
            **({"continue": str(first + limit)} if first + limit < count and limit else {}),
        }
        bare = [{key: value for key, value in one.items() if key not in ("kind", "apiVersion")} for one in items]
        return 200, {"kind": f"{kind}List", "apiVersion": "v1", "metadata": metadata, "items": bare}

    def _route(self, path: str) -> tuple[str | None, str | None, str | None]:
        for resource in RESOURCES:
            root = resource.path()
            if path == root:
                return resource.kind, None, None
            if path.startswith(f"{root}/") and "/" not in path.removeprefix(f"{root}/"):
                return resource.kind, None, path.removeprefix(f"{root}/")
        parts = path.split("/")
        if "namespaces" in parts:
            place = parts.index("namespaces")
            kind, _, name = self._route("/".join((*parts[:place], *parts[place + 2 :])))
            return kind, parts[place + 1], name
        return None, None, None

    @property
    def methods(self) -> set[str]:
        return {method for method, *_ in self.requests}


@contextmanager
def serving(recorded: Recorded) -> Iterator[Recorded]:
    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            recorded.requests.append((self.command, parts.path, query, self.headers.get("Authorization", "")))
            status, value = recorded.answer(parts.path, query)
            lines = value if isinstance(value, list) else [value]
            body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _handle  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    recorded.server = f"http://127.0.0.1:{server.server_port}"
    try:
        yield recorded
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        assert recorded.methods <= {"GET"}, recorded.requests


def kubeconfig(folder: Path, server: str) -> str:
    file = folder / "kubeconfig"
    file.write_text(KUBECONFIG.format(server=server), encoding="utf-8")
    return str(file)
