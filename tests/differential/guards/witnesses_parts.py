"""Clusters whose parts would be independent, or proved by themselves, but for one thing."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.labels import Taint
from kubeproof.cluster.objects import ZONE, HostPort, Node, PodAffinity, PodTerm, SchedulerProfile, Settings, Workload
from kubeproof.cluster.steering.quotas import ResourceQuota
from kubeproof.cluster.volumes import Claim, Volume
from kubeproof.events.declarations import STABLE, Drain, Event, NodeFailure, ZoneFailure
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.manifests.loaded import Loaded, Start
from tests.differential import test_parts_in_time as in_time
from tests.differential.guards.clusters import (
    Witness,
    asking,
    budget,
    cluster,
    container,
    for_good,
    node,
    of,
    on_team,
    placed,
    selecting,
    workload,
)

TEAMS = (node("a1", team="a"), node("b1", team="b"))
ZONES = (
    node("a1", team="a", **{ZONE: "z1"}),
    node("b1", team="b", **{ZONE: "z1"}),
    node("c1", 100, team="a", **{ZONE: "z2"}),
)
A, B = on_team("a", "a"), on_team("b", "b")
ONE = Amount(1)


def beside(intent: Intent, a: Workload = A, b: Workload = B, some: tuple[Node, ...] = TEAMS, **more: Any) -> Loaded:
    """Two teams with nodes of their own."""
    return cluster(some, (a, b), intent, **more)


def of_tier(name: str) -> Workload:
    """A team's workload with a label that the other's has, too."""
    return on_team(name, name, labels=(("app", name), ("tier", "x")))


def sharing_a_budget() -> Loaded:
    """The budget lets one pod go; the second drain waits for ever."""
    drain = Drain(name="drain", after=STABLE, max=2)
    shared = (budget(most=1, tier="x"),)
    return beside(of("drainCompletes"), of_tier("a"), of_tier("b"), events=(drain,), start="deployed", budgets=shared)


def sharing_a_claim() -> Loaded:
    """Only one pod may mount the volume."""
    modes = ("ReadWriteOncePod",)
    a, b = on_team("a", "a", claims=("data",)), on_team("b", "b", claims=("data",))
    claim = Claim("shop", "data", 1, "fast", modes, volume="disk")
    return beside(of("schedulable", a), a, b, claims=(claim,), volumes=(Volume("disk", 1, "fast", modes),))


def avoiding_others() -> Loaded:
    """A pod keeps out of the zone in which the other team's pod runs."""
    a = on_team("a", "a", pod_anti_affinity=PodAffinity((PodTerm(ZONE, selecting(app="b")),)))
    return beside(of("schedulable", a), a, some=ZONES)


def skewed_together() -> Loaded:
    """Both pods together are two more than none."""
    both = selecting(tier="x")
    asked = of("maxSkew", selector=both, namespace="shop", topology_key=ZONE, skew=1, when="stable")
    return beside(asked, of_tier("a"), of_tier("b"), some=ZONES)


def without(plugin: str, a: Workload, b: Workload, some: tuple[Node, ...]) -> Loaded:
    """The pods of a may go to the node of b, because their scheduler does not ask."""
    profiles = (SchedulerProfile(), SchedulerProfile("loose", disabled=frozenset({plugin})))
    return beside(of("schedulable", b), a, b, some, profiles=profiles)


def tolerating(name: str, **more: Any) -> Workload:
    """A workload that tolerates the taint of its team."""
    return workload(name, tolerations=for_good(name), **more)


TAINTED = tuple(node(f"{team}1", taints=(Taint(team, "", "NoSchedule"),)) for team in "ab")


def on_the_move(*events: Event) -> Loaded:
    """A moment of one team decides about the other."""
    workloads = (*in_time.WORKLOADS, in_time.B)
    homes = tuple(sorted((one.ref, ((in_time.HOMES[one.name], 1),)) for one in workloads))
    return cluster(
        (*in_time.NODES, in_time.OF_B),
        workloads,
        of("schedulable", "ReplicaSet/shop/last"),
        events=events,
        start=Start("placement", homes),
        settings=Settings(startup_s=(0, 0)),
    )


TOGETHER = NodeFailure(name="all", after=STABLE, max=3, together=True, recovers=False, nodes=in_time.SILENT)
RACK_FAILS = ZoneFailure(name="east", topology_key=in_time.RACK, after=STABLE, recovers=False)


def crowded(*some: Node, profiles: tuple[SchedulerProfile, ...] = (SchedulerProfile(),), **template: Any) -> Loaded:
    """Two large pods of different workloads on nodes of which only one takes them."""
    a, b = workload("a", **template), workload("b", **template)
    return cluster(some, (a, b), of("noPendingForever", a), profiles=profiles)


def four(first: Node, **others: Any) -> tuple[Node, ...]:
    """A node, and three others."""
    return (first, *(node(f"n{number}", **others) for number in (2, 3, 4)))


def drained_of_room() -> Loaded:
    """Two nodes are enough until one is drained."""
    a, b = workload("a"), workload("b")
    return cluster((node("n1"), node("n2")), (a, b), of("noPendingForever", a), events=(Drain(name="drain"),))


WITNESSES: dict[str, Witness] = {
    "a quota relates those that it charges": lambda: beside(
        of("minReady", A, count=ONE, when="stable"), quotas=(ResourceQuota("shop", "quota", (("pods", 1),)),)
    ),
    "a budget relates those that it guards": sharing_a_budget,
    "a claim relates those that mount it": sharing_a_claim,
    "an affinity term relates those that it speaks of": avoiding_others,
    "an intent relates those that it selects": skewed_together,
    "an intent counts pods of all": lambda: beside(of("maxPodObjects", count=ONE)),
    "a node relates those that it takes": lambda: crowded(node("n1")),
    "a scheduler ignores node affinity": lambda: without(
        "NodeAffinity", on_team("a", "a", scheduler_name="loose"), B, TEAMS
    ),
    "a scheduler ignores taints": lambda: without(
        "TaintToleration", tolerating("a", scheduler_name="loose"), tolerating("b"), TAINTED
    ),
    "a pod begins where it would not go": lambda: beside(of("schedulable", B), start=placed(a=(("b1", 1),))),
    "nodes of two parts fail in one moment": lambda: on_the_move(TOGETHER),
    "a rack of two parts fails": lambda: on_the_move(RACK_FAILS),
    "a node comes back while another part is on the move": lambda: on_the_move(in_time.FOR_GOOD, in_time.FOR_A_WHILE),
    "room on nodes with another label is none": lambda: crowded(
        *four(node("n1", disk="ssd")), node_selector=(("disk", "ssd"),)
    ),
    "room on cordoned nodes is none": lambda: crowded(*four(node("n1"), unschedulable=True)),
    "room on tainted nodes is none": lambda: crowded(*four(node("n1"), taints=(Taint("t", "", "NoSchedule"),))),
    "room where a port is taken is none": lambda: crowded(
        node("n1", 9000), containers=(container(100, host_ports=(HostPort(80),)),)
    ),
    "room that a profile refuses is none": lambda: crowded(
        *four(node("n1", disk="ssd")), profiles=(SchedulerProfile(added_affinity=asking("disk")),)
    ),
    "room on a drained node is none": drained_of_room,
}
