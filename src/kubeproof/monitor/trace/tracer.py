"""The tracer: a few lines at the start of a service.

tracer = Tracer("amqp://127.0.0.1:5672/events", service="nova-compute")
tracer.oslo_messaging()
tracer.http_clients()
application = tracer.wsgi(application)
"""

from __future__ import annotations

import atexit
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from kubeproof.monitor.trace.asgi import AsgiApplication, trace_asgi
from kubeproof.monitor.trace.http_clients import trace_http_clients
from kubeproof.monitor.trace.oslo_rpc import trace_oslo_messaging
from kubeproof.monitor.trace.publishers import Publisher, publisher_of
from kubeproof.monitor.trace.wsgi import WsgiApplication, trace_wsgi

REPLY = " reply"
Undo = Callable[[], None]


def _nothing() -> None:
    """The tracer is gone."""


class Tracer:
    """Publishes events of one service; usable from any thread, and after a fork.

    `where` is `amqp://…/QUEUE`, the path of a file that grows by JSON lines, or a publisher. With `replies`, answers to
    calls and requests are events of their own, named like the question with ` reply` behind.
    """

    def __init__(
        self,
        where: str | Publisher,
        service: str,
        *,
        replies: bool = True,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._publisher = publisher_of(where) if isinstance(where, str) else where
        self._service, self._replies, self._clock = service, replies, clock
        self._lock = threading.Lock()
        self._undo: dict[str, Undo] = {}
        self._source, self._process, self._sequence = "", -1, 0
        self.failures = 0  # of the tracer itself
        atexit.register(self.close)
        ours = WeakMethod(self._renew_lock)
        os.register_at_fork(after_in_child=lambda: (ours() or _nothing)())

    def _renew_lock(self) -> None:
        """A thread that held the lock is not there in the child: nobody would ever release it."""
        self._lock = threading.Lock()

    def event(self, name: str, *, target: str = "", key: str = "", **attributes: object) -> None:
        """Publishes one event of now. Never raises."""
        try:
            with self._lock:  # the order of sequences is the order of times
                self._publisher.publish(self._record(name, target, key, attributes))
        except Exception:
            self.failures += 1

    def reply(self, name: str, begun_ns: int, *, key: str = "", **attributes: object) -> None:
        """Publishes the answer to an earlier event, unless answers are not wanted."""
        if self._replies:
            self.event(f"{name}{REPLY}", key=key, target="", dur_us=(self._clock() - begun_ns) // 1000, **attributes)

    def now_ns(self) -> int:
        """The moment that `reply` wants to know."""
        return self._clock()

    def oslo_messaging(self) -> Tracer:
        """Traces call, cast and fanout of every transport in this process from now on."""
        return self._hook("oslo.messaging", lambda: trace_oslo_messaging(self))

    def http_clients(self) -> Tracer:
        """Traces requests by `urllib`, `requests` and whatever else is built on `http.client`."""
        return self._hook("http.client", lambda: trace_http_clients(self))

    def wsgi(self, application: WsgiApplication) -> WsgiApplication:
        """The application, its requests traced."""
        return trace_wsgi(self, application)

    def asgi(self, application: AsgiApplication) -> AsgiApplication:
        """The application, its requests traced."""
        return trace_asgi(self, application)

    @property
    def dropped(self) -> int:
        """Events that the publisher could not keep."""
        return self._publisher.dropped

    def close(self, timeout_s: float = 5.0) -> None:
        """Takes all hooks away and sends what waits, for at most so long."""
        for undo in self._undo.values():
            undo()
        self._undo.clear()
        self._publisher.close(timeout_s)
        atexit.unregister(self.close)

    def _hook(self, name: str, hook: Callable[[], Undo]) -> Tracer:
        if name not in self._undo:
            self._undo[name] = hook()
        return self

    def _record(self, name: str, target: str, key: str, attributes: dict[str, object]) -> dict[str, Any]:
        now_ns = self._clock()
        if self._process != os.getpid():  # also after a fork: two processes must not count in one sequence
            self._process, self._sequence = os.getpid(), 0
            self._source = f"{self._service}@{socket.gethostname()}:{self._process}.{now_ns // 1_000_000:x}"
        self._sequence += 1
        record: dict[str, Any] = {
            "t_us": now_ns // 1000, "name": name, "source": self._source, "target": target, "key": key,
            "seq": self._sequence, "id": f"{self._source}/{self._sequence}",
            "attributes": {field: str(value) for field, value in attributes.items() if value not in (None, "")},
        }  # fmt: skip
        return {field: value for field, value in record.items() if value not in ("", {})}
