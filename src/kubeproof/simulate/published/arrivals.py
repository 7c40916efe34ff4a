"""When requests come: all of them, by instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from kubeproof.named_tuples import NamedTuple
from kubeproof.simulate.published.declarations import Wave


class Call(NamedTuple):
    """Requests of one kind to a service."""

    service: str
    cost: int


Arrivals = dict[float, dict[Call, int]]


def arrivals_of(waves: Iterable[Wave]) -> Arrivals:
    """How many requests of each kind come at each instant, the kinds in the order of their services and costs."""
    found: Arrivals = {}
    for wave in sorted(waves, key=lambda wave: (wave.service, wave.cost)):
        call = Call(wave.service, wave.cost)
        for after, requests in _shape(wave.clients, wave.spacing, wave.requests, wave.pause):
            calls = found.setdefault(wave.start + after, {})
            calls[call] = calls.get(call, 0) + requests
    return found


@lru_cache(maxsize=64)
def _shape(clients: int, spacing: float, requests: int, pause: float) -> tuple[tuple[float, int], ...]:
    """How many requests of a wave come how long after its start; many services have waves of the same shape."""
    counts = Counter(client * spacing + number * pause for client in range(clients) for number in range(requests))
    return tuple(sorted(counts.items()))
