"""Where `kubeproof monitor` takes events from: files, standard input, a queue of a broker, or a port."""

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
    inputs: tuple[str, ...], form: str, silence_us: int | None, *, is_strict: bool = False, since: str | None = None
) -> tuple[tuple[str, ...], Source | Deliveries]:
    """The inputs without secrets, and where their events come from."""
    if not any(map(is_delivered, inputs)):
        if silence_us is not None:
            raise UsageError("--until-idle is for brokers and otlp://", "Files and standard input have an end.")
        since_us = _parse_since(since)
        return inputs, lambda listener: _read(inputs, form, listener, is_strict, since_us)
    if since is not None:
        raise UsageError("--since is for files and standard input", "A broker hands out what it still has.")
    if len(inputs) > 1:
        raise UsageError("a broker is the only input", "Watch each queue with a monitor of its own.")
    silence_s = None if silence_us is None else silence_us / 1_000_000
    return _listen(inputs[0], form, silence_s) if is_listened(inputs[0]) else _deliver(inputs[0], form, silence_s)


def is_delivered(text: str) -> bool:
    """True for an input without an end of its own: a queue of a broker, or a port that others post to."""
    from kubeproof.monitor.brokers.address import is_address

    return is_address(text) or is_listened(text)


def is_listened(text: str) -> bool:
    """True for a port that OpenTelemetry posts to."""
    return text.lower().startswith("otlp://")


def _listen(text: str, form: str, silence_s: float | None) -> tuple[tuple[str, ...], Deliveries]:
    from dataclasses import replace

    import click

    from kubeproof.monitor.brokers.otlp import OtlpDeliveries, parse_door

    if form not in ("auto", "spans"):
        raise UsageError("--format is not for otlp://", "What is posted there is spans and log records.")
    door = replace(
        parse_door(text.lower()),
        silence_s=silence_s,
        tell_port=lambda port: click.echo(f"listening for OpenTelemetry on port {port}", err=True),
    )
    return (door.shown,), OtlpDeliveries(door)


def _deliver(text: str, form: str, silence_s: float | None) -> tuple[tuple[str, ...], Deliveries]:
    from kubeproof.monitor.brokers.address import AMQP, parse_address
    from kubeproof.monitor.brokers.amqp import AmqpDeliveries, Patience

    address = parse_address(text, password=os.environ.get(PASSWORD, ""))
    if address.scheme not in AMQP:
        raise UsageError("events are read from amqp:// only", "Redis is for scaling out.")
    return (address.shown,), AmqpDeliveries(address, form, Patience(silence_s))


def _parse_since(text: str | None) -> int | None:
    """The moment before which events are passed over."""
    from kubeproof.monitor.times import parse_time

    moment = None if text is None else parse_time(text)
    if text is not None and moment is None:
        raise UsageError(f"--since {text!r} is no time", "Write 2026-01-31T08:00:00Z, or seconds of the stream.")
    return moment


def _read(
    inputs: tuple[str, ...], form: str, listener: Listener, is_strict: bool, since_us: int | None
) -> Iterator[Event]:
    from kubeproof.monitor.readers.formats import read_events

    for path in inputs:
        events = read_events(path, form, listener.idle, None if is_strict else listener.note_loss)
        yield from events if since_us is None else (event for event in events if event.time_us >= since_us)
