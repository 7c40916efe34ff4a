"""Counting choices among equals: every way to pick pods or nodes, up to renaming of equal ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.controllers.descheduler.values import MAX_OUTCOMES
from kubeproof.errors import LimitReached

Takes = tuple[int, ...]  # pods taken from nodes of one kind, largest first, one number per node that loses any


def limited(size: int) -> None:
    """Raises if a set of alternatives has grown beyond what is followed."""
    if size > MAX_OUTCOMES:
        raise LimitReached(
            f"E302 one descheduling cycle has more than {MAX_OUTCOMES:,} outcomes. "
            "Make the cluster smaller, or give fewer pods to choose from"
        )


def selections(capacities: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """All ways to take `total` from places with these capacities, at most all there is."""
    total = min(total, sum(capacities))
    if not capacities:
        yield ()
        return
    rest = sum(capacities[1:])
    for first in range(max(0, total - rest), min(capacities[0], total) + 1):
        for others in selections(capacities[1:], total - first):
            yield (first, *others)


def any_takes(sizes: Sequence[tuple[int, int]], total: int) -> Iterator[tuple[Takes, ...]]:
    """All ways to take `total` pods from kinds of nodes, given as (pods on each, number of nodes)."""
    if not sizes:
        if total == 0:
            yield ()
        return
    (size, count), rest = sizes[0], sizes[1:]
    most = min(total, size * count)
    least = max(0, total - sum(each * nodes for each, nodes in rest))
    for amount in range(least, most + 1):
        for parts in _partitions(amount, size, count):
            for others in any_takes(rest, total - amount):
                yield (parts, *others)


def block_takes(sizes: Sequence[tuple[int, int]], total: int, *, whole: bool = False) -> Iterator[tuple[Takes, ...]]:
    """As `any_takes`, but node after node: at most one node is taken from without being emptied.

    `whole` says that such a node is already chosen.
    """
    if not sizes:
        if total == 0:
            yield ()
        return
    (size, count), rest = sizes[0], sizes[1:]
    for emptied in range(min(count, total // size) + 1 if size else 1):
        left = total - emptied * size
        partial = range(1, min(size - 1, left) + 1) if emptied < count and not whole else range(0)
        for part in (0, *partial):
            takes = (size,) * emptied + ((part,) if part else ())
            for others in block_takes(rest, left - part, whole=whole or part > 0):
                yield (takes, *others)


def _partitions(amount: int, largest: int, parts: int) -> Iterator[Takes]:
    """The amount as at most `parts` positive numbers, largest first."""
    if amount == 0:
        yield ()
        return
    if parts == 0:
        return
    for first in range(min(largest, amount), 0, -1):
        for rest in _partitions(amount - first, first, parts - 1):
            yield (first, *rest)


def assignments(values: Sequence[int], kinds: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to hand the values to things of several kinds, whose numbers add up to that of the values.

    The answer has the values of each kind, sorted.
    """
    distinct = sorted(set(values))
    for shares in _shares([values.count(value) for value in distinct], list(kinds)):
        yield tuple(
            tuple(value for value, share in zip(distinct, shares, strict=True) for _ in range(share[kind]))
            for kind in range(len(kinds))
        )


def _shares(counts: Sequence[int], room: list[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """For each count, how it is split over the kinds without exceeding their room."""
    if not counts:
        yield ()
        return
    for split in selections(room, counts[0]):
        left = [free - used for free, used in zip(room, split, strict=True)]
        for rest in _shares(counts[1:], left):
            yield (split, *rest)
