"""Services, as far as they decide how traffic is shared among pods.

Endpoints follow readiness: who is deleted gets traffic until the endpoints, all proxies and the controllers of
Ingresses have learnt it (`pkg/controller/endpointslice`, `staging/src/k8s.io/endpointslice`). With
`publishNotReadyAddresses` a pod is published as ready as long as it exists. A proxy whose Service has no ready endpoint
sends to terminating ones that still serve (`pkg/proxy/topology.go`).

A Service with `externalTrafficPolicy: Local` gets an equal part of its traffic on every node that has one of its ready
pods, and each node shares its part among its own. Otherwise all ready pods share alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from kubeproof.cluster.labels import Labels
from kubeproof.cluster.objects import Setup, Source
from kubeproof.cluster.state import KUBELET_LIVES, NEVER, PUBLISHED, SERVING, Nodes, Phase, PodKind
from kubeproof.values import dataclass

Extremes = tuple[int, int]  # fewest and most ready pods on a node that has any; (0, 0) if none has


@dataclass(frozen=True, slots=True)
class Service:
    """A Service with a selector."""

    namespace: str
    name: str
    selector: Labels
    is_split_by_node: bool = False
    publishes_unready: bool = False  # publishNotReadyAddresses: every pod with an address gets traffic
    has_ingress: bool = False  # an Ingress sends traffic to it
    source: Source = field(default=Source(), compare=False)

    def selects(self, namespace: str, labels: Labels) -> bool:
        """True if it sends traffic to pods with these labels."""
        return namespace == self.namespace and set(self.selector) <= set(labels)


def splits_by_node(setup: Setup, members: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """For each Service that splits the traffic of these workloads by node: all workloads that it selects."""
    wanted = set(members)
    found = []
    for service in setup.services:
        selected = select_by(setup, service) if service.is_split_by_node else ()
        if wanted & set(selected):
            found.append(selected)
    return tuple(dict.fromkeys(found))


def select_by(setup: Setup, service: Service) -> tuple[int, ...]:
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


# -- traffic to pods that terminate -------------------------------------------------------------------


def route_after_deletion(setup: Setup, workload: int) -> tuple[int, int]:
    """`route_s` of a pod that is deleted, if it was ready, and if it was not: how long it goes on getting traffic."""
    declared = setup.workloads[workload]
    found = [service for service in setup.services if service.selects(declared.namespace, declared.template.labels)]
    if not found:
        return NEVER, NEVER
    if any(service.publishes_unready for service in found):
        return PUBLISHED, PUBLISHED
    lag_s = max(_lag_s(setup, service) for service in found)
    return (lag_s if lag_s else SERVING), NEVER


def _lag_s(setup: Setup, service: Service) -> int:
    settings = setup.settings
    return settings.endpoints_lag_s + (settings.ingress_lag_s if service.has_ingress else 0)


def is_stopped(kind: PodKind) -> bool:
    """True for a terminating pod whose containers have been told to stop: its preStop hook is over."""
    return kind.phase == Phase.TERMINATING and kind.least_s == 0


def is_misrouted(kind: PodKind) -> bool:
    """True for a pod that has been told to stop and still gets traffic."""
    return is_stopped(kind) and (kind.route_s >= 0 or kind.route_s == PUBLISHED)


def sharing(setup: Setup, members: Iterable[int]) -> tuple[tuple[int, ...], ...]:
    """For each Service that selects pods of these workloads: all workloads that it selects."""
    wanted = set(members)
    found = (select_by(setup, service) for service in setup.services)
    return tuple(dict.fromkeys(selected for selected in found if wanted & set(selected)))


Fallback = tuple[int, int]  # ready pods of a Service, and pods that were ready until they were told to stop


def count_misrouted(nodes: Nodes, workloads: Iterable[int]) -> int:
    """Pods of the workloads that get traffic although they have been told to stop."""
    wanted = set(workloads)
    return sum(
        pods * count
        for cell, count in nodes
        for kind, pods in cell.pods
        if kind.workload in wanted and is_misrouted(kind)
    )


def fallbacks(nodes: Nodes, group: tuple[int, ...], members: Iterable[int]) -> Fallback:
    """Ready pods of a Service's workloads, and those of `members` that were ready until they were told to stop."""
    judged = set(group) & set(members)
    ready = stopped = 0
    for cell, count in nodes:
        for kind, pods in cell.pods:
            ready += pods * count * (kind.workload in group and kind.phase == Phase.READY)
            stopped += pods * count * (kind.workload in judged and is_stopped(kind) and kind.route_s != NEVER)
    return ready, stopped


def count_misrouted_pods(places: Sequence[tuple[int, tuple[Fallback, ...]]]) -> int:
    """Pods that get traffic although they have been told to stop, by `count_misrouted` and `fallbacks` of every place.

    Where a Service has no ready pod at all, these are all that have been told to stop and are not gone.
    """
    found = sum(count for count, _ in places)
    for at in range(len(places[0][1]) if places else 0):
        ready, stopped = (sum(groups[at][i] for _, groups in places) for i in (0, 1))
        found = max(found, 0 if ready else stopped)
    return found
