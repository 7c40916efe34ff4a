"""WSGI middleware: requests to a server, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kubeproof.monitor.trace.names import request_name

if TYPE_CHECKING:
    from kubeproof.monitor.trace.tracer import Tracer

WsgiApplication = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def trace_wsgi(tracer: Tracer, application: WsgiApplication) -> WsgiApplication:
    """The application, its requests traced; the answer is an event when its last byte has been handed on."""

    def trace(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = f"{environ.get('SCRIPT_NAME', '')}{environ.get('PATH_INFO', '')}"
        name, key = (
            request_name(environ.get("REQUEST_METHOD", ""), path),
            environ.get("HTTP_X_OPENSTACK_REQUEST_ID", ""),
        )
        begun, statuses = tracer.now_ns(), [""]
        tracer.event(name, target=environ.get("SERVER_NAME", ""), key=key, kind="served")

        def start(status: str, *others: Any) -> Any:
            statuses[0] = status.partition(" ")[0]
            return start_response(status, *others)

        try:
            parts = application(environ, start)
        except BaseException as problem:
            tracer.reply(name, begun, key=key, kind="answered", err=type(problem).__name__)
            raise
        return _Answer(
            parts, lambda err: tracer.reply(name, begun, key=key, kind="answered", status=statuses[0], err=err)
        )

    return trace


class _Answer:
    """The parts of an answer; says once when they are over."""

    def __init__(self, parts: Iterable[bytes], over: Callable[[str], None]) -> None:
        self._parts, self._over, self._is_over = parts, over, False

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._parts
        except Exception as problem:
            self._end(type(problem).__name__)
            raise
        self._end("")

    def close(self) -> None:
        """The server has no more use for it."""
        close = getattr(self._parts, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._end("")

    def _end(self, err: str) -> None:
        if not self._is_over:
            self._is_over = True
            self._over(err)
