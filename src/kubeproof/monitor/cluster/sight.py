"""One moment of a cluster: the state after it, what happened in it, and how to recognise the state again."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property

from kubeproof.cluster.loops.control import AnySeen, Seen, View
from kubeproof.cluster.state import NodeCell, Nodes, WorkloadCell
from kubeproof.intents.views import AnyFact
from kubeproof.model.by_name.abstraction import canonical
from kubeproof.model.plan import Plan

MOST_STATES = 20_000  # that are recognised when they come again; then all are forgotten
Members = frozenset[int]


class Memory:
    """Numbers for states, the same for states that differ by a renaming of equal nodes."""

    def __init__(self, shape: Plan) -> None:
        self._shape = shape
        self._numbers: dict[Hashable, int] = {}
        self._given = 0

    def number(self, workloads: tuple[WorkloadCell, ...], nodes: dict[int, NodeCell], members: Members | None) -> int:
        """The number of a state, or of the part of it that belongs to some workloads."""
        key = (members, self._anonymous(workloads, nodes, members))
        if key not in self._numbers:
            if len(self._numbers) >= MOST_STATES:
                self._numbers.clear()
            self._given += 1  # never given again: judges remember numbers
            self._numbers[key] = self._given
        return self._numbers[key]

    def _anonymous(
        self, workloads: tuple[WorkloadCell, ...], nodes: dict[int, NodeCell], members: Members | None
    ) -> Hashable:
        shown = nodes if members is None else {i: _part(cell, members) for i, cell in nodes.items()}
        places = [tuple(sorted(shown[i] for i in place.nodes if i in shown)) for place in self._shape.layout.places]
        filler = (0,) * (1 + len(self._shape.workloads) + len(self._shape.memories))
        chosen = range(len(workloads)) if members is None else sorted(members)
        kept = tuple(workloads[w]._replace(failed=0) for w in chosen)  # failed pods pile up while a loop goes round
        return kept, canonical(self._shape, (*filler, *places))


def _part(cell: NodeCell, members: Members) -> NodeCell:
    """The node with the pods of some workloads, and nothing else."""
    return NodeCell(
        pods=tuple(one for one in cell.pods if one[0].workload in members),
        pinned=tuple(one for one in cell.pinned if one[0] in members),
    )


class Sight:
    """What judges look at."""

    def __init__(
        self,
        time_us: int,
        workloads: tuple[WorkloadCell, ...],
        nodes: dict[int, NodeCell],
        places: tuple[Nodes, ...],
        memory: Memory,
        *,
        tags: int = 0,
        actions: Iterable[object] = (),
        is_external: bool = False,
    ) -> None:
        self.time_us, self.workloads, self.places = time_us, workloads, places
        self.tags, self.actions, self.is_external = tags, tuple(actions), is_external
        self._nodes, self._memory = nodes, memory
        self._known: dict[Members | None, int] = {}

    def number(self, members: Members | None) -> int:
        """The number by which the state is recognised."""
        if members not in self._known:
            self._known[members] = self._memory.number(self.workloads, self._nodes, members)
        return self._known[members]

    @cached_property
    def pods(self) -> int:
        """Pods that are seen."""
        bound = sum(n * count for place in self.places for cell, count in place for _, n in cell.pods)
        return bound + sum(cell.unbound for cell in self.workloads)


class Views:
    """The views of one fact; of places in which nothing has changed they are made once."""

    def __init__(self, fact: AnyFact) -> None:
        self._fact, self._reads = fact, fact.reads
        self._made: dict[int, tuple[Nodes, View]] = {}

    def see(self, sight: Sight) -> AnySeen:
        """What the fact sees in a moment."""
        return Seen(
            tuple(self._fact.show_workload(w, sight.workloads[w]) for w in self._reads.workloads),
            tuple(self._of_place(place, sight.places[place]) for place in self._reads.places),
        )

    def _of_place(self, place: int, nodes: Nodes) -> View:
        made = self._made.get(place)
        if made is None or made[0] is not nodes:
            made = self._made[place] = (nodes, self._fact.show_nodes(place, nodes))
        return made[1]
