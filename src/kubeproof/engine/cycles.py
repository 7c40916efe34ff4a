"""Fair cycles: the runs that never end, and which of them break a check.

Only steps that are not events take part: an oscillation is an infinite run with finitely many events. A cycle
is *fair* if no actor has urgent work in every state of it without ever acting. A maximal component is fair as
a whole or contains no fair cycle at all: if an actor with work in all its states never acts inside it, the
same is true of every smaller cycle; and if every such actor acts inside, the cycle through the whole
component is fair (weak fairness). The cycle shown is a shorter one that is fair itself.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from kubeproof.engine.components import cyclic_components
from kubeproof.engine.system import Check, Kind, Role, Step
from kubeproof.named_tuples import NamedTuple

Goal = Callable[[int, Step], bool]  # about a step and the state it leaves


class Graph(Protocol):
    """An explored state graph."""

    def steps(self, state: int) -> Sequence[Step]: ...

    def flags(self, state: int) -> int: ...

    def urgent(self, state: int) -> Sequence[int]:
        """The actors with urgent work, also those whose steps a reduction leaves for later."""
        ...


class Lasso(NamedTuple):
    """A cycle that breaks a check: it starts and ends in `states[0]`."""

    states: tuple[int, ...]  # the states in order, without the repeated first
    steps: tuple[Step, ...]  # steps[i] leads from states[i] to the next
    is_inevitable: bool  # no step but events leads out of its component


class Edges(NamedTuple):
    """The labelled steps inside a set of states, and what is urgent in each."""

    inside: dict[int, tuple[Step, ...]]
    urgent: dict[int, frozenset[str]]  # names of actors with urgent work
    leaves: bool  # some step that is not an event leads out


def find_lasso(
    graph: Graph, cyclic: Sequence[Sequence[int]], check: Check, actor_name: Callable[[int], str]
) -> Lasso | None:
    """A fair cycle that breaks the check, or None. Inevitable cycles come first, then lower states."""
    found: list[Lasso] = []
    for lasso in all_lassos(graph, cyclic, check, actor_name):
        found.append(lasso)
        if lasso.is_inevitable:
            break  # it starts in the lowest state of its component, so none that follows is better
    return min(found, key=lambda lasso: (not lasso.is_inevitable, lasso.states[0]), default=None)


def all_lassos(
    graph: Graph, cyclic: Sequence[Sequence[int]], check: Check, actor_name: Callable[[int], str]
) -> Iterator[Lasso]:
    """One fair cycle that breaks the check for every component that has one, lower states first."""
    for component in sorted((sorted(component) for component in cyclic), key=lambda states: states[0]):
        yield from _breaking(graph, component, check, actor_name)


def _breaking(graph: Graph, component: Sequence[int], check: Check, actor_name: Callable[[int], str]) -> list[Lasso]:
    bad = [state for state in component if graph.flags(state) >> check.flag & 1]
    if not bad and check.kind != Kind.CYCLE:
        return []
    edges = label_edges(graph, component, actor_name)
    if check.kind != Kind.PERSISTENT:
        return _judge(graph, component, edges, check, actor_name, is_bottom=not edges.leaves)
    kept = _restrict(edges, frozenset(bad), check.tags)
    targets = {state: tuple(step.target for step in steps) for state, steps in kept.inside.items()}
    parts = cyclic_components(bad, targets.__getitem__)
    return [
        lasso
        for part in sorted(sorted(part) for part in parts)
        for lasso in _judge(
            graph,
            part,
            _restrict(kept, frozenset(part), 0),
            check,
            actor_name,
            is_bottom=not edges.leaves and kept.inside == edges.inside,
        )
    ]


def label_edges(graph: Graph, component: Sequence[int], actor_name: Callable[[int], str]) -> Edges:
    """The steps of the component's states, events left out."""
    members = frozenset(component)
    inside: dict[int, tuple[Step, ...]] = {}
    urgent: dict[int, frozenset[str]] = {}
    leaves = False
    for state in component:
        steps = [step for step in graph.steps(state) if step.effect.role != Role.EVENT]
        inside[state] = tuple(step for step in steps if step.target in members)
        leaves |= len(inside[state]) != len(steps)
        urgent[state] = frozenset(actor_name(actor) for actor in graph.urgent(state))
    return Edges(inside, urgent, leaves)


def _restrict(edges: Edges, members: frozenset[int], without_tags: int) -> Edges:
    inside = {
        state: tuple(
            step for step in edges.inside[state] if step.target in members and not step.effect.tags & without_tags
        )
        for state in sorted(members)
    }
    return Edges(inside, {state: edges.urgent[state] for state in sorted(members)}, edges.leaves)


def _judge(
    graph: Graph,
    component: Sequence[int],
    edges: Edges,
    check: Check,
    actor_name: Callable[[int], str],
    *,
    is_bottom: bool,
) -> list[Lasso]:
    """The component's cycle as a lasso if it is fair and breaks the check."""
    goals: list[Goal] = []
    if check.kind == Kind.CYCLE:
        goals.append(lambda _state, step: bool(step.effect.tags & check.tags))
    if check.kind == Kind.RECURRENT:
        goals.append(lambda state, _step: bool(graph.flags(state) >> check.flag & 1))
    starved = frozenset.intersection(*(edges.urgent[state] for state in component))
    needed = [*goals, *(_relief(edges, name, actor_name) for name in sorted(starved))]
    every = [(state, step) for state in component for step in edges.inside[state]]
    if not all(any(goal(state, step) for state, step in every) for goal in needed):
        return []
    states, steps = fair_tour(component[0], edges, goals, actor_name)
    return [Lasso(states, steps, is_bottom)]


def _relief(edges: Edges, name: str, actor_name: Callable[[int], str]) -> Goal:
    """The goal that one actor acts, or has no urgent work for a moment."""
    return lambda state, step: name not in edges.urgent[state] or actor_name(step.actor) == name


def fair_tour(
    start: int, edges: Edges, goals: Sequence[Goal], actor_name: Callable[[int], str]
) -> tuple[tuple[int, ...], tuple[Step, ...]]:
    """A closed walk that meets the goals and starves no actor; the component must allow one."""
    wanted = list(goals)
    while True:
        steps = tour(start, edges.inside, wanted)
        states = (start, *(step.target for step in steps[:-1]))
        acted = {actor_name(step.actor) for step in steps}
        ignored = frozenset.intersection(*(edges.urgent[state] for state in states)) - acted
        if not ignored:
            return states, tuple(steps)
        wanted += [_relief(edges, name, actor_name) for name in sorted(ignored)]


def tour(start: int, inside: dict[int, tuple[Step, ...]], goals: Sequence[Goal]) -> list[Step]:
    """A closed walk from `start` that takes a step meeting each goal; short, not always shortest."""
    walk: list[Step] = []
    here = start
    open_goals = list(goals)
    while open_goals:
        leg = _leg(here, inside, _any_of(open_goals))
        walk += leg
        before = leg[-2].target if len(leg) > 1 else here
        open_goals = [goal for goal in open_goals if not goal(before, leg[-1])]
        here = leg[-1].target
    if here != start or not walk:
        walk += _leg(here, inside, lambda _state, step: step.target == start)
    return walk


def _any_of(goals: Sequence[Goal]) -> Goal:
    return lambda state, step: any(goal(state, step) for goal in goals)


def _leg(start: int, inside: dict[int, tuple[Step, ...]], arrives: Goal) -> list[Step]:
    """A shortest walk from `start` whose last step satisfies `arrives`."""
    came: dict[int, tuple[int, Step]] = {}
    queue = deque([start])
    seen = {start}
    while queue:
        state = queue.popleft()
        for step in inside[state]:
            if arrives(state, step):
                return [*_walk_back(start, state, came), step]
            if step.target not in seen:
                seen.add(step.target)
                came[step.target] = (state, step)
                queue.append(step.target)
    raise ValueError("the component is not strongly connected")


def _walk_back(start: int, state: int, came: dict[int, tuple[int, Step]]) -> list[Step]:
    steps: list[Step] = []
    while state != start:
        state, step = came[state]
        steps.append(step)
    return steps[::-1]
