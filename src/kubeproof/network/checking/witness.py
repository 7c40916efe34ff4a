"""Who is affected by a bad ending, and the shortest path that shows it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from kubeproof.network.checking.cycles import Loop
from kubeproof.network.checking.product import End, Graph, State
from kubeproof.values import dataclass

LOOP = "loop"


@dataclass(frozen=True, slots=True)
class Witness:
    """A path of one packet; at the last node it is judged, dropped or delivered, or goes back into the loop."""

    nodes: tuple[str, ...]
    how: str  # here, dropped, delivered, loop
    loop_start: int | None = None  # place of the node that the last one leads back to


def find_affected(graph: Graph, spots: Iterable[tuple[State, int]]) -> dict[str, int]:
    """The destinations of each source whose packets can get to one of the spots."""
    before: dict[State, list[tuple[State, int]]] = {}
    for state, out in graph.edges.items():
        for target, mask in out.items():
            before.setdefault(target, []).append((state, mask))
    bad: dict[State, int] = {}
    pending: deque[tuple[State, int]] = deque(spots)
    while pending:
        state, mask = pending.popleft()
        new = mask & ~bad.get(state, 0)
        if new:
            bad[state] = bad.get(state, 0) | new
            pending.extend((source, new & through) for source, through in before.get(state, ()) if new & through)
    found: dict[str, int] = {}
    for state, mask in graph.initial.items():
        if mask & bad.get(state, 0):
            found[state[0]] = found.get(state[0], 0) | mask & bad[state]
    return found


def end_witness(graph: Graph, source: str, bit: int, ends: Iterable[End]) -> Witness | None:
    """The shortest path from the source to one destination that ends in one of the ways; None if none does."""
    goals = {end.state: end.how for end in reversed(list(ends)) if end.mask & bit}
    path = _shortest(graph, _starts(graph, source, bit), bit, goals.__contains__)
    return None if path is None else Witness(tuple(state[0] for state in path), goals[path[-1]])


def loop_witness(graph: Graph, source: str, bit: int, loops: Iterable[Loop]) -> Witness | None:
    """The shortest way into one of the loops, and once round it."""
    inside = [loop for loop in loops if loop.mask & bit]
    accepting = graph.machine.accepting
    must_accept = not graph.machine.is_deterministic
    members = {state: loop for loop in reversed(inside) for state in loop.states}
    doors = {state for state in members if not must_accept or state[2] in accepting}
    path = _shortest(graph, _starts(graph, source, bit), bit, doors.__contains__)
    if path is None:
        return None
    around = set(members[path[-1]].states)
    first = [state for state in _targets(graph, path[-1], bit) if state in around]
    back = _shortest(graph, first, bit, lambda state: state == path[-1], within=around)
    assert back is not None
    nodes = tuple(state[0] for state in (*path, *back[:-1]))
    return Witness(nodes, LOOP, len(path) - 1)


def _starts(graph: Graph, source: str, bit: int) -> list[State]:
    return [state for state, mask in graph.initial.items() if state[0] == source and mask & bit]


def _targets(graph: Graph, state: State, bit: int) -> list[State]:
    return [target for target, mask in graph.edges.get(state, {}).items() if mask & bit]


def _shortest(
    graph: Graph,
    starts: list[State],
    bit: int,
    is_goal: Callable[[State], bool],
    within: set[State] | None = None,
) -> list[State] | None:
    """A shortest path of packets to one destination, as states."""
    parent: dict[State, State | None] = dict.fromkeys(starts)
    queue = deque(starts)
    while queue:
        state = queue.popleft()
        if is_goal(state):
            return _path_to(state, parent)
        for target in _targets(graph, state, bit):
            if target not in parent and (within is None or target in within):
                parent[target] = state
                queue.append(target)
    return None


def _path_to(state: State, parent: dict[State, State | None]) -> list[State]:
    path = [state]
    while (before := parent[path[-1]]) is not None:
        path.append(before)
    return path[::-1]
