"""Small clusters for tests: nodes, workloads and cells in one line each."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.labels import LabelSelector, Requirement, Taint, Toleration, as_labels
from kubeproof.cluster.nodes.places import UNREACHABLE, Layout, Place
from kubeproof.cluster.objects import (
    HOSTNAME,
    ZONE,
    Container,
    Node,
    PodTemplate,
    Settings,
    Setup,
    SpreadConstraint,
    Workload,
)
from kubeproof.cluster.state import NEVER, NodeCell, Phase, PodKind

WEB = "Deployment/shop/web"
APP_WEB = LabelSelector((Requirement("app", "In", ("web",)),))
FIVE_MINUTES = Toleration(UNREACHABLE, "Exists", "", "NoExecute", 300)


def node(name: str, zone: str = "", *, cpu: int = 4000, labels: dict[str, str] | None = None, **more: Any) -> Node:
    """A node with its host name label, a zone if given, and 8 GiB."""
    own = {HOSTNAME: name} | ({ZONE: zone} if zone else {}) | (labels or {})
    return Node(name, as_labels(own), cpu_milli=cpu, memory_bytes=8 << 30, **more)


def template(*, cpu: int = 100, **more: Any) -> PodTemplate:
    """A pod labelled app=web that tolerates an unreachable node for five minutes."""
    given: dict[str, Any] = {"tolerations": (FIVE_MINUTES,), **more}
    return PodTemplate((("app", "web"),), (Container("main", cpu, 64 << 20),), **given)


def workload(
    replicas: int = 1,
    *,
    kind: str = "Deployment",
    namespace: str = "shop",
    name: str = "web",
    bound_to: str | None = None,
    **more: Any,
) -> Workload:
    """Deployment/shop/web unless told otherwise; `more` goes into the pod template."""
    return Workload(kind, namespace, name, template(**more), replicas, APP_WEB, bound_to=bound_to)


def spread(key: str = HOSTNAME, *, hard: bool = True, skew: int = 1) -> SpreadConstraint:
    """A constraint over pods labelled app=web."""
    return SpreadConstraint(key, skew, hard, APP_WEB)


def setup(nodes: list[Node], *workloads: Workload, **settings: Any) -> Setup:
    """The setup; one web Deployment of one pod if no workload is given."""
    return Setup(tuple(nodes), workloads or (workload(),), settings=Settings(**settings))


def layout(whole: Setup, *places: tuple[int, ...], unique: tuple[str, ...] = ()) -> Layout:
    """The layout with the node numbers sorted into places by hand; each node alone if none are given."""
    sorted_in = places or tuple((index,) for index in range(len(whole.nodes)))
    return Layout(whole, tuple(Place(whole.nodes[p[0]], p) for p in sorted_in), frozenset(unique))


def kind(phase: int, least_s: int = NEVER, most_s: int = NEVER, evict_s: int = NEVER, *, of: int = 0) -> PodKind:
    """Pods of workload `of` in a phase, with clocks."""
    return PodKind(of, int(phase), least_s, most_s, evict_s)


READY = kind(Phase.READY)
STARTING = kind(Phase.STARTING, 1, 5)
UNREADY = kind(Phase.UNREADY)
TERMINATING = kind(Phase.TERMINATING, 0, 30)


def cell(*pods: tuple[PodKind, int], **condition: int) -> NodeCell:
    """A node's content; health, clocks, cordon and taint by keyword."""
    return NodeCell(**condition, pods=tuple(sorted(pods)))


def taint(key: str = "broken", effect: str = "NoExecute") -> Taint:
    """A taint without a value."""
    return Taint(key, "", effect)
