"""Clusters in which sizes and budgets do not decide alone, and first steps do not come first."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.labels import Taint, Toleration
from kubeproof.cluster.objects import HOSTNAME, Node, SpreadConstraint
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.events.declarations import STABLE, Apply, Cordon, Drain, NodeFailure, Scale, Usage, UsagePattern
from kubeproof.intents.declarations import Amount
from kubeproof.manifests.loaded import Loaded
from tests.differential.guards.clusters import (
    Witness,
    budget,
    cluster,
    deployment,
    node,
    of,
    placed,
    selecting,
    workload,
)

ONE, TWO = Amount(1), Amount(2)
PAIR = (node("n1"), node("n2"))
TIERED = (("app", "web"), ("tier", "x"))


def preempted(key: str, **more: Any) -> Loaded:
    """A pod has to go for one of higher priority."""
    low, high = workload("low", priority=0), workload("high", priority=10)
    return cluster((node("n1"),), (low, high), of(key, low, count=ONE), start=placed(low=(("n1", 1),)), **more)


def evicted() -> Loaded:
    """A pod tolerates its node's taint for a while."""
    web = workload("web", tolerations=(Toleration("t", "Exists", "", "NoExecute", 10),))
    tainted = node("n1", taints=(Taint("t", "", "NoExecute"),))
    return cluster((tainted,), web, of("minReplicas", web, count=ONE), start=placed(web=(("n1", 1),)))


def scaled_to_nothing() -> Loaded:
    """Somebody scales to nothing."""
    web = workload("web", 2)
    scale = Scale(name="scale", target=web.ref, replicas=(0,), after=STABLE)
    return cluster(PAIR, web, of("minReplicas", web, count=ONE), events=(scale,), start="deployed")


def scaled_before_the_first_sync() -> Loaded:
    """Somebody scales to nothing before there is any pod."""
    web = deployment("web")
    scale = Scale(name="scale", target=web.ref, replicas=(0,))
    return cluster((node("n1"),), web, of("minReplicas", web, count=ONE, when="eventually"), events=(scale,))


def autoscaled() -> Loaded:
    """An autoscaler asks for a second pod."""
    web = deployment("web", 1, 100)
    metric = Metric("Resource", "cpu", "Utilization", 50)
    scaler = HorizontalPodAutoscaler("shop", "web", web.ref, 1, 2, (metric,))
    use = UsagePattern(name="high", resource="cpu", target=web.ref, phases=((Usage(percent=400), None),))
    most = of("maxReplicas", web, count=ONE)
    return cluster((node("n1"),), web, most, events=(use,), start="deployed", autoscalers=(scaler,))


def applied() -> Loaded:
    """Somebody applies the manifest with another size."""
    web = workload("web", 1)
    grown = Apply(name="apply", workload=workload("web", 2), replicas_given=True, after=STABLE)
    return cluster(PAIR, web, of("maxReplicas", web, count=ONE), events=(grown,), start="deployed")


def too_many_at_first() -> Loaded:
    """There are more pods than wanted in the beginning."""
    web = workload("web", 1)
    return cluster(PAIR, web, of("maxReplicas", web, count=ONE), start=placed(web=(("n1", 1), ("n2", 1))))


def spread(*some: Node, **more: Any) -> Loaded:
    """Two pods that differ by at most one between nodes."""
    web = workload("web", 2, spread=(SpreadConstraint(HOSTNAME, 1, True, selecting(app="web"), **more),))
    return cluster(some, web, of("schedulable", web))


def spread_with_others() -> Loaded:
    """Pods of another workload count for the constraint."""
    web = workload("web", 2, spread=(SpreadConstraint(HOSTNAME, 1, True, selecting(tier="x")),), labels=TIERED)
    other = workload("other", 2, 100, labels=(("app", "other"), ("tier", "x")), node_selector=(("big", "yes"),))
    return cluster((node("n1", 3000, big="yes"), node("n2")), (web, other), of("schedulable", web))


def drained() -> Loaded:
    """The budget asks for less than the intent."""
    web, drain = workload("web", 2), Drain(name="drain", after=STABLE)
    guards = (budget(least=1, app="web"),)
    return cluster(PAIR, web, of("minReady", web, count=TWO), events=(drain,), start="deployed", budgets=guards)


def drained_beside_others() -> Loaded:
    """The budget is content with the pod of another workload."""
    web, other = workload("web", labels=TIERED), workload("other", labels=(("app", "other"), ("tier", "x")))
    drain, guards = Drain(name="drain", after=STABLE), (budget(least=1, tier="x"),)
    asked = of("minReady", web, count=ONE)
    return cluster(PAIR, (web, other), asked, events=(drain,), start="deployed", budgets=guards)


def failing() -> Loaded:
    """No budget keeps a node from failing."""
    web, fails = workload("web"), NodeFailure(name="fails", after=STABLE, recovers=False)
    guards = (budget(least=1, app="web"),)
    return cluster(PAIR, web, of("minReady", web, count=ONE), events=(fails,), start="deployed", budgets=guards)


def cordoned() -> Loaded:
    """A pod finds no node that is open."""
    web = workload("web")
    return cluster((node("n1"),), web, of("schedulable", web), events=(Cordon(name="cordon"),))


WITNESSES: dict[str, Witness] = {
    "a pod is preempted below its size": lambda: preempted("minReplicas"),
    "a pod is preempted in spite of its budget": lambda: preempted("minReady", budgets=(budget(least=1, app="low"),)),
    "a taint evicts pods": evicted,
    "somebody scales to nothing": scaled_to_nothing,
    "somebody scales before the first sync": scaled_before_the_first_sync,
    "an autoscaler asks for more": autoscaled,
    "somebody applies another size": applied,
    "there are too many pods at first": too_many_at_first,
    "a node without pods counts for the spread": lambda: spread(
        node("n1", 2000), node("n2", taints=(Taint("t", "", "NoSchedule"),))
    ),
    "there are fewer domains than asked for": lambda: spread(node("n1", 2000), min_domains=2),
    "the spread counts pods of others": spread_with_others,
    "the budget asks for less than the intent": drained,
    "the budget counts pods of others": drained_beside_others,
    "no budget keeps a node from failing": failing,
    "a node is closed": cordoned,
}
