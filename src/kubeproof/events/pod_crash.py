"""podCrash: a container exits, and the kubelet restarts it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.loops.actions import Crash, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import MOMENT, NOBODY, Footprint, Scope, Writes, some
from kubeproof.cluster.objects import family, workload_number
from kubeproof.cluster.state import KUBELET_LIVES, NodeCell, Phase
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced, one_less
from kubeproof.events.event import WEB, Event
from kubeproof.events.manual import TARGET, Manual
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PodCrash(Event):
    """A container of one of the workload's pods exits."""

    target: str
    max: int | None = 1  # type: ignore[assignment]  # None: any number of crashes

    manuals = (
        Manual(
            key="podCrash",
            text="A container of a ready pod exits; the kubelet starts it again after its back-off.",
            fields=(TARGET,),
            example=f"podCrash: {{{WEB}, max: 2}}",
            is_unlimited=True,
            is_timed=True,
        ),
    )

    footprint = replace(MOMENT, writes=Writes.CRASHES, takes_pods_of=Scope.NOWHERE)

    def describe(self) -> str:
        return f"a container of a pod of {self.target} exits {self.times}"

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        setup = at.layout.setup
        yield PodCrashEvent(at, family(setup, workload_number(setup, self.target)))


@dataclass(frozen=True, slots=True)
class PodCrashEvent(Sourced, NoWorkloads):
    """Crashes a ready pod of the workload (or of its later revisions) while its budget lasts."""

    source: EventSource
    members: tuple[int, ...]

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.CRASHES,
            tells_starts=some(self.members),
            tells_ends=NOBODY,
            sees_objects=NOBODY,
            sees_new_pods=NOBODY,
        )

    @property
    def reads(self) -> Reads:
        return self.source.reads(places=self.source.layout.every_place)

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, ...] | None:
        """Which of the workloads have a ready pod on a node whose kubelet lives."""
        if cell.health not in KUBELET_LIVES:
            return None
        ready = {kind.workload for kind, _ in cell.pods if kind.phase == Phase.READY}
        return tuple(member for member in self.members if member in ready) or None

    def act(self, seen: Seen[None, Groups[tuple[int, ...]]]) -> tuple[Decision, ...]:
        """A crash of any pod that can."""
        left = seen.memories[0][0]
        if left == 0 or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (one_less(left),))
        return tuple(
            Decision((Crash(NodeRef(place, view), member), memory), Role.EVENT)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            for view in dict.fromkeys(view for view, _ in groups)
            for member in view
        )
