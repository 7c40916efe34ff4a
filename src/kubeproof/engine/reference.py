"""The reference search: plain sets and dictionaries, no reductions, written to be obviously right.

It shares no code with the other search. Cycles are judged by Kosaraju's algorithm on the edges in question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import field
from typing import Generic, Protocol, TypeVar

from kubeproof.engine.limits import Limits
from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.engine.system import Check, Kind, Role
from kubeproof.errors import LimitReached
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

LOOK = 256  # states between two looks at the memory
S = TypeVar("S", bound=Hashable)
S_co = TypeVar("S_co", bound=Hashable, covariant=True)


class NamedStep(Protocol[S_co]):
    """A step of the reference model."""

    @property
    def actor(self) -> str: ...

    @property
    def role(self) -> int: ...

    @property
    def tags(self) -> int: ...

    @property
    def is_promised(self) -> bool:
        """True if whoever does it must not keep away from it for ever; time does not wait for it."""
        ...

    @property
    def target(self) -> S_co: ...


class ReferenceModel(Protocol[S]):
    """A transition system whose states are values."""

    def initial(self) -> Sequence[S]: ...

    def steps(self, state: S) -> Sequence[NamedStep[S]]: ...

    def flags(self, state: S) -> int: ...


@dataclass(slots=True)
class StateGraph(Generic[S]):
    """All reachable states with their steps."""

    steps: dict[S, Sequence[NamedStep[S]]] = field(default_factory=dict)
    stopped_by: StoppedBy | None = None  # what ended the search before its time
    transitions: int = 0

    @property
    def is_complete(self) -> bool:
        return not self.stopped_by


def reach(
    model: ReferenceModel[S], *, max_states: int, limits: Limits | None = None, start: float | None = None
) -> StateGraph[S]:
    """Explores breadth first until nothing is new, `max_states` states are known or a step has too many ways.

    Time, memory and whoever wants the search to end are those of `limits`; time counts from `start` on, or from now.
    """
    limits = limits or Limits()
    start = limits.clock() if start is None else start
    graph: StateGraph[S] = StateGraph()
    queue = deque(dict.fromkeys(model.initial()))
    known = set(queue)
    while queue:
        if limits.is_over(start) or len(graph.steps) % LOOK == 0:
            graph.stopped_by = limits.find_exceeded(start)
            if graph.stopped_by:
                return graph
        state = queue.popleft()
        try:
            steps = model.steps(state)
        except LimitReached as limit:
            graph.stopped_by = StoppedBy(StopReason.TOO_MANY_WAYS, problem=str(limit))
            return graph
        graph.steps[state] = steps
        graph.transitions += len(steps)
        for step in steps:
            if step.target not in known:
                if len(known) >= max_states:
                    graph.stopped_by = StoppedBy(StopReason.STATES, max_states)
                    return graph
                known.add(step.target)
                queue.append(step.target)
    return graph


def judge(graph: StateGraph[S], check: Check, flags: Callable[[S], int]) -> Verdict:
    """The verdict of one check on an explored graph: HOLDS, VIOLATED, VACUOUS or UNKNOWN."""

    def is_bad(state: S) -> bool:
        return bool(flags(state) >> check.flag & 1)

    if _is_broken(graph, check, is_bad):
        return Verdict.VIOLATED
    if not graph.is_complete:
        return Verdict.UNKNOWN
    if check.relevant >= 0 and not any(flags(state) >> check.relevant & 1 for state in graph.steps):
        return Verdict.VACUOUS
    return Verdict.HOLDS


def _is_broken(graph: StateGraph[S], check: Check, is_bad: Callable[[S], bool]) -> bool:
    if check.kind == Kind.NEVER:
        return any(is_bad(state) for state in graph.steps)
    if check.kind == Kind.STEP:
        return any(step.tags & check.tags for steps in graph.steps.values() for step in steps)
    if check.kind != Kind.CYCLE and any(is_bad(s) for s in graph.steps if is_stable(graph, s)):
        return True
    if check.kind == Kind.STABLE:
        return False
    if check.kind == Kind.PERSISTENT:
        bad = {state for state in graph.steps if is_bad(state)}
        parts = strong_parts(graph, bad, lambda step: not step.tags & check.tags)
        return any(_is_fair(graph, part, lambda step: not step.tags & check.tags) for part in parts)
    for part in strong_parts(graph, set(graph.steps), lambda _: True):
        if _is_fair(graph, part, lambda _: True) and _breaks(graph, part, check, is_bad):
            return True
    return False


def is_stable(graph: StateGraph[S], state: S) -> bool:
    """True if only events leave the state."""
    return all(step.role == Role.EVENT for step in graph.steps[state])


def _breaks(graph: StateGraph[S], part: set[S], check: Check, is_bad: Callable[[S], bool]) -> bool:
    if check.kind == Kind.RECURRENT:
        return any(is_bad(state) for state in part)
    return any(step.tags & check.tags for state in part for step in _inner(graph, part, state))


def _inner(graph: StateGraph[S], part: set[S], state: S) -> list[NamedStep[S]]:
    return [s for s in graph.steps[state] if s.role != Role.EVENT and s.target in part]


def _is_fair(graph: StateGraph[S], part: set[S], allowed: Callable[[NamedStep[S]], bool]) -> bool:
    """No actor is urgent, or has promised to act, in all states of the part without a step inside it."""
    urgent = set.intersection(*(claimants(graph.steps[state]) for state in part))
    acting = {s.actor for state in part for s in _inner(graph, part, state) if allowed(s)}
    return urgent <= acting


def claimants(steps: Iterable[NamedStep[S]]) -> set[str]:
    """Who must not be ignored for ever in a state with these steps."""
    return {step.actor for step in steps if step.role == Role.URGENT or step.is_promised}


def strong_parts(graph: StateGraph[S], members: set[S], allowed: Callable[[NamedStep[S]], bool]) -> list[set[S]]:
    """The strongly connected parts with a cycle, over steps that are allowed and not events (Kosaraju)."""
    forward = {
        state: [s.target for s in _inner(graph, members, state) if allowed(s)] if state in graph.steps else []
        for state in members
    }
    backward: dict[S, list[S]] = {state: [] for state in members}
    for state, targets in forward.items():
        for target in targets:
            backward[target].append(state)
    parts = []
    assigned: set[S] = set()
    for state in reversed(_finishing_order(forward)):
        if state in assigned:
            continue
        part = _reach(state, backward, assigned)
        assigned |= part
        if len(part) > 1 or state in forward[state]:
            parts.append(part)
    return parts


def _finishing_order(forward: dict[S, list[S]]) -> list[S]:
    order: list[S] = []
    seen: set[S] = set()
    for root in forward:
        stack: list[tuple[S, int]] = [(root, 0)]
        while stack:
            state, position = stack.pop()
            if position == 0:
                if state in seen:
                    continue
                seen.add(state)
            if position < len(forward[state]):
                stack.append((state, position + 1))
                if forward[state][position] not in seen:
                    stack.append((forward[state][position], 0))
            else:
                order.append(state)
    return order


def _reach(start: S, edges: dict[S, list[S]], without: set[S]) -> set[S]:
    found = {start}
    stack = [start]
    while stack:
        for target in edges[stack.pop()]:
            if target not in found and target not in without:
                found.add(target)
                stack.append(target)
    return found
