"""What reading the input gives: a setup, a scenario, and everything that was left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import Setup, Source
from kubeproof.cluster.running import RunningPods
from kubeproof.cluster.scale import Scale
from kubeproof.cluster.versions import Rule
from kubeproof.events.declarations import Event
from kubeproof.events.quantities import QuantifySettings
from kubeproof.intents.declarations import Intent
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.events.workload import WorkloadSpec
    from kubeproof.manifests.node_pools import Pool

RUNNING = "running"
ASSUMED_NODES = "assumed nodes"  # the key of a scope that tells of them


@dataclass(frozen=True, slots=True)
class Omission:
    """Something in the input that the model does not take into account."""

    what: str  # "field spec.template.spec.hostNetwork of Deployment/shop/web", "kind Service"
    source: Source
    why: str = "not modelled"  # empty: it is, from the rule's version on
    rule: Rule | None = None  # of a field that the API server drops before a version
    touches: tuple[str, ...] = ()  # patterns of the workloads (Kind/namespace/name) about which it may decide


@dataclass(frozen=True, slots=True)
class Ignore:
    """An annotation `ignore.kubeproof.dev/ID: reason` of an object."""

    ref: str  # "Deployment/shop/web", "Scenario/name"
    id: str  # as written: ID or key of a property
    reason: str
    source: Source


@dataclass(frozen=True, slots=True)
class Start:
    """Where a run begins: `empty`, `deployed`, an exact placement, or `running` with the pods of the input."""

    mode: str = "empty"
    placement: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()  # workload ref -> (node, pods)
    pods: tuple[RunningPods, ...] = ()  # of `running`

    def spots(self) -> Iterator[tuple[str, str]]:
        """Every workload with every node that it has pods on."""
        yield from ((ref, node) for ref, nodes in self.placement for node, _ in nodes)
        yield from ((one.ref, one.node) for one in self.pods if one.node)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What Kubernetes has no object for."""

    name: str = "default"
    start: Start = Start()
    events: tuple[Event, ...] = ()
    intents: tuple[Intent, ...] = ()
    is_default: bool = False
    scale: Scale | None = None  # None: verify exactly the sizes in the manifests
    source: Source = field(default=Source(), compare=False)
    quantify: QuantifySettings = QuantifySettings()
    workload: WorkloadSpec | None = None  # what `simulate` sends to services


@dataclass(frozen=True, slots=True)
class Loaded:
    """The whole input, checked and defaulted."""

    setup: Setup
    scenario: Scenario
    omissions: tuple[Omission, ...] = ()
    files: tuple[str, ...] = ()
    texts: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # (file, what was read of it)
    ignores: tuple[Ignore, ...] = ()  # violations that annotations accept
    assumed: tuple[Pool, ...] = ()  # the nodes that nobody told of, where the input has no Node objects
    given: tuple[Pool, ...] = ()  # those that --nodes told of instead
