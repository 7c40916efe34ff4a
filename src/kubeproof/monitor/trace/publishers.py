"""Where traced events go: a queue of RabbitMQ, sent by a thread, or a file."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import deque
from contextlib import suppress
from typing import Any, Protocol

from kubeproof.monitor.brokers.address import AMQP, Address, is_address, needs, parse_address

MOST_WAITING = 100_000  # events; beyond that the oldest is dropped
MOST_TOGETHER = 200  # events in one message
_PULSE_S = 5.0  # how often an idle connection is looked after


class Publisher(Protocol):
    """Takes events as JSON can hold them. `publish` never waits for anybody outside."""

    dropped: int

    def publish(self, record: dict[str, Any]) -> None:
        """Takes one event."""

    def close(self, timeout_s: float) -> None:
        """Sends what waits, for at most so long."""


def publisher_of(where: str) -> Publisher:
    """The publisher for an address of RabbitMQ or the path of a file."""
    if not is_address(where):
        return FilePublisher(where)
    address = parse_address(where, password=os.environ.get("KUBEPROOF_BROKER_PASSWORD", ""))
    if address.scheme not in AMQP:
        raise ValueError("events are published to amqp:// addresses")
    return AmqpPublisher(address)


class FilePublisher:
    """Appends JSON lines to a file, each at once and as a whole, also from several processes."""

    def __init__(self, path: str) -> None:
        self.dropped = 0
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def publish(self, record: dict[str, Any]) -> None:
        """Writes one line."""
        os.write(self._file, f"{json.dumps(record)}\n".encode())

    def close(self, timeout_s: float) -> None:
        """Ends the file."""
        with suppress(OSError):
            os.close(self._file)


class AmqpPublisher:
    """Sends events from a thread of its own, and waits for the broker's word that it has them.

    What the broker has not confirmed is sent again, with the same identities; while it is away, events wait.
    """

    def __init__(self, address: Address, *, most_waiting: int = MOST_WAITING) -> None:
        needs("pika")
        self._address, self._most = address, most_waiting
        self.dropped = 0
        self._waiting: deque[dict[str, Any]] = deque()
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._process = -1
        self._end: float | None = None  # moment after which nobody waits for us
        self._under_way: bytes | None = None
        self._connection: Any = None
        self._channel: Any = None
        logging.getLogger("pika").addHandler(logging.NullHandler())

    def publish(self, record: dict[str, Any]) -> None:
        """Lets the event wait for the thread."""
        if self._process != os.getpid():  # threads do not survive a fork, nor may two processes share a connection
            self._begin()
        with self._wake:
            self._waiting.append(record)
            if len(self._waiting) > self._most:
                self._waiting.popleft()
                self.dropped += 1
            self._wake.notify()

    def close(self, timeout_s: float) -> None:
        """Waits until everything is sent, at most so long."""
        with self._wake:
            self._end = time.monotonic() + timeout_s
            self._wake.notify()
        if self._thread is not None and self._process == os.getpid():
            self._thread.join(timeout_s)
        self._thread, self._process = None, -1

    def _begin(self) -> None:
        self._process, self._end = os.getpid(), None
        self._wake, self._waiting, self._under_way = threading.Condition(), deque(), None
        self._connection = self._channel = None
        self._thread = threading.Thread(target=self._run, name="kubeproof-tracer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        pause_s = 0.1
        while not self._is_over():
            try:
                self._work()
                pause_s = 0.1
            except Exception:  # whatever the broker does, the service goes on
                self._disconnect()
                time.sleep(pause_s)
                pause_s = min(5.0, pause_s * 2)
        self._disconnect()

    def _is_over(self) -> bool:
        if self._end is None:
            return False
        return time.monotonic() >= self._end or not (self._waiting or self._under_way)

    def _work(self) -> None:
        """Sends one message, or looks after the connection."""
        if self._under_way is None:
            self._under_way = self._next()
        if self._under_way is None:
            if self._connection is not None:
                self._connection.process_data_events(0)
            return
        self._send(self._under_way)
        self._under_way = None

    def _next(self) -> bytes | None:
        with self._wake:
            if not self._waiting and self._end is None:
                self._wake.wait(_PULSE_S)
            taken = [self._waiting.popleft() for _ in range(min(MOST_TOGETHER, len(self._waiting)))]
        return "\n".join(map(json.dumps, taken)).encode() if taken else None

    def _send(self, body: bytes) -> None:
        import pika

        from kubeproof.monitor.brokers.rabbit import open_queue, parameters

        if self._connection is None:
            self._connection = pika.BlockingConnection(parameters(self._address))
            self._channel = open_queue(self._connection, self._address.name)
            self._channel.confirm_delivery()
        properties = pika.BasicProperties(delivery_mode=2, content_type="application/x-ndjson")
        self._channel.basic_publish("", self._address.name, body, properties, mandatory=True)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None and connection.is_open:
            with suppress(Exception):
                connection.close()
