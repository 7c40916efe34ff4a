"""The Deployment controller where a Deployment may get other pod templates: rollouts, scaling of several revisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import SetReplicas
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Among, Clocks, Deletes, Footprint, Writes, some
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import family, short_name
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell
from kubeproof.controllers.rollout.revisions import Revision, Rollout, RolloutWrites, rollout_of
from kubeproof.controllers.rollout.sync import sync
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle


class Pods(NamedTuple):
    """Pods of one revision."""

    workload: int  # the revision
    ready: int
    active: int
    every: int  # terminating ones included


Sight = Seen[WorkloadCell, Groups[tuple[Pods, ...]]]


@dataclass(frozen=True, slots=True)
class RolloutController:
    """The loop for a Deployment that may get other pod templates: rollouts, proportional scaling, rollbacks.

    The arithmetic is in `kubeproof.controllers.rollout.sync`; ready pods count as available (minReadySeconds 0).
    """

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS

    reads_nodes = mention_nothing

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.REPLICA_SETS,
            deletes=Deletes.NO_PODS,
            clocks=Clocks(0),
            tells_starts=some(self.reads.workloads),
            tells_ends=some(self.reads.workloads),
            sees_objects=NOBODY,
            sees_new_pods=NOBODY,
            among=Among.BY_ITSELF,
        )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.DEPLOYMENT, short_name(self.layout.setup, self.workload))

    @property
    def reads(self) -> Reads:
        return Reads(family(self.layout.setup, self.workload), self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> WorkloadCell:
        """Everything: sizes, annotations, the template asked for, pods without a node."""
        return cell

    def show_node(self, place: int, cell: NodeCell) -> tuple[Pods, ...] | None:
        """Per revision: ready, active and all pods on the node."""
        members = self.reads.workloads
        counts: dict[int, tuple[int, int, int]] = {}
        for kind, count in cell.pods:
            if kind.workload in members:
                ready, active, every = counts.get(kind.workload, (0, 0, 0))
                is_ending = kind.phase == Phase.TERMINATING
                ready += count * (kind.phase == Phase.READY)
                counts[kind.workload] = (ready, active + count * (not is_ending), every + count)
        return tuple(Pods(workload, *numbers) for workload, numbers in sorted(counts.items())) or None

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """What one sync writes."""
        cells = self._cells(seen)
        own = cells[self.workload]
        if not own.exists:
            return ()
        outcome, existing, new = self._sync(seen, cells)
        actions = [
            SetReplicas(workload, size, *notes)
            for workload, size, notes in zip(existing, outcome.sizes, outcome.notes, strict=True)
            if (size, *notes) != (cells[workload].replicas, cells[workload].noted, cells[workload].max_noted)
        ]
        if outcome.created is not None and outcome.created_notes is not None:
            actions.append(SetReplicas(new, outcome.created, *outcome.created_notes))
        return (Decision(tuple(actions)),) if actions else ()

    def why(self, seen: Sight) -> tuple[str, ...]:
        """The numbers behind a sync now."""
        return (self._sync(seen, self._cells(seen))[0].what,)

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """Why a rollout that is under way does not go on."""
        from kubeproof.controllers.rollout.inaction import why_it_waits

        cells = self._cells(seen)
        own, pods = cells[self.workload], self._totals(seen)
        if own.exists:
            ending = sum(one.every - one.active for one in pods.values())
            yield from why_it_waits(self.layout.setup.workloads[self.workload], *self._read(seen, cells)[:3], ending)

    def _cells(self, seen: Sight) -> dict[int, WorkloadCell]:
        """The revisions' cells."""
        return dict(zip(self.reads.workloads, seen.workloads, strict=True))

    def _sync(self, seen: Sight, cells: dict[int, WorkloadCell]) -> tuple[RolloutWrites, list[int], int]:
        """The sync's outcome, the revisions that exist, and the one that the Deployment asks for."""
        _, outcome, _, existing, new = self._read(seen, cells)
        return outcome, existing, new

    def _read(self, seen: Sight, cells: dict[int, WorkloadCell]) -> tuple[Rollout, RolloutWrites, bool, list[int], int]:
        """What the sync reads and what comes of it, whether old pods are left, the revisions and the one asked for."""
        members = self.reads.workloads
        own = cells[self.workload]
        new = members[own.template]
        existing = [workload for workload in members if cells[workload].replicas != NEVER]
        pods = self._totals(seen)
        revisions = tuple(
            Revision(
                cells[w].replicas,
                pods[w].ready,
                pods[w].active + cells[w].unbound,
                cells[w].noted,
                cells[w].max_noted,
            )
            for w in existing
        )
        left = any(pods[w].every + cells[w].unbound for w in existing if w != new)
        declared = self.layout.setup.workloads[self.workload]
        position = existing.index(new) if new in existing else None
        outcome = sync(own.desired, declared.strategy, declared.paused, revisions, position, left)
        return rollout_of(own.desired, declared.strategy, revisions, position), outcome, left, existing, new

    def _totals(self, seen: Sight) -> dict[int, Pods]:
        """The pods of every revision, on all nodes."""
        totals = {workload: Pods(workload, 0, 0, 0) for workload in self.reads.workloads}
        for groups in seen.places:
            for owned, count in groups:
                for workload, ready, active, every in owned:
                    sums = totals[workload]
                    totals[workload] = Pods(
                        workload, sums.ready + ready * count, sums.active + active * count, sums.every + every * count
                    )
        return totals
