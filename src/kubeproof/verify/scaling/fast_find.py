"""A thinner choice of sizes, for a violation soon instead of the smallest one."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.verify.resize import Size


def thin(sizes: Sequence[Size]) -> tuple[Size, ...]:
    """The sizes all of whose numbers are ends of their range or reached from its lower end by doubling steps.

    The order stays. A range from 1 to 36 is left with 1, 3, 7, 15, 31 and 36: steps of 2, each twice the one before.
    """
    if not sizes:
        return ()
    kinds, workloads = len(sizes[0].nodes), len(sizes[0].pods)
    nodes = [_keep([size.nodes[i][1] for size in sizes]) for i in range(kinds)]
    pods = [_keep([size.pods[i][1] for size in sizes]) for i in range(workloads)]
    return tuple(
        size
        for size in sizes
        if all(count in kept for (_, count), kept in zip(size.nodes, nodes, strict=True))
        and all(count in kept for (_, count), kept in zip(size.pods, pods, strict=True))
    )


def _keep(numbers: Sequence[int]) -> frozenset[int]:
    """Steps of 2, doubling, from the least number on, and the greatest."""
    number, most, step = min(numbers), max(numbers), 2
    kept = {most}
    while number < most:
        kept.add(number)
        number, step = number + step, step * 2
    return frozenset(kept)
