"""Fewer orders of steps against every order: the same verdicts, the same starts, and traces that stand up to replay."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kubeproof.engine.limits import Limits
from kubeproof.engine.search import Search, explore, find_compiled_kernel, make_kernel
from kubeproof.model.by_name.abstraction import canonical
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order, orders_of_deploying
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import lift
from kubeproof.verify.counterexamples.replayer import replay
from kubeproof.verify.models import search_models
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.searching import Beginning, Watch
from tests.differential.comparison import counts, search, verdicts_of
from tests.property.aging import aging_cases, long_lived_cases
from tests.property.budget_changes import budget_cases
from tests.property.container_uses import container_cases
from tests.property.families import BASIC_FAMILIES
from tests.property.foreigners import foreign_cases
from tests.property.holdings import holding_cases
from tests.property.jobs import JOB_FAMILIES
from tests.property.loops import LOOP_FAMILIES
from tests.property.machines import machine_cases
from tests.property.owners import OWNER_FAMILIES
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.rations import ration_cases
from tests.property.reconcilers import gitops_cases
from tests.property.removals import removal_cases
from tests.property.storage import storage_cases
from tests.property.strategies import Case
from tests.property.traffic import ending_cases, traffic_cases
from tests.property.verticals import vertical_cases
from tests.property.waits import waiting_cases

FAMILIES = {**BASIC_FAMILIES, **LOOP_FAMILIES, **OWNER_FAMILIES, **JOB_FAMILIES, **PRIORITY_FAMILIES}
FURTHER = {
    **{"holdings": holding_cases, "rations": ration_cases, "storage": storage_cases, "gitops": gitops_cases},
    **{"traffic": traffic_cases, "ending": ending_cases, "machines": machine_cases, "vertical": vertical_cases},
    **{"removal": removal_cases, "budget": budget_cases, "waiting": waiting_cases},
    **{"containers": container_cases, "aging": aging_cases, "long-lived": long_lived_cases},
    "foreign": foreign_cases,
}  # kinds of objects that few reductions are thought through for: most are switched off by them
# Families in which something is left out.
REDUCED = (
    "spread", "failure", "scale", "write", "direct", "autoscale", "load", "deschedule", "drain", "daemon", "preempt",
    "stateful", "job", "cron",
)  # fmt: skip
MOST_STATES = 1500  # beyond, every order is too many for a quick comparison
STARTUPS = st.sampled_from([(0, 0), (0, 3), (1, 1), (1, 5), (2, 3)])
PATIENT = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None)
ALL_AT_ONCE = VerifyOptions(max_states=4 * MOST_STATES)


def with_startup(case: Case, startup_s: tuple[int, int]) -> Case:
    """The case with another time from binding to running."""
    flags = replace(case.setup.settings, startup_s=startup_s)
    return replace(case, setup=replace(case.setup, settings=flags))


def compare_orders(case: Case) -> bool:
    """Asserts that leaving out orders changes no verdict; returns whether any was left out."""
    plan = case.plan()
    full = search(plan, max_states=MOST_STATES)
    fewer, order = _fewer(plan, "auto")
    if not full.stopped_by and not fewer.stopped_by:
        assert verdicts_of(fewer) == verdicts_of(full), f"with {order} {verdicts_of(fewer)}, not {verdicts_of(full)}"
        assert order.is_relaxed or len(fewer.store) <= len(full.store)
    if find_compiled_kernel() is not None:
        plain, _ = _fewer(plan, "python")
        assert plain.findings == fewer.findings
        assert counts(plain) == counts(fewer)
    _replay_all(plan, fewer)
    _compare_starts(plan)
    return order != EVERY_ORDER


def _fewer(plan: Plan, engine: str) -> tuple[Search, Order]:
    _, found, order, *_ = search_models(plan, Beginning(()), replace(ALL_AT_ONCE, engine=engine), Watch())
    return found, order


def _replay_all(plan: Plan, found: Search) -> None:
    model, namer = IndividualModel(plan), RepresentativeModel(plan)
    (start,) = model.initial()
    for number, finding in enumerate(found.findings):
        if finding.verdict == Verdict.VIOLATED:
            path = lift(namer, start, found, finding)
            recorded = [(step.controller, step.concrete) for step in path.steps]
            replay(model, start, recorded, loop_start=path.loop_start, monitor_number=number)


def _compare_starts(plan: Plan) -> None:
    """The stable placements of `start: deployed` are the same ones."""
    deploying = plan.deploying()
    every, fewer = (_stable(deploying, order) for order in (EVERY_ORDER, orders_of_deploying(deploying)))
    assert every is None or fewer is None or every == fewer


def _stable(plan: Plan, order: Order) -> set[object] | None:
    system = GroupedSystem(plan, order)
    kernel = make_kernel(system)
    if explore(system, (), kernel=kernel, limits=Limits(max_states=MOST_STATES)).stopped_by:
        return None
    return {canonical(plan, kernel.cells_of(s)) for s in range(len(kernel)) if kernel.is_stable(s)}


@pytest.mark.parametrize("family", FAMILIES)
def test_fewer_orders_give_the_same_verdicts_and_starts(family: str) -> None:
    compared: list[bool] = []

    @seed(5)
    @settings(PATIENT, max_examples=40, database=None, phases=(Phase.generate,))
    @given(FAMILIES[family](), STARTUPS)
    def check(case: Case, startup_s: tuple[int, int]) -> None:
        compared.append(compare_orders(with_startup(case, startup_s)))

    check()

    assert any(compared) == (family in REDUCED)


@pytest.mark.parametrize("family", FURTHER)
def test_further_kinds_of_objects_keep_verdicts_and_starts(family: str) -> None:
    @seed(5)
    @settings(PATIENT, max_examples=12, database=None, phases=(Phase.generate,))
    @given(FURTHER[family](), STARTUPS)
    def check(case: Case, startup_s: tuple[int, int]) -> None:
        compare_orders(with_startup(case, startup_s))

    check()


@pytest.mark.slow
@pytest.mark.parametrize("family", [*FAMILIES, *FURTHER])
def test_fewer_orders_give_the_same_verdicts_on_many_more(family: str) -> None:
    @seed(6)
    @settings(PATIENT, max_examples=1000, database=None, phases=(Phase.generate,))
    @given({**FAMILIES, **FURTHER}[family](), STARTUPS)
    def check(case: Case, startup_s: tuple[int, int]) -> None:
        compare_orders(with_startup(case, startup_s))

    check()
