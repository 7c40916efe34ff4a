"""Requests to an API server. There is one method, GET, and no way to ask for another."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPResponse
from typing import Any, NoReturn

from kubeproof.errors import ClusterError
from kubeproof.live.config import Connection, read_secretly
from kubeproof.manifests.printable import printable

AGENT = "kubeproof (read-only)"
LARGEST_PAGE = 256 * 2**20  # bytes
PATIENCE_S = 60.0
ATTEMPTS = 4
LATER = (429, 500, 502, 503, 504)  # answers that another attempt may change
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Refused(ClusterError):
    """The API server's answer to a request that it did not grant."""

    def __init__(self, status: int, reason: str, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.status, self.reason = status, reason


class Client:
    """Reads from one API server."""

    def __init__(self, where: Connection, *, wait: Callable[[float], None] = time.sleep) -> None:
        self._where, self._wait = where, wait
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

    def get(self, path: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
        """The object that the server answers with; passing faults are tried again."""
        for attempt in range(ATTEMPTS):
            try:
                with self._open(path, query, PATIENCE_S) as response:
                    return self._parsed(response.read(LARGEST_PAGE + 1))
            except Refused as problem:
                if problem.status not in LATER or attempt + 1 == ATTEMPTS:
                    raise
            except (HTTPException, OSError) as problem:  # of TLS, too, whose alerts may come with the answer
                if attempt + 1 == ATTEMPTS:
                    self._unreachable(problem)
            self._wait(0.25 * 2**attempt)
        raise AssertionError("every attempt ends the loop")

    def lines(self, path: str, query: Mapping[str, str], patience_s: float) -> Iterator[bytes]:
        """The lines of an answer as they come; ends with the answer, or when nothing came for so long."""
        try:
            with self._open(path, query, patience_s) as response:
                while line := response.readline(LARGEST_PAGE):
                    yield line
        except (HTTPException, OSError):
            return  # a broken stream: who reads asks again from where it stopped

    @contextmanager
    def _open(self, path: str, query: Mapping[str, str] | None, patience_s: float) -> Iterator[HTTPResponse]:
        question = f"?{urllib.parse.urlencode(query)}" if query else ""
        request = urllib.request.Request(f"{self._where.server}{path}{question}", headers=self._headers(), method="GET")
        try:
            response = self._opener.open(request, timeout=patience_s)
        except urllib.error.HTTPError as problem:
            with problem:
                self._refused(problem)
        except urllib.error.URLError as problem:
            if isinstance(problem.reason, ConnectionResetError | TimeoutError):
                raise problem.reason from None
            self._unreachable(problem.reason)
        with response:
            yield response

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

    def _parsed(self, body: bytes) -> dict[str, Any]:
        if len(body) > LARGEST_PAGE:
            raise ClusterError(f"{self.name}: an answer of more than {LARGEST_PAGE:,} bytes", "Lower --page-size")
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise ClusterError(f"{self.name} does not answer as an API server does", "Check the server's address")
        return value

    def _refused(self, problem: urllib.error.HTTPError) -> NoReturn:
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
