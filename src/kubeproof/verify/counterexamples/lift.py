"""From a path of the grouped search to the same path with real names.

Every step of the path is looked for among the steps by name: the one whose result, names forgotten, is the next
state of the path. A grouped path without such a step is a fault of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actions import Advance
from kubeproof.cluster.nodes.near_nodes import NodeSizeMatters
from kubeproof.cluster.state import moves_alike
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.engine.search import Finding, Search
from kubeproof.engine.system import Role, Step
from kubeproof.errors import InternalError
from kubeproof.model.by_name.abstraction import Anonymous, anonymous, canonical
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.reductions.persistent_steps import workload_of
from kubeproof.model.reductions.starts_in_unison import StartAll, find_started_together
from kubeproof.named_tuples import NamedTuple

MOST_ROUNDS = 12  # of a loop in which nodes of one class take turns


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
    steps = [step for _, step in search.way_of(finding)]
    if finding.last:
        steps.append(finding.last)
    named = follow(model, start, search, steps)
    if finding.lasso is None:
        return named
    loop = _go_round(model, named.last, search, finding.lasso.steps)
    assert loop.loop_start is not None
    whole = NamedPath((*named.states[:-1], *loop.states), named.steps + loop.steps)
    return whole._replace(loop_start=len(named.steps) + loop.loop_start, is_inevitable=finding.lasso.is_inevitable)


def _go_round(model: IndividualModel, start: State, search: Search, steps: Sequence[Step]) -> NamedPath:
    """The loop by name, until it comes round for nodes of every size: in each round others of a class take part."""
    path = follow(model, start, search, steps)
    if model.plan.by_size is None:
        return path._replace(loop_start=0)
    sized = IndividualModel(model.plan.by_size)
    begun = {anonymous(sized, start): 0}
    for _ in range(MOST_ROUNDS):
        form = anonymous(sized, path.last)
        if form in begun:
            return path._replace(loop_start=begun[form])
        begun[form] = len(path.steps)
        again = follow(model, path.last, search, steps)
        path = NamedPath((*path.states[:-1], *again.states), path.steps + again.steps)
    raise NodeSizeMatters(lambda size: (size.cpu_milli, size.memory_bytes, size.others))


def follow(model: IndividualModel, start: State, search: Search, steps: Sequence[Step]) -> NamedPath:
    """The steps by name, from a named state on."""
    states, named, here = [start], [], start
    for step in steps:
        wanted = canonical(model.plan, search.store.cells_of(step.target))
        for found in _name_step(model, here, step, wanted):
            named.append(found)
            here = found.target
            states.append(here)
    return NamedPath(tuple(states), tuple(named))


def _name_step(model: IndividualModel, state: State, step: Step, wanted: Anonymous) -> list[Transition]:
    """The step by name; one that stands for several, such as pods that start in unison, becomes several."""
    start = find_started_together(step.effect)
    if start is None:
        return [_matching(model, state, step, wanted)]
    found: list[Transition] = []
    while (one := _one_start(model, state, start)) is not None:
        found.append(one)
        state = one.target
    if anonymous(model, state) != wanted:
        raise InternalError("E700 pods that start in unison end elsewhere by name. Please report this with the input.")
    return found


def _one_start(model: IndividualModel, state: State, start: StartAll) -> Transition | None:
    """The next kubelet's share in a start in unison, None when all have started."""
    for controller in model.plan.controllers:
        if isinstance(controller, Kubelet):
            for transition in model.steps_of(controller, state):
                action = transition.decision.actions[0]
                if isinstance(action, Advance) and moves_alike(action, start):
                    return transition
    return None


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
    if step.effect.role == Role.TIME:
        yield from model.time_steps(state)
        return
    if step.actor >= len(actors):  # a step that was taken alone stands for the same step of its controller
        for controller in model.plan.controllers:
            if getattr(controller, "workload", None) == workload_of(step.effect):
                yield from model.steps_of(controller, state)
        return
    asked = actors[step.actor]
    yield from model.steps_of(asked, state)
    for other in actors:
        if other is not asked and other.name == asked.name:
            yield from model.steps_of(other, state)
