"""What all events share: their memory of how often they may still happen, and when they are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Loop, Reads, Stage
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.cluster.usage import UsageRule
from kubeproof.events.event import Event
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.events.operator import Apply


class Around(NamedTuple):
    """What events need to know of the plan that they become part of."""

    rules: tuple[UsageRule, ...]  # what pods use
    applied: Callable[[int, Apply], tuple[int | None, int | None]]  # replicas and revision that an apply writes


@dataclass(frozen=True, slots=True)
class EventSource:
    """Where an event stands among its Scenario's: its own memory first, then those of the events it waits for."""

    layout: Layout
    event: Event
    memory: int
    waits_for: tuple[int, ...] = ()  # memories of the events named by `after`
    full: tuple[tuple[int, ...], ...] = ()  # what each of these holds while its event has not happened
    mark: int = 0  # the bit that it leaves on nodes, if it leaves one

    @property
    def stage(self) -> int:
        return Stage.CALM if self.event.waits_for_rest else Stage.ALWAYS

    def reads(self, *, workloads: tuple[int, ...] = (), places: tuple[int, ...] = ()) -> Reads:
        """The event's reads with the memories it needs."""
        return Reads(workloads, places, (self.memory, *self.waits_for))

    def may_happen(self, memories: tuple[tuple[int, ...], ...]) -> bool:
        """True if the events it waits for (if any) have happened."""
        return all(memory != full for memory, full in zip(memories[1:], self.full, strict=True))


REMEMBERS = MemoryKind("event", Holds.TIMES)
ANY_NUMBER = -1  # of a budget: it never ends
ANY_NUMBER_BUT_NONE_YET = -2  # the same, where somebody asks whether it was ever used


def one_less(left: int) -> int:
    """What is left of a budget after one use; a negative one never ends."""
    if left > 0:
        return left - 1
    return ANY_NUMBER if left < 0 else 0


class Sourced:
    """For events that have a `source`: its name is theirs, and it says when they are asked."""

    __slots__ = ()
    source: EventSource

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.EVENT, self.source.event.name)

    @property
    def stage(self) -> int:
        return self.source.stage


def ends_earlier(source: Loop, decision: Decision) -> bool:
    """True if a decision ends an earlier occurrence: what makes an event happen says so by `ends`, of all or of one."""
    ends = getattr(source, "ends", False)
    return bool(ends(decision) if callable(ends) else ends)


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
