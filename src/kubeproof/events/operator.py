"""scale, create and apply: a user writes a workload object."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import (
    ANY,
    Action,
    Arrive,
    CreateObject,
    NodeRef,
    Remember,
    SetDesired,
    SetTemplate,
)
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import MOMENT, NOTHING, QUIET, Footprint, Scope, Sizing, Writes, some
from kubeproof.cluster.objects import Workload, workload_number
from kubeproof.cluster.state import WorkloadCell
from kubeproof.events.common import Around, EventSource, NoNodes, Sourced
from kubeproof.events.event import WEB, Event
from kubeproof.events.manual import TARGET, Field, Manual
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale(Event):
    """A user sets spec.replicas of a workload to any of the values, once each."""

    target: str  # Workload.ref
    replicas: tuple[int, ...]

    manuals = (
        Manual(
            key="scale",
            text="Somebody writes spec.replicas, each of the values at most once, in any order.",
            fields=(TARGET, Field("replicas", note="required")),
            example=f"scale: {{{WEB}, replicas: [2, 5]}}",
            is_timed=True,
        ),
    )

    footprint = replace(MOMENT, writes=Writes.SIZES, takes_pods_of=Scope.WORKLOAD, sizing=Sizing.TOLD)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.replicas

    @staticmethod
    def unfit(workload: Workload) -> str:
        return "has no replicas" if not workload.rules.has_replicas else ""

    def describe(self) -> str:
        values = ", ".join(str(value) for value in self.replicas)
        bound = "" if self.max >= len(self.replicas) else f", {self.times} in all"
        return f"{self.target} scaled to {values}, once each{bound}"

    def first_memory(self, most: int) -> tuple[int, ...]:
        return ((1 << len(self.replicas)) - 1,)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield ScaleEvent(at, self, workload_number(at.layout.setup, self.target))


@dataclass(frozen=True, slots=True, kw_only=True)
class Create(Event):
    """A workload of the input that is absent until the event."""

    target: str

    manuals = (
        Manual(
            key="create",
            text="An object of the input that is absent until this moment.",
            fields=(Field("target", note="required"),),
            example=f"create: {{{WEB}}}",
            is_timed=True,
        ),
    )

    footprint = replace(
        MOMENT, writes=Writes.OBJECTS | Writes.PODS, takes_pods_of=Scope.WORKLOAD, sizing=Sizing.KEPT, reshapes=False
    )

    @property
    def brings(self) -> str:
        return self.target

    def describe(self) -> str:
        return f"{self.target} is created"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield WriteEvent(at, self.name, workload_number(at.layout.setup, self.target), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Apply(Event):
    """A user applies an object: `workload` is what it looks like after defaulting.

    If a workload of that ref is in the input, the apply updates it, otherwise it creates it.
    """

    workload: Workload
    replicas_given: bool = True

    manuals = (
        Manual(
            key="apply",
            text="Somebody applies a manifest: it creates a workload, or writes the replicas and the pod "
            "template of one.",
            fields=(Field("file or manifest", note="one of them"),),
            example="apply: {file: new/web.yaml}",
            is_timed=True,
        ),
    )

    footprint = replace(
        MOMENT,
        writes=Writes.SIZES | Writes.TEMPLATES | Writes.OBJECTS | Writes.PODS,
        sizing=Sizing.TOLD,
        takes_pods_of=Scope.WORKLOAD,
        reshapes=False,
    )

    @property
    def subject(self) -> str:
        return self.workload.ref

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.workload.replicas,)

    @property
    def form(self) -> Workload:
        return self.workload

    def with_form(self, form: Workload) -> Apply:
        return replace(self, workload=form)

    def describe(self) -> str:
        size = f" with {self.workload.replicas} replicas" if self.replicas_given else ""
        return f"{self.workload.ref} is applied{size} {self.times}"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        number = workload_number(at.layout.setup, self.workload.ref)
        replicas, template = around.applied(number, self)
        yield WriteEvent(at, self.name, number, replicas, template)


@dataclass(frozen=True, slots=True)
class ScaleEvent(Sourced, NoNodes):
    """Sets spec.replicas to any of the values, once each; memory is a bit set of the values left."""

    source: EventSource
    event: Scale
    workload: int

    @property
    def footprint(self) -> Footprint:
        return replace(QUIET, writes=Writes.SIZES, sizing=Sizing.TOLD, sees_objects=some((self.workload,)))

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
        return replace(QUIET, writes=self._writes, sizing=Sizing.TOLD, sees_objects=some((self.workload,)))

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.EVENT, self.event_name)

    @property
    def stage(self) -> int:
        return self.source.stage

    @property
    def reads(self) -> Reads:
        return self.source.reads(workloads=(self.workload,))

    @property
    def _writes(self) -> Writes:
        """What it changes: a live object only in what is given."""
        sizes = Writes.SIZES if self.replicas is not None else NOTHING
        return Writes.OBJECTS | Writes.PODS | sizes | (Writes.TEMPLATES if self.template is not None else NOTHING)

    def sizes_for(self, workload: int) -> tuple[int, ...]:
        """The size that it writes, if it writes one."""
        return (self.replicas,) if workload == self.workload and self.replicas is not None else ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> Presence:
        """Whether the workload exists, and whether it is a bare Pod that was deleted: its name may not be free yet."""
        is_pod = self.source.layout.setup.workloads[workload].rules.is_pod
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
        place = self.source.layout.find_named(declared.home) if declared.home else None
        if place is not None:
            yield Arrive(NodeRef(place, ANY), self.workload, 1)
