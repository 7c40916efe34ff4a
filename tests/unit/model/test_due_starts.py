"""Starts that are due come first, while their autoscaler can do nothing: where that applies, and what it does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.engine.search import Search, explore, make_kernel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.due_starts import find_immediate
from kubeproof.model.reductions.partial_order import Order, fewer_orders
from kubeproof.model.reductions.young_pods import countable
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import plan_of
from tests.unit.verify.inputs import loaded, node, scenario, web

WEB = "Deployment/shop/web"
AT_MOST_FIVE = f"{{maxReplicas: {{target: {WEB}, count: 5}}}}"
BOOTING = f'{{cpuPattern: {{target: {WEB}, phases: [{{usage: "100%", for: 60s}}, {{usage: "37%"}}]}}}}'
PATIENT = "behavior: {scaleUp: {stabilizationWindowSeconds: 120}}"


def autoscaler(behavior: str) -> str:
    """From three pods to six, at half of the request."""
    return f"""apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: shop}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  minReplicas: 3
  maxReplicas: 6
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 50}}}}}}]
  {behavior}
"""


def plan(*, behavior: str = PATIENT, events: str = "", intents: str = AT_MOST_FIVE, is_healed: bool = False) -> Plan:
    """Three pods that boot, one on each of three nodes."""
    written = ", ".join(filter(None, (BOOTING, events)))
    nodes = (node("a"), node("b"), node("c"))
    documents = (*nodes, web(3), autoscaler(behavior), scenario(intents, events=written))
    found = loaded(*documents)
    settings = replace(found.setup.settings, gitops_interval_s=180 if is_healed else None)
    return plan_of(replace(found, setup=replace(found.setup, settings=settings)), VerifyOptions())


def searched(found: Plan, order: Order) -> Search:
    """The whole search of a plan in an order."""
    system = GroupedSystem(found, order)
    return explore(system, system.checks, kernel=make_kernel(system, engine="python"))


def test_starts_that_an_autoscaler_alone_looks_at_are_hurried() -> None:
    found = plan()

    assert find_immediate(found) == {0}
    assert fewer_orders(found).exact(found).immediate == {0}


@pytest.mark.parametrize(
    "events",
    [
        f"{{scale: {{target: {WEB}, replicas: [4]}}}}",
        f"{{delete: {{target: {WEB}}}}}",
        "{nodeFailure: {}}",
        "{drain: {}}",
    ],
)
def test_starts_are_not_hurried_where_somebody_may_take_pods_away_at_that_moment(events: str) -> None:
    assert find_immediate(plan(events=events)) == frozenset()


def test_who_waits_for_a_stable_cluster_does_not_come_between_starts() -> None:
    assert find_immediate(plan(events=f"{{scale: {{target: {WEB}, replicas: [4], after: stable}}}}")) == {0}


def test_starts_are_not_hurried_where_an_intent_looks_at_them() -> None:
    assert find_immediate(plan(intents=f"{{minReady: {{target: {WEB}, count: 1}}}}")) == frozenset()


def test_pods_whose_time_is_up_start_in_one_step_while_the_autoscaler_cannot_act() -> None:
    found = plan()

    every, hasty = searched(found, Order()), searched(found, Order(immediate=frozenset({0})))

    assert [f.verdict for f in hasty.findings] == [f.verdict for f in every.findings] == [Verdict.HOLDS]
    assert len(hasty.store) < len(every.store)


def test_an_autoscaler_that_may_act_at_that_moment_is_given_every_order() -> None:
    found = plan(behavior="")

    every, hasty = searched(found, Order()), searched(found, Order(immediate=frozenset({0})))

    assert [f.verdict for f in hasty.findings] == [f.verdict for f in every.findings] == [Verdict.VIOLATED]


def test_starts_are_not_hurried_where_a_reconciler_may_write_the_size_at_that_moment() -> None:
    """What it writes makes a ReplicaSet choose among pods that have started and pods that have not."""
    assert countable(plan(is_healed=True)) == {0}
    assert find_immediate(plan(is_healed=True)) == frozenset()
