"""Where `kubeproof monitor` takes events from: files, standard input, or one queue of a broker."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kubeproof.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubeproof.monitor.event import Event
    from kubeproof.monitor.run import Deliveries, Listener, Source

PASSWORD = "KUBEPROOF_BROKER_PASSWORD"


def source_of(
    inputs: tuple[str, ...], form: str, silence_us: int | None, *, is_strict: bool = False
) -> tuple[tuple[str, ...], Source | Deliveries]:
    """The inputs without secrets, and where their events come from."""
    from kubeproof.monitor.brokers.address import is_address

    if not any(map(is_address, inputs)):
        if silence_us is not None:
            raise UsageError("--until-idle is for brokers", "Files and standard input have an end.")
        return inputs, lambda listener: _read(inputs, form, listener, is_strict)
    if len(inputs) > 1:
        raise UsageError("a broker is the only input", "Watch each queue with a monitor of its own.")
    return _deliver(inputs[0], form, silence_us)


def _deliver(text: str, form: str, silence_us: int | None) -> tuple[tuple[str, ...], Deliveries]:
    from kubeproof.monitor.brokers.address import AMQP, parse_address
    from kubeproof.monitor.brokers.amqp import AmqpDeliveries, Patience

    address = parse_address(text, password=os.environ.get(PASSWORD, ""))
    if address.scheme not in AMQP:
        raise UsageError("events are read from amqp:// only", "Redis is for scaling out.")
    patience = Patience(None if silence_us is None else silence_us / 1_000_000)
    return (address.shown,), AmqpDeliveries(address, form, patience)


def _read(inputs: tuple[str, ...], form: str, listener: Listener, is_strict: bool) -> Iterator[Event]:
    from kubeproof.monitor.readers.formats import read_events

    for path in inputs:
        yield from read_events(path, form, listener.idle, None if is_strict else listener.note_loss)
