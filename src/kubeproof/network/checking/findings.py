"""Bad endings found in one snapshot, and the pairs of hosts they concern."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from kubeproof.network.checking.cycles import Loop
from kubeproof.network.checking.derived import Queue
from kubeproof.network.checking.product import End, Graph
from kubeproof.values import dataclass

Pairs = dict[tuple[int, str], int]  # number of the traffic and source -> destinations


@dataclass(frozen=True, slots=True)
class Bad:
    """A block of sources some of whose packets end badly in a snapshot."""

    part: str  # safety or liveness
    traffic: int
    graph: Graph
    ends: tuple[End, ...]
    loops: tuple[Loop, ...]
    pairs: Pairs


@dataclass(slots=True)
class Found:
    """What one snapshot gave."""

    snapshot: int
    bad: list[Bad] = field(default_factory=list)
    states: int = 0
    skewed: frozenset[str] = frozenset()
    queues: frozenset[Queue] | None = None

    @property
    def unsafe(self) -> Pairs:
        """Pairs that violate the safety part."""
        return unite(bad.pairs for bad in self.bad if bad.part == "safety") if self.bad else {}

    @property
    def endless(self) -> Pairs:
        """Pairs whose packets go round for ever without meeting the property."""
        return without(unite(bad.pairs for bad in self.bad if bad.loops), self.unsafe) if self.bad else {}

    @property
    def unmet(self) -> Pairs:
        """Pairs whose packets end without meeting it."""
        if not self.bad:
            return {}
        late = unite(bad.pairs for bad in self.bad if bad.part == "liveness" and not bad.loops)
        return without(without(late, self.unsafe), self.endless)


def unite(many: Iterable[Pairs]) -> Pairs:
    """The pairs of all."""
    found: Pairs = {}
    for pairs in many:
        for key, mask in pairs.items():
            found[key] = found.get(key, 0) | mask
    return found


def without(pairs: Pairs, others: Pairs) -> Pairs:
    """The pairs that are not among the others."""
    rest = {key: mask & ~others.get(key, 0) for key, mask in pairs.items()}
    return {key: mask for key, mask in rest.items() if mask}


def count(pairs: Pairs) -> int:
    """How many pairs there are."""
    return sum(mask.bit_count() for mask in pairs.values())
