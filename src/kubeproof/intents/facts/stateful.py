"""Facts about StatefulSets: is an update complete, ordinal by ordinal?"""

from __future__ import annotations

from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import family, revisions_of
from kubeproof.cluster.state import ACTIVE, Nodes, Phase, WorkloadCell
from kubeproof.intents.facts.counts import count_pods
from kubeproof.intents.views import Counts, Pods
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class StatefulRolloutComplete:
    """rolloutCompletes: every ordinal wanted has a ready pod, from the partition on of the revision asked for."""

    layout: Layout
    workload: int

    @property
    def members(self) -> tuple[int, ...]:
        """The workloads of its ordinals, revision by revision."""
        return family(self.layout.setup, self.workload)[1:]

    @property
    def reads(self) -> Reads:
        return Reads((self.workload, *self.members), self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        if workload != self.workload:
            return Counts(0, 0, cell.unbound)
        return Counts(cell.exists, cell.desired, template=cell.template)

    def show_nodes(self, place: int, nodes: Nodes) -> tuple[Pods, ...]:
        """Ready and active pods per ordinal and revision."""
        return tuple(
            Pods(count_pods(nodes, (member,), (Phase.READY,)), count_pods(nodes, (member,), ACTIVE))
            for member in self.members
        )

    def holds(self, seen: Seen[Counts, tuple[Pods, ...]]) -> bool:
        own, *others = seen.workloads
        if not own.exists:
            return True
        ordinals = len(self.members) // revisions_of(self.layout.setup, self.workload)
        partition = self.layout.setup.workloads[self.workload].stateful.partition
        ready = [False] * ordinals
        for position, ordinal in enumerate(others):
            revision, number = divmod(position, ordinals)
            ready_here = sum(view[position].ready for view in seen.places)
            active = sum(view[position].active for view in seen.places) + ordinal.unbound
            is_wanted = number < own.desired and (revision == own.template or number < partition)
            if active and not (is_wanted and ready_here):
                return False
            ready[number] |= bool(ready_here)
        return sum(ready) == own.desired

    def is_settled(self, seen: Seen[Counts, tuple[Pods, ...]]) -> bool:
        return True

    def matters(self, seen: Seen[Counts, tuple[Pods, ...]]) -> bool:
        """True once another revision than the first was asked for."""
        return bool(seen.workloads[0].exists and seen.workloads[0].template)
