"""Which pods a ReplicaSet deletes on scale-down.

Mirrors `getPodsToDelete` of `pkg/controller/replicaset/replica_set.go` and `ActivePodsWithRanks` of
`pkg/controller/controller_utils.go` (v1.26 to v1.37). The model keeps no ages: within equal rules 1 to 5 every choice
is explored, as UIDs decide inside one power of two of age.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubeproof.named_tuples import NamedTuple

PENDING, UNKNOWN, RUNNING = 0, 1, 2  # order of phases in rule 2


class Tier(NamedTuple):
    """Pods of equal claim to deletion on equal nodes: `nodes` of them with `per_node` such pods each."""

    key: tuple[int, ...]  # what rules 1 to 5 compare; smaller goes first
    owner: object  # what the caller calls these nodes
    per_node: int
    nodes: int


Loss = tuple[Tier, tuple[int, ...]]  # pods lost per node, descending, zeros left out
Choose = Callable[[Sequence[Tier], int], Iterator[tuple[Loss, ...]]]  # ways to take so many pods


def choices(tiers: Sequence[Tier], count: int) -> Iterator[tuple[Loss, ...]]:
    """Every way to take `count` pods, lower keys first, ties in all combinations up to equal nodes."""
    if count <= 0:
        yield ()
        return
    if not tiers:
        return
    lowest = min(tier.key for tier in tiers)
    tied = [tier for tier in tiers if tier.key == lowest]
    later = [tier for tier in tiers if tier.key != lowest]
    available = sum(tier.per_node * tier.nodes for tier in tied)
    for first in _spread(tied, min(count, available)):
        for rest in choices(later, count - available):
            yield (*first, *rest)


def _spread(tied: Sequence[Tier], count: int) -> Iterator[tuple[Loss, ...]]:
    """All ways to take exactly `count` pods from tiers of equal key."""
    if not tied:
        if count == 0:
            yield ()
        return
    head, tail = tied[0], tied[1:]
    rest = sum(tier.per_node * tier.nodes for tier in tail)
    for taken in range(max(0, count - rest), min(count, head.per_node * head.nodes) + 1):
        for parts in _partitions(taken, head.nodes, head.per_node):
            for others in _spread(tail, count - taken):
                yield ((head, parts), *others) if parts else others


def _partitions(total: int, parts: int, largest: int) -> Iterator[tuple[int, ...]]:
    """`total` as a descending sum of at most `parts` numbers, each at most `largest`."""
    if total == 0:
        yield ()
        return
    if parts == 0:
        return
    for first in range(min(total, largest), 0, -1):
        if first * parts < total:
            return
        for rest in _partitions(total - first, parts - 1, first):
            yield (first, *rest)
