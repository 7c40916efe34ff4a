"""The same input at another size: other numbers of nodes of each kind, and of pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import HOSTNAME, POD, Node, Setup, Workload
from kubeproof.events.declarations import Apply, Event
from kubeproof.intents.declarations import Amount
from kubeproof.manifests.loaded import Loaded, Start


@dataclass(frozen=True, slots=True)
class Linear:
    """A number that follows the pods P: `times` P plus `plus`."""

    times: int
    plus: int

    def of(self, pods: int) -> int:
        """The number for so many pods."""
        return max(0, self.times * pods + self.plus)


@dataclass(frozen=True, slots=True)
class Growth:
    """What grows with a size: node kinds by a node that stands for them, and numbers that follow the pods."""

    nodes: tuple[tuple[str, int], ...]  # (name of the node used as template, most)
    target: str  # Workload.ref
    most_pods: int
    least_pods: int = 1  # below, the size is trivial: an autoscaler without room, a bound of nothing
    replicas: Linear = Linear(1, 0)
    hpa_min: Linear | None = None
    hpa_max: Linear | None = None
    count: Linear | None = None  # of the intents that have one
    applied: Linear | None = None  # replicas of what apply events write


@dataclass(frozen=True, slots=True)
class Size:
    """One size: how many nodes of each kind, and how many pods."""

    nodes: tuple[tuple[str, int], ...]
    pods: int

    @property
    def total(self) -> int:
        return sum(count for _, count in self.nodes)


def sizes(growth: Growth) -> Iterator[Size]:
    """All sizes from small to large: by nodes in all, then by pods. No nodes and no pods are left out."""
    names = [name for name, _ in growth.nodes]
    counts = product(*(range(most + 1) for _, most in growth.nodes))
    for combination in sorted((c for c in counts if sum(c)), key=lambda c: (sum(c), c)):
        for pods in range(growth.least_pods, growth.most_pods + 1):
            yield Size(tuple(zip(names, combination, strict=True)), pods)


def resized(loaded: Loaded, growth: Growth, size: Size) -> Loaded:
    """The input at this size; an exact placement becomes `start: deployed`, which does not depend on it."""
    setup = _with_nodes(loaded.setup, dict(size.nodes))
    setup = replace(
        setup,
        workloads=tuple(_sized(w, growth, size.pods) for w in setup.workloads),
        autoscalers=tuple(
            replace(
                autoscaler,
                min_replicas=_number(growth.hpa_min, size.pods, autoscaler.min_replicas),
                max_replicas=_number(growth.hpa_max, size.pods, autoscaler.max_replicas),
            )
            for autoscaler in setup.autoscalers
        ),
    )
    scenario = loaded.scenario
    intents = tuple(
        replace(i, count=Amount(growth.count.of(size.pods))) if growth.count and i.count else i
        for i in scenario.intents
    )
    start = Start("deployed") if scenario.start.placement else scenario.start
    events = tuple(_event(event, growth, size.pods) for event in scenario.events)
    return replace(loaded, setup=setup, scenario=replace(scenario, intents=intents, start=start, events=events))


def _number(linear: Linear | None, pods: int, otherwise: int) -> int:
    return otherwise if linear is None else linear.of(pods)


def _sized(workload: Workload, growth: Growth, pods: int) -> Workload:
    return replace(workload, replicas=growth.replicas.of(pods)) if workload.ref == growth.target else workload


def _event(event: Event, growth: Growth, pods: int) -> Event:
    if isinstance(event, Apply) and growth.applied is not None:
        return replace(event, workload=replace(event.workload, replicas=growth.applied.of(pods)))
    return event


def _with_nodes(setup: Setup, counts: Mapping[str, int]) -> Setup:
    """Nodes copied as often as asked, with the bare pods that run on them; other nodes are left out."""
    nodes: list[Node] = []
    workloads = [w for w in setup.workloads if not (w.kind == POD and w.bound_to)]
    for node in setup.nodes:
        for number in range(1, counts.get(node.name, 0) + 1):
            copy = _copied(node, number)
            nodes.append(copy)
            riders = [w for w in setup.workloads if w.kind == POD and w.bound_to == node.name]
            workloads += [_moved(rider, copy.name, number) for rider in riders]
    return replace(setup, nodes=tuple(nodes), workloads=tuple(workloads))


def _copied(node: Node, number: int) -> Node:
    """The node itself, then copies of it under names of their own."""
    if number == 1:
        return node
    name = f"{node.name}-copy{number}"
    labels = dict(node.labels)
    if labels.get(HOSTNAME) == node.name:
        labels[HOSTNAME] = name
    return replace(node, name=name, labels=as_labels(labels))


def _moved(rider: Workload, node: str, number: int) -> Workload:
    name = rider.name if number == 1 else f"{rider.name}-copy{number}"
    return replace(rider, name=name, bound_to=node, template=replace(rider.template, node_name=node))
