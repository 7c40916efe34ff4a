"""Forwarding loops in a product: on which of them the good thing never comes, and for which destinations."""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.engine.components import cyclic_components
from kubeproof.logic.alphabet import partition
from kubeproof.network.checking.product import Graph, State
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Loop:
    """States of a loop on which packets to some destinations go round without the property being met."""

    states: tuple[State, ...]  # one strongly connected part
    mask: int


def bad_loops(graph: Graph) -> list[Loop]:
    """The loops that violate the liveness part.

    Different destinations may take the arrows of one cycle of the product, so cycles are looked for anew for every
    class of destinations that take the same arrows.
    """
    if not graph.may_loop:
        return []
    nothing: dict[State, int] = {}
    found = []
    for component in cyclic_components(graph.reached, lambda state: tuple(graph.edges.get(state, nothing))):
        inside = set(component)
        arrows = {state: {t: m for t, m in graph.edges[state].items() if t in inside} for state in component}
        guards = tuple(dict.fromkeys(mask for out in arrows.values() for mask in out.values()))
        union = 0
        for guard in guards:
            union |= guard
        for piece in partition(guards, union):
            own = {s: [t for t, mask in out.items() if mask & piece == piece] for s, out in arrows.items()}
            found += [Loop(tuple(part), piece) for part in _violating(graph, own)]
    return found


def _violating(graph: Graph, arrows: dict[State, list[State]]) -> Iterable[list[State]]:
    """Cycles that avoid accepting states, or in a machine that looks for bad words, that meet one."""
    accepting = graph.machine.accepting
    if not graph.machine.is_deterministic:
        return [
            part
            for part in cyclic_components(arrows, lambda state: arrows[state])
            if any(s[2] in accepting for s in part)
        ]
    rest = {s: [t for t in out if t[2] not in accepting] for s, out in arrows.items() if s[2] not in accepting}
    return cyclic_components(rest, lambda state: rest[state])
