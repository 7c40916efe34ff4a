"""What facts are shown: a statement about one state, and the views of workloads and places that most of them take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar, runtime_checkable

from kubeproof.cluster.loops.control import AnySeen, Reads, Seen, View, WorkloadView
from kubeproof.cluster.state import Nodes, WorkloadCell
from kubeproof.named_tuples import NamedTuple

PlaceView = TypeVar("PlaceView", bound=View)


class Fact(Protocol[WorkloadView, PlaceView]):
    """A statement about one state, as its author writes it."""

    @property
    def reads(self) -> Reads: ...

    def show_workload(self, workload: int, cell: WorkloadCell) -> WorkloadView: ...

    def show_nodes(self, place: int, nodes: Nodes) -> PlaceView:
        """What of a place's nodes matters, added up."""
        ...

    def holds(self, seen: Seen[WorkloadView, PlaceView]) -> bool:
        """The statement itself."""
        ...

    def is_settled(self, seen: Seen[WorkloadView, PlaceView]) -> bool:
        """True once the workload has reached its desired state: from then on `always` counts."""
        ...

    def matters(self, seen: Seen[WorkloadView, PlaceView]) -> bool:
        """True in states that say something about the intent; if none does, the verdict is vacuous."""
        ...


class AnyFact(Protocol):
    """A fact, whatever its views, to those who ask it: they hand it the views it made, unread."""

    @property
    def reads(self) -> Reads: ...

    def show_workload(self, workload: int, cell: WorkloadCell) -> View: ...

    def show_nodes(self, place: int, nodes: Nodes) -> View: ...

    @property
    def holds(self) -> Callable[..., bool]: ...

    @property
    def is_settled(self) -> Callable[..., bool]: ...

    @property
    def matters(self) -> Callable[..., bool]: ...


@runtime_checkable
class Measured(Protocol):
    """A fact that tells how far it is from being false."""

    @property
    def spare(self) -> Callable[..., int]:
        """By how much more or less of what it counts it would be false; negative where it is."""
        ...


def spare_of(fact: object, seen: AnySeen) -> int:
    """By how much a fact holds; 0 of one that does not tell."""
    return fact.spare(seen) if isinstance(fact, Measured) else 0


class Counts(NamedTuple):
    """A workload, as far as a fact looks at it."""

    exists: int
    desired: int
    unbound: int = 0  # pods without a node
    replicas: int = 0  # of its ReplicaSet
    template: int = 0  # the revision asked for


class Ready(Protocol):
    """A view of a place that tells the ready pods."""

    @property
    def ready(self) -> int: ...

    def __hash__(self) -> int: ...


class Pods(NamedTuple):
    """The pods of a workload in a place."""

    ready: int
    active: int  # not terminating
    pinned: int = 0  # that wait for the one node they may run on


class Domain(NamedTuple):
    """The pods of a place as those of a domain, or of several."""

    fewest: int
    most: int
    ready: int


class Rows(NamedTuple):
    """Who is together in a place."""

    nodes: tuple[tuple[int, int], ...]  # per node the target's pods and the others', sorted, each once
    ready: int


class Used(NamedTuple):
    """Where a workload's pods are."""

    nodes: int  # that have any
    ready: int
