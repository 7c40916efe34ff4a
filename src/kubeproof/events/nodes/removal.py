"""nodeRemoval: a Node object is deleted and does not come back.

With `drainFirst` the node is cordoned and drained like by a drain; it goes when only pods of DaemonSets are left there.
Otherwise it goes at once, whatever its condition, with all that runs there: pods of a Job have failed then, others are
gone, as the garbage collector of pods leaves them (`pkg/controller/podgc`, here without its delay).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import MOMENT, Footprint, Scope, Writes
from kubeproof.cluster.loops.node_verbs import REMOVE, RETIRE
from kubeproof.cluster.objects import Node, Workload
from kubeproof.cluster.state import KUBELET_LIVES, NodeCell
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced
from kubeproof.events.event import Event, NodeChoice, Problem
from kubeproof.events.manual import NODES, Manual, flag
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRemoval(Event):
    """A Node object is deleted for good, drained before or with all that runs there."""

    nodes: NodeChoice = NodeChoice()
    drain_first: bool = True

    manuals = (
        Manual(
            key="nodeRemoval",
            text="The Node object is deleted, with whatever is left on it.",
            fields=(NODES, flag("drainFirst", "drain_first", default=True)),
            example="nodeRemoval: {max: 1, drainFirst: true}",
        ),
    )

    footprint = replace(MOMENT, writes=Writes.DRAINS | Writes.DEPARTURES, takes_pods_of=Scope.NODE)

    @property
    def drains(self) -> bool:
        return self.drain_first

    def describe(self) -> str:
        how = "drained first" if self.drain_first else "with all that runs there"
        return f"{self.nodes.one_of} is deleted {self.times}, {how}"

    def refuse(self, nodes: Iterable[Node], workloads: Iterable[Workload]) -> Iterator[Problem]:
        """What becomes of pods that name a node which goes is not modelled."""
        named = {w.template.node_name: w.ref for w in workloads if w.template.node_name and not w.bound_to}
        for node in nodes:
            if node.name in named and self.nodes.admits(node):
                problem = f"lets {node.name} go, which pods of {named[node.name]} name"
                yield Problem("nodes", problem, "Let them find their node by labels, or choose other nodes")

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield NodeRemovalEvent(at, self)


@dataclass(frozen=True, slots=True)
class NodeRemovalEvent(Sourced, NoWorkloads):
    """Deletes nodes, or begins to, while its budget lasts."""

    source: EventSource
    event: NodeRemoval

    footprint = Footprint(
        writes=Writes.DRAINS | Writes.DEPARTURES,
    )

    @property
    def reads(self) -> Reads:
        places = self.source.layout.places
        return self.source.reads(places=tuple(i for i, p in enumerate(places) if self.event.nodes.admits(p.sample)))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that can go; to be drained first it has to be up, and nobody works on it."""
        if not self.event.drain_first:
            return 1
        return 1 if cell.health in KUBELET_LIVES and not cell.work else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """The removal of any node it may hit, or its beginning."""
        left = seen.memories[0][0]
        if left <= 0 or not self.source.may_happen(seen.memories):
            return ()
        verb, memory = RETIRE if self.event.drain_first else REMOVE, Remember(self.source.memory, (left - 1,))
        return tuple(
            Decision((NodeChange(NodeRef(place, 1), verb), memory), Role.EVENT)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            if groups
        )
