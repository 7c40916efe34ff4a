"""The ReplicaSet controller under a vertical pod autoscaler: creates pods with the requests that are recommended.

It counts and deletes pods of all sizes as its own, as `kubeproof.controllers.workloads.replicaset` does for pods of one
size; what it creates has the size that is recommended at that moment. Sizes play no part in the rank of victims.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import cast

from kubeproof.cluster.loops.actions import Action, CreatePods, DeleteUnbound, KeepNode, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Footprint, Writes, some
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import short_name
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell
from kubeproof.cluster.steering.vertical import sizes_of
from kubeproof.controllers.workloads.replicaset import MOST_WAYS, RANKS, Size
from kubeproof.controllers.workloads.victims import Loss, Tier, choices
from kubeproof.errors import LimitReached
from kubeproof.values import dataclass

Owned = tuple[tuple[tuple[int, int], int], ...]  # ((size, phase), pods) on one node, terminating ones left out
Sight = Seen[Size, Groups[Owned]]
Owner = tuple[int, Owned, int, int]  # place, view of the node, size, phase


@dataclass(frozen=True, slots=True)
class ResizedReplicaSet:
    """The loop for one ReplicaSet (a Deployment's, or a bare one)."""

    layout: Layout
    workload: int
    memory: int  # of the vertical pod autoscaler: its last number is the size that new pods get
    stage: int = Stage.ALWAYS
    sizes: tuple[int, ...] = field(init=False, compare=False, repr=False)
    reads: Reads = field(init=False, compare=False, repr=False)

    reads_nodes = mention_nothing

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", sizes_of(self.layout.setup, self.workload))
        object.__setattr__(self, "reads", Reads(self.sizes, self.layout.every_place, (self.memory,)))

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.PODS | Writes.DELETIONS,
            tells_starts=some(self.sizes),
            sees_objects=NOBODY,
            sees_new_pods=NOBODY,
        )

    @property
    def name(self) -> Actor:
        loop = self.layout.setup.workloads[self.workload].rules.loop
        return Actor(loop or ActorKind.REPLICA_SET, short_name(self.layout.setup, self.workload))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Size:
        """The ReplicaSet's size and the pods without a node; of further sizes of pods these alone."""
        return Size(cell.replicas if workload == self.workload else NEVER, cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> Owned | None:
        """Its active pods by size and phase."""
        amounts: Counter[tuple[int, int]] = Counter()
        for kind, count in cell.pods:
            if kind.workload in self.sizes and kind.phase != Phase.TERMINATING:
                amounts[kind.workload, kind.phase] += count
        return tuple(sorted(amounts.items())) or None

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """Creates what is missing, or deletes what is too much in every way the ranking allows."""
        replicas = seen.workloads[0].replicas
        if replicas == NEVER:
            return ()
        unbound = [size.unbound for size in seen.workloads]
        bound = sum(pods * nodes for groups in seen.places for owned, nodes in groups for _, pods in owned)
        surplus = sum(unbound) + bound - replicas
        if surplus < 0:
            return (Decision((CreatePods(self.sizes[seen.memories[0][-1]], -surplus),)),)
        if surplus == 0:
            return ()
        ways = tuple(islice(self._deletions(seen, surplus, unbound), MOST_WAYS + 1))
        if len(ways) > MOST_WAYS:
            raise LimitReached(f"more than {MOST_WAYS} ways to choose {surplus} victims in one scale-down")
        return tuple(Decision(actions) for actions in ways)

    def _deletions(self, seen: Sight, surplus: int, unbound: list[int]) -> Iterator[tuple[Action, ...]]:
        """Unassigned pods go first, of any size, then bound ones by rank."""
        direct = min(surplus, sum(unbound))
        tiers = [
            Tier((*RANKS[Phase(phase)], -sum(n for _, n in owned)), (place, owned, size, phase), pods, nodes)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            for owned, nodes in _merge(groups).items()
            for (size, phase), pods in owned
        ]
        for first in _take(self.sizes, unbound, direct):
            for losses in choices(tiers, surplus - direct):
                yield (*first, *self._as_actions(losses))

    def _as_actions(self, losses: tuple[Loss, ...]) -> Iterator[Action]:
        """One deletion per node, of pods of all sizes."""
        per_group: dict[tuple[int, Owned, int], list[tuple[int, int, tuple[int, ...]]]] = {}
        for tier, parts in losses:
            place, owned, size, phase = cast("Owner", tier.owner)
            per_group.setdefault((place, owned, tier.nodes), []).append((size, phase, parts))
        for (place, owned, nodes), lost in per_group.items():
            for index in range(nodes):
                taken = tuple((size, phase, parts[index]) for size, phase, parts in lost if index < len(parts))
                if taken:
                    yield KeepNode(NodeRef(place, owned), self.workload, losses=taken)


def _take(sizes: tuple[int, ...], unbound: list[int], count: int) -> Iterator[tuple[Action, ...]]:
    """Every way to delete so many pods without a node."""
    if not sizes:
        if count == 0:
            yield ()
        return
    for here in range(min(unbound[0], count), -1, -1):
        for rest in _take(sizes[1:], unbound[1:], count - here):
            yield (DeleteUnbound(sizes[0], here), *rest) if here else rest


def _merge(groups: tuple[tuple[Owned, int], ...]) -> dict[Owned, int]:
    amounts: dict[Owned, int] = {}
    for owned, count in groups:
        amounts[owned] = amounts.get(owned, 0) + count
    return amounts
