"""What all events share: their memory of how often they may still happen, and when they are asked."""

from __future__ import annotations

from kubeproof.cluster.control import Reads, Stage
from kubeproof.cluster.places import Layout
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.events.declarations import STABLE, Event
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class EventSource:
    """Where an event stands among its Scenario's: its own memory first, then that of the event it waits for."""

    layout: Layout
    event: Event
    memory: int
    waits_for: int | None = None  # memory of the event named by `after`
    full: tuple[int, ...] = ()  # the awaited event's memory while it has not happened

    @property
    def stage(self) -> int:
        return Stage.CALM if self.event.after == STABLE else Stage.ALWAYS

    def reads(self, *, workloads: tuple[int, ...] = (), places: tuple[int, ...] = ()) -> Reads:
        """The event's reads with the memories it needs."""
        memories = (self.memory,) if self.waits_for is None else (self.memory, self.waits_for)
        return Reads(workloads, places, memories)

    def may_happen(self, memories: tuple[tuple[int, ...], ...]) -> bool:
        """True if the event it waits for (if any) has happened."""
        return self.waits_for is None or memories[1] != self.full


def one_less(left: int) -> int:
    """What is left of a budget after one use; a negative budget never ends."""
    return left - 1 if left > 0 else left


class Sourced:
    """For events that have a `source`: its name is theirs, and it says when they are asked."""

    __slots__ = ()
    source: EventSource

    @property
    def name(self) -> str:
        return f"event {self.source.event.name}"

    @property
    def stage(self) -> int:
        return self.source.stage


class NoWorkloads:
    """For events that look at nodes alone."""

    __slots__ = ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""


class NoNodes:
    """For events that look at workloads alone."""

    __slots__ = ()

    def show_node(self, place: int, cell: NodeCell) -> None:
        """Never looks at nodes."""
