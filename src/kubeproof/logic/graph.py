"""Strongly connected components and reachability of small graphs given as lists of successors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Strongly connected components, each after those it leads to (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    on_stack: set[int] = set()
    stack: list[int] = []
    found: list[list[int]] = []
    for root in range(len(successors)):
        if root in order:
            continue
        work = [(root, 0)]
        while work:
            node, place = work.pop()
            if place == 0:
                order[node] = low[node] = len(order)
                stack.append(node)
                on_stack.add(node)
            for index in range(place, len(successors[node])):
                target = successors[node][index]
                if target not in order:
                    work += [(node, index + 1), (target, 0)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], order[target])
            else:
                _close(node, order, low, stack, on_stack, found)
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return found


def _close(
    node: int, order: dict[int, int], low: dict[int, int], stack: list[int], on_stack: set[int], found: list[list[int]]
) -> None:
    """Takes the component off the stack if `node` is its root."""
    if low[node] != order[node]:
        return
    component: list[int] = []
    while not component or component[-1] != node:
        component.append(stack.pop())
        on_stack.discard(component[-1])
    found.append(sorted(component))


def is_cycle(component: Sequence[int], successors: Sequence[Sequence[int]]) -> bool:
    """True unless the component is one node without an edge to itself."""
    return len(component) > 1 or component[0] in successors[component[0]]


def reachable(starts: Iterable[int], successors: Sequence[Sequence[int]]) -> set[int]:
    """The nodes that can be reached, the starts included."""
    seen = set(starts)
    pending = sorted(seen)
    while pending:
        for target in successors[pending.pop()]:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen


def reversed_graph(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """The same edges, backwards."""
    backwards: list[list[int]] = [[] for _ in successors]
    for node, targets in enumerate(successors):
        for target in targets:
            backwards[target].append(node)
    return backwards
