"""nodeFailure: a kubelet falls silent, and may speak again."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.actors import Actor, ActorKind
from kubeproof.cluster.control import (
    FAIL,
    FAIL_FOR_GOOD,
    RECOVER,
    Decision,
    Groups,
    NodeChange,
    NodeRef,
    Reads,
    Remember,
    Role,
    Seen,
    Stage,
)
from kubeproof.cluster.footprint import NOBODY, Clocks, Deletes, Footprint, Sizing, Writes
from kubeproof.cluster.state import KUBELET_LIVES, Cause, NodeCell, Work
from kubeproof.events.common import EventSource, NoWorkloads, Sourced, one_less
from kubeproof.events.declarations import NodeFailure
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class NodeFailureEvent(Sourced, NoWorkloads):
    """Fails nodes (one at a time, or `max` together, or up to so many) while its budget lasts."""

    source: EventSource
    event: NodeFailure

    footprint = Footprint(
        writes=Writes.FAILURES,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        clocks=Clocks.SILENCE,
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        return self.source.reads(places=hit_places(self.source, self.event))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that can fail."""
        return 1 if cell.health in KUBELET_LIVES and cell.work != Work.DOWN else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """A failure of any node it may hit."""
        left = seen.memories[0][0]
        if left == 0 or not self.source.may_happen(seen.memories):
            return ()
        alive = [sum(count for _, count in groups) for groups in seen.places]
        memory = Remember(self.source.memory, (0 if self.event.together else one_less(left),))
        return tuple(
            Decision((*self._failures(picks), memory), Role.EVENT)
            for amount in self._amounts(left)
            for picks in _picks(alive, amount)
        )

    def _amounts(self, left: int) -> range:
        """How many nodes may fail in one step, most first."""
        if not self.event.together:
            return range(1, 2)
        return range(left, 0 if self.event.or_fewer else left - 1, -1)

    def _failures(self, picks: tuple[int, ...]) -> Iterator[NodeChange]:
        for place, count in zip(self.reads.places, picks, strict=True):
            for _ in range(count):
                yield NodeChange(NodeRef(place, 1), FAIL if self.event.recovers else FAIL_FOR_GOOD)


@dataclass(frozen=True, slots=True)
class NodeRecoveryEvent(NoWorkloads):
    """Brings a failed node back, at any later moment."""

    source: EventSource
    event: NodeFailure
    stage: int = Stage.ALWAYS

    footprint = Footprint(
        writes=Writes.FAILURES,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        clocks=Clocks.SILENCE,
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.EVENT, self.event.name)

    @property
    def is_promise(self) -> bool:
        """True if no endless run keeps the node down, whatever else goes on meanwhile."""
        return self.event.comes_back

    @property
    def reads(self) -> Reads:
        return Reads(places=hit_places(self.source, self.event))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that is down and may come back."""
        return 1 if cell.health not in KUBELET_LIVES and cell.cause == Cause.FAILURE else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """A recovery of any node that is down."""
        role = Role.OPTIONAL if self.event.comes_back else Role.EVENT
        return tuple(
            Decision((NodeChange(NodeRef(place, 1), RECOVER),), role)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            if groups
        )


def hit_places(source: EventSource, event: NodeFailure) -> tuple[int, ...]:
    """The places whose nodes the event may hit."""
    places = source.layout.places
    return tuple(i for i, place in enumerate(places) if event.nodes.admits(place.sample))


def _picks(available: list[int], amount: int) -> Iterator[tuple[int, ...]]:
    """All ways to pick `amount` nodes from places with so many each."""
    if not available:
        if amount == 0:
            yield ()
        return
    for here in range(min(available[0], amount), -1, -1):
        for rest in _picks(available[1:], amount - here):
            yield (here, *rest)
