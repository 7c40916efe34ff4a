"""Facts about StatefulSets: is an update complete, ordinal by ordinal?"""

from __future__ import annotations

from kubeproof.cluster.control import Reads, Seen, View
from kubeproof.cluster.objects import family, revisions_of
from kubeproof.cluster.places import Layout
from kubeproof.cluster.state import ACTIVE, Nodes, Phase, WorkloadCell
from kubeproof.intents.facts import count_pods
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

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        return (cell.exists, cell.desired, cell.template) if workload == self.workload else cell.unbound

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        """Ready and active pods per ordinal and revision."""
        return tuple(
            (count_pods(nodes, (member,), (Phase.READY,)), count_pods(nodes, (member,), ACTIVE))
            for member in self.members
        )

    def holds(self, seen: Seen) -> bool:
        exists, desired, template = seen.workloads[0]
        if not exists:
            return True
        ordinals = len(self.members) // revisions_of(self.layout.setup, self.workload)
        partition = self.layout.setup.workloads[self.workload].stateful.partition
        ready = [False] * ordinals
        for position, unbound in enumerate(seen.workloads[1:]):
            revision, number = divmod(position, ordinals)
            ready_here = sum(view[position][0] for view in seen.places)
            active = sum(view[position][1] for view in seen.places) + unbound
            is_wanted = number < desired and (revision == template or number < partition)
            if active and not (is_wanted and ready_here):
                return False
            ready[number] |= bool(ready_here)
        return bool(sum(ready) == desired)

    def is_settled(self, seen: Seen) -> bool:
        return True

    def matters(self, seen: Seen) -> bool:
        """True once another revision than the first was asked for."""
        exists, _, template = seen.workloads[0]
        return bool(exists and template)
