"""A bare Pod that an event brings, where a quota may refuse it.

The API server refuses the request, and the user has to ask again: an event that does not happen while there is no room.
"""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.control import Decision, Reads, Seen, View
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.controllers.quota import Ration, charged_on, in_use
from kubeproof.events.operator import WriteEvent
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class AdmittedPod:
    """The creation of a Pod, as far as the quotas of its namespace allow."""

    event: WriteEvent
    ration: Ration
    workload: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "workload", self.event.workload)

    @property
    def name(self) -> str:
        return self.event.name

    @property
    def stage(self) -> int:
        return self.event.stage

    @property
    def reads(self) -> Reads:
        own = self.event.reads
        others = tuple(number for number in self.ration.members if number != self.workload)
        return Reads((*own.workloads, *others), self.event.source.layout.every_place, own.memories)

    def show_workload(self, workload: int, cell: WorkloadCell) -> tuple[int, View]:
        """Pods without a node; of the Pod itself also what the event sees."""
        return cell.unbound, self.event.show_workload(workload, cell) if workload == self.workload else None

    def show_node(self, place: int, cell: NodeCell) -> View:
        """The pods there that the quotas charge."""
        return charged_on(cell, self.ration.members) or None

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """The creation, if there is room for it; who exists is not created."""
        _, shown = seen.workloads[0]
        exists, _ = shown
        if not exists and not self._has_room(seen):
            return ()
        return self.event.act(Seen((shown,), (), seen.memories))

    def _has_room(self, seen: Seen) -> bool:
        waiting = ((w, pods) for w, (pods, _) in zip(self.reads.workloads, seen.workloads, strict=True))
        charged = in_use(waiting, ((there, count) for groups in seen.places for there, count in groups))
        return self.ration.room(charged) > 0
