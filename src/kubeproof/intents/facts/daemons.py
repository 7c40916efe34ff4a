"""Facts about DaemonSets: does every node that should have a ready pod have one?"""

from __future__ import annotations

from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.loops.footprint import Footprint
from kubeproof.cluster.nodes.daemons import eligibility
from kubeproof.cluster.nodes.places import Layout, taints_of
from kubeproof.cluster.objects import family
from kubeproof.cluster.state import ACTIVE, NodeCell, Nodes, Phase, WorkloadCell
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


class Asked(NamedTuple):
    """A DaemonSet."""

    exists: int
    template: int  # the revision asked for


class Served(NamedTuple):
    """Nodes where a revision should run, and how many of them are served."""

    wanted: int
    served: int


Sight = Seen[Asked, tuple[Served, ...]]  # per revision that may be asked for


@dataclass(frozen=True, slots=True)
class RunsOnEveryNode:
    """runsOnEveryNode: a ready pod, of any revision, is on every node where the DaemonSet should run now.

    A node that is known to be unreachable is none of them: its taint is not tolerated by new daemon pods.
    """

    layout: Layout
    workload: int

    footprint = Footprint()  # everything: no reduction was thought through for it

    @property
    def reads(self) -> Reads:
        return Reads((self.workload,), self.layout.every_place)

    @property
    def members(self) -> tuple[int, ...]:
        """The DaemonSet's revisions, oldest first."""
        return family(self.layout.setup, self.workload)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Asked:
        return Asked(cell.exists, cell.template)

    def show_nodes(self, place: int, nodes: Nodes) -> tuple[Served, ...]:
        """Per revision that may be asked for: nodes where it should run, and how many of them are served."""
        return tuple(self._counts(position, place, nodes) for position in range(len(self.members)))

    def _counts(self, position: int, place: int, nodes: Nodes) -> Served:
        sample = self.layout.places[place].sample
        template = self.layout.setup.workloads[self.members[position]].template
        wanted = [(c, n) for c, n in nodes if eligibility(template, sample, taints_of(sample, c)).should_run]
        return Served(sum(n for _, n in wanted), sum(n for cell, n in wanted if self._is_served(position, cell)))

    def _is_served(self, position: int, cell: NodeCell) -> bool:
        return any(kind.workload in self.members and kind.phase == Phase.READY for kind, _ in cell.pods)

    def holds(self, seen: Sight) -> bool:
        exists, template = seen.workloads[0]
        return not exists or all(view[template].wanted == view[template].served for view in seen.places)

    def describe_found(self, seen: Sight) -> str:
        """On how many of the nodes where it should run it has what is asked for."""
        exists, template = seen.workloads[0]
        wanted, served = (sum(getattr(view[template], what) for view in seen.places) for what in ("wanted", "served"))
        return f"{served} of {wanted} nodes served" if exists else ""

    def is_settled(self, seen: Sight) -> bool:
        return self.matters(seen) and self.holds(seen)

    def matters(self, seen: Sight) -> bool:
        exists, template = seen.workloads[0]
        return bool(exists and any(view[template].wanted for view in seen.places))


@dataclass(frozen=True, slots=True)
class DaemonRolloutComplete(RunsOnEveryNode):
    """rolloutCompletes: where it should run, the one active pod is ready and of the revision asked for."""

    def _is_served(self, position: int, cell: NodeCell) -> bool:
        active = [(k, n) for k, n in cell.pods if k.workload in self.members and k.phase in ACTIVE]
        waiting = any(workload in self.members for workload, _ in cell.pinned)
        return not waiting and [(k.workload, k.phase, n) for k, n in active] == [
            (self.members[position], Phase.READY, 1)
        ]

    def is_settled(self, seen: Sight) -> bool:
        return True

    def matters(self, seen: Sight) -> bool:
        """True once another revision than the first was asked for, while some node should have it."""
        exists, template = seen.workloads[0]
        return bool(exists and template and any(view[template].wanted for view in seen.places))
