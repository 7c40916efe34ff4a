"""Other addresses: ranges that lie in each other still do, and nothing else is told."""

from __future__ import annotations

import hashlib
import ipaddress
import secrets


class Addresses:
    """Replaces addresses and ranges bit by bit, each bit by a secret function of those before it.

    Two addresses share as many leading bits afterwards as before. The secret is new in every snapshot.
    """

    def __init__(self, secret: bytes | None = None) -> None:
        self._secret = secrets.token_bytes(16) if secret is None else secret

    def __call__(self, text: str) -> str | None:
        """Another address, or range of addresses; None for a text that is neither."""
        try:
            given = ipaddress.ip_network(text, strict=False)
        except ValueError:
            return None
        if given.network_address.is_unspecified:
            return text  # all addresses
        width, number, other = given.max_prefixlen, int(given.network_address), 0
        for place in range(given.prefixlen):
            leading = number >> (width - place)
            told = f"{given.version}:{place}:{leading}".encode()
            bit = (number >> (width - place - 1)) & 1
            other = other << 1 | (bit ^ hashlib.blake2b(told, key=self._secret, digest_size=1).digest()[0] & 1)
        address = ipaddress.ip_address(other << (width - given.prefixlen))
        if given.version == 6:
            address = ipaddress.IPv6Address(int(address))
        return f"{address}/{given.prefixlen}" if "/" in text else str(address)
