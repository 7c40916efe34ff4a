"""Events as a Scenario declares them; what each does is in the module named after it."""

from __future__ import annotations

from dataclasses import dataclass, field

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import Node, Source, Workload

STABLE = "stable"


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """Which nodes an event may hit: by label selector, by name, or (both None) all."""

    selector: LabelSelector | None = None
    names: tuple[str, ...] | None = None

    def admits(self, node: Node) -> bool:
        """True if the event may hit this node."""
        if self.names is not None and node.name not in self.names:
            return False
        return self.selector is None or self.selector.matches(dict(node.labels))


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Fields common to all events."""

    name: str  # unique in the Scenario; given, or made from key and position
    max: int = 1
    after: str | None = None  # "stable", or the name of another event
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFailure(Event):
    """A node's kubelet stops; with `recovers` it may come back."""

    nodes: NodeChoice = NodeChoice()
    recovers: bool = True
    together: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordon(Event):
    """An operator marks a node unschedulable; with `reversible` also back."""

    nodes: NodeChoice = NodeChoice()
    reversible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain(Event):
    """An operator drains a node: cordons it, then evicts its pods through the eviction API, retrying."""

    nodes: NodeChoice = NodeChoice()
    concurrent: int = 1
    uncordon: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance(Event):
    """An operator drains a node, takes it down, brings it back and uncordons it."""

    nodes: NodeChoice = NodeChoice()
    concurrent: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale(Event):
    """A user sets spec.replicas of a workload to any of the values, once each."""

    target: str  # Workload.ref
    replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(Event):
    """A workload of the input that is absent until the event."""

    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply(Event):
    """A user applies an object: `workload` is what it looks like after defaulting.

    If a workload of that ref is in the input, the apply updates it, otherwise it creates it.
    """

    workload: Workload
    replicas_given: bool = True
