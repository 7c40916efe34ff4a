"""Clusters whose nodes differ in one thing that somebody reads: taken for equal, they lead to another verdict."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.labels import NodeTerm, PreferredTerm, Requirement, Taint
from kubeproof.cluster.objects import HOSTNAME, ZONE, Node, PodAffinity, PodTerm, SchedulerProfile, SpreadConstraint
from kubeproof.cluster.volumes import Claim, StorageClass, Volume
from kubeproof.events.declarations import STABLE, CreateNode, NodeChoice, NodeFailure
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.manifests.loaded import Loaded
from tests.differential.guards.clusters import (
    Witness,
    apart_by,
    asking,
    cluster,
    container,
    named,
    node,
    of,
    selecting,
    workload,
)

SSD, PLAIN = node("n1", disk="ssd"), node("n2")
NAMED_N1 = (NodeTerm((), (Requirement("metadata.name", "In", ("n1",)),)),)
GPU = (("gpu", 1),)
MODES = ("ReadWriteMany",)
RACKS = (*(node(f"n{number}", rack="a") for number in (1, 2, 3)), node("n4", rack="b"))
KEPT_APART = PodAffinity((PodTerm("rack", selecting(app="web")),))


def two_on(*some: Node, profiles: tuple[SchedulerProfile, ...] = (SchedulerProfile(),), **template: Any) -> Loaded:
    """Two large pods for two nodes, of which one does not take any."""
    web = workload("web", 2, **template)
    return cluster(some, web, of("schedulable", web), profiles=profiles)


def four_on_racks(profile: SchedulerProfile = SchedulerProfile(), **template: Any) -> Loaded:
    """Four large pods for three nodes of one rack and one of another."""
    web = workload("web", 4, **template)
    return cluster(RACKS, web, of("schedulable", web), profiles=(profile,))


def with_claim(*some: Node, volumes: tuple[Volume, ...] = (), storage: tuple[StorageClass, ...] = ()) -> Loaded:
    """Two large pods that mount one claim, whose volume only one of the nodes reaches."""
    web = workload("web", 2, claims=("data",))
    claim = Claim("shop", "data", 1, "fast", MODES, volume=volumes[0].name if volumes else "")
    return cluster(some, web, of("schedulable", web), claims=(claim,), volumes=volumes, storage_classes=storage)


def volume(**more: Any) -> tuple[Volume, ...]:
    """A volume that the claim is bound to."""
    return (Volume("disk", 1, "fast", MODES, **more),)


def one_on_either(intent: str, **asked: Any) -> Loaded:
    """A pod that may go to either node."""
    web = workload("web")
    return cluster((SSD, PLAIN), web, of(intent, web, **asked))


def one_on_uneven(cpu: int, intent: str, **asked: Any) -> Loaded:
    """A pod for three nodes of which two are a little smaller: they have no room for it, or score less."""
    web = workload("web", 1, cpu)
    return cluster((node("n1"), node("n2", 998), node("n3", 997)), web, of(intent, web, **asked))


def drawn_to_one() -> Loaded:
    """Two small pods that prefer the same node, and are to be on both."""
    web = workload("web", 2, 100, preferred_terms=(PreferredTerm(100, asking("disk", "In", "ssd")[0]),))
    return cluster((SSD, PLAIN), web, of("spread", web, topology_key=HOSTNAME, domains=2, when="stable"))


def two_on_racks() -> Loaded:
    """Two pods, on one rack or on two."""
    web = workload("web", 2)
    return cluster(RACKS, web, of("maxSkew", web, topology_key="rack", skew=1, when="stable"))


def failing(choice: NodeChoice) -> Loaded:
    """One of two nodes may fail, and the pod goes to the other."""
    web = workload("web")
    fails = NodeFailure(name="fails", nodes=choice, after=STABLE, recovers=False, max=None)
    ready: Intent = of("minReady", web, count=Amount(1), when="eventuallyAlways")
    return cluster((SSD, PLAIN), web, ready, events=(fails,), start="deployed")


def coming() -> Loaded:
    """Two pods wait for a node that may come."""
    web = workload("web", 2)
    comes = CreateNode(name="comes", node="n2", after=STABLE)
    return cluster((node("n1"), node("n2")), web, of("schedulable", web), events=(comes,))


WITNESSES: dict[str, Witness] = {
    "a node selector asks for a label": lambda: two_on(SSD, PLAIN, node_selector=(("disk", "ssd"),)),
    "a term asks for a value": lambda: two_on(SSD, node("n2", disk="hdd"), required_terms=asking("disk", "In", "ssd")),
    "a term asks for a key": lambda: two_on(SSD, PLAIN, required_terms=asking("disk")),
    "a term compares numbers": lambda: two_on(
        node("n1", gen="7"), node("n2", gen="3"), required_terms=asking("gen", "Gt", "5")
    ),
    "a term asks for a name": lambda: two_on(node("n1"), node("n2"), required_terms=NAMED_N1),
    "a taint keeps pods off": lambda: two_on(node("n1"), node("n2", taints=(Taint("t", "x", "NoSchedule"),))),
    "a node has less CPU": lambda: two_on(node("n1"), node("n2", 500)),
    "a node has less memory": lambda: two_on(node("n1"), node("n2", memory=2**10)),
    "a node takes no pods": lambda: two_on(node("n1"), node("n2", pods=0)),
    "a node is a little too small": lambda: one_on_uneven(1000, "schedulable"),
    "a node scores a little less": lambda: one_on_uneven(490, "onlyOn", node_names=("n1",)),
    "a container asks for a resource of its own": lambda: two_on(
        node("n1", others=GPU), node("n2"), containers=(container(others=GPU),)
    ),
    "a pod's overhead is a resource of its own": lambda: two_on(node("n1", others=GPU), node("n2"), overhead=GPU),
    "a profile adds affinity": lambda: two_on(
        SSD, PLAIN, profiles=(SchedulerProfile(added_affinity=asking("disk", "In", "ssd")),)
    ),
    "a profile spreads pods": lambda: four_on_racks(
        SchedulerProfile(default_spread=(SpreadConstraint("rack", 1, True),))
    ),
    "pods spread over racks": lambda: four_on_racks(spread=apart_by("rack", "web")),
    "pods keep apart by rack": lambda: four_on_racks(pod_anti_affinity=KEPT_APART),
    "two racks are one": lambda: two_on(node("n1", rack="a"), node("n2", rack="a"), pod_anti_affinity=KEPT_APART),
    "pods keep apart by rack and row": lambda: two_on(
        node("n1", rack="a", row="x"),
        node("n2", rack="b", row="x"),
        node("n3", rack="a", row="y"),
        pod_anti_affinity=PodAffinity(tuple(PodTerm(key, selecting(app="web")) for key in ("rack", "row"))),
    ),
    "a volume is reached by label": lambda: with_claim(SSD, PLAIN, volumes=volume(terms=asking("disk", "In", "ssd"))),
    "a volume is in a zone": lambda: with_claim(
        node("n1", **{ZONE: "a"}), node("n2", **{ZONE: "b"}), volumes=volume(labels=((ZONE, "a"),))
    ),
    "a class provisions for some nodes": lambda: with_claim(
        SSD,
        node("n2", disk="hdd"),
        storage=(StorageClass("fast", "example.org", waits=True, topologies=((("disk", ("ssd",)),),)),),
    ),
    "pods prefer a label": drawn_to_one,
    "an intent allows nodes by label": lambda: one_on_either("onlyOn", nodes=selecting(disk="ssd")),
    "an intent allows nodes by name": lambda: one_on_either("onlyOn", node_names=("n1",)),
    "an intent compares racks": two_on_racks,
    "an event chooses nodes by label": lambda: failing(NodeChoice(selector=selecting(disk="ssd"))),
    "an event chooses nodes by name": lambda: failing(named("n1")),
    "a node may come": coming,
}
