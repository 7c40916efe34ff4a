"""From a path of the grouped search to the same path with real names.

Every step of the path is looked for among the steps by name: the one whose result, names forgotten, is the next
state of the path. A grouped path without such a step is a fault of ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kubeproof.engine.search import Finding, Search
from kubeproof.engine.system import Step
from kubeproof.errors import InternalError
from kubeproof.model.abstraction import Anonymous, anonymous, canonical
from kubeproof.model.individual import IndividualModel, State, Transition


class NamedPath(NamedTuple):
    """A path by name; states[i] is left by steps[i]. `loop_start` is the index of the loop's first step."""

    states: tuple[State, ...]
    steps: tuple[Transition, ...]
    loop_start: int | None = None
    is_inevitable: bool = False

    @property
    def last(self) -> State:
        return self.steps[-1].target if self.steps else self.states[-1]


def lift(model: IndividualModel, start: State, search: Search, finding: Finding) -> NamedPath:
    """The named form of a finding's path and loop."""
    steps = [step for _, step in search.path(finding.state)]
    loop_start = len(steps) if finding.lasso else None
    if finding.lasso:
        steps += finding.lasso.steps
    named = follow(model, start, search, steps)
    is_inevitable = bool(finding.lasso and finding.lasso.is_inevitable)
    return named._replace(loop_start=loop_start, is_inevitable=is_inevitable)


def follow(model: IndividualModel, start: State, search: Search, steps: Sequence[Step]) -> NamedPath:
    """The steps by name, from a named state on."""
    states, named, here = [start], [], start
    for step in steps:
        wanted = canonical(model.plan, search.store.cells_of(step.target))
        found = _matching(model, here, step, wanted)
        named.append(found)
        here = found.target
        states.append(here)
    return NamedPath(tuple(states), tuple(named))


def _matching(model: IndividualModel, state: State, step: Step, wanted: Anonymous) -> Transition:
    """The first step by name that leads to the wanted state; those that repeat the decision literally first."""
    literal = [t for t in model.steps(state) if t.decision == step.effect.label]
    for transition in literal or model.steps(state):
        if anonymous(model, transition.target) == wanted:
            return transition
    for transition in model.steps(state):
        if anonymous(model, transition.target) == wanted:
            return transition
    raise InternalError(f"E700 no step by name follows {step.effect.label}. Please report this with the input.")
