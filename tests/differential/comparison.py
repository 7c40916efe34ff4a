"""One case through every engine: what must be equal, and where it is not."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from kubeproof.engine.limits import Limits
from kubeproof.engine.reference import StateGraph, judge, reach
from kubeproof.engine.search import Search, explore, find_compiled_kernel, make_kernel
from kubeproof.model.by_name.abstraction import anonymous, canonical
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import lift
from kubeproof.verify.counterexamples.replayer import replay
from tests.property.strategies import Case

REFERENCE_STATES = 300  # beyond, a case is too large for the search by name and only half compared
Verdicts = tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """What came out of one case, for statistics."""

    verdicts: Verdicts
    is_complete: bool  # the search by name ended
    named_states: int
    states: int
    loops: int  # violations that are lassos


def search(plan: Plan, engine: str = "auto", max_states: int | None = None) -> Search:
    """The grouped search of a plan."""
    system = GroupedSystem(plan)
    kernel = make_kernel(system, engine=engine)
    return explore(system, system.checks, kernel=kernel, limits=Limits(max_states=max_states))


def limited(case: Case, max_states: int) -> tuple[Verdicts, Verdicts, Verdicts]:
    """The verdicts of the plain kernel, the fast kernel and the search by name, all cut off at so many states."""
    plan = case.plan()
    model = IndividualModel(plan)
    graph = reach(model, max_states=max_states)
    by_name = tuple(judge(graph, check, model.flags) for check in GroupedSystem(plan).checks)
    plain, fast = search(plan, "python", max_states), search(plan, "auto", max_states)
    return verdicts_of(plain), verdicts_of(fast), by_name


def verdicts_of(found: Search) -> Verdicts:
    """One word per check."""
    return tuple(finding.verdict for finding in found.findings)


def compare(case: Case, *, reference_states: int = REFERENCE_STATES) -> Compared:
    """Asserts that all engines and representations agree about the case."""
    plan, limit = case.plan(), 4 * reference_states
    grouped = search(plan, max_states=limit)
    verdicts = verdicts_of(grouped)
    model = IndividualModel(plan)
    graph = reach(model, max_states=reference_states)
    _compare_reference(plan, model, graph, grouped)
    _compare_unreduced(case, grouped, limit)
    if find_compiled_kernel() is not None:
        _compare_kernels(plan, grouped, limit)
    loops = _replay_all(model, grouped)
    return Compared(verdicts, graph.is_complete, len(graph.steps), len(grouped.store), loops)


def _compare_reference(plan: Plan, model: IndividualModel, graph: StateGraph[State], grouped: Search) -> None:
    """Verdicts, and the very states: names forgotten, both searches reach the same ones."""
    by_name = tuple(judge(graph, check, model.flags) for check in GroupedSystem(plan).checks)
    named = {anonymous(model, state) for state in graph.steps}
    reached = forms(plan, (grouped.store.cells_of(state) for state in range(len(grouped.store))))
    assert len(reached) == len(grouped.store), "a state is stored twice"
    if graph.is_complete:
        assert by_name == verdicts_of(grouped), f"the search by name says {by_name}, not {verdicts_of(grouped)}"
        assert named == reached, "the search by name reaches other states"
    elif not grouped.stopped_by:
        assert_consistent(by_name, verdicts_of(grouped))
        assert named <= reached, "a state is not reached"


def assert_consistent(limited: Verdicts, full: Verdicts) -> None:
    """A search that was cut off may not know, but never says anything else than the full one."""
    assert all(one in (Verdict.UNKNOWN, other) for one, other in zip(limited, full, strict=True)), (limited, full)


def _compare_unreduced(case: Case, grouped: Search, limit: int) -> None:
    """Without reductions every node is a class of its own; forgetting that gives the same states again."""
    merged, plan = case.plan(), case.plan(merge=False)
    plain = search(plan, max_states=limit)
    if grouped.stopped_by or plain.stopped_by:
        return
    assert verdicts_of(plain) == verdicts_of(grouped), "reductions off and on differ"
    if plan.mechanics.ages != merged.mechanics.ages:  # ages that decide nothing: verdicts are compared with them,
        plan = replace(plan, mechanics=merged.mechanics, nodes=merged.nodes)  # states without
        plain = search(plan, max_states=limit)
    first = 1 + len(plan.workloads) + len(plan.memories)
    system = GroupedSystem(merged)
    vectors = (plain.store.cells_of(state) for state in range(len(plain.store)))
    regrouped = (
        (*cells[:first], *system.group_nodes([place[0][0] for place in cells[first:]]))  # type: ignore[index]
        for cells in vectors
    )
    reached = forms(merged, (grouped.store.cells_of(state) for state in range(len(grouped.store))))
    assert forms(merged, regrouped) == reached, "reductions lose or add states"


def forms(plan: Plan, vectors: Iterable[tuple[Hashable, ...]]) -> set[tuple[Hashable, ...]]:
    """The canonical forms of some states."""
    return {canonical(plan, cells) for cells in vectors}


def _compare_kernels(plan: Plan, grouped: Search, limit: int) -> None:
    plain = search(plan, "python", limit)
    assert plain.findings == grouped.findings, "the two kernels find different things"
    if "Jobs of CronJob" not in str(grouped.stopped_by):  # a loop that gives up does so in the middle of a state
        assert counts(plain) == counts(grouped)


def counts(found: Search) -> tuple[int, ...]:
    """The numbers in which two kernels agree."""
    store = found.store
    return len(store), store.transitions, store.depth, store.calls, store.misses


def _replay_all(model: IndividualModel, grouped: Search) -> int:
    """Every violation, named by representatives, stands up to replay by name; returns how many of them are loops."""
    (start,) = model.initial()
    namer = RepresentativeModel(model.plan)
    loops = 0
    for number, finding in enumerate(grouped.findings):
        if finding.verdict != Verdict.VIOLATED:
            continue
        path = lift(namer, start, grouped, finding)
        recorded = [(step.controller, step.concrete) for step in path.steps]
        replay(model, start, recorded, loop_start=path.loop_start, monitor_number=number)
        loops += finding.lasso is not None
    return loops
