"""Patterns of names and addresses, matched one node at a time or a whole set of nodes at once."""

from __future__ import annotations

import ipaddress
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from kubeproof.network.model import ANY


@lru_cache(maxsize=100_000)
def address_number(text: str) -> tuple[int, int]:
    """Version and number of an address; (0, 0) for no address."""
    if not text:
        return 0, 0
    address = ipaddress.ip_address(text)
    return address.version, int(address)


@lru_cache(maxsize=100_000)
def prefix_range(pattern: str) -> tuple[tuple[int, int], tuple[int, int]]:
    """The first and the last address of a prefix such as 10.1.0.0/16."""
    prefix = ipaddress.ip_network(pattern, strict=False)
    return (prefix.version, int(prefix.network_address)), (prefix.version, int(prefix.broadcast_address))


def is_prefix(pattern: str) -> bool:
    """True if the pattern is about addresses."""
    return "/" in pattern and _is_network(pattern)


@lru_cache(maxsize=100_000)
def _is_network(pattern: str) -> bool:
    try:
        ipaddress.ip_network(pattern, strict=False)
    except ValueError:
        return False
    return True


def is_exact(pattern: str) -> bool:
    """True if the pattern is the name of one node."""
    return "*" not in pattern and "?" not in pattern and not is_prefix(pattern)


@lru_cache(maxsize=10_000)
def _expression(pattern: str) -> re.Pattern[str]:
    pieces = {"*": ".*", "?": "."}
    return re.compile("".join(pieces.get(character) or re.escape(character) for character in pattern), re.DOTALL)


def matches(pattern: str, name: str, address: str = "") -> bool:
    """True if the pattern covers a node with that name and address."""
    if pattern in (ANY, name):
        return True
    if is_exact(pattern):
        return False
    if not is_prefix(pattern):
        return _expression(pattern).fullmatch(name) is not None
    first, last = prefix_range(pattern)
    return bool(address) and first <= address_number(address) <= last


class NodeSet:
    """Nodes as bits of integers, ordered by address so that a prefix is one run of bits."""

    def __init__(self, names: Sequence[str], addresses: dict[str, str]) -> None:
        self._addresses = addresses
        self.names = tuple(sorted(names, key=lambda name: (address_number(addresses.get(name, "")), name)))
        self.bit = {name: 1 << place for place, name in enumerate(self.names)}
        self.everything = (1 << len(self.names)) - 1
        self._numbers = [address_number(addresses.get(name, "")) for name in self.names]
        self._known: dict[str, int] = {ANY: self.everything}

    def cover(self, pattern: str) -> int:
        """The nodes that the pattern covers."""
        found = self._known.get(pattern)
        if found is None:
            found = self._known[pattern] = self._match(pattern)
        return found

    def _match(self, pattern: str) -> int:
        if is_exact(pattern):
            return self.bit.get(pattern, 0)
        if is_prefix(pattern):
            first, last = prefix_range(pattern)
            low, high = bisect_left(self._numbers, first), bisect_right(self._numbers, last)
            return ((1 << (high - low)) - 1) << low if high > low else 0
        expression = _expression(pattern)
        return sum(bit for name, bit in self.bit.items() if expression.fullmatch(name))

    def members(self, mask: int) -> list[str]:
        """The names of the nodes in a set, in order of their bits."""
        found = []
        while mask:
            lowest = mask & -mask
            found.append(self.names[lowest.bit_length() - 1])
            mask ^= lowest
        return found
