"""Traces HTTP requests that leave through `http.client`: those of `urllib`, `requests`, `urllib3`, keystoneauth."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from kubeproof.monitor.trace.names import request_name

if TYPE_CHECKING:
    from kubeproof.monitor.trace.tracer import Tracer

_MARK = "_kubeproof_request"  # on a connection: name and beginning of the request under way


def trace_http_clients(tracer: Tracer) -> Callable[[], None]:
    """Hooks into all connections of the process; gives the way back."""
    connection = http.client.HTTPConnection
    putrequest, getresponse = connection.putrequest, connection.getresponse

    @wraps(putrequest)
    def trace_request(self: Any, method: str, url: str, *others: Any, **named: Any) -> None:
        name = request_name(str(method), str(url))
        setattr(self, _MARK, (name, tracer.now_ns()))
        tracer.event(name, target=f"{self.host}:{self.port}", kind="request")
        putrequest(self, method, url, *others, **named)

    @wraps(getresponse)
    def trace_response(self: Any, *others: Any, **named: Any) -> http.client.HTTPResponse:
        name, begun = getattr(self, _MARK, None) or ("request", tracer.now_ns())
        try:
            response = getresponse(self, *others, **named)
        except BaseException as problem:
            tracer.reply(name, begun, kind="reply", err=type(problem).__name__)
            raise
        tracer.reply(name, begun, kind="reply", status=response.status)
        return response

    connection.putrequest = trace_request  # type: ignore[method-assign]
    connection.getresponse = trace_response  # type: ignore[method-assign]

    def undo() -> None:
        if connection.putrequest is trace_request and connection.getresponse is trace_response:
            connection.putrequest = putrequest  # type: ignore[method-assign]
            connection.getresponse = getresponse  # type: ignore[method-assign]

    return undo
