"""Which pod gets the next request."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.simulate.serving.shapes import LEAST_CONNECTIONS, RANDOM

_MASK = 2**64 - 1
_STEP = 0x9E3779B97F4A7C15  # SplitMix64 (Steele, Lea, Flood 2014): small, and the same in every kernel


class Turns:
    """Round robin, random or least connections, per service."""

    def __init__(self, services: int, seed: int) -> None:
        self._turns = [0] * services
        self._state = seed & _MASK

    def next(self, balancing: int, service: int, connections: Sequence[int]) -> int:
        """The place of a pod among those that are ready, given how many requests each has."""
        count = len(connections)
        if balancing == RANDOM:
            return ((self._random() >> 32) * count) >> 32
        turn = self._turns[service] % count
        if balancing == LEAST_CONNECTIONS:  # of equals the next in turn
            turn = min(range(count), key=lambda place: (connections[place], (place - turn) % count))
        self._turns[service] = turn + 1
        return turn

    def _random(self) -> int:
        self._state = (self._state + _STEP) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)
