"""The states and steps of a cluster, explored for quantification: every order followed, only equals counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import monotonic

from kubeproof.engine.limits import Limits, physical_bytes
from kubeproof.engine.search import Search, Store, explore, find_compiled_kernel, make_kernel
from kubeproof.engine.stopped import INTERRUPTED
from kubeproof.engine.system import Cell, Progress
from kubeproof.errors import EnvironmentProblem, LimitReached, NothingToCheckError, ScenarioError
from kubeproof.events.declarations import Apply
from kubeproof.intents.monitor import IN_STABLE, NEVER, STEP
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan, make_plan
from kubeproof.model.reductions.partial_order import orders_of_deploying
from kubeproof.values import dataclass

SAFETY = (NEVER, IN_STABLE, STEP)  # kinds of monitors that a run breaks at a moment
DEFAULT_MEMORY_PERCENT = 60  # the rest is for the matrix and for Storm
Report = Callable[[Progress], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOptions:
    """How far to explore, and with which engine; None means no limit."""

    engine: str = "auto"
    max_states: int | None = None
    timeout_s: float | None = None
    memory_bytes: int | None = None
    merge: bool = True  # equal nodes are counted


@dataclass(frozen=True, slots=True)
class Space:
    """Everything that can be reached; `initial` are the states a run may begin in."""

    plan: Plan
    system: GroupedSystem
    store: Store
    initial: tuple[int, ...]
    elapsed_s: float

    @property
    def states(self) -> int:
        return len(self.store)


def explore_space(loaded: Loaded, options: SpaceOptions = SpaceOptions(), progress: Report = None) -> Space:
    """The reachable states of the scenario, with the memories of its safety intents."""
    begin = monotonic()
    plan = plan_to_quantify(loaded, merge=options.merge)
    system = GroupedSystem(plan)
    if loaded.scenario.start.mode == "deployed":
        system.initial = first_placements(loaded, plan, options, progress)
    search = explore_system(system, options, progress)
    store = search.store
    initial = tuple(state for state in range(len(system.initial)) if store.parent(state) < 0) or (0,)
    return Space(plan, system, store, initial, monotonic() - begin)


def plan_to_quantify(loaded: Loaded, *, merge: bool = True) -> Plan:
    """The plan with the safety intents alone: others are broken by endless runs, at no moment."""
    setup, scenario = loaded.setup, loaded.scenario
    can_begin = setup.workloads or any(isinstance(event, Apply) for event in scenario.events)
    is_about_nodes = setup.nodes and scenario.events and not scenario.is_default
    if not can_begin and not is_about_nodes:
        raise NothingToCheckError(
            "E301 the input holds no workload. Name files with a Deployment, StatefulSet, Job or other workload."
        )
    told_apart = tuple(power.nodes for power in scenario.quantify.power)
    planned = partial(
        make_plan,
        setup,
        tuple(replace(event, must=False) for event in scenario.events),  # a rate says how long it stays away
        placement=scenario.start.placement,
        running=scenario.start.pods,
        merge=merge,
        told_apart=told_apart,
    )
    whole = planned(scenario.stated)
    return planned(tuple(monitor.intent for monitor in whole.monitors if monitor.kind in SAFETY))


def first_placements(
    loaded: Loaded, plan: Plan, options: SpaceOptions, progress: Report
) -> tuple[tuple[Cell, ...], ...]:
    """Every first stable placement."""
    deploying = plan.deploying()
    search = explore_system(GroupedSystem(deploying, orders_of_deploying(deploying)), options, progress)
    store = search.store
    found = tuple(store.cells_of(state) for state in range(store.expanded) if store.is_stable(state))
    if not found:
        source = loaded.scenario.source
        raise ScenarioError(
            f"Scenario/{loaded.scenario.name}: start: deployed, but no stable placement is reached",
            file=source.file,
            line=source.line,
            remedy="Make room for all pods, or write start: empty",
        )
    return found


def explore_system(system: GroupedSystem, options: SpaceOptions, progress: Report) -> Search:
    """Everything that a system may reach; a limit is an error."""
    if options.engine == "compiled" and find_compiled_kernel() is None:
        raise EnvironmentProblem("E401 the compiled engine is not installed. Use --engine python.")
    memory = options.memory_bytes or physical_bytes() * DEFAULT_MEMORY_PERCENT // 100 or None
    limits = Limits(options.max_states, options.timeout_s, memory)
    kernel = make_kernel(system, engine=options.engine)
    search = explore(system, (), kernel=kernel, limits=limits, progress=progress, stop_early=False)
    if search.stopped_by == INTERRUPTED:
        raise KeyboardInterrupt
    if search.stopped_by:
        raise LimitReached(
            f"E302 the cluster was explored in part only ({len(search.store):,} states): stopped by "
            f"{search.stopped_by}. A part has no probabilities; raise the limit, or take fewer nodes, pods or events: "
            'see "When there are too many states" in docs/how-to/quantify-a-cluster.md.'
        )
    return search
