"""Connections to RabbitMQ, for those who read and those who publish."""

from __future__ import annotations

import ssl
from typing import Any

from kubeproof.monitor.brokers.address import Address

_NOT_FOUND = 404


def parameters(address: Address) -> Any:
    """How pika connects to the broker."""
    import pika

    secure = pika.SSLOptions(ssl.create_default_context(), address.host) if address.is_encrypted else None
    return pika.ConnectionParameters(
        host=address.host,
        port=address.port,
        virtual_host=address.room,
        credentials=pika.PlainCredentials(address.user or "guest", address.password or "guest"),
        ssl_options=secure,
        heartbeat=60,
        socket_timeout=5,
        stack_timeout=10,
        blocked_connection_timeout=60,
    )


def open_queue(connection: Any, name: str) -> Any:
    """A channel to the queue; whoever comes first makes it, durable."""
    from pika.exceptions import ChannelClosedByBroker

    try:
        channel = connection.channel()
        channel.queue_declare(name, passive=True)
    except ChannelClosedByBroker as problem:
        if problem.reply_code != _NOT_FOUND:
            raise
        channel = connection.channel()
        channel.queue_declare(name, durable=True)
    return channel
