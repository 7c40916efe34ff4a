"""How loops come to be: what those that make themselves are handed, and where their memories are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.memories import MemoryCell, MemoryKind, MemoryName
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.named_tuples import NamedTuple


class Memories:
    """The memories of a plan in order; a loop knows its own by number."""

    def __init__(self) -> None:
        self.cells: list[MemoryCell] = []

    @property
    def next(self) -> int:
        """The number that the next memory gets."""
        return len(self.cells)

    def add(self, cells: Iterable[MemoryCell]) -> tuple[int, ...]:
        """The numbers of memories that come next."""
        first = self.next
        self.cells += cells
        return tuple(range(first, self.next))


# A memory, and what it holds as long as something has not happened.
Before = tuple[int, tuple[int, ...]]


class Making(NamedTuple):
    """What the loops of a cluster are made of."""

    layout: Layout
    memories: Memories
    at_once: frozenset[int] = frozenset()  # the workloads whose missing pods are created in one step
    applied: frozenset[int] = frozenset()  # the workloads that only an event brings, as a user writes them
    find_brought: Callable[[int], tuple[Before, ...]] = lambda workload: ()  # the events that bring a workload

    @property
    def setup(self) -> Setup:
        return self.layout.setup

    def to(self, kind: type) -> Layout:
        """The layout for loops of this class, with nodes as these are shown them."""
        return self.layout.to(kind)

    def remember(self, kind: MemoryKind, first: tuple[int, ...], workload: int | None = None) -> int:
        """The number of a new memory: of a workload's loop, or of the only one of its kind."""
        (number,) = self.memories.add((MemoryCell(self._name(kind, workload), first),))
        return number

    def find_memory(self, kind: MemoryKind, workload: int | None = None) -> int:
        """The number of the memory that another loop has."""
        return [cell.name for cell in self.memories.cells].index(self._name(kind, workload))

    def _name(self, kind: MemoryKind, workload: int | None) -> MemoryName:
        return MemoryName(kind, () if workload is None else name_workload(self.setup, workload))


def name_workload(setup: Setup, workload: int) -> tuple[str, ...]:
    """How memories name the workload whose loop they belong to."""
    declared = setup.workloads[workload]
    return declared.ref, declared.owner or ""


class LoopKind(NamedTuple):
    """A control loop, and which clusters have it; others never import it.

    Each loop of a kind that `is_apart` has to do with one workload and its own pods alone. Proofs that look at a part
    of a cluster need that; where it is not said they look at the whole.
    """

    exists_in: Callable[[Setup], bool]
    make: Callable[[Making], Iterator[Loop]]
    is_apart: bool = False
