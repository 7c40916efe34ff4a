"""A bare Pod that an event brings, where a quota may refuse it.

The API server refuses the request, and the user has to ask again: an event that does not happen while there is no room.
"""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.controllers.admission.quota import Charged, Ration, find_charged, in_use
from kubeproof.events.operator import Presence, WriteEvent
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


class Waiting(NamedTuple):
    """A workload whose pods the quotas charge."""

    unbound: int  # pods without a node
    shown: Presence | None  # what the event sees of the Pod itself


Sight = Seen[Waiting, Groups[tuple[Charged, ...]]]


@dataclass(frozen=True, slots=True)
class AdmittedPod:
    """The creation of a Pod, as far as the quotas of its namespace allow."""

    event: WriteEvent
    ration: Ration
    workload: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "workload", self.event.workload)

    @property
    def name(self) -> Actor:
        return self.event.name

    @property
    def stage(self) -> int:
        return self.event.stage

    @property
    def reads(self) -> Reads:
        own = self.event.reads
        others = tuple(number for number in self.ration.members if number != self.workload)
        return Reads((*own.workloads, *others), self.event.source.layout.every_place, own.memories)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Waiting:
        """Pods without a node; of the Pod itself also what the event sees."""
        return Waiting(cell.unbound, self.event.show_workload(workload, cell) if workload == self.workload else None)

    def show_node(self, place: int, cell: NodeCell) -> tuple[Charged, ...] | None:
        """The pods there that the quotas charge."""
        return find_charged(cell, self.ration.members) or None

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """The creation, if there is room for it; who exists is not created."""
        shown = seen.workloads[0].shown
        assert shown is not None
        if not shown.exists and not self._has_room(seen):
            return ()
        return self.event.act(Seen((shown,), (), seen.memories))

    def _has_room(self, seen: Sight) -> bool:
        waiting = ((w, view.unbound) for w, view in zip(self.reads.workloads, seen.workloads, strict=True))
        charged = in_use(waiting, ((there, count) for groups in seen.places for there, count in groups))
        return self.ration.room(charged) > 0
