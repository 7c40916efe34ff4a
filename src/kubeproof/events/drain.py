"""drain and maintenance: an operator empties nodes through the eviction API.

Mirrors `kubectl drain --ignore-daemonsets --delete-emptydir-data --force`: the node is cordoned, then all its pods but
those of DaemonSets are asked to be evicted; a refusal by a budget is tried again for ever. Here a refused eviction has
no step until the budget allows it.
"""

from __future__ import annotations

from typing import NamedTuple

from kubeproof.cluster.actors import Actor, ActorKind
from kubeproof.cluster.control import (
    DRAIN,
    DRAIN_UNCORDON,
    DRAINED,
    MAINTAIN,
    REMOVE,
    RETURN,
    Decision,
    Groups,
    NodeChange,
    NodeRef,
    NodeVerb,
    Reads,
    Remember,
    Role,
    Seen,
    Stage,
)
from kubeproof.cluster.daemons import daemon_sets
from kubeproof.cluster.footprint import NOBODY, Clocks, Deletes, Footprint, Sizing, Writes
from kubeproof.cluster.places import Layout
from kubeproof.cluster.state import DRAINING, KUBELET_LIVES, NodeCell, Work
from kubeproof.events.common import EventSource, NoWorkloads, Sourced
from kubeproof.events.declarations import Drain, Maintenance
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class DrainEvent(Sourced, NoWorkloads):
    """Begins to drain a node, while its budget lasts and not too many are under way."""

    source: EventSource
    event: Drain | Maintenance

    footprint = Footprint(
        writes=Writes.DRAINS,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        clocks=Clocks.MAINTENANCE,
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        places = self.source.layout.places
        hit = tuple(i for i, place in enumerate(places) if self.event.nodes.admits(place.sample))
        return self.source.reads(places=hit)

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node under work, 0 for one that can be taken up."""
        if cell.work == Work.LEAVE:
            return None  # the cluster autoscaler is about to delete it
        if cell.work:
            return 1
        if cell.marks & self.source.mark:
            return None  # it has had its turn
        return 0 if cell.health in KUBELET_LIVES else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """The beginning of a drain of any node that is free."""
        left = seen.memories[0][0]
        under_way = sum(count for groups in seen.places for busy, count in groups if busy)
        if left <= 0 or under_way >= self.event.concurrent or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (left - 1,))
        return tuple(
            Decision((NodeChange(NodeRef(place, 0), self._verb, self.source.mark), memory), Role.EVENT)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            if any(not busy for busy, _ in groups)
        )

    @property
    def _verb(self) -> NodeVerb:
        if isinstance(self.event, Maintenance):
            return MAINTAIN
        return DRAIN_UNCORDON if self.event.uncordon else DRAIN


class Next(NamedTuple):
    """What happens to a node next."""

    verb: NodeVerb
    is_due: int  # it must happen now


@dataclass(frozen=True, slots=True)
class DrainProgress(NoWorkloads):
    """Goes on when a node is empty: deletes it if it is to go, brings it back from maintenance."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.DRAIN)

    footprint = Footprint(
        writes=Writes.DRAINS | Writes.DEPARTURES,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        clocks=Clocks.MAINTENANCE,
        tells_starts=NOBODY,
        wakes_on=Writes.DRAINS,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_node(self, place: int, cell: NodeCell) -> Next | None:
        """What may or must happen to the node next."""
        is_empty = all(kind.workload in daemon_sets(self.layout.setup) for kind, _ in cell.pods)
        if cell.work in DRAINING and is_empty and cell.health in KUBELET_LIVES:
            # a node that fails meanwhile keeps its operator waiting
            return Next(REMOVE if cell.work == Work.RETIRE else DRAINED, 1)
        if cell.work == Work.DOWN and cell.least_s == 0:
            return Next(RETURN, int(cell.most_s == 0))
        return None

    def act(self, seen: Seen[None, Groups[Next]]) -> tuple[Decision, ...]:
        """One step per node."""
        return tuple(
            Decision((NodeChange(NodeRef(self.place, view), view.verb),), Role.URGENT if view.is_due else Role.OPTIONAL)
            for view in dict.fromkeys(view for view, _ in seen.places[0])
        )
