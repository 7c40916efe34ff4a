"""From a path of the grouped search to the same path with real names.

Every step of the path is looked for among the steps by name: the one whose result, names forgotten, is the next
state of the path. A grouped path without such a step is a fault of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kubeproof.engine.search import Finding, Search
from kubeproof.engine.system import Role, Step
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
    if finding.last:
        steps.append(finding.last)
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
    """The first step by name that leads to the wanted state, the actor of the path asked first.

    Interchangeable domains are permuted in the path, so that another place's actor may be the one.
    """
    for transition in _candidates(model, state, step):
        if anonymous(model, transition.target) == wanted:
            return transition
    raise InternalError(f"E700 no step by name follows {step.effect.label}. Please report this with the input.")


def _candidates(model: IndividualModel, state: State, step: Step) -> Iterator[Transition]:
    actors = model.plan.actors
    if step.effect.role == Role.TIME or step.actor >= len(actors):
        yield from model.time_steps(state)
        return
    asked = actors[step.actor]
    yield from model.steps_of(asked, state)
    for other in actors:
        if other is not asked and other.name == asked.name:
            yield from model.steps_of(other, state)
