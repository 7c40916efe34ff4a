"""Coarser models and proofs without a search against every run: what they call proved is true.

Each proof by an abstraction is made here by itself, without the rule that a check must matter in a first state, so that
random cases decide about it far more often than real ones.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from kubeproof.engine.limits import Limits
from kubeproof.engine.search import Search, explore, make_kernel
from kubeproof.engine.system import Cell
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.ends_in_unison import EndMatters
from kubeproof.model.reductions.partial_order import Order, fewer_orders
from kubeproof.model.reductions.starts_in_unison import StartMatters
from kubeproof.model.reductions.without_clocks import without_clocks
from kubeproof.verdicts import Verdict
from kubeproof.verify.proofs.bounds import prove_by_bounds
from tests.property.families import BASIC_FAMILIES
from tests.property.guards import guarded_cases
from tests.property.holdings import holding_cases
from tests.property.jobs import JOB_FAMILIES
from tests.property.loops import LOOP_FAMILIES
from tests.property.owners import OWNER_FAMILIES
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.rations import ration_cases
from tests.property.storage import storage_cases
from tests.property.strategies import Case

FAMILIES = {
    **BASIC_FAMILIES,
    **LOOP_FAMILIES,
    **OWNER_FAMILIES,
    **JOB_FAMILIES,
    **PRIORITY_FAMILIES,
    "guard": guarded_cases,
    "holding": holding_cases,
    "ration": ration_cases,
    "storage": storage_cases,
}
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
MOST_STATES = 1500
TRUE = (Verdict.HOLDS, Verdict.VACUOUS)
RELAXED = (
    "autoscale",
    "drain",
    "guard",
    "stateful",
)  # where young pods are counted as a whole, or clocks are left open
BOUNDED = ("spread", "scale", "write", "autoscale", "direct", "guard", "holding", "ration")


def _searched(plan: Plan, order: Order, starts: tuple[tuple[Cell, ...], ...] = ()) -> Search:
    system = GroupedSystem(without_clocks(plan) if order.timeless else plan, order)
    if starts:
        system.initial = starts
    return explore(system, system.checks, kernel=make_kernel(system), limits=Limits(max_states=MOST_STATES))


def _relaxed(plan: Plan) -> Search | None:
    """The search that allows more runs; None where there is none, or where it had to be given up."""
    order = fewer_orders(plan)
    if not order.is_relaxed:
        return None
    try:
        return _searched(plan, order)
    except (StartMatters, EndMatters):
        return None


def proofs_by_more_runs(case: Case) -> int:
    """Asserts that what holds with more runs holds; returns how many checks were proved so."""
    plan = case.plan()
    relaxed = _relaxed(plan)
    if relaxed is None or relaxed.stopped_by:
        return 0
    full = _searched(plan, Order())
    pairs = list(zip(relaxed.findings, full.findings, strict=True))
    for more, exact in pairs:
        assert exact.verdict != Verdict.VIOLATED or more.verdict == Verdict.VIOLATED, (
            f"{more.verdict}, but {exact.verdict}"
        )
    return sum(more.verdict == Verdict.HOLDS and exact.verdict in TRUE for more, exact in pairs)


def proofs_by_bounds(case: Case) -> int:
    """Asserts that what follows from sizes holds, from the case's start and from every deployed one."""
    plan = case.plan()
    deployed = _searched(plan.deploying(), Order())
    stable = [s for s in range(len(deployed.store)) if deployed.store.is_stable(s)]
    several = tuple(deployed.store.cells_of(state) for state in stable[:3])
    proved = 0
    for starts in ((), several) if several else ((),):
        bounded = prove_by_bounds(plan, starts)
        full = _searched(plan, Order(), starts) if bounded else None
        if full is not None and not full.stopped_by:
            assert {full.findings[number].verdict for number in bounded} == {Verdict.HOLDS}
            proved += len(bounded)
    return proved


@pytest.mark.parametrize("family", FAMILIES)
def test_what_holds_with_more_runs_holds(family: str) -> None:
    proved: list[int] = []

    @seed(7)
    @settings(PATIENT, max_examples=40 if family in RELAXED else 10, database=None, phases=(Phase.generate,))
    @given(FAMILIES[family]())
    def check(case: Case) -> None:
        proved.append(proofs_by_more_runs(case))

    check()

    assert (sum(proved) > 0) == (family in RELAXED)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_follows_from_sizes_holds(family: str) -> None:
    proved: list[int] = []

    @seed(8)
    @settings(PATIENT, max_examples=200 if family in BOUNDED else 10, database=None, phases=(Phase.generate,))
    @given(FAMILIES[family]())
    def check(case: Case) -> None:
        proved.append(proofs_by_bounds(case))

    check()

    assert (sum(proved) > 0) == (family in BOUNDED)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_abstractions_prove_nothing_false_on_many_more(family: str) -> None:
    @seed(9)
    @settings(PATIENT, max_examples=1000, database=None, phases=(Phase.generate,))
    @given(FAMILIES[family]())
    def check(case: Case) -> None:
        proofs_by_more_runs(case)
        proofs_by_bounds(case)

    check()
