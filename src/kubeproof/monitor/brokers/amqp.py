"""Events from a queue of RabbitMQ.

A message is confirmed only after its events have been judged and the outcome is permanent, so nothing is lost when the
monitor or the broker dies. What is delivered again is recognised by its identity. A message that cannot be read is
rejected, which makes the broker drop or dead-letter it, and counts as a loss.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from kubeproof.errors import EnvironmentProblem, EventError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.monitor.brokers.address import Address, needs
from kubeproof.monitor.brokers.messages import MessageReader
from kubeproof.monitor.brokers.rabbit import open_queue, parameters
from kubeproof.monitor.event import Event
from kubeproof.monitor.readers.formats import AUTO
from kubeproof.monitor.run import Listener
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

UNCONFIRMED = 20_000  # messages that the broker hands out before the first is confirmed
GIVE_UP_S = 600.0
_QUIET_S, _IDLE_S = 0.1, 1.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How long what is waited for; clock and waiting can be replaced."""

    silence_s: float | None = None  # the stream is over after so long without a message; None: never
    give_up_s: float = GIVE_UP_S  # a broker that went away
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep


class _Message(NamedTuple):
    tag: int
    identity: str
    body: bytes


class AmqpDeliveries:
    """One queue, as deliveries that are confirmed when they are settled; connects again when the broker goes away."""

    def __init__(self, address: Address, form: str = AUTO, patience: Patience = Patience()) -> None:
        needs("pika")
        self._address, self._patience = address, patience
        self._reader = MessageReader(address.shown, form)
        self._connection: Any = None
        self._channel: Any = None
        self._arrived: deque[_Message] = deque()
        self._read: list[int] = []  # tags of messages whose events have all been handed on
        self._refused: list[int] = []
        logging.getLogger("pika").addHandler(logging.NullHandler())  # failures are told by us

    def events(self, listener: Listener) -> Iterator[Event]:
        """The events of all messages, until nothing has come for long enough."""
        from pika.exceptions import AMQPError

        self._connect()
        try:
            while True:
                try:
                    yield from self._session(listener)
                    return
                except (AMQPError, OSError):
                    self._forget()
                    self._connect_again()
        finally:
            self._forget()

    def acknowledge(self) -> None:
        """What was handed on is permanent: the broker may forget it. If it cannot be told, it delivers again."""
        from pika.exceptions import AMQPError

        with suppress(AMQPError, OSError):
            for tag in self._refused:
                self._channel.basic_reject(tag, requeue=False)
            if self._read:
                self._channel.basic_ack(self._read[-1], multiple=True)
        self._refused.clear()
        self._read.clear()

    def _session(self, listener: Listener) -> Iterator[Event]:
        """What one connection delivers."""
        clock, silence_s = self._patience.clock, self._patience.silence_s
        last = asked = clock()
        while True:
            self._connection.process_data_events(_QUIET_S if last == asked else _IDLE_S)
            if self._arrived:
                yield from self._take(listener)
                last = asked = clock()
                continue
            listener.flush()
            asked = clock()
            if self._is_empty():
                listener.idle()
                if silence_s is not None and asked - last >= silence_s:
                    return
            self.acknowledge()

    def _take(self, listener: Listener) -> Iterator[Event]:
        while self._arrived:
            message, problems = self._arrived.popleft(), list[EventError]()
            try:
                *others, final = self._reader.events(message.body, message.identity, problems.append) or (None,)
            except EventError as problem:
                others, final, problems = [], None, [problem]
            for event in others:
                if event is not None:
                    yield event
            if problems and final is not None:
                yield final
            if problems:  # what could be read counts; the message as a whole is rejected, not forgotten
                for unreadable in problems:
                    listener.note_loss(unreadable)
                self._refused.append(message.tag)  # afterwards: it is rejected once the loss is permanent
                continue
            self._read.append(message.tag)  # before the last event: whoever settles has taken that one as well
            if final is not None:
                yield final

    def _is_empty(self) -> bool:
        """True if the broker has nothing for us: only then may time pass without events."""
        found = self._channel.queue_declare(self._address.name, passive=True)
        return not found.method.message_count and not self._arrived

    def _connect_again(self) -> None:
        """Waits for the broker, longer each time."""
        patience, pause_s = self._patience, 0.2
        end = patience.clock() + patience.give_up_s
        while True:
            patience.wait(pause_s)
            try:
                return self._connect()
            except EnvironmentProblem:
                if patience.clock() >= end:
                    raise
            pause_s = min(5.0, pause_s * 2)

    def _connect(self) -> None:
        import pika
        from pika.exceptions import AMQPError

        try:
            self._connection = pika.BlockingConnection(parameters(self._address))
            self._channel = open_queue(self._connection, self._address.name)
            self._channel.basic_qos(prefetch_count=UNCONFIRMED)
            self._channel.basic_consume(self._address.name, self._arrive)
        except (AMQPError, OSError) as problem:
            self._forget()
            raise _describe_problem(self._address, problem) from None

    def _arrive(self, channel: Any, method: Any, properties: Any, body: bytes) -> None:
        self._arrived.append(_Message(method.delivery_tag, properties.message_id or "", body))

    def _forget(self) -> None:
        """Drops what belongs to a connection: the broker delivers it again."""
        connection, self._connection = self._connection, None
        for waiting in (self._arrived, self._read, self._refused):
            waiting.clear()
        if connection is not None and connection.is_open:
            with suppress(Exception):  # it is gone either way
                connection.close()


def _describe_problem(address: Address, problem: Exception) -> EnvironmentProblem:
    """What is wrong with a broker, without its user and password."""
    from pika.exceptions import ChannelClosedByBroker, ProbableAccessDeniedError, ProbableAuthenticationError

    if isinstance(problem, (ProbableAuthenticationError, ProbableAccessDeniedError)):
        remedy = "The broker refuses user, password or virtual host."
    elif isinstance(problem, ChannelClosedByBroker):
        remedy = f"The broker says: {printable(str(problem.reply_text))}."
    else:
        remedy = "Check host and port, and that the broker runs."
    return EnvironmentProblem(f"E401 cannot read {address.shown}. {remedy}")
