"""drainCompletes: whether nodes that are drained are left, by all pods or by those of some workloads."""

from __future__ import annotations

from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.loops.footprint import Footprint
from kubeproof.cluster.nodes.daemons import daemon_sets
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import DRAINING, KUBELET_LIVES, Nodes, WorkloadCell
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass, replace


class Drained(NamedTuple):
    """Nodes of a place that are up and being drained."""

    drained: int
    busy: int  # those of them that are not left


@dataclass(frozen=True, slots=True)
class DrainsComplete:
    """No node that is up is being drained; of some workloads, none of these has a pod of theirs.

    Drains leave daemon pods alone.
    """

    layout: Layout
    members: tuple[int, ...] | None = None  # the workloads; None: the drain itself has to end

    footprint = Footprint()  # it names no workload, so that nobody asks whose starts it tells

    def among(self, members: tuple[int, ...]) -> DrainsComplete:
        """The fact as far as it depends on these workloads, where nothing is known of pods of others."""
        return self if self.members is not None else replace(self, members=members)

    @property
    def reads(self) -> Reads:
        return Reads((), self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_nodes(self, place: int, nodes: Nodes) -> Drained:
        """Nodes that are being drained, dead ones aside; and those of them that are not left."""
        drained = [(c, n) for c, n in nodes if c.work in DRAINING and c.health in KUBELET_LIVES]
        count = sum(n for _, n in drained)
        if self.members is None:
            return Drained(count, count)
        asked = set(self.members) - set(daemon_sets(self.layout.setup))
        busy = [n for cell, n in drained if any(kind.workload in asked for kind, _ in cell.pods)]
        return Drained(count, sum(busy))

    def holds(self, seen: Seen[None, Drained]) -> bool:
        return not any(place.busy for place in seen.places)

    def describe_found(self, seen: Seen[None, Drained]) -> str:
        """How many drained nodes are not left."""
        busy = sum(place.busy for place in seen.places)
        return f"{busy} node{'' if busy == 1 else 's'} whose drain does not end" if busy else ""

    def is_settled(self, seen: Seen[None, Drained]) -> bool:
        return True

    def matters(self, seen: Seen[None, Drained]) -> bool:
        return any(place.drained for place in seen.places)
