"""Which first steps are taken alone, and how much that leaves out."""

from __future__ import annotations

import pytest

from kubeproof.engine.search import explore, make_kernel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.reductions.partial_order import EVERY_ORDER, Order
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import plan_of
from tests.unit.model.test_startup import AUTOSCALER, POLICY, plan
from tests.unit.verify.inputs import loaded, node, scenario, web

ALONE = Order(alone=True)


def names(*documents: str, intents: str = "{settles: {}}", events: str = "") -> list[str]:
    """The actors that go first."""
    found = plan(*documents, intents=intents, events=events)
    system = GroupedSystem(found, ALONE)
    return [actor.name for actor in system.actors[len(found.actors) + 1 :]]


def test_a_deployment_and_its_replicaset_go_first_each() -> None:
    assert names(web(2), web(1, name="db")) == ["deployment web", "replicaset web", "deployment db", "replicaset db"]


@pytest.mark.parametrize(
    "event",
    [
        "{scale: {target: Deployment/shop/web, replicas: [1]}}",
        "{delete: {target: Deployment/shop/web}}",
        "{rollout: {target: Deployment/shop/web}}",
        "{drain: {}}",
    ],
)
def test_an_event_that_may_write_the_object_first_keeps_it_in_line(event: str) -> None:
    assert names(web(2), events=event) == []


def test_an_event_that_waits_for_stability_comes_too_late_to_matter() -> None:
    event = "{scale: {target: Deployment/shop/web, replicas: [1], after: stable}}"

    assert names(web(2), events=event) == ["deployment web", "replicaset web"]


def test_an_autoscaler_may_write_first() -> None:
    assert names(web(2), AUTOSCALER) == []


def test_a_descheduler_counts_new_pods_so_they_wait_their_turn() -> None:
    assert names(web(2), POLICY) == ["deployment web"]


def test_an_intent_over_several_workloads_sees_the_order_of_new_pods() -> None:
    assert names(web(2), web(1, name="db"), intents="{maxPodObjects: {count: 9}}") == [
        "deployment web",
        "deployment db",
    ]


def test_the_orders_of_creation_are_left_out_and_the_verdicts_stay() -> None:
    documents = [node("a"), *(web(1, name=name) for name in ("one", "two", "three"))]
    found = plan_of(loaded(*documents, scenario("{settles: {}}")), VerifyOptions())
    counts, verdicts = [], []
    for order in (EVERY_ORDER, ALONE):
        system = GroupedSystem(found, order)
        kernel = make_kernel(system, engine="python")
        verdicts.append(explore(system, system.checks, kernel=kernel).findings[0].verdict)
        counts.append(len(kernel))

    assert verdicts == [Verdict.HOLDS, Verdict.HOLDS]
    assert counts == [84, 34]
