"""Services, as far as they decide how traffic is shared among pods.

A Service with `externalTrafficPolicy: Local` gets an equal part of its traffic on every node that has one of its ready
pods, and each node shares its part among its own. Otherwise all ready pods share alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from kubeproof.cluster.labels import Labels
from kubeproof.cluster.objects import Setup, Source
from kubeproof.cluster.state import KUBELET_LIVES, Nodes, Phase
from kubeproof.values import dataclass

Extremes = tuple[int, int]  # fewest and most ready pods on a node that has any; (0, 0) if none has


@dataclass(frozen=True, slots=True)
class Service:
    """A Service with a selector."""

    namespace: str
    name: str
    selector: Labels
    is_split_by_node: bool = False
    source: Source = field(default=Source(), compare=False)

    def selects(self, namespace: str, labels: Labels) -> bool:
        """True if it sends traffic to pods with these labels."""
        return namespace == self.namespace and set(self.selector) <= set(labels)


def splits_by_node(setup: Setup, members: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """For each Service that splits the traffic of these workloads by node: all workloads that it selects."""
    wanted = set(members)
    found = []
    for service in setup.services:
        selected = selected_by(setup, service) if service.is_split_by_node else ()
        if wanted & set(selected):
            found.append(selected)
    return tuple(dict.fromkeys(found))


def selected_by(setup: Setup, service: Service) -> tuple[int, ...]:
    """The workloads whose pods a Service selects."""
    workloads = enumerate(setup.workloads)
    return tuple(number for number, w in workloads if service.selects(w.namespace, w.template.labels))


def extremes(nodes: Nodes, workloads: tuple[int, ...]) -> Extremes:
    """Fewest and most ready pods of these workloads on a node that runs and has any."""
    counts = [
        sum(pods for kind, pods in cell.pods if kind.workload in workloads and kind.phase == Phase.READY)
        for cell, _ in nodes
        if cell.health in KUBELET_LIVES
    ]
    used = [count for count in counts if count]
    return (min(used), max(used)) if used else (0, 0)


def load_ratio(places: Iterable[Extremes]) -> int:
    """How many times the load of the least busy pod the busiest gets, rounded up; 0 without ready pods."""
    used = [found for found in places if found[0]]
    if not used:
        return 0
    fewest, most = min(low for low, _ in used), max(high for _, high in used)
    return -(-most // fewest)
