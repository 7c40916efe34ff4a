"""Pods that start in unison: whose start nobody watches, and what ends it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from kubeproof.cluster.loops.control import Seen
from kubeproof.cluster.state import NEVER, NodeCell, PodKind
from kubeproof.cluster.state import Phase as PodPhase
from kubeproof.controllers.descheduler.controller import DeschedulerController
from kubeproof.controllers.evictions.budgets import budgets_of
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import explore, make_kernel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.loops.actors import group_view
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.partial_order import Order, orders_of_deploying
from kubeproof.model.reductions.starts_in_unison import (
    StartAll,
    StartMatters,
    Starts,
    StartTogether,
    find_started_together,
    find_unwatched,
    starts_freely,
)
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import plan_of
from tests.property.loops import LOOP_FAMILIES
from tests.property.strategies import Case
from tests.unit.verify.inputs import loaded, node, scenario, web

SETTLES = "{settles: {}}"
POLICY = """apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  plugins: {balance: {enabled: [RemoveDuplicates]}}
"""
AUTOSCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""


def plan(*documents: str, intents: str = SETTLES, events: str = "") -> Plan:
    """Two nodes, and what is given."""
    return plan_of(loaded(node("a"), node("b"), *documents, scenario(intents, events=events)), VerifyOptions())


def test_a_start_that_no_loop_and_no_intent_reads_is_unwatched() -> None:
    assert find_unwatched(plan(web(2))) == {0}


@pytest.mark.parametrize(
    ("documents", "intents", "events"),
    [
        ((web(2),), "{minReady: {target: Deployment/shop/web, count: 1}}", ""),
        ((web(2),), "{minReplicas: {target: Deployment/shop/web, count: 1, when: always}}", ""),
        ((web(2),), "{maxPodObjects: {target: Deployment/shop/web, count: 9, phases: [Pending]}}", ""),
        ((web(2), AUTOSCALER), SETTLES, ""),
        ((web(2),), SETTLES, "{nodeFailure: {}}"),
        ((web(2),), SETTLES, "{drain: {}}"),
        ((web(2),), SETTLES, "{podCrash: {target: Deployment/shop/web}}"),
        ((web(2),), SETTLES, "{rollout: {target: Deployment/shop/web}}"),
        ((web(2, more="nodeName: a"),), SETTLES, ""),
    ],
)
def test_a_start_that_somebody_may_look_at_is_watched(documents: tuple[str, ...], intents: str, events: str) -> None:
    assert find_unwatched(plan(*documents, intents=intents, events=events)) == frozenset()


@pytest.mark.parametrize(
    "intent",
    [
        "{minReplicas: {target: Deployment/shop/web, count: 1, when: stable}}",
        "{maxReplicas: {target: Deployment/shop/web, count: 3}}",
        "{schedulable: {target: Deployment/shop/web}}",
        "{maxPodObjects: {target: Deployment/shop/web, count: 9}}",
    ],
)
def test_intents_that_do_not_ask_who_is_ready_do_not_heed_the_start(intent: str) -> None:
    (monitor,) = plan(web(2), intents=intent).monitors

    assert not monitor.tells_starts_of(0)


def test_other_workloads_start_in_unison_beside_one_that_is_watched() -> None:
    found = plan(web(2), web(1, name="db"), intents="{minReady: {target: Deployment/shop/web, count: 1}}")

    assert find_unwatched(found) == {1}


def test_a_deletion_while_pods_start_ends_the_search_and_names_the_workload() -> None:
    shrunk = plan(web(2), events="{scale: {target: Deployment/shop/web, replicas: [1]}}")
    system = GroupedSystem(shrunk, Order(find_unwatched(shrunk)))

    with pytest.raises(StartMatters) as caught:
        explore(system, system.checks, kernel=make_kernel(system, engine="python"))

    assert caught.value.workload == 0


def test_a_deletion_after_all_have_started_is_no_reason_to_stop() -> None:
    shrunk = plan(web(2), events="{scale: {target: Deployment/shop/web, replicas: [1], after: stable}}")
    system = GroupedSystem(shrunk, Order(find_unwatched(shrunk)))

    found = explore(system, system.checks, kernel=make_kernel(system, engine="python"))

    assert [finding.verdict for finding in found.findings] == [Verdict.HOLDS]


def test_starts_are_free_while_deploying_unless_taints_or_names_meddle() -> None:
    assert starts_freely(plan(web(2), AUTOSCALER).deploying())
    assert not starts_freely(plan(web(2)))
    assert not starts_freely(plan(web(2, more="nodeName: a")).deploying())


def test_deploying_goes_straight_to_the_stable_states() -> None:
    deploying = plan(web(3)).deploying()
    system = GroupedSystem(deploying, orders_of_deploying(deploying))
    kernel = make_kernel(system, engine="python")

    explore(system, (), kernel=kernel)

    assert [len(set(kernel.successors(state))) for state in range(len(kernel))] == [1] * (len(kernel) - 1) + [0]


# -- cells --------------------------------------------------------------------------------------------


def starts(found: Plan) -> Starts:
    return Starts(found.mechanics, find_unwatched(found))


def test_a_node_looks_settled_as_if_all_its_pods_were_ready() -> None:
    waiting = NodeCell(pods=((PodKind(0, PodPhase.STARTING, 0, 4), 2), (PodKind(0, PodPhase.READY), 1)))

    assert starts(plan(web(3))).settle(waiting) == NodeCell(pods=((PodKind(0, PodPhase.READY), 3),))


def test_only_kinds_whose_least_clock_ran_out_are_due() -> None:
    kinds = ((PodKind(0, PodPhase.STARTING, 0, 4), 1), (PodKind(0, PodPhase.STARTING, 1, 5), 1))
    place = ((NodeCell(pods=kinds), 2),)

    assert starts(plan(web(4))).due(place) == (StartAll(0, PodPhase.STARTING, 0, 4),)


def test_a_start_is_one_step_for_the_places_that_have_such_pods() -> None:
    actor = StartTogether(Starts(plan(web(1)).mechanics, frozenset({0})), (4, 5), alone=False)
    kind = StartAll(0, 0, 0, 5)

    (effect,) = actor.act((("kubelet", (kind,)), ("kubelet", ())))
    assert find_started_together(effect) == kind
    assert [slot for slot, _ in effect.edits] == [4]


def test_all_nodes_of_a_place_start_their_pods() -> None:
    waiting = NodeCell(pods=((PodKind(0, PodPhase.STARTING, 0, 0), 1),))
    ready = NodeCell(pods=((PodKind(0, PodPhase.READY, NEVER, NEVER), 1),))

    after = starts(plan(web(4))).start(((waiting, 2), (ready, 1)), StartAll(0, PodPhase.STARTING, 0, 0))

    assert after == ((ready, 3),)


@seed(7)
@settings(
    max_examples=60,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(LOOP_FAMILIES["deschedule"]())
def test_whether_the_descheduler_evicts_does_not_depend_on_who_has_started(case: Case) -> None:
    found = case.plan()
    descheduler = next(c for c in found.controllers if isinstance(c, DeschedulerController))
    # Budgets count ready pods, so that workloads under one are never taken to start in unison.
    free = frozenset(w for w in range(len(found.workloads)) if not budgets_of(found.setup, w))
    everybody = Starts(found.mechanics, free, whole=True)
    system = GroupedSystem(found)
    kernel = make_kernel(system)
    explore(system, (), kernel=kernel, limits=Limits(max_states=200))
    first = system.slots.first_place
    for state in range(min(200, len(kernel))):
        cells = kernel.cells_of(state)
        shown, settled = (
            Seen(
                tuple(
                    descheduler.show_workload(w, cell)  # type: ignore[arg-type]
                    for w, cell in enumerate(cells[1 : system.slots.first_memory])
                ),
                tuple(
                    group_view(descheduler, p, tuple((change(cell), count) for cell, count in nodes))  # type: ignore[attr-defined]
                    for p, nodes in enumerate(cells[first:])
                ),
                ((0, 0),),
            )
            for change in (lambda cell: cell, everybody.settle)
        )
        assert bool(descheduler.act(shown)) == bool(descheduler.act(settled))
