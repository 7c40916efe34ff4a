"""ASGI middleware: requests to a server, and its answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import TYPE_CHECKING, Any

from kubeproof.monitor.trace.names import request_name

if TYPE_CHECKING:
    from kubeproof.monitor.trace.tracer import Tracer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]
_KEY = b"x-openstack-request-id"


def trace_asgi(tracer: Tracer, application: AsgiApplication) -> AsgiApplication:
    """The application, its HTTP requests traced; everything else passes through."""

    async def trace(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope.get("type") != "http":
            return await application(scope, receive, send)
        name = request_name(scope.get("method", ""), f"{scope.get('root_path', '')}{scope.get('path', '')}")
        key = next((value.decode("latin-1") for field, value in scope.get("headers", ()) if field == _KEY), "")
        begun, status = tracer.now_ns(), [""]
        tracer.event(name, target=str((scope.get("server") or ("",))[0]), key=key, kind="served")

        async def send_traced(message: Message) -> None:
            if message.get("type") == "http.response.start":
                status[0] = str(message.get("status", ""))
            await send(message)

        try:
            await application(scope, receive, send_traced)
        except BaseException as problem:
            tracer.reply(name, begun, key=key, kind="answered", status=status[0], err=type(problem).__name__)
            raise
        tracer.reply(name, begun, key=key, kind="answered", status=status[0])
        return None

    return trace
