"""Small controllers of a user's own: fighters, evictors, cordoners. Most of them never come to rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from kubeproof.cluster.nodes.places import Layout
from kubeproof.controllers.own import (
    Adapted,
    ClusterView,
    NodeView,
    OwnAction,
    OwnController,
    cordon,
    evict,
    scale,
    uncordon,
)
from kubeproof.model.plan import OwnLoop

Wishes = Iterator[OwnAction | tuple[OwnAction, ...]]


@dataclass(frozen=True)
class Wants:
    """Always wants one size; two of them fight for ever."""

    ref: str
    replicas: int

    @property
    def name(self) -> str:
        return f"wants-{self.replicas}"

    def act(self, cluster: ClusterView) -> Wishes:
        yield scale(self.ref, self.replicas)


@dataclass(frozen=True)
class Flapper:
    """Goes between two sizes, each time the cluster has caught up."""

    name: ClassVar[str] = "flapper"

    ref: str
    low: int
    high: int

    def act(self, cluster: ClusterView) -> Wishes:
        seen = cluster.workload(self.ref)
        if seen.exists and seen.ready == seen.desired and seen.pods.terminating == 0:
            yield scale(self.ref, self.low if seen.desired == self.high else self.high)


@dataclass(frozen=True)
class Saver:
    """Scales down what cannot be placed: comes to rest."""

    name: ClassVar[str] = "saver"

    ref: str

    def act(self, cluster: ClusterView) -> Wishes:
        seen = cluster.workload(self.ref)
        if seen.pending:
            yield scale(self.ref, seen.desired - 1)


@dataclass(frozen=True)
class Evictor:
    """Evicts ready pods wherever they are; with `least`, only where there are so many."""

    name: ClassVar[str] = "evictor"

    ref: str
    least: int = 1
    pods: int = 1

    def act(self, cluster: ClusterView) -> Wishes:
        for node in cluster.nodes:
            if node.pods_of(self.ref).ready >= self.least:
                yield evict(node, self.ref, self.pods)


@dataclass(frozen=True)
class Guard:
    """Cordons nodes that hold pods, lifts it from empty ones."""

    name: ClassVar[str] = "guard"

    def act(self, cluster: ClusterView) -> Wishes:
        for node in cluster.nodes:
            if _total(node) and not node.is_cordoned:
                yield cordon(node)
            elif not _total(node) and node.is_cordoned:
                yield uncordon(node)


@dataclass(frozen=True)
class Mover:
    """Scales up by one and evicts one pod, both in one decision; scales back when all are ready."""

    name: ClassVar[str] = "mover"

    ref: str
    replicas: int

    def act(self, cluster: ClusterView) -> Wishes:
        seen = cluster.workload(self.ref)
        if seen.desired > self.replicas and seen.ready == seen.desired:
            yield scale(self.ref, self.replicas)
        for node in cluster.nodes:
            if seen.desired == self.replicas and node.pods_of(self.ref).ready:
                yield (scale(self.ref, self.replicas + 1), evict(node, self.ref))


@dataclass(frozen=True)
class PoolKeeper:
    """Reads a label: evicts pods from nodes outside of its pool."""

    name: ClassVar[str] = "pool-keeper"
    labels: ClassVar[tuple[str, ...]] = ("pool",)

    ref: str

    def act(self, cluster: ClusterView) -> Wishes:
        for node in cluster.nodes:
            counts = node.pods_of(self.ref)
            if dict(node.labels).get("pool") != "web" and counts.ready + counts.starting:
                yield evict(node, self.ref)


def _total(node: NodeView) -> int:
    return sum(sum(counts) for _, counts in node.pods)


def loop_of(own: OwnController) -> OwnLoop:
    """A user's controller as the plan takes it."""
    labels = tuple(getattr(own, "labels", ()))

    def make(layout: Layout) -> Adapted:
        return Adapted(layout, own, labels)

    return OwnLoop(make, labels)
