"""Verifies a loaded input: one search for all intents, a replayed counterexample for each violation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from kubeproof.engine.kernel import FLAG_BITS
from kubeproof.engine.limits import Limits, physical_bytes
from kubeproof.engine.search import Finding, Search, Store, compiled_kernel, explore, make_kernel
from kubeproof.engine.snapshot import Snapshots
from kubeproof.engine.system import Cell
from kubeproof.engine.system import Progress as EngineProgress
from kubeproof.errors import EnvironmentProblem, LimitReached, NothingToCheckError
from kubeproof.events.declarations import Apply
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.individual import IndividualModel, State
from kubeproof.model.plan import Plan, make_plan
from kubeproof.model.representatives import RepresentativeModel
from kubeproof.verify.distinct import distinct
from kubeproof.verify.lift import NamedPath, follow, lift
from kubeproof.verify.options import Progress, VerifyOptions
from kubeproof.verify.own_controllers import load_own
from kubeproof.verify.reference_run import no_placement, reference_results
from kubeproof.verify.result import UNKNOWN, VIOLATED, IntentResult, Statistics, VerifyResult
from kubeproof.verify.summary import abstractions, combined, intent_result, left_out, overall, scope
from kubeproof.verify.traces import make_trace

Report = Callable[[Progress], None] | None
T = TypeVar("T")
MOST_INTENTS = FLAG_BITS // 2  # two flags each
DEFAULT_MEMORY_PERCENT = 80
SAMPLE = 16  # with --check-controllers, one memo hit in so many is asked again


def verify(
    loaded: Loaded,
    options: VerifyOptions = VerifyOptions(),
    progress: Report = None,
    snapshots: Snapshots | None = None,
) -> VerifyResult:
    """One verdict per intent of the scenario; with snapshots, searches are saved now and then and continued."""
    plan = plan_of(loaded, options)
    if options.engine == "reference":
        results, statistics = reference_results(loaded, plan, options)
    else:
        results, statistics = _searched(loaded, plan, options, progress, snapshots)
    omitted = [f"{omission.what}: {omission.why} ({omission.source})" for omission in loaded.omissions]
    omitted += left_out(plan)
    return VerifyResult(
        scenario=loaded.scenario.name,
        verdict=overall(results),
        scope=(*scope(loaded, plan, statistics), *(("abstraction", note) for note in abstractions(loaded, plan))),
        results=tuple(results),
        not_modelled=tuple(omitted),
        statistics=statistics,
        inputs=loaded.texts,
    )


def plan_of(loaded: Loaded, options: VerifyOptions) -> Plan:
    """The plan that a loaded input stands for."""
    scenario = loaded.scenario
    if not loaded.setup.workloads and not any(isinstance(event, Apply) for event in scenario.events):
        left_aside = "".join(f"; {o.what} is {o.why} ({o.source})" for o in loaded.omissions[:3])
        remedy = "Name files with a Deployment, ReplicaSet or Pod."
        raise NothingToCheckError(f"E301 the input holds no workload{left_aside}. {remedy}")
    if not scenario.intents:
        raise NothingToCheckError("E301 the Scenario has no intents. List at least one under spec.intents.")
    own = tuple(load_own(reference) for reference in options.controllers)
    return make_plan(
        loaded.setup,
        scenario.events,
        scenario.intents,
        placement=scenario.start.placement,
        own=own,
        merge=options.reductions,
    )


@dataclass(frozen=True, slots=True)
class Beginning:
    """The states a run begins in, and for each the steps that led there by name (`start: deployed`)."""

    cells: tuple[tuple[Cell, ...], ...]
    search: Search | None = None
    stable: tuple[int, ...] = ()


def _searched(
    loaded: Loaded, plan: Plan, options: VerifyOptions, progress: Report, snapshots: Snapshots | None
) -> tuple[list[IntentResult], Statistics]:
    """One search for all intents, or one for each batch of as many as the engine follows at once."""
    beginning = _beginning(loaded, plan, options, progress, snapshots)
    if beginning.search is not None and beginning.search.stopped_by:
        statistics = _statistics(beginning.search, plan)
        return [intent_result(loaded, plan, i, "unknown", statistics) for i in range(len(plan.monitors))], statistics
    results: list[IntentResult] = []
    parts: list[Statistics] = []
    for monitors in batched(plan.monitors, MOST_INTENTS):
        batch = replace(plan, monitors=monitors)
        found, statistics = _searched_batch(loaded, batch, beginning, options, progress, snapshots)
        results += found
        parts.append(statistics)
    return results, combined(parts)


def batched(items: Sequence[T], size: int) -> list[tuple[T, ...]]:
    """The items in order, in tuples of at most `size`."""
    return [tuple(items[first : first + size]) for first in range(0, len(items), size)]


def _searched_batch(
    loaded: Loaded,
    plan: Plan,
    beginning: Beginning,
    options: VerifyOptions,
    progress: Report,
    snapshots: Snapshots | None,
) -> tuple[list[IntentResult], Statistics]:
    system = GroupedSystem(plan)
    if beginning.cells:
        system.initial = beginning.cells
    kernel = _kernel(system, options)
    search = explore(
        system,
        system.checks,
        kernel=kernel,
        stop_early=not options.find_all,
        limits=_limits(options),
        progress=_translated(progress, "searching"),
        keeper=None if snapshots is None else snapshots.keeper(),
    )
    statistics = _statistics(search, plan)
    results = [
        _result(loaded, plan, search, beginning, number, found, statistics)
        for number, finding in enumerate(search.findings)
        for found in _wanted(system, search, number, finding, options)
    ]
    return results, statistics


def _wanted(
    system: GroupedSystem, search: Search, number: int, finding: Finding, options: VerifyOptions
) -> Iterable[Finding]:
    """The finding, or with `find_all` every violation of the check that differs in who does what at its end."""
    if not options.find_all or finding.verdict != "violated":
        return (finding,)
    return distinct(system, search, system.checks[number])


def _kernel(system: GroupedSystem, options: VerifyOptions) -> Store:
    if options.engine == "compiled" and compiled_kernel() is None:
        raise EnvironmentProblem(
            "E401 the compiled engine is not installed. Install a C compiler and run: "
            "pip install --force-reinstall --no-deps kubeproof; or use --engine python."
        )
    every = SAMPLE if options.check_controllers else 0
    return make_kernel(system, engine=options.engine, check_every=every)


def _limits(options: VerifyOptions) -> Limits:
    """The limits asked for; without one on memory, most of what the machine has, so that the answer is UNKNOWN
    and not a killed process."""
    memory = options.memory_bytes or physical_bytes() * DEFAULT_MEMORY_PERCENT // 100 or None
    return Limits(options.max_states, options.timeout_s, memory)


def _translated(progress: Report, phase: str) -> Callable[[EngineProgress], None] | None:
    if progress is None:
        return None

    def report(engine: EngineProgress) -> None:
        said = phase if engine.phase == "exploring" else engine.phase
        progress(Progress(*engine[:5], said))

    return report


def _beginning(
    loaded: Loaded, plan: Plan, options: VerifyOptions, progress: Report, snapshots: Snapshots | None
) -> Beginning:
    """With `start: deployed`, every first stable placement; otherwise the plan's own start."""
    if loaded.scenario.start.mode != "deployed":
        return Beginning(())
    system = GroupedSystem(plan.deploying())
    kernel = _kernel(system, options)
    report = _translated(progress, "deploying")
    keeper = None if snapshots is None else snapshots.keeper()
    search = explore(system, (), kernel=kernel, limits=_limits(options), progress=report, keeper=keeper)
    if search.stopped_by:
        return Beginning((), search)
    stable = tuple(s for s in range(kernel.expanded) if kernel.is_stable(s))
    if not stable:
        raise no_placement(loaded)
    return Beginning(tuple(kernel.cells_of(state) for state in stable), search, stable)


def _statistics(search: Search, plan: Plan) -> Statistics:
    store = search.store
    reductions = ["pods and nodes grouped", "controllers memoised"]
    if plan.domains:
        reductions.append("equal nodes and domains interchangeable")
    return Statistics(
        states=len(store),
        transitions=store.transitions,
        depth=store.depth,
        elapsed_s=search.elapsed_s,
        memo_calls=store.calls,
        memo_misses=store.misses,
        engine=store.name,
        reductions=tuple(reductions),
        stopped_by=search.stopped_by,
    )


def _result(
    loaded: Loaded,
    plan: Plan,
    search: Search,
    beginning: Beginning,
    number: int,
    finding: Finding,
    statistics: Statistics,
) -> IntentResult:
    result = intent_result(loaded, plan, number, finding.verdict, statistics)
    if result.verdict != VIOLATED:
        return result
    model = RepresentativeModel(plan)
    try:
        prelude, start = _prelude(model, search, beginning, finding)
        path = lift(model, start, search, finding)
        return replace(result, **make_trace(model, number, prelude, path))
    except LimitReached as limit:
        # A violation that cannot be replayed is not shown as one.
        return replace(result, verdict=UNKNOWN, remedy="", detail=f"a violation was found but not replayed: {limit}")


def _prelude(
    model: IndividualModel, search: Search, beginning: Beginning, finding: Finding
) -> tuple[NamedPath | None, State]:
    """The named state a violation starts in, and the steps that deployed it."""
    (first,) = model.initial()
    if beginning.search is None:
        return None, first
    root = search.root(finding.state)
    deploying = RepresentativeModel(model.plan.deploying())
    (empty,) = deploying.initial()
    steps = [step for _, step in beginning.search.path(beginning.stable[root])]
    path = follow(deploying, empty, beginning.search, steps)
    return path, model.restarted(path.last._replace(observed=()))
