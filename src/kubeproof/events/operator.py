"""scale, create and apply: a user writes a workload object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kubeproof.cluster.actors import Actor, ActorKind
from kubeproof.cluster.control import (
    ANY,
    Action,
    Arrive,
    CreateObject,
    Decision,
    Delete,
    DeleteObject,
    DeleteUnbound,
    Groups,
    NodeRef,
    Reads,
    Remember,
    Role,
    Seen,
    SetDesired,
    SetTemplate,
)
from kubeproof.cluster.footprint import NOBODY, Clocks, Deletes, Footprint, Sizing, Writes, some
from kubeproof.cluster.objects import POD, family
from kubeproof.cluster.state import NodeCell, Phase, WorkloadCell
from kubeproof.events.common import EventSource, NoNodes, Sourced
from kubeproof.events.declarations import Apply, Scale
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class ScaleEvent(Sourced, NoNodes):
    """Sets spec.replicas to any of the values, once each; memory is a bit set of the values left."""

    source: EventSource
    event: Scale
    workload: int

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.SIZES,
            deletes=Deletes.NO_PODS,
            sizing=Sizing.TOLD,
            clocks=Clocks(0),
            tells_starts=NOBODY,
            tells_ends=NOBODY,
            sees_objects=some((self.workload,)),
            sees_new_pods=NOBODY,
        )

    @property
    def reads(self) -> Reads:
        return self.source.reads(workloads=(self.workload,))

    def sizes_for(self, workload: int) -> tuple[int, ...]:
        """Every size that it writes."""
        return self.event.replicas if workload == self.workload else ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> int:
        """Whether the workload exists."""
        return cell.exists

    def act(self, seen: Seen[int, Groups[None]]) -> tuple[Decision, ...]:
        """A write of any value that is left, at most `max` times in all."""
        if not seen.workloads[0] or not self.source.may_happen(seen.memories):
            return ()
        (left,) = seen.memories[0]
        if len(self.event.replicas) - left.bit_count() >= self.event.max:
            return ()
        return tuple(
            Decision(
                (SetDesired(self.workload, replicas), Remember(self.source.memory, (left & ~(1 << bit),))),
                Role.EVENT,
            )
            for bit, replicas in enumerate(self.event.replicas)
            if left >> bit & 1
        )


class Presence(NamedTuple):
    """Whether a workload is there."""

    exists: int
    was_deleted: int  # a bare Pod whose name may not be free yet


@dataclass(frozen=True, slots=True)
class WriteEvent(NoNodes):
    """Creates the workload if it is absent (create, apply), or sets its replicas (apply)."""

    source: EventSource
    event_name: str
    workload: int
    replicas: int | None  # None: the live value is left as it is
    template: int | None = None  # the revision whose pod template it writes; None: as it is

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.SIZES | Writes.TEMPLATES | Writes.OBJECTS | Writes.PODS,
            deletes=Deletes.NO_PODS,
            sizing=Sizing.TOLD,
            clocks=Clocks(0),
            tells_starts=NOBODY,
            tells_ends=NOBODY,
            sees_objects=some((self.workload,)),
            sees_new_pods=NOBODY,
        )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.EVENT, self.event_name)

    @property
    def stage(self) -> int:
        return self.source.stage

    @property
    def reads(self) -> Reads:
        return self.source.reads(workloads=(self.workload,))

    def sizes_for(self, workload: int) -> tuple[int, ...]:
        """The size that it writes, if it writes one."""
        return (self.replicas,) if workload == self.workload and self.replicas is not None else ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> Presence:
        """Whether the workload exists, and whether it is a bare Pod that was deleted: its name may not be free yet."""
        is_pod = self.source.layout.setup.workloads[workload].kind == POD
        return Presence(cell.exists, int(is_pod and not cell.exists and cell.replicas == 0))

    def act(self, seen: Seen[Presence, Groups[None]]) -> tuple[Decision, ...]:
        """The write, while its budget lasts."""
        left = seen.memories[0][0]
        exists, was_deleted = seen.workloads[0]
        if left <= 0 or was_deleted or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (left - 1,))
        if not exists:
            return (Decision((*self._creation(), memory), Role.EVENT),)
        writes: list[Action] = []
        if self.replicas is not None:
            writes.append(SetDesired(self.workload, self.replicas))
        if self.template is not None:
            writes.append(SetTemplate(self.workload, self.template))
        # An apply that changes nothing happens, too: other events may wait for it.
        happens = writes or isinstance(self.source.event, Apply)
        return (Decision((*writes, memory), Role.EVENT),) if happens else ()

    def _creation(self) -> Iterator[Action]:
        """The object as the event brings it; a bare Pod that names its node is there at once."""
        declared = self.source.layout.setup.workloads[self.workload]
        yield CreateObject(self.workload)
        if self.replicas is not None and self.replicas != declared.replicas:
            yield SetDesired(self.workload, self.replicas)
        place = self.source.layout.named(declared.home) if declared.home else None
        if place is not None:
            yield Arrive(NodeRef(place, ANY), self.workload, 1)


class Asked(NamedTuple):
    """What a Deployment asks for."""

    exists: int
    template: int  # which revision


@dataclass(frozen=True, slots=True)
class RolloutEvent(Sourced, NoNodes):
    """Gives a Deployment its next revision of the pod template, or with `back` the previous one."""

    source: EventSource
    workload: int
    revisions: int
    back: bool

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.TEMPLATES,
            deletes=Deletes.NO_PODS,
            clocks=Clocks(0),
            tells_starts=NOBODY,
            tells_ends=NOBODY,
            sees_objects=some((self.workload,)),
            sees_new_pods=NOBODY,
        )

    @property
    def reads(self) -> Reads:
        return self.source.reads(workloads=(self.workload,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Asked:
        """Whether the Deployment exists, and which revision it asks for."""
        return Asked(cell.exists, cell.template)

    def act(self, seen: Seen[Asked, Groups[None]]) -> tuple[Decision, ...]:
        """The change of the template, while its budget lasts."""
        left = seen.memories[0][0]
        exists, template = seen.workloads[0]
        target = template - 1 if self.back else template + 1
        possible = exists and 0 <= target < self.revisions
        if left <= 0 or not possible or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (left - 1,))
        return (Decision((SetTemplate(self.workload, target), memory), Role.EVENT),)


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
            deletes=Deletes.OWN,
            clocks=Clocks(0),
            tells_starts=some((self.workload,) if self._is_pod else ()),
            tells_ends=NOBODY,
            sees_objects=some((self.workload,)),
            sees_new_pods=NOBODY,
        )

    @property
    def _is_pod(self) -> bool:
        return self.source.layout.setup.workloads[self.workload].kind == POD

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
            removals += [Delete(NodeRef(place, phase), self.workload, (((phase,), 1),)) for phase, _ in groups]
        return (Decision((*removals, memory), Role.EVENT),)
