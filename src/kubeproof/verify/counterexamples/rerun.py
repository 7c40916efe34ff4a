"""A counterexample re-executed from a finished result: the states that a report draws and a replay tells.

A result holds its input and, for every step, the code to take it again. So nothing of the states is kept while a
verification runs: who wants them pays for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import under_faults
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import Plan
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.counterexamples.replayer import (
    Look,
    Recorded,
    Replayed,
    ReplayMismatch,
    look_nowhere,
    replay,
)
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.planning import plan_of
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.result import IntentResult

MOST = 10_000  # nodes of a kind or pods of a workload in a counterexample


class Rerun(NamedTuple):
    """The steps that deployed the cluster, if any, and the run itself; both with their states."""

    loaded: Loaded
    model: IndividualModel
    monitor_number: int
    deploying: Replayed
    run: Replayed

    @property
    def states(self) -> tuple[State, ...]:
        """The cluster before each step, and at the end."""
        return (*self.deploying.states[:-1], *self.run.states)

    @property
    def steps(self) -> tuple[Transition, ...]:
        return (*self.deploying.steps, *self.run.steps)


def rerun(inputs: Sequence[tuple[str, str]], one: IntentResult, options: VerifyOptions) -> Rerun:
    """Takes every step of the counterexample again; raises ReplayMismatch if one is not possible, or all break nothing.

    Raises ValueError if the result is about something else than its input.
    """
    if one.trace is None:
        raise ValueError("no counterexample")
    loaded = _at_size(load_texts(list(inputs), keeps_texts=False), dict(one.size))
    if one.faults:
        loaded = under_faults(loaded, one.faults, one.target)
    return rerun_on(loaded, plan_of(loaded, options), one)


def rerun_on(loaded: Loaded, plan: Plan, one: IntentResult, look: Look = look_nowhere) -> Rerun:
    """The same on an input that is read and planned already."""
    trace = one.trace
    if trace is None:
        raise ValueError("no counterexample")
    number = [monitor.intent.name for monitor in plan.monitors].index(one.intent)
    model = RepresentativeModel(plan)
    recorded: list[Recorded] = [(step.actor, step.code) for step in trace.steps]  # type: ignore[misc]
    deployed = trace.deployed_steps
    if loaded.scenario.start.mode == "deployed":
        before, start = _deploy(model, recorded[:deployed], look)
    elif deployed:
        raise ReplayMismatch("E700 the trace deploys first, and its Scenario does not")
    else:
        (start,) = model.initial()
        before = Replayed((start,), ())
    loop_start = None if trace.loop_start is None else trace.loop_start - deployed
    run = replay(model, start, recorded[deployed:], loop_start=loop_start, monitor_number=number, look=look)
    return Rerun(loaded, model, number, before, run)


def _at_size(loaded: Loaded, numbers: dict[str, int]) -> Loaded:
    """The input at the size of the counterexample; as it is, unless a sweep chose one."""
    scale = loaded.scenario.scale
    if not numbers or scale is None:
        return loaded
    if any(number > MOST for number in numbers.values()):
        raise ValueError("a size that no sweep has")
    nodes = tuple((node.like, numbers[node.like]) for node in scale.nodes)
    pods = tuple((workload.target, numbers[workload.target]) for workload in scale.workloads)
    return resize(loaded, scale, Size(nodes, pods))


def _deploy(model: IndividualModel, recorded: list[Recorded], look: Look) -> tuple[Replayed, State]:
    """The deploying steps, none if the start is stable as it is, and the state in which the run begins."""
    deploying = RepresentativeModel(model.plan.deploying())
    (state,) = deploying.initial()
    states, steps = [state], []
    for actor, concrete in recorded:
        look()
        step = next((s for s in deploying.steps(state) if (s.controller, s.concrete) == (actor, concrete)), None)
        if step is None:
            raise ReplayMismatch(f"E700 a deploying step is not possible: {actor} cannot do {concrete}")
        steps.append(step)
        state = step.target
        states.append(state)
    if not deploying.is_stable(state):
        raise ReplayMismatch("E700 the deployed state is not stable")
    return Replayed(tuple(states), tuple(steps)), model.restart(state)
