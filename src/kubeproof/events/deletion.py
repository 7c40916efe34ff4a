"""delete: a user deletes a workload, and its pods go with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.loops.actions import Action, DeleteObject, DeleteUnbound, NodeRef, Remember
from kubeproof.cluster.loops.actions import Delete as DeletePods
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import MOMENT, NOBODY, Clocks, Footprint, Scope, Writes, some
from kubeproof.cluster.objects import family, workload_number
from kubeproof.cluster.state import NodeCell, Phase, WorkloadCell
from kubeproof.events.common import Around, EventSource, Sourced
from kubeproof.events.event import WEB, Event
from kubeproof.events.manual import Field, Manual
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete(Event):
    """A user deletes a workload."""

    target: str

    manuals = (
        Manual(
            key="delete",
            text="A workload is deleted, and its pods with it.",
            fields=(Field("target"),),
            example=f"delete: {{{WEB}}}",
            is_timed=True,
        ),
    )

    footprint = replace(MOMENT, writes=Writes.REMOVALS | Writes.DELETIONS, takes_pods_of=Scope.WORKLOAD)

    def describe(self) -> str:
        return f"{self.target} is deleted"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield DeleteEvent(at, workload_number(at.layout.setup, self.target))


class Waiting(NamedTuple):
    """What there is of a workload that no node has."""

    exists: int
    unbound: int  # pods without a node


@dataclass(frozen=True, slots=True)
class DeleteEvent(Sourced):
    """Deletes a workload; its ReplicaSets then want no pods. A bare Pod is deleted itself."""

    source: EventSource
    workload: int

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.REMOVALS | Writes.DELETIONS,
            clocks=Clocks(0),
            tells_starts=some((self.workload,) if self._is_pod else ()),
            tells_ends=NOBODY,
            sees_objects=some(family(self.source.layout.setup, self.workload)),
            sees_new_pods=some((self.workload,)),
        )

    @property
    def _is_pod(self) -> bool:
        return self.source.layout.setup.workloads[self.workload].rules.is_pod

    @property
    def reads(self) -> Reads:
        places = self.source.layout.every_place if self._is_pod else ()
        return self.source.reads(workloads=(self.workload,), places=places)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Waiting:
        """Whether the workload exists, and its pods without a node."""
        return Waiting(cell.exists, cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """The phase of the bare Pod, where it is."""
        phases = [k.phase for k, _ in cell.pods if k.workload == self.workload and k.phase != Phase.TERMINATING]
        return phases[0] if phases else None

    def act(self, seen: Seen[Waiting, Groups[int]]) -> tuple[Decision, ...]:
        """The deletion, once."""
        left = seen.memories[0][0]
        exists, unbound = seen.workloads[0]
        if left <= 0 or not exists or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (left - 1,))
        members = family(self.source.layout.setup, self.workload)
        removals: list[Action] = [DeleteObject(member) for member in members]
        if not self._is_pod:
            return (Decision((*removals, memory), Role.EVENT),)
        removals += [DeleteUnbound(self.workload, unbound)] if unbound else []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            removals += [DeletePods(NodeRef(place, phase), self.workload, (((phase,), 1),)) for phase, _ in groups]
        return (Decision((*removals, memory), Role.EVENT),)
