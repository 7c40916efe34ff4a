"""Words in the reference search: the plain product of all runs with the automaton of what must not happen.

No split into parts, no sets of ways: every pair of a state and one state of the automaton is a node. A stable state may
last for ever. Shares no code with `kubeproof.engine.words`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from kubeproof.engine.reference import NamedStep, S, StateGraph, claimants, is_stable
from kubeproof.engine.system import Role

Letter = Callable[[S, "NamedStep[S] | None", bool], int]
Node = tuple[S, int, bool]  # a state, a state of the automaton, whether the run stays here for ever
Edges = dict[Node[S], list[tuple[str, int, Node[S]]]]  # actor, role, target
N = TypeVar("N")


class Automaton(Protocol):
    """A Büchi automaton of the words that break a property."""

    @property
    def first(self) -> Sequence[int]: ...

    def after(self, way: int, letter: int) -> Sequence[int]: ...

    def is_accepting(self, way: int) -> bool: ...


def makes_a_word(graph: StateGraph[S], starts: Iterable[S], automaton: Automaton, letter: Letter[S]) -> bool:
    """True if some fair run of a complete graph, with finitely many events, is accepted."""
    edges = _product(graph, starts, automaton, letter)
    plain = {node: [target for _, role, target in out if role != Role.EVENT] for node, out in edges.items()}
    return any(_is_accepted(graph, part, edges, automaton) for part in _parts(plain))


def _product(graph: StateGraph[S], starts: Iterable[S], automaton: Automaton, letter: Letter[S]) -> Edges[S]:
    """All nodes that runs reach, with their steps; a run that stays in a stable state takes no other step any more."""
    stable = {state for state in graph.steps if is_stable(graph, state)}
    pending: list[Node[S]] = [
        (state, later, False)
        for state in starts
        for way in automaton.first
        for later in automaton.after(way, letter(state, None, state in stable))
    ]
    edges: Edges[S] = {}
    while pending:
        node = pending.pop()
        if node in edges:
            continue
        state, way, stays = node
        found = edges[node] = []
        if state in stable:
            for later in automaton.after(way, letter(state, None, True)):
                found.append(("nobody", int(Role.OPTIONAL), (state, later, True)))
        for step in () if stays else graph.steps[state]:
            for later in automaton.after(way, letter(step.target, step, step.target in stable)):
                found.append((step.actor, step.role, (step.target, later, False)))
        pending += [target for _, _, target in found]
    return edges


def _is_accepted(graph: StateGraph[S], part: set[Node[S]], edges: Edges[S], automaton: Automaton) -> bool:
    if not any(automaton.is_accepting(way) for _, way, _ in part):
        return False
    claims = (set() if stays else claimants(graph.steps[state]) for state, _, stays in part)
    urgent: set[str] = set.intersection(*claims)
    return urgent <= {
        actor for node in part for actor, role, target in edges[node] if target in part and role != Role.EVENT
    }


def _parts(plain: dict[N, list[N]]) -> list[set[N]]:
    """The strongly connected parts with a cycle (Kosaraju)."""
    backward: dict[N, list[N]] = {node: [] for node in plain}
    for node, targets in plain.items():
        for target in targets:
            backward[target].append(node)
    parts: list[set[N]] = []
    assigned: set[N] = set()
    for node in reversed(_by_finish(plain)):
        if node not in assigned:
            part = _close(node, backward, assigned)
            assigned |= part
            if len(part) > 1 or node in plain[node]:
                parts.append(part)
    return parts


def _by_finish(edges: dict[N, list[N]]) -> list[N]:
    order: list[N] = []
    seen: set[N] = set()
    for root in edges:
        stack: list[tuple[N, bool]] = [(root, False)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack += [(target, False) for target in edges[node]]
    return order


def _close(start: N, edges: dict[N, list[N]], without: set[N]) -> set[N]:
    found, stack = {start}, [start]
    while stack:
        for target in edges[stack.pop()]:
            if target not in found and target not in without:
                found.add(target)
                stack.append(target)
    return found
