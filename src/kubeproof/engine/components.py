"""Strongly connected components, iteratively (Tarjan 1972)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(nodes: Iterable[N], successors: Callable[[N], Sequence[N]]) -> Iterator[list[N]]:
    """Yields every strongly connected component, those reached by edges first.

    Linear in nodes and edges; no recursion, so depth is bounded by memory alone.
    """
    index: dict[N, int] = {}
    low: dict[N, int] = {}
    stack: list[N] = []
    on_stack: set[N] = set()
    for root in nodes:
        if root in index:
            continue
        work: list[tuple[N, Iterator[N]]] = [(root, iter(successors(root)))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(successors(target))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    yield _pop(stack, on_stack, node)


def _pop(stack: list[N], on_stack: set[N], node: N) -> list[N]:
    component = []
    while True:
        member = stack.pop()
        on_stack.discard(member)
        component.append(member)
        if member == node:
            return component


def cyclic_components(nodes: Iterable[N], successors: Callable[[N], Sequence[N]]) -> list[list[N]]:
    """The components that contain a cycle, in no promised order; a step back to the same node is a cycle."""
    return [
        component
        for component in components(nodes, successors)
        if len(component) > 1 or component[0] in successors(component[0])
    ]
