"""Traces what oslo.messaging sends: calls, casts and fan-outs, named TOPIC_METHOD as in the published method.

The hook is the one place in the library through which every RPC message leaves, whatever the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kubeproof.monitor.trace.tracer import Tracer


def trace_oslo_messaging(tracer: Tracer) -> Callable[[], None]:
    """Hooks into all transports of the process; gives the way back."""
    from oslo_messaging.transport import Transport

    send = Transport._send

    @wraps(send)
    def trace_call(self: Any, target: Any, ctxt: Any, message: Any, *others: Any, **named: Any) -> Any:
        waits = bool(named.get("wait_for_reply", others[0] if others else None))
        name = _name(target, message)
        key = _key(ctxt)
        begun = tracer.now_ns()
        tracer.event(name, target=_text(target, "server"), key=key, kind=_kind(target, waits))
        if not waits:
            return send(self, target, ctxt, message, *others, **named)
        try:
            answer = send(self, target, ctxt, message, *others, **named)
        except BaseException as problem:
            tracer.reply(name, begun, key=key, kind="reply", err=type(problem).__name__)
            raise
        tracer.reply(name, begun, key=key, kind="reply")
        return answer

    Transport._send = trace_call

    def undo() -> None:
        if Transport._send is trace_call:  # whoever came after us stays
            Transport._send = send

    return undo


def _name(target: Any, message: Any) -> str:
    method = message.get("method", "") if isinstance(message, dict) else ""
    return "_".join(part for part in (_text(target, "topic"), str(method)) if part) or "message"


def _kind(target: Any, waits: bool) -> str:
    if waits:
        return "call"
    return "fanout" if getattr(target, "fanout", None) else "cast"


def _text(target: Any, field: str) -> str:
    value = getattr(target, field, None)
    return value if isinstance(value, str) else ""


def _key(ctxt: Any) -> str:
    """The request that the message belongs to, where the service tells it."""
    value = ctxt.get("request_id") if isinstance(ctxt, dict) else None
    return value if isinstance(value, str) else ""
