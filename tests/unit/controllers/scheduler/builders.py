"""Short ways to write nodes, pods and decisions in the scheduler's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubeproof.cluster.kinds import DEPLOYMENT
from kubeproof.cluster.labels import LabelSelector, Requirement, Taint, as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodTemplate,
    SchedulerProfile,
    Settings,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.cluster.services import Service
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Row, Scheduler

GIB = 2**30
MIB = 2**20
NEWEST = (1, 37)
WEB = LabelSelector((Requirement("app", "In", ("web",)),))


def container(cpu: int | None = None, memory: int | None = None, **others: int) -> Container:
    """A container with these requests; underscores in other resources' names stand for hyphens."""
    named = tuple((name.replace("_", "-"), amount) for name, amount in others.items())
    return Container("main", cpu, memory, named)


def node(name: str, zone: str | None = None, labels: Mapping[str, str] | None = None, **fields: Any) -> Node:
    """A node of 4 cores and 8 GiB with its hostname label."""
    all_labels = {HOSTNAME: name, **({ZONE: zone} if zone is not None else {}), **(labels or {})}
    return Node(name, as_labels(all_labels), **{"cpu_milli": 4000, "memory_bytes": 8 * GIB, **fields})


def info(node: Node, *pods: tuple[int, ...], count: int = 1, cordoned: bool = False) -> NodeInfo:
    """A group of nodes with pods given as (workload, alive, terminating); the node's own taints apply."""
    counts = tuple(PodCount(p[0], p[1], p[2] if len(p) > 2 else 0) for p in pods)
    return NodeInfo(node, count, cordoned, node.taints, counts)


def template(**fields: Any) -> PodTemplate:
    """A pod template labelled app=web."""
    return PodTemplate(**{"labels": (("app", "web"),), **fields})


def workload(pod: PodTemplate, kind: str = DEPLOYMENT, namespace: str = "shop", name: str = "web") -> Workload:
    return Workload(kind, namespace, name, pod, selector=WEB)


def scheduler(
    *workloads: Workload | PodTemplate,
    version: tuple[int, int] = NEWEST,
    profile: SchedulerProfile = SchedulerProfile(),
    unique_keys: frozenset[str] = frozenset({HOSTNAME}),
    services: tuple[Service, ...] = (),
) -> Scheduler:
    """A scheduler for pods of the first workload."""
    complete = tuple(workload(w) if isinstance(w, PodTemplate) else w for w in workloads)
    settings = Settings(kubernetes_version=version)
    setup = Setup(workloads=complete, profiles=(profile,), settings=settings, services=services)
    return Scheduler(setup, 0, unique_keys)


def hard(key: str, skew: int = 1, **fields: Any) -> SpreadConstraint:
    return SpreadConstraint(key, skew, **{"hard": True, "selector": WEB, **fields})


def soft(key: str, skew: int = 1, **fields: Any) -> SpreadConstraint:
    return SpreadConstraint(key, skew, **{"hard": False, "selector": WEB, **fields})


def prefer_not(key: str) -> Taint:
    return Taint(key, "", "PreferNoSchedule")


def scores(rows: tuple[Row, ...], plugin: str) -> list[int | None]:
    """The plugin's normalised score on each node; None where it has none."""
    return [dict(row.scores).get(plugin) for row in rows]


def refusals(rows: tuple[Row, ...]) -> list[str]:
    """The plugin that refuses each node, empty for feasible ones."""
    return [row.rejected_by for row in rows]


def only(*plugins: str) -> SchedulerProfile:
    """A profile in which no other plugin scores."""
    scoring = {
        "TaintToleration",
        "NodeAffinity",
        "NodeResourcesFit",
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeResourcesBalancedAllocation",
    }
    return SchedulerProfile(disabled_score=frozenset(scoring - set(plugins)))
