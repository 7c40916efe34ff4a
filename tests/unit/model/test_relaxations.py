"""Ends in unison, young pods counted as a whole, and plans without clocks: where they apply, and what they do."""

from __future__ import annotations

import pytest

from kubeproof.cluster.loops.actions import Advance, NodeRef
from kubeproof.cluster.loops.control import Seen
from kubeproof.cluster.state import NEVER, NodeCell, PodKind, Work
from kubeproof.cluster.state import Phase as PodPhase
from kubeproof.controllers.hpa.pods import Key
from kubeproof.engine.search import Search, explore, make_kernel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.ends_in_unison import EndMatters, ending_unseen
from kubeproof.model.reductions.partial_order import Order, fewer_orders
from kubeproof.model.reductions.starts_in_unison import StartMatters
from kubeproof.model.reductions.without_clocks import clockless, gains_without_clocks, without_clocks
from kubeproof.model.reductions.young_pods import EMPTY, Bear, Grow, Nursery, countable, with_young
from kubeproof.verdicts import Verdict
from kubeproof.verify.models import search_models
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import plan_of
from kubeproof.verify.searching import Beginning, Watch
from tests.unit.verify.inputs import loaded, node, scenario, web

WEB = "Deployment/shop/web"
SCHEDULABLE = f"{{schedulable: {{target: {WEB}}}}}"
SHRINKING = f"{{scale: {{target: {WEB}, replicas: [1], after: stable}}}}"
MAINTENANCE = "{maintenance: {max: 2, after: stable}}"
AUTOSCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""
POLICY = """apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  plugins: {balance: {enabled: [RemoveDuplicates]}}
"""


def plan(*documents: str, intents: str = SCHEDULABLE, events: str = "") -> Plan:
    """Two nodes, and what is given."""
    return plan_of(loaded(node("a"), node("b"), *documents, scenario(intents, events=events)), VerifyOptions())


def searched(found: Plan, order: Order) -> Search:
    """The whole search of a plan in an order."""
    system = GroupedSystem(found, order)
    return explore(system, system.checks, kernel=make_kernel(system, engine="python"))


# -- ends in unison ---------------------------------------------------------------------------------


def test_ends_that_no_loop_and_no_intent_reads_are_unseen() -> None:
    assert ending_unseen(plan(web(2), events=SHRINKING)) == {0}


@pytest.mark.parametrize(
    ("documents", "intents", "events"),
    [
        ((web(2),), f"{{maxPodObjects: {{target: {WEB}, count: 9}}}}", SHRINKING),
        ((web(2), POLICY), SCHEDULABLE, SHRINKING),
        ((web(2),), SCHEDULABLE, "{drain: {}}"),
        ((web(2),), SCHEDULABLE, "{nodeFailure: {}}"),
        ((web(2, more="nodeName: a"),), SCHEDULABLE, SHRINKING),
        ((web(2),), SCHEDULABLE, f"{{rollout: {{target: {WEB}}}}}"),
    ],
    ids=["counted as objects", "descheduler", "drain", "node failure", "admission", "rollout"],
)
def test_ends_that_somebody_reads_are_seen(documents: tuple[str, ...], intents: str, events: str) -> None:
    assert ending_unseen(plan(*documents, intents=intents, events=events)) == frozenset()


def test_terminating_pods_of_two_nodes_end_in_one_step() -> None:
    found = plan(web(3), events=f"{{scale: {{target: {WEB}, replicas: [0], after: stable}}}}")

    every, together = searched(found, Order()), searched(found, Order(ending=frozenset({0})))

    assert [f.verdict for f in together.findings] == [f.verdict for f in every.findings] == [Verdict.HOLDS]
    assert len(together.store) < len(every.store)


def test_a_pod_that_waits_while_others_end_makes_the_end_matter() -> None:
    growing = f"{{scale: {{target: {WEB}, replicas: [1, 3], max: 2}}}}"

    with pytest.raises(EndMatters) as caught:
        searched(plan(web(2), events=growing), Order(ending=frozenset({0})))

    assert caught.value.workloads == {0}


def test_a_search_in_which_an_end_matters_begins_again_without_it() -> None:
    growing = f"{{scale: {{target: {WEB}, replicas: [1, 3], max: 2}}}}"
    found = plan(web(2), events=growing)

    _, _, order, *_ = search_models(found, Beginning(()), VerifyOptions(engine="python"), Watch())

    assert fewer_orders(found).ending == {0}
    assert order.ending == frozenset()


# -- young pods -------------------------------------------------------------------------------------


def test_young_pods_are_counted_where_an_autoscaler_alone_looks_at_them() -> None:
    assert countable(plan(web(1), AUTOSCALER)) == {0}
    assert countable(plan(web(1))) == frozenset()
    assert countable(plan(web(1), AUTOSCALER, intents=f"{{minReady: {{target: {WEB}, count: 1}}}}")) == frozenset()
    assert countable(plan(web(1), AUTOSCALER, events=f"{{podCrash: {{target: {WEB}}}}}")) == frozenset()
    assert countable(plan(web(1), AUTOSCALER, events="{nodeFailure: {}}")) == frozenset()


def test_a_pod_comes_to_the_nursery_starts_and_leaves_it_when_its_age_decides_nothing_any_more() -> None:
    nursery = Nursery(plan(web(1), AUTOSCALER).mechanics, 0)
    born = PodKind(0, PodPhase.STARTING, 1, 5)
    due = born._replace(least_s=0, most_s=4)
    ready = PodKind(0, PodPhase.READY, age_s=0)

    bound = nursery.change(EMPTY, Bear(0))
    later = nursery.later(bound, 1)
    started = nursery.change(later, Grow(due))

    assert bound == ((NodeCell(pods=((born, 1),)), 1),)
    assert later == ((NodeCell(pods=((due, 1),)), 1),)
    assert started == ((NodeCell(pods=((ready, 1),)), 1),)
    assert nursery.later(started, 14) == ((NodeCell(pods=((ready._replace(age_s=14), 1),)), 1),)
    assert nursery.later(started, 15) == EMPTY


def test_an_autoscaler_is_shown_young_pods_instead_of_grown_ones() -> None:
    nursery = Nursery(plan(web(1), AUTOSCALER).mechanics, 0)
    grown = (((Key(PodPhase.READY, 15), 3),), 1)
    cell = nursery.change(nursery.change(EMPTY, Bear(0)), Bear(0))

    seen = with_young(Seen(places=((grown,),)), nursery.see(cell))

    assert seen.places == ((grown,), ((((Key(PodPhase.STARTING, NEVER), 2), (Key(PodPhase.READY, 15), -2)), 1),))
    assert with_young(Seen(places=((grown,),)), nursery.see(EMPTY)).places == ((grown,),)


def test_a_deletion_while_pods_are_young_makes_their_start_matter() -> None:
    found = plan(web(2), AUTOSCALER, events=f"{{scale: {{target: {WEB}, replicas: [1]}}}}")

    with pytest.raises(StartMatters):
        searched(found, Order(counted=frozenset({0})))


# -- no clocks --------------------------------------------------------------------------------------


def test_plans_with_drains_gain_without_clocks_unless_a_loop_asks_for_time() -> None:
    assert gains_without_clocks(plan(web(2), events=MAINTENANCE))
    assert not gains_without_clocks(plan(web(2)))
    assert not gains_without_clocks(plan(web(1), AUTOSCALER, events=MAINTENANCE))
    assert not gains_without_clocks(plan(web(1), POLICY, events=MAINTENANCE))
    assert not gains_without_clocks(plan(web(2), events=f"{MAINTENANCE}, {{nodeFailure: {{}}}}"))
    assert not gains_without_clocks(plan(web(2), events=f"{MAINTENANCE}, {{podCrash: {{target: {WEB}}}}}"))


def test_without_clocks_any_part_of_the_pods_of_a_node_may_move_on() -> None:
    mechanics = without_clocks(plan(web(2), events=MAINTENANCE)).mechanics
    waiting = PodKind(0, PodPhase.STARTING, 0, NEVER)
    cell = NodeCell(pods=((waiting, 2),))
    ready = waiting._replace(phase=int(PodPhase.READY), least_s=NEVER, most_s=NEVER)

    step = Advance(NodeRef(0, None), 0, PodPhase.STARTING, 0, NEVER)
    after = mechanics.on_node(mechanics.setup.nodes[0], cell, step)

    assert [dict(one.pods) for one in after] == [{waiting: 1, ready: 1}, {ready: 2}]


def test_clocks_of_pods_and_of_maintenance_are_left_open() -> None:
    ending = PodKind(0, PodPhase.TERMINATING, 0, 12)
    down = NodeCell(work=int(Work.DOWN), least_s=3, most_s=9, pods=((ending, 1),))

    assert clockless(down) == down._replace(least_s=0, most_s=NEVER, pods=((ending._replace(most_s=NEVER), 1),))
    assert clockless(NodeCell()) == NodeCell()


def test_a_violation_without_clocks_is_looked_for_again_with_them() -> None:
    found = plan(web(1), intents=f"{{minReady: {{target: {WEB}, count: 1}}}}", events=MAINTENANCE)

    _, search, order, *_ = search_models(found, Beginning(()), VerifyOptions(engine="python"), Watch())

    assert not order.is_relaxed
    assert [finding.verdict for finding in search.findings] == [Verdict.VIOLATED]
