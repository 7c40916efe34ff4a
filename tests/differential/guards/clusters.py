"""Short words for small clusters: nodes, pods that need most of a node, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubeproof.cluster.kinds import DEPLOYMENT, REPLICA_SET
from kubeproof.cluster.labels import LabelSelector, NodeTerm, Requirement, Toleration, as_labels
from kubeproof.cluster.objects import (
    HOSTNAME,
    Container,
    Node,
    PodTemplate,
    Settings,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.events.declarations import NodeChoice
from kubeproof.intents.declarations import Intent
from kubeproof.manifests.loaded import Loaded, Scenario, Start

Witness = Callable[[], Loaded]
NAMESPACE = "shop"
LARGE = 600  # milli: two such pods do not fit on one node


def node(name: str, cpu: int = 1000, **more: Any) -> Node:
    """A node with room for one large pod; labels by keyword, `_` for a `-`."""
    own = {
        key: more.pop(key) for key in ("taints", "unschedulable", "pods", "others", "images", "group") if key in more
    }
    memory = more.pop("memory", 2**30)
    labels = {HOSTNAME: name} | {key.replace("_", "-"): value for key, value in more.items()}
    return Node(name, as_labels(labels), cpu_milli=cpu, memory_bytes=memory, **own)


def nodes(count: int, **more: Any) -> tuple[Node, ...]:
    """Equal nodes."""
    return tuple(node(f"n{number}", **more) for number in range(1, count + 1))


def selecting(**labels: str) -> LabelSelector:
    """Selects by equal labels."""
    return LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in labels.items()))


def asking(key: str, operator: str = "Exists", *values: str) -> tuple[NodeTerm, ...]:
    """One required term about one label."""
    return (NodeTerm((Requirement(key, operator, values),)),)


def for_good(*keys: str) -> tuple[Toleration, ...]:
    """Tolerations that never end."""
    return tuple(Toleration(key, "Exists", "", "") for key in keys)


def container(cpu: int | None = LARGE, **more: Any) -> Container:
    """What a pod asks for."""
    return Container("main", cpu, more.pop("memory", 2**20), **more)


def workload(
    name: str, replicas: int = 1, cpu: int | None = LARGE, *, kind: str = REPLICA_SET, **more: Any
) -> Workload:
    """A workload of large pods labelled with its name; what belongs to its pods and what to it, by keyword."""
    fields = set(Workload.__dataclass_fields__)
    own = {key: more.pop(key) for key in list(more) if key in fields}
    more.setdefault("labels", (("app", name),))
    more.setdefault("containers", (container(cpu),))
    template = PodTemplate(**more)
    return Workload(kind, NAMESPACE, name, template, replicas, own.pop("selector", selecting(app=name)), **own)


def deployment(name: str, replicas: int = 1, cpu: int | None = LARGE, **more: Any) -> Workload:
    """A Deployment of large pods."""
    return workload(name, replicas, cpu, kind=DEPLOYMENT, **more)


def on_team(name: str, team: str, replicas: int = 1, cpu: int | None = LARGE, **more: Any) -> Workload:
    """A workload that runs on the nodes of one team."""
    return workload(name, replicas, cpu, node_selector=(("team", team),), **more)


def apart_by(key: str, name: str, skew: int = 1) -> tuple[SpreadConstraint, ...]:
    """Pods of a workload spread over the values of a label, or wait."""
    return (SpreadConstraint(key, skew, True, selecting(app=name)),)


def of(key: str, target: Workload | str | None = None, **more: Any) -> Intent:
    """An intent about a workload."""
    ref = target.ref if isinstance(target, Workload) else target
    return Intent(key=key, name=more.pop("name", f"{key} {ref}"), target=ref, **more)


def named(*names: str) -> NodeChoice:
    """These nodes."""
    return NodeChoice(names=names)


def budget(least: int | None = None, most: int | None = None, **labels: str) -> PodDisruptionBudget:
    """A budget for the pods with these labels: at least so many healthy, or at most so many missing."""
    kept = None if least is None else (least, False)
    missing = None if most is None else (most, False)
    return PodDisruptionBudget(NAMESPACE, "budget", selecting(**labels), kept, missing)


def placed(**homes: tuple[tuple[str, int], ...]) -> Start:
    """A start with pods of ReplicaSets on nodes."""
    return Start("placement", tuple(sorted((f"ReplicaSet/{NAMESPACE}/{name}", spots) for name, spots in homes.items())))


def cluster(
    some: tuple[Node, ...],
    workloads: Workload | tuple[Workload, ...],
    *asked: Intent,
    events: tuple[Any, ...] = (),
    start: str | Start = "empty",
    **more: Any,
) -> Loaded:
    """An input; what else the cluster has, by keyword."""
    declared = (workloads,) if isinstance(workloads, Workload) else workloads
    quiet = Settings(startup_s=(0, 0), monitor_period_s=0)
    setup = Setup(some, declared, settings=more.pop("settings", quiet), **more)
    begun = Start(start) if isinstance(start, str) else start
    return Loaded(setup, Scenario(start=begun, events=events, intents=asked))
