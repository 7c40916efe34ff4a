"""Named cluster models that the benchmarks measure."""

from __future__ import annotations

from dataclasses import dataclass

from kubeproof.cluster.labels import LabelSelector, Requirement, Toleration, as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodTemplate,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.events.declarations import Cordon, Event, NodeFailure, Scale
from kubeproof.intents.declarations import Amount, Intent

WEB = "Deployment/shop/web"
TOLERATIONS = tuple(
    Toleration(f"node.kubernetes.io/{key}", "Exists", "", "NoExecute", 300) for key in ("not-ready", "unreachable")
)


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A setup with its events and intents."""

    name: str
    setup: Setup
    events: tuple[Event, ...]
    intents: tuple[Intent, ...]


def nodes(count: int, zones: str = "a") -> tuple[Node, ...]:
    """Equal nodes, dealt over the zones in turn."""
    return tuple(
        Node(
            f"node-{i}",
            as_labels({HOSTNAME: f"node-{i}", ZONE: zones[i % len(zones)]}),
            cpu_milli=4000,
            memory_bytes=8 << 30,
        )
        for i in range(count)
    )


def deployment(name: str, replicas: int, topology_key: str) -> Workload:
    """A Deployment softly spread over a topology key."""
    selector = LabelSelector((Requirement("app", "In", (name,)),))
    template = PodTemplate(
        labels=(("app", name),),
        containers=(Container("main", 100, 128 << 20),),
        spread=(SpreadConstraint(topology_key, 1, hard=False, selector=selector),),
        tolerations=TOLERATIONS,
    )
    return Workload("Deployment", "shop", name, template, replicas, selector)


def intents() -> tuple[Intent, ...]:
    """A liveness, a pending and a safety property."""
    return (
        Intent(key="settles", name="settles"),
        Intent(key="noPendingForever", name="noPendingForever", target=WEB),
        Intent(key="minReady", name="minReady", target=WEB, count=Amount(1)),
    )


def two_services(name: str, node_count: int, web: int, api: int, *events: Event) -> Benchmark:
    """Two Deployments on three zones."""
    setup = Setup(nodes(node_count, "abc"), (deployment("web", web, ZONE), deployment("api", api, HOSTNAME)))
    return Benchmark(name, setup, events, intents())


FAILURE = NodeFailure(name="failure")
CORDON = Cordon(name="cordon", reversible=True)
SCALE = Scale(name="scale", target=WEB, replicas=(1,))


def engine_workloads() -> tuple[Benchmark, ...]:
    """From tens of thousands of states to more than a million."""
    return (
        two_services("failover", 6, 3, 3, FAILURE, CORDON),
        two_services("scaling", 6, 3, 3, FAILURE, CORDON, SCALE),
        two_services("million", 6, 4, 4, FAILURE, CORDON, SCALE),
    )


def growing(node_count: int) -> Benchmark:
    """One Deployment of five pods a node, spread over equal nodes, of which one may fail."""
    setup = Setup(nodes(node_count), (deployment("web", 5 * node_count, HOSTNAME),))
    return Benchmark(f"{node_count} nodes", setup, (FAILURE,), intents())
