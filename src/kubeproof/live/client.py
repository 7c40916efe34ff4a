"""Requests to an API server. There is one method, GET, and no way to ask for another."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from http.client import HTTPException, HTTPResponse, IncompleteRead
from queue import Empty, SimpleQueue
from typing import Any, NoReturn, TypeVar

from kubeproof.errors import ClusterError
from kubeproof.live.answers import parse_answer
from kubeproof.live.config import Connection, read_secretly
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.manifests.yaml.printable import printable

AGENT = "kubeproof (read-only)"
LARGEST_PAGE = Bounds().file_bytes
LARGEST_LINE = 16 * 2**20  # bytes of one notification; objects have 1.5 MiB at most
PATIENCE_S = 60.0  # for one answer, from the question to the last byte
READ_S = 600.0  # for everything that is read at once
ATTEMPTS = 4
SLOW = "Check the server and the network"
_PART = 65_536
LATER = (429, 500, 502, 503, 504)  # answers that another attempt may change
T = TypeVar("T")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Refused(ClusterError):
    """The API server's answer to a request that it did not grant."""

    def __init__(self, status: int, reason: str, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.status, self.reason = status, reason


class Client:
    """Reads from one API server."""

    def __init__(
        self,
        where: Connection,
        *,
        wait: Callable[[float], None] = time.sleep,
        patience_s: float | None = None,
        read_s: float = READ_S,
    ) -> None:
        self._where, self._wait, self._read_s = where, wait, read_s
        self._patience_s = PATIENCE_S if patience_s is None else patience_s
        self._end: float | None = None  # of all that is read
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects()]
        if where.proxy:
            handlers.append(urllib.request.ProxyHandler({"http": where.proxy, "https": where.proxy}))
        elif urllib.parse.urlsplit(where.server).hostname in _LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))  # as kubectl: this machine's ports, its tokens, no proxy
        if where.server.startswith("https://"):
            handlers.append(_Https(_context(where), where.tls_name))
        self._opener = urllib.request.build_opener(*handlers)

    @property
    def name(self) -> str:
        """The server as messages name it."""
        return printable(self._where.server)

    def begin(self) -> Client:
        """A client of the same server for all that is read at once; its time runs from now on."""
        other = copy(self)
        other._end = time.monotonic() + self._read_s
        return other

    def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The object that the server answers with; passing faults are tried again."""
        for attempt in range(ATTEMPTS):
            try:
                return parse_answer(self._answer(path, query), self.name)
            except Refused as problem:
                if problem.status not in LATER or attempt + 1 == ATTEMPTS:
                    raise
            except (HTTPException, OSError, ValueError) as problem:  # of TLS, too, whose alerts may come with it
                if attempt + 1 == ATTEMPTS:
                    self._unreachable(problem)
            self._wait(0.25 * 2**attempt)
        raise AssertionError("every attempt ends the loop")

    def _answer(self, path: str, query: Mapping[str, str] | None) -> bytes:
        """The body of an answer, whole, in time."""

        def read() -> bytes:
            with self._ask(path, query, self._patience_s) as response:
                found = response.read(LARGEST_PAGE + 1)
                if response.length and len(found) <= LARGEST_PAGE:
                    raise IncompleteRead(found, response.length)  # it said that there is more
                return found

        found = self._in_time(read)
        if len(found) > LARGEST_PAGE:
            raise ClusterError(f"{self.name}: an answer of more than {LARGEST_PAGE:,} bytes", "Lower --page-size")
        return found

    def _in_time(self, action: Callable[[], T]) -> T:
        """What the action gives, if it does so in time.

        Limits of sockets are for one byte, and a server may send the next just before. So somebody else reads, and is
        left to himself when time is up.
        """
        left_s = self._time_left()
        box: SimpleQueue[tuple[T, None] | tuple[None, Exception]] = SimpleQueue()

        def act() -> None:
            try:
                box.put((action(), None))
            except Exception as problem:
                box.put((None, problem))

        threading.Thread(target=act, daemon=True).start()
        try:
            found, problem = box.get(timeout=left_s)
        except Empty:
            self._time_left()
            raise ClusterError(f"{self.name} does not finish an answer within {left_s:g} s", SLOW) from None
        if problem is not None:
            raise problem
        return found  # type: ignore[return-value]  # one of the two is there

    def _time_left(self) -> float:
        """How long the next answer may take."""
        if self._end is None:
            return self._patience_s
        left_s = self._end - time.monotonic()
        if left_s <= 0:
            raise ClusterError(f"{self.name} does not send all of the cluster in time", "Raise --read-timeout")
        return min(left_s, self._patience_s)

    def lines(self, path: str, query: Mapping[str, str], patience_s: float) -> Iterator[bytes]:
        """The lines of an answer as they come; ends with the answer, or when nothing came for so long.

        A line that has no end, or does not come to it in time, is an error.
        """
        try:
            with self._in_time(lambda: self._ask(path, query, patience_s)) as response:
                yield from self._split(response)
        except (HTTPException, OSError, ValueError):
            return  # a broken stream: who reads asks again from where it stopped

    def _split(self, response: HTTPResponse) -> Iterator[bytes]:
        begun, since = b"", 0.0
        while part := response.read1(_PART):
            since = since if begun else time.monotonic()
            *whole, begun = (begun + part).split(b"\n") if b"\n" in part else (begun + part,)
            if whole:
                since = time.monotonic()
            yield from whole
            if len(begun) > LARGEST_LINE:
                raise ClusterError(f"{self.name}: a notification of more than {LARGEST_LINE:,} bytes", SLOW)
            if begun and time.monotonic() - since > self._patience_s:
                raise ClusterError(f"{self.name} does not finish a notification within {self._patience_s:g} s", SLOW)

    def _ask(self, path: str, query: Mapping[str, str] | None, patience_s: float) -> HTTPResponse:
        """The answer to a question, of which only the head was read; every byte may take so long."""
        question = f"?{urllib.parse.urlencode(query)}" if query else ""
        request = urllib.request.Request(f"{self._where.server}{path}{question}", headers=self._headers(), method="GET")
        try:
            return self._opener.open(request, timeout=patience_s)  # type: ignore[no-any-return]
        except urllib.error.HTTPError as problem:
            with problem:
                self._refuse(problem)
        except urllib.error.URLError as problem:
            if isinstance(problem.reason, ConnectionResetError | TimeoutError):
                raise problem.reason from None
            self._unreachable(problem.reason)

    def _headers(self) -> dict[str, str]:
        found = {"Accept": "application/json", "User-Agent": AGENT}
        who = self._where.credentials
        parts = urllib.parse.urlsplit(self._where.server)
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            return found  # credentials never travel in the clear
        token = read_secretly(who.token_file).decode("ascii", "replace").strip() if who.token_file else who.token
        if token:
            found["Authorization"] = f"Bearer {token}"
        elif who.basic is not None:
            pair = ":".join(who.basic).encode()
            found["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        return found

    def _refuse(self, problem: urllib.error.HTTPError) -> NoReturn:
        reason = message = ""
        with suppress(ValueError, OSError, RecursionError, AttributeError):
            status = json.loads(problem.read(2**20))
            reason, message = str(status.get("reason", "")), printable(str(status.get("message", "")))
        if problem.code == 401:
            raise Refused(
                401, reason, f"{self.name} does not know who asks: {message or problem.reason}", "Log in again"
            )
        told = message or printable(str(problem.reason))
        raise Refused(problem.code, reason, f"{self.name} answers {problem.code}: {told}", "See the server's message")

    def _unreachable(self, problem: object) -> NoReturn:
        if isinstance(problem, ssl.SSLCertVerificationError):
            remedy = "Correct certificate-authority in the kubeconfig"
            raise ClusterError(
                f"{self.name}: the server's certificate is not trusted: {problem.verify_message}", remedy
            )
        told = getattr(problem, "strerror", None) or type(problem).__name__
        raise ClusterError(f"{self.name} cannot be reached: {told}", "Check the context, the network and the VPN")


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Credentials are for the server that was named, and for nobody it points to."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _Https(urllib.request.HTTPSHandler):
    """HTTPS, with a name in the certificate that may differ from the address."""

    def __init__(self, context: ssl.SSLContext, name: str = "") -> None:
        super().__init__(context=_Named(context, name) if name else context)  # type: ignore[arg-type]


class _Named:
    """A context that asks for another name than that of the address."""

    def __init__(self, context: ssl.SSLContext, name: str) -> None:
        self._context, self._name = context, name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._context, attribute)

    def wrap_socket(self, sock: Any, *, server_hostname: str | None = None, **others: Any) -> ssl.SSLSocket:
        return self._context.wrap_socket(sock, server_hostname=self._name, **others)


def _context(where: Connection) -> ssl.SSLContext:
    context = ssl.create_default_context()
    try:
        if where.authority is not None:
            context = ssl.create_default_context(cadata=where.authority.decode("ascii", "replace"))
        if where.is_unverified:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if where.credentials.certificate is not None:
            _show_certificate(context, where)
    except (ssl.SSLError, ValueError) as problem:
        remedy = "Write the kubeconfig again, or log in again"
        raise ClusterError(
            f"a certificate or key of context {printable(where.name)} cannot be used", remedy
        ) from problem
    return context


def _show_certificate(context: ssl.SSLContext, where: Connection) -> None:
    """Certificates can only be given to the library as files: ours lasts for a moment, and only we may read it."""
    who = where.credentials
    pem = b"\n".join(part for part in (who.certificate, who.key) if part is not None)
    descriptor, path = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
        context.load_cert_chain(path)
    finally:
        os.unlink(path)
