"""Parts on the move together: a moment that exists because of one part decides about another.

Two nodes of team a are noticed to be silent 0 or 5 s apart as long as nothing else happens in between. Then pods
are evicted from them in one of two orders. A clock of team b gives a third moment, and with it a third order, in
which the last pod finds no node.
"""

from __future__ import annotations

import pytest

from kubeproof.cluster.kinds import REPLICA_SET
from kubeproof.cluster.labels import LabelSelector, Requirement, Toleration, as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodAffinity,
    PodTemplate,
    PodTerm,
    Settings,
    Setup,
    Workload,
)
from kubeproof.events.declarations import STABLE, Event, NodeChoice, NodeFailure, ZoneFailure
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.loaded import Loaded, Scenario, Start
from kubeproof.verdicts import Verdict
from kubeproof.verify.run import verify

RACK = "rack"


def node(name: str, team: str, rack: str, cpu_milli: int, *pools: str) -> Node:
    """A node of a team, in a zone of its own, whose taint waits for no other; workloads choose it by pool."""
    labels = {HOSTNAME: name, "team": team, ZONE: name, RACK: rack, **dict.fromkeys(pools, "1")}
    return Node(name, as_labels(labels), cpu_milli=cpu_milli, memory_bytes=2**33, pods=110)


def selector(name: str) -> LabelSelector:
    """Selects the pod of the workload so named."""
    return LabelSelector((Requirement("app", "In", (name,)),))


def workload(name: str, team: str, tolerated_s: int, cpu_milli: int = 600, *pools: str, apart: str = "") -> Workload:
    """One pod that stays on a silent node for so long, and keeps away from others."""
    template = PodTemplate(
        labels=(("app", name),),
        containers=(Container("main", cpu_milli, 2**20),),
        node_selector=(("team", team), *((pool, "1") for pool in pools)),
        tolerations=(Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute", tolerated_s),),
        pod_anti_affinity=PodAffinity(tuple(PodTerm(HOSTNAME, selector(other)) for other in apart.split())),
        grace_s=2 if team == "b" else 30,
    )
    return Workload(REPLICA_SET, "shop", name, template, 1, selector(name))


NODES = (
    node("n0", "a", "east", 4000, "x", "y"),
    node("n1", "a", "east", 4000, "x", "y"),
    node("x", "a", "west", 1000, "x"),
    node("y", "a", "west", 1000, "y"),
)
OF_B = node("b0", "b", "east", 4000)
# From n0 two pods go after 10 s. In between those of n1 go after 7 and 8 s only if it is noticed 2 or 3 s later.
WORKLOADS = (
    workload("first", "a", 10, 600, "x"),
    workload("second", "a", 10, 600, "y"),
    workload("late", "a", 8, 600, "x"),
    workload("early", "a", 7, 600, "y"),
    workload("last", "a", 30, 100, apart="first early"),
)
B = workload("other", "b", 2)
HOMES = {"first": "n0", "second": "n0", "late": "n1", "early": "n1", "last": "n1", "other": "b0"}
SILENT = NodeChoice(names=("n0", "n1", "b0"))
FOR_GOOD = NodeFailure(
    name="a", after=STABLE, max=2, together=True, recovers=False, nodes=NodeChoice(names=("n0", "n1"))
)
FOR_A_WHILE = NodeFailure(name="b", after=STABLE, nodes=NodeChoice(names=("b0",)))


def verdict(nodes: tuple[Node, ...], workloads: tuple[Workload, ...], events: tuple[Event, ...]) -> str:
    """Whether the last pod always finds a node, from everybody at home on."""
    placement = tuple(sorted((one.ref, ((HOMES[one.name], 1),)) for one in workloads))
    intent = Intent(key="schedulable", name="last", target="ReplicaSet/shop/last")
    setup = Setup(nodes=nodes, workloads=workloads, settings=Settings(startup_s=(0, 0)))
    scenario = Scenario(start=Start("placement", placement), events=events, intents=(intent,))
    (result,) = verify(Loaded(setup, scenario)).results
    return result.verdict


def test_team_a_alone_always_places_its_last_pod() -> None:
    assert verdict(NODES, WORKLOADS, (FOR_GOOD,)) == Verdict.HOLDS


@pytest.mark.parametrize(
    "events",
    [
        (ZoneFailure(name="east", topology_key=RACK, after=STABLE, recovers=False),),
        (NodeFailure(name="all", after=STABLE, max=3, together=True, recovers=False, nodes=SILENT),),
        (FOR_GOOD, FOR_A_WHILE),  # b0 fails first, and comes back while a is on the move
    ],
    ids=["zone", "together", "recovery"],
)
def test_a_moment_of_team_b_leaves_the_last_pod_without_a_node(events: tuple[Event, ...]) -> None:
    assert verdict((*NODES, OF_B), (*WORKLOADS, B), events) == Verdict.VIOLATED
