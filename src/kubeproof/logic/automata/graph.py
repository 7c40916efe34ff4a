"""Reachability and cycles of small graphs given as lists of successors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kubeproof.engine.components import components, cyclic_components

Graph = Sequence[Sequence[int]]


def on_cycles(graph: Graph) -> set[int]:
    """The nodes that lie on a cycle."""
    return {node for component in cyclic_components(range(len(graph)), graph.__getitem__) for node in component}


def reaching_cycles(graph: Graph, goals: Iterable[int]) -> set[int]:
    """The nodes from which some cycle through a goal can be reached."""
    live = on_cycles(graph) & set(goals)
    found: set[int] = set()
    for component in components(range(len(graph)), graph.__getitem__):  # each comes after those it leads to
        if any(node in live or any(target in found for target in graph[node]) for node in component):
            found |= set(component)
    return found


def reachable(starts: Iterable[int], graph: Graph) -> set[int]:
    """The nodes that can be reached, the starts included."""
    seen = set(starts)
    pending = sorted(seen)
    while pending:
        for target in graph[pending.pop()]:
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return seen
