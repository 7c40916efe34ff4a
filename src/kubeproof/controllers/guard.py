"""A control loop that works only while some memories have given values.

Where an event changes what a loop is made for, such as the budgets that an eviction asks, there is one loop for each
case, and at any time exactly one of them works.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.control import AnySeen, Decision, Loop, Reads, View
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.values import dataclass

Guard = tuple[tuple[int, tuple[int, ...]], ...]  # (memory, its value)


@dataclass(frozen=True, slots=True)
class Guarded:
    """A loop without a clock, and when it works."""

    inner: Loop
    guard: Guard

    @property
    def name(self) -> Actor:
        return self.inner.name

    @property
    def stage(self) -> int:
        return self.inner.stage

    @property
    def reads(self) -> Reads:
        reads = self.inner.reads
        return reads._replace(memories=(*reads.memories, *(memory for memory, _ in self.guard)))

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        """As the loop itself."""
        return self.inner.show_workload(workload, cell)

    def show_node(self, place: int, cell: NodeCell) -> View:
        """As the loop itself."""
        return self.inner.show_node(place, cell)

    def act(self, seen: AnySeen) -> Sequence[Decision]:
        """What the loop does, if it works now."""
        own = len(self.inner.reads.memories)
        if seen.memories[own:] != tuple(value for _, value in self.guard):
            return ()
        return self.inner.act(seen._replace(memories=seen.memories[:own]))


def guard_loop(loop: Loop, guard: Guard) -> Loop:
    """The loop that works under the guard only; without one always."""
    return Guarded(loop, guard) if guard else loop


def working(loops: Iterable[Loop], memories: Sequence[tuple[int, ...]]) -> Iterator[Loop]:
    """The loops that work now, guards taken off."""
    for loop in loops:
        if not isinstance(loop, Guarded):
            yield loop
        elif all(memories[memory] == value for memory, value in loop.guard):
            yield loop.inner
