"""Every simulated run is a run of the model that `verify` explores, by name; where it rests, that one may rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from kubeproof.cluster.loops.actions import Tick
from kubeproof.cluster.loops.control import Reads, Role, Seen, Stage
from kubeproof.cluster.state import NEVER
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import explore, make_kernel
from kubeproof.errors import LimitReached
from kubeproof.events.declarations import (
    STABLE,
    Cordon,
    CpuLoad,
    Event,
    NodeChoice,
    NodeFailure,
    UsageChange,
    UsagePattern,
)
from kubeproof.events.workload import Constant, Fault, ServiceLoad, Stream, WorkloadSpec
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.abstraction import anonymous, canonical
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.simulate.control import planning
from kubeproof.simulate.control.clocked import ClockedRun
from kubeproof.simulate.control.planning import plan_input
from kubeproof.simulate.control.walk import Taken
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.serving.contract import Endpoints, PodSpan, Served, ServiceSpan
from tests.differential.chances import loaded_case
from tests.property.families import BASIC_FAMILIES
from tests.property.holdings import holding_cases
from tests.property.jobs import JOB_FAMILIES
from tests.property.loops import LOOP_FAMILIES
from tests.property.machines import machine_cases
from tests.property.owners import OWNER_FAMILIES
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.rations import ration_cases
from tests.property.reconcilers import gitops_cases
from tests.property.storage import storage_cases
from tests.property.strategies import Case
from tests.property.verticals import vertical_cases

FAMILIES = {
    **{name: family for name, family in BASIC_FAMILIES.items() if name != "own"},
    **LOOP_FAMILIES,
    **OWNER_FAMILIES,
    **JOB_FAMILIES,
    **PRIORITY_FAMILIES,
    "machine": machine_cases,
    "gitops": gitops_cases,
    "vertical": vertical_cases,
    "holding": holding_cases,
    "ration": ration_cases,
    "storage": storage_cases,
}
CASES = 200
DURATION_S = 900
MOST_STEPS = 400  # of a run that are looked at
MOST_STATES = 3000
PATIENT = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
)


@dataclass(frozen=True)
class Stop:
    """A clock of the environment: time stops when it runs out, and nothing happens because of it."""

    memory: int
    name: str = "stop"
    stage: int = Stage.ALWAYS

    @property
    def reads(self) -> Reads:
        return Reads((), (), (self.memory,))

    def show_workload(self, workload: int, cell: Any) -> None: ...

    def show_node(self, place: int, cell: Any) -> None: ...

    def act(self, seen: Seen) -> tuple[()]:
        return ()

    def due(self, seen: Seen) -> int:
        return seen.memories[0][0] or NEVER

    def later(self, seen: Seen, seconds: int | None) -> tuple[int, ...]:
        return (max(0, seen.memories[0][0] - (seconds or 0)),)


class Inclusion:
    """Follows a run on the model by name."""

    def __init__(self, plan: Plan, start: State) -> None:
        self.model = IndividualModel(plan)
        stops = Stop(len(plan.memories))
        self._stopping = IndividualModel(
            replace(plan, controllers=(*plan.controllers, stops), memories=(*plan.memories, (0,)))
        )
        self.state = start
        self.steps = self.exact_ticks = self.split_ticks = 0

    def follow(self, taken: Taken, target: State) -> None:
        """Asserts that the model offers the step, and that it leads where the run went."""
        reached = self._ticked(taken) if taken.decision.role == Role.TIME else self._step(taken)
        assert _bare(reached) == _bare(target), f"{taken.actor} leads elsewhere"
        self.state = reached
        self.steps += 1

    def _step(self, taken: Taken) -> State:
        for step in self.model.steps(self.state):
            if (step.controller, step.concrete) == (taken.actor, taken.concrete):
                return step.target
        raise AssertionError(f"{taken.actor} cannot do {taken.concrete}")

    def _ticked(self, taken: Taken) -> State:
        """A step of time by name: that of the model, or one that a clock of the environment stops before."""
        assert not any(step.role == Role.URGENT for step in self.model.steps(self.state)), (
            "time passes over urgent work"
        )
        for step in self.model.time_steps(self.state):
            if step.concrete == taken.concrete:
                self.exact_ticks += 1
                return step.target
        seconds = next(action.seconds for action in taken.decision.actions if isinstance(action, Tick))
        stopped = self.state._replace(memories=(*self.state.memories, (seconds,)))
        (step,) = self._stopping.time_steps(stopped)
        assert step.concrete[:-1] == taken.concrete, "time passes over a clock"
        self.split_ticks += 1
        return step.target._replace(memories=step.target.memories[:-1])


def _bare(state: State) -> State:
    return state._replace(observed=())


class Irregular:
    """Serves requests with a use of CPU that goes up and down at random."""

    def __init__(self, number: int) -> None:
        self._random = Random(number)
        self._now_s = 0.0

    def advance(self, until_s: float, endpoints: Endpoints) -> Served:
        begin, self._now_s = self._now_s, until_s
        pods = {
            (slot.pod, slot.birth): PodSpan((until_s - begin) * self._random.choice((0.0, 0.05, 0.2)), 0)
            for slots in endpoints.services.values()
            for slot in slots
        }
        return Served(begin, until_s, {name: ServiceSpan(1, 1, 0, 0, 0) for name in endpoints.services}, pods)


def follow(loaded: Loaded, number: int, plane: Irregular | None = None) -> tuple[Inclusion, ClockedRun]:
    """Simulates and follows the first steps of the run."""
    found = plan_input(loaded)
    steps: list[tuple[Taken, State]] = []

    def witness(taken: Taken, state: State) -> None:
        steps.append((taken, state))

    run = ClockedRun(loaded, found, SimulateOptions(duration_s=DURATION_S), number, plane, witness)
    inclusion = Inclusion(found.plan, run.walk.state)
    record = run.run()
    assert record.steps == len(steps)
    for taken, state in steps[:MOST_STEPS]:
        inclusion.follow(taken, state)
    return inclusion, run


def stable_forms(plan: Plan) -> set[Any] | None:
    """The stable states that `verify` reaches; None if there are too many states."""
    system = GroupedSystem(plan)
    found = explore(system, system.checks, kernel=make_kernel(system), limits=Limits(max_states=MOST_STATES))
    if found.stopped_by:
        return None
    numbers = (state for state in range(len(found.store)) if found.store.is_stable(state))
    return {canonical(plan, (None, *found.store.cells_of(state)[1:])) for state in numbers}


def final_form(run: ClockedRun) -> Any:
    """The state in which a run rests, its periodic loops without a phase."""
    plan = run.walk.plan
    run.walk.rest()
    return canonical(plan, (None, *anonymous(run.walk.model, run.walk.state)[1:]))


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_simulated_run_is_a_run_of_the_model_and_rests_where_verify_says(family):
    numbers: Iterator[int] = iter(range(10_000))
    steps = resting = 0

    @settings(PATIENT, max_examples=-(-CASES // len(FAMILIES)))
    @seed(1)
    @given(case=FAMILIES[family]())
    def check(case: Case) -> None:
        number = next(numbers)
        try:
            inclusion, run = follow(loaded_case(case, number), number)
        except LimitReached:
            return  # a loop that gives up, as it does for `verify`
        nonlocal steps, resting
        steps += inclusion.steps
        forms = stable_forms(run.walk.plan) if run.walk.is_stable() else None
        assert forms is None or final_form(run) in forms
        resting += forms is not None

    check()
    assert steps >= CASES // len(FAMILIES)  # runs in which nothing happens would say nothing
    assert resting > 0


@pytest.mark.parametrize("family", ["autoscale", "machine", "rollout", "scale"])
def test_runs_with_requests_and_a_timetable_are_runs_of_the_model(family, monkeypatch):
    monkeypatch.setattr(planning, "MOST_LEVELS", 12)  # by name every level is a step of its own
    numbers: Iterator[int] = iter(range(10_000))

    @settings(PATIENT, max_examples=8)
    @seed(2)
    @given(case=FAMILIES[family]())
    def check(case: Case) -> None:
        number = next(numbers)
        loaded = with_requests(loaded_case(replace(case, events=without_use(case)), number))
        inclusion, _ = follow(loaded, number, Irregular(number))
        assert inclusion.steps > 0

    check()


def without_use(case: Case) -> tuple[Event, ...]:
    """The events that leave the use of pods open."""
    kept = [event for event in case.events if not isinstance(event, UsageChange | CpuLoad | UsagePattern)]
    names = {STABLE, *(event.name for event in kept)}
    return tuple(event if event.after in names else replace(event, after=None) for event in kept)


def with_requests(loaded: Loaded) -> Loaded:
    """The input with requests to its first workload, a node that fails for a minute and one that is cordoned."""
    target = loaded.setup.workloads[0].ref
    names = [node.name for node in loaded.setup.nodes if not node.is_slot]
    one, other = NodeChoice(names=(names[0],)), NodeChoice(names=(names[-1],))
    faults = (
        Fault(61, NodeFailure(name="down", nodes=one), 67),
        Fault(203, Cordon(name="closed", nodes=other, reversible=True), 100),
    )
    service = ServiceLoad("web", target, (Stream(Constant(1.0)),), cpu_ms=10.0)
    return replace(loaded, scenario=replace(loaded.scenario, workload=WorkloadSpec((service,), faults)))
