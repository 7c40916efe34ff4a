"""Pods of several loops under one quota: who gets how many, against a calculation; and what is never refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kubeproof.cluster.kinds import DAEMON_SET, DEPLOYMENT, JOB, REPLICA_SET, STATEFUL_SET
from kubeproof.cluster.objects import (
    Container,
    JobRules,
    Node,
    PodTemplate,
    Settings,
    Setup,
    StatefulRules,
    Workload,
    family,
)
from kubeproof.cluster.state import ACTIVE
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.engine.limits import Limits
from kubeproof.engine.reference import reach
from kubeproof.engine.search import explore, make_kernel
from kubeproof.events.declarations import Completes
from kubeproof.intents.facts.counts import count_pods
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.loops.actors import Slots
from kubeproof.model.plan import Plan, make_plan
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order, fewer_orders
from tests.property.rations import shared_ration_cases
from tests.property.strategies import Case, choice, selector_for

KINDS = choice(DEPLOYMENT, REPLICA_SET, STATEFUL_SET, DAEMON_SET, JOB)
NODES = 2
Counts = tuple[int, ...]


@st.composite
def rivals(draw: st.DrawFn) -> tuple[Setup, Counts, Counts]:
    """Two loops under a quota, with what they want and what one of their pods asks for."""
    workloads, wanted, weights = [], [], []
    for name in ("web", "db"):
        kind, cpu = draw(KINDS), draw(choice(100, 100, 200))
        pods = NODES if kind == DAEMON_SET else draw(choice(1, 2, 2))
        template = PodTemplate((("app", name),), (Container("main", cpu, None),))
        rules = JobRules(completions=pods) if kind == JOB else JobRules()
        stateful = StatefulRules(parallel=draw(st.booleans()))
        made = Workload(kind, "shop", name, template, pods, selector_for(name), job=rules, stateful=stateful)
        workloads.append(made)
        wanted.append(pods)
        weights.append(cpu)
    hard = draw(choice((("pods", 2),), (("pods", 3),), (("requests.cpu", 300),), (("pods", 3), ("requests.cpu", 500))))
    machines = tuple(Node(f"n{number}", cpu_milli=9000, memory_bytes=2**33) for number in range(NODES))
    quota = ResourceQuota("shop", "q", hard)
    at_once = Settings(startup_s=(1, 1))
    return Setup(machines, tuple(workloads), settings=at_once, quotas=(quota,)), tuple(wanted), tuple(weights)


def _fits(hard: dict[str, int], counts: Counts, weights: Counts) -> bool:
    used = {"pods": sum(counts), "requests.cpu": sum(n * each for n, each in zip(counts, weights, strict=True))}
    return all(used[name] <= most for name, most in hard.items())


def _fillings(hard: dict[str, int], wanted: Counts, weights: Counts) -> set[Counts]:
    """Every way to share the quota such that nobody who wants one more pod could have it."""
    found = set()
    for counts in product(*(range(most + 1) for most in wanted)):
        more = (
            tuple(n + (other == number) for other, n in enumerate(counts))
            for number, most in enumerate(wanted)
            if counts[number] < most
        )
        if _fits(hard, counts, weights) and not any(_fits(hard, one, weights) for one in more):
            found.add(counts)
    return found


def _counts(plan: Plan, workloads: int, cells: tuple[object, ...]) -> Counts:
    """The pods that each of the first workloads has in a state."""
    slots = Slots(plan)
    found = []
    for number in range(workloads):
        members = family(plan.setup, number)
        waiting = sum(cells[slots.workload(member)].unbound for member in members)  # type: ignore[attr-defined]
        pinned = sum(
            pods * count
            for nodes in cells[slots.first_place :]
            for node, count in nodes  # type: ignore[attr-defined]
            for whose, pods in node.pinned
            if whose in members
        )
        placed = sum(count_pods(nodes, members, ACTIVE) for nodes in cells[slots.first_place :])  # type: ignore[arg-type]
        found.append(waiting + pinned + placed)
    return tuple(found)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(rivals())
def test_loops_under_one_quota_share_it_in_every_way_that_leaves_no_room(drawn: tuple[Setup, Counts, Counts]) -> None:
    setup, wanted, weights = drawn
    jobs = [one for one in setup.workloads if one.kind == JOB]
    runs = tuple(Completes(name=f"runs-{one.name}", target=one.ref, least_s=50, most_s=50) for one in jobs)
    plan = make_plan(setup, runs)
    expected = _fillings(dict(setup.quotas[0].hard), wanted, weights)
    waits = any(one.kind == STATEFUL_SET and not one.stateful.parallel for one in setup.workloads)

    for order in (EVERY_ORDER, fewer_orders(plan)):
        stable, reached = _shares(plan, order, len(wanted))
        assert waits or expected <= reached  # whose ordinals wait for each other comes too late for some of them
        assert jobs or stable <= expected  # whose pods end makes room
        assert waits or jobs or stable == expected


def _shares(plan: Plan, order: Order, workloads: int) -> tuple[set[Counts], set[Counts]]:
    system = GroupedSystem(plan, order)
    found = explore(system, (), kernel=make_kernel(system), limits=Limits(max_states=4_000))
    assert not found.stopped_by
    states = range(len(found.store))
    counts = [_counts(plan, workloads, found.store.cells_of(state)) for state in states]
    return {counts[state] for state in states if found.store.is_stable(state)}, set(counts)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(shared_ration_cases())
def test_what_is_created_at_once_is_never_refused(case: Case) -> None:
    plan = case.plan()
    claimed = [one for one in plan.controllers if getattr(one, "at_once", False) and hasattr(one, "refusal")]
    if not claimed:  # the quota is tight
        return
    slow = replace(plan, controllers=tuple(_one_by_one(one) for one in plan.controllers))
    model = IndividualModel(slow)

    for state in reach(model, max_states=600).steps:
        assert not any(one.refusal(model.show_to(one, state)) for one in claimed)  # type: ignore[attr-defined]


def _one_by_one(controller: object) -> object:
    return replace(controller, at_once=False) if hasattr(controller, "at_once") else controller  # type: ignore[type-var]
