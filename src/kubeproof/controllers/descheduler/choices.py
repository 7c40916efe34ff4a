"""Counting choices among equals: every way to pick pods or nodes, up to renaming of equal ones.

Loops instead of recursion, as there may be a thousand kinds of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from math import comb
from typing import TypeVar

from kubeproof.controllers.descheduler.values import MAX_OUTCOMES
from kubeproof.errors import LimitReached

Kind = TypeVar("Kind")

Takes = tuple[tuple[int, int], ...]  # pods taken from a node, and from how many nodes of the kind as many are taken


def check_limit(size: int) -> None:
    """Raises if a set of alternatives has grown beyond what is followed."""
    if size > MAX_OUTCOMES:
        raise LimitReached(
            f"E302 one descheduling cycle has more than {MAX_OUTCOMES:,} outcomes. "
            "Make the cluster smaller, or give fewer pods to choose from"
        )


def selections(capacities: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    """All ways to take `total` from places with these capacities, at most all there is."""
    rest = list(accumulate(reversed(capacities), initial=0))[::-1]
    stack: list[tuple[tuple[int, ...], int]] = [((), min(total, rest[0]))]
    found = 0
    while stack:
        taken, left = stack.pop()
        place = len(taken)
        if left == 0 or place == len(capacities):
            found += 1
            check_limit(found)
            yield taken + (0,) * (len(capacities) - place)
            continue
        least, most = max(0, left - rest[place + 1]), min(capacities[place], left)
        stack += [((*taken, first), left - first) for first in range(most, least - 1, -1)]


def share_out(total: int, kinds: Sequence[Kind]) -> Iterator[tuple[tuple[Kind, int], ...]]:
    """All ways to share `total` equal things out to the kinds; kinds that get none are left out."""
    if total == 1:
        yield from (((kind, 1),) for kind in kinds)
        return
    check_limit(comb(total + len(kinds) - 1, total))
    for shares in selections((total,) * len(kinds), total):
        yield tuple((kind, share) for kind, share in zip(kinds, shares, strict=True) if share)


def any_takes(sizes: Sequence[tuple[int, int]], total: int) -> Iterator[tuple[Takes, ...]]:
    """All ways to take `total` pods from kinds of nodes, given as (pods on each, number of nodes)."""

    def options(kind: int, left: int, _: bool) -> Iterator[tuple[Takes, int, bool]]:
        size, count = sizes[kind]
        rest = sum(each * nodes for each, nodes in sizes[kind + 1 :])
        for amount in range(max(0, left - rest), min(left, size * count) + 1):
            for parts in _partitions(amount, size, count):
                yield parts, amount, False

    return _combine(len(sizes), total, options)


def block_takes(sizes: Sequence[tuple[int, int]], total: int) -> Iterator[tuple[Takes, ...]]:
    """As `any_takes`, but node after node: at most one node is taken from without being emptied."""

    def options(kind: int, left: int, opened: bool) -> Iterator[tuple[Takes, int, bool]]:
        size, count = sizes[kind]
        for emptied in range(min(count, left // size) + 1 if size else 1):
            whole = ((size, emptied),) if emptied else ()
            yield whole, emptied * size, opened
            if emptied < count and not opened:
                for part in range(1, min(size - 1, left - emptied * size) + 1):
                    yield (*whole, (part, 1)), emptied * size + part, True

    return _combine(len(sizes), total, options)


def _combine(
    kinds: int, total: int, options: Callable[[int, int, bool], Iterable[tuple[Takes, int, bool]]]
) -> Iterator[tuple[Takes, ...]]:
    """One option per kind such that the amounts add up to the total; the flag is handed on from kind to kind."""
    stack: list[tuple[tuple[Takes, ...], int, bool]] = [((), total, False)]
    found = 0
    while stack:
        chosen, left, flag = stack.pop()
        if left == 0:
            found += 1
            check_limit(found)
            yield chosen + ((),) * (kinds - len(chosen))
            continue
        if len(chosen) == kinds:
            continue
        following = [((*chosen, takes), left - amount, now) for takes, amount, now in options(len(chosen), left, flag)]
        stack += reversed(following)
        check_limit(len(stack))


def _partitions(amount: int, largest: int, parts: int) -> Iterator[Takes]:
    """The amount as at most `parts` positive numbers, none above `largest`, as (number, how often)."""
    stack: list[tuple[Takes, int, int, int]] = [((), amount, largest, parts)]
    while stack:
        chosen, left, number, room = stack.pop()
        if left == 0:
            yield chosen
        elif number and left <= number * room:
            for times in range(min(room, left // number) + 1):
                more = ((number, times),) if times else ()
                stack.append(((*chosen, *more), left - number * times, number - 1, room - times))


def assignments(values: Sequence[int], kinds: Sequence[int]) -> Iterator[tuple[dict[int, int], ...]]:
    """All ways to hand the values to things of several kinds, whose numbers add up to that of the values.

    The answer says for each kind how many of its things get which value.
    """
    distinct = sorted(set(values))
    stack: list[tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]] = [((), tuple(kinds))]
    while stack:
        splits, room = stack.pop()
        if len(splits) == len(distinct):
            yield tuple(
                {value: split[kind] for value, split in zip(distinct, splits, strict=True) if split[kind]}
                for kind in range(len(kinds))
            )
            continue
        for split in selections(room, values.count(distinct[len(splits)])):
            left = tuple(free - used for free, used in zip(room, split, strict=True))
            stack.append(((*splits, split), left))
            check_limit(len(stack))
