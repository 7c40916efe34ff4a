"""When requests come: all of them, by instant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kubeproof.simulate.declarations import Wave


class Call(NamedTuple):
    """Requests of one kind to a service."""

    service: str
    cost: int


Arrivals = dict[float, dict[Call, int]]


def arrivals_of(waves: Iterable[Wave]) -> Arrivals:
    """How many requests of each kind come at each instant."""
    found: Arrivals = {}
    for wave in waves:
        call = Call(wave.service, wave.cost)
        for client in range(wave.clients):
            first = wave.start + client * wave.spacing
            for number in range(wave.requests):
                calls = found.setdefault(first + number * wave.pause, {})
                calls[call] = calls.get(call, 0) + 1
    return found
