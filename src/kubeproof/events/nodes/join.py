"""create of a Node: the node is not there until the event, and ready from then on.

It belongs to the input, so it does join, at any moment: a run never ends without it. With `after: stable`, or after
another event, it may join like any other event.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import MOMENT, Footprint, Scope, Writes
from kubeproof.cluster.loops.node_verbs import JOIN
from kubeproof.cluster.state import Health, NodeCell
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced
from kubeproof.events.event import Event
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateNode(Event):
    """A Node of the input that is absent until the event."""

    node: str

    manuals = ()  # written as `create`

    footprint = replace(MOMENT, writes=Writes.ARRIVALS, takes_pods_of=Scope.NOWHERE)

    @property
    def one_node(self) -> str:
        return self.node

    @property
    def happens_anyway(self) -> bool:
        """A node of the input joins sooner or later, unless it waits for something else."""
        return self.after is None

    def describe(self) -> str:
        return f"node {self.node} joins"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        place = at.layout.find_named(self.node)
        assert place is not None, self
        yield NodeJoinEvent(at, place)


@dataclass(frozen=True, slots=True)
class NodeJoinEvent(Sourced, NoWorkloads):
    """Brings one node, once."""

    source: EventSource
    place: int
    sees_absent: bool = True  # nodes that are not there are shown to nobody else

    footprint = Footprint(
        writes=Writes.ARRIVALS,
    )

    @property
    def reads(self) -> Reads:
        return self.source.reads(places=(self.place,))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that is not there yet."""
        return 1 if cell.health == Health.ABSENT else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """The node joins."""
        if seen.memories[0][0] <= 0 or not seen.places[0] or not self.source.may_happen(seen.memories):
            return ()
        change = NodeChange(NodeRef(self.place, 1), JOIN)
        role = Role.OPTIONAL if self.source.event.happens_anyway else Role.EVENT
        return (Decision((change, Remember(self.source.memory, (0,))), role),)
