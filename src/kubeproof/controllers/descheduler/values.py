"""What the descheduler is shown and what it answers: groups of equal nodes and pods, and evictions."""

from __future__ import annotations

from kubeproof.cluster.labels import Taint
from kubeproof.cluster.objects import Node
from kubeproof.named_tuples import NamedTuple

Version = tuple[int, int]  # of the descheduler: (0, 27) stands for 0.27.1

MAX_OUTCOMES = 20_000  # alternatives of one cycle that are followed at most


class PodGroup(NamedTuple):
    """Equal pods of one workload on each node of an entry."""

    workload: int  # index into setup.workloads
    pods: int
    terminating: bool  # has a deletionTimestamp
    failed: bool  # phase Failed (or Succeeded): holds no resources
    age_s: int | None  # since creation; None: younger than anything asks for, and not started
    restarts: int  # of all containers together
    ready: bool
    pending: bool = False  # phase Pending: bound, not started


class NodeEntry(NamedTuple):
    """`count` equal nodes.

    They differ at most in their name and in the labels whose keys are unique to a node, so a node that some
    policy or pod names must be an entry of its own.
    """

    node: Node
    count: int  # type: ignore[assignment]  # hides tuple.count on purpose
    is_ready: bool  # the condition; cordoned nodes are ready
    unschedulable: bool
    taints: tuple[Taint, ...]
    pods: tuple[PodGroup, ...]


Eviction = tuple[int, int, int]  # group within the entry's pods, entry, number of pods, for one node of the entry


class NodeLoss(NamedTuple):
    """What one node loses: its entry, and pods by group index."""

    entry: int
    losses: tuple[tuple[int, int], ...]


Outcome = tuple[NodeLoss, ...]  # one per affected node; two nodes of one entry appear twice


def evictions_of(outcome: Outcome) -> tuple[Eviction, ...]:
    """The outcome as single evictions, node by node."""
    return tuple((group, loss.entry, pods) for loss in outcome for group, pods in loss.losses)
