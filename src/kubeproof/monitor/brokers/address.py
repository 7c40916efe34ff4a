"""Where a queue or stream is: `amqp://user:password@host:port/[vhost/]queue`, `redis://host:port/[db/]stream`."""

from __future__ import annotations

import re
from importlib.util import find_spec
from urllib.parse import SplitResult, quote, unquote, urlsplit

from kubeproof.errors import EnvironmentProblem, UsageError
from kubeproof.manifests.yaml.printable import printable
from kubeproof.values import dataclass

AMQP, REDIS = ("amqp", "amqps"), ("redis", "rediss")
_PORTS = {"amqp": 5672, "amqps": 5671, "redis": 6379, "rediss": 6379}
_ROOMS = {"amqp": "/", "amqps": "/", "redis": "0", "rediss": "0"}
_EXTRAS = {"pika": "rabbitmq", "redis": "redis"}
_SCHEME = re.compile(r"(amqps?|rediss?)://", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """One queue or stream of one broker."""

    scheme: str
    host: str
    port: int
    room: str  # the virtual host of RabbitMQ, the database of Redis
    name: str
    user: str = ""
    password: str = ""

    @property
    def shown(self) -> str:
        """The address for people and fingerprints: without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        room = "" if self.room == _ROOMS[self.scheme] else f"{quote(self.room, safe='')}/"
        return printable(f"{self.scheme}://{host}:{self.port}/{room}{quote(self.name, safe='')}")

    @property
    def without_password(self) -> str:
        """The address as another process may be told it; the password goes another way."""
        scheme, _, rest = self.shown.partition("://")
        return f"{scheme}://{quote(self.user, safe='')}@{rest}" if self.user else self.shown

    @property
    def is_encrypted(self) -> bool:
        return self.scheme in ("amqps", "rediss")


def is_address(text: str) -> bool:
    """True for something that is meant to be the address of a broker."""
    return _SCHEME.match(text) is not None


def parse_address(text: str, *, password: str = "") -> Address:
    """The address; `password` is used if a user is named without one. What is wrong is told without repeating it."""
    parts = _split(text)
    port = _port(parts)
    segments = [unquote(part) for part in parts.path.split("/")[1:]]
    if parts.scheme not in _PORTS or not parts.hostname or not 1 <= len(segments) <= 2 or not segments[-1]:
        raise _wrong()
    if parts.query or parts.fragment:
        raise UsageError("the address of a broker ends with a name", "Leave out what begins with ? or #.")
    room = segments[0] if len(segments) == 2 else _ROOMS[parts.scheme]
    if parts.scheme in REDIS and not (room.isascii() and room.isdigit() and len(room) < 5):
        raise UsageError("the database in the address is no number", "Write redis://HOST:PORT/[DATABASE/]STREAM.")
    user, secret = unquote(parts.username or ""), unquote(parts.password or "")
    return Address(parts.scheme, parts.hostname, port, room, segments[-1], user, secret or password)


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError:
        raise _wrong() from None


def _port(parts: SplitResult) -> int:
    try:
        return parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        raise _wrong() from None


def _wrong() -> UsageError:
    return UsageError(
        "not the address of a broker", "Write amqp://HOST:PORT/[VHOST/]QUEUE or redis://HOST:PORT/[DATABASE/]STREAM."
    )


def needs(package: str) -> None:
    """Says what to install if a client library is missing."""
    if find_spec(package) is None:
        extra = _EXTRAS[package]
        raise EnvironmentProblem(
            f"E401 the Python package {package} is not installed. Install it: pip install 'kubeproof[{extra}]'."
        )
