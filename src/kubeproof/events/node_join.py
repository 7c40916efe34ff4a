"""create of a Node: the node is not there until the event, and ready from then on.

It belongs to the input, so it does join, at any moment: a run never ends without it. With `after: stable`, or after
another event, it may join like any other event.
"""

from __future__ import annotations

from kubeproof.cluster.control import JOIN, Decision, Groups, NodeChange, NodeRef, Reads, Remember, Role, Seen
from kubeproof.cluster.footprint import NOBODY, Clocks, Deletes, Footprint, Sizing, Writes
from kubeproof.cluster.state import Health, NodeCell
from kubeproof.events.common import EventSource, NoWorkloads, Sourced
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class NodeJoinEvent(Sourced, NoWorkloads):
    """Brings one node, once."""

    source: EventSource
    place: int
    sees_absent: bool = True  # nodes that are not there are shown to nobody else

    footprint = Footprint(
        writes=Writes.ARRIVALS,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        clocks=Clocks(0),
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
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
        role = Role.OPTIONAL if self.source.event.after is None else Role.EVENT
        return (Decision((change, Remember(self.source.memory, (0,))), role),)
