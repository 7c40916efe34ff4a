"""drainCompletes of some workloads: whether their pods leave the nodes that are drained."""

from __future__ import annotations

from typing import NamedTuple

from kubeproof.cluster.control import Reads, Seen
from kubeproof.cluster.daemons import daemon_sets
from kubeproof.cluster.footprint import Footprint
from kubeproof.cluster.places import Layout
from kubeproof.cluster.state import DRAINING, KUBELET_LIVES, Nodes, WorkloadCell
from kubeproof.values import dataclass


class Drained(NamedTuple):
    """Nodes of a place that are up and being drained."""

    drained: int
    busy: int  # those of them that have pods


@dataclass(frozen=True, slots=True)
class EmptyWhereDrained:
    """No node that is up and being drained has a pod of these workloads; drains leave daemon pods alone."""

    layout: Layout
    members: tuple[int, ...]

    footprint = Footprint()  # it names no workload, so that nobody asks whose starts it tells

    @property
    def reads(self) -> Reads:
        return Reads((), self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_nodes(self, place: int, nodes: Nodes) -> Drained:
        """Nodes that are being drained, dead ones aside; and those of them that have pods."""
        drained = [(c, n) for c, n in nodes if c.work in DRAINING and c.health in KUBELET_LIVES]
        asked = set(self.members) - set(daemon_sets(self.layout.setup))
        busy = [count for cell, count in drained if any(kind.workload in asked for kind, _ in cell.pods)]
        return Drained(sum(count for _, count in drained), sum(busy))

    def holds(self, seen: Seen[None, Drained]) -> bool:
        return not any(place.busy for place in seen.places)

    def is_settled(self, seen: Seen[None, Drained]) -> bool:
        return True

    def matters(self, seen: Seen[None, Drained]) -> bool:
        return any(place.drained for place in seen.places)
