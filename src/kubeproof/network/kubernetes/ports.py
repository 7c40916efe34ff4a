"""Sets of ports: ranges of numbers per protocol."""

from __future__ import annotations

from collections.abc import Iterable

Range = tuple[str, int, int]  # protocol, first, last
Ports = tuple[Range, ...]  # sorted, disjoint, not adjacent

PROTOCOLS = ("SCTP", "TCP", "UDP")
NO_PORTS: Ports = ()
ALL_PORTS: Ports = tuple((protocol, 1, 65535) for protocol in PROTOCOLS)


def normal(ranges: Iterable[Range]) -> Ports:
    """The same ports with overlapping and adjacent ranges united."""
    found: list[Range] = []
    for protocol, first, last in sorted(ranges):
        if found and found[-1][0] == protocol and first <= found[-1][2] + 1:
            found[-1] = (protocol, found[-1][1], max(last, found[-1][2]))
        else:
            found.append((protocol, first, last))
    return tuple(found)


def union(one: Ports, other: Ports) -> Ports:
    """The ports of either."""
    return normal((*one, *other))


def intersection(one: Ports, other: Ports) -> Ports:
    """The ports of both."""
    found = [
        (protocol, max(first, begin), min(last, end))
        for protocol, first, last in one
        for also, begin, end in other
        if protocol == also and max(first, begin) <= min(last, end)
    ]
    return normal(found)


def difference(one: Ports, other: Ports) -> Ports:
    """The ports of the first that the second does not have."""
    rest = list(one)
    for protocol, begin, end in other:
        kept: list[Range] = []
        for also, first, last in rest:
            if also != protocol or end < first or last < begin:
                kept.append((also, first, last))
                continue
            kept += [(also, first, begin - 1)] if first < begin else []
            kept += [(also, end + 1, last)] if end < last else []
        rest = kept
    return normal(rest)


def show(ports: Ports) -> str:
    """The ports for people."""
    if ports == ALL_PORTS:
        return "any port"
    if not ports:
        return "no port"
    return ", ".join(f"{p} {first}" if first == last else f"{p} {first}-{last}" for p, first, last in ports)
