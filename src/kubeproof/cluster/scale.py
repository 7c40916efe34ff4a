"""How an input grows: node kinds, pods, numbers that follow them, and the bound of a sweep over all sizes."""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """`pods` times P plus `nodes` times N plus `plus`."""

    pods: int = 0
    nodes: int = 0
    plus: int = 0


@dataclass(frozen=True, slots=True)
class Following:
    """A number that follows a size: the least of its terms, never below zero."""

    terms: tuple[Term, ...]

    def of(self, pods: int, nodes: int) -> int:
        """The number for so many pods of the workload (P) and nodes in all (N)."""
        return max(0, min(term.pods * pods + term.nodes * nodes + term.plus for term in self.terms))


@dataclass(frozen=True, slots=True)
class NodeScale:
    """Nodes that are copies of one node of the input; `most` is None where only a limit bounds them."""

    like: str  # name of the Node used as template
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class WorkloadScale:
    """A workload of so many pods; numbers without a rule of their own keep their distance from `replicas`."""

    target: str  # Workload.ref
    least: int = 1
    most: int | None = None
    autoscaler_min: Following | None = None
    autoscaler_max: Following | None = None
    intents: tuple[tuple[str, Following], ...] = ()  # counts by name of the intent
    events: tuple[tuple[str, Following], ...] = ()  # replicas that an apply event writes, by name of the event


@dataclass(frozen=True, slots=True)
class Limit:
    """The bound of a sweep: so many nodes of each kind, and so many pods for each node there is."""

    nodes: int
    pods_per_node: int


DECLARED = "declared"  # the ranges themselves are the bound
ACTUAL = "none"  # no sweep: the size in the manifests
ESC = "esc"  # the empirically sufficient scale of a library of cases


@dataclass(frozen=True, slots=True)
class Scale:
    """What a Scenario says about other sizes."""

    nodes: tuple[NodeScale, ...] = ()
    workloads: tuple[WorkloadScale, ...] = ()
    limit: Limit | str = DECLARED  # a limit, or DECLARED, ACTUAL, ESC
    keeps_numbers: bool = False  # numbers without a rule stay as they are: other sizes that no Scenario speaks of
    source: Source = field(default=Source(), compare=False)
