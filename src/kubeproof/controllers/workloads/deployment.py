"""The Deployment controller: creation of the ReplicaSet and scaling.

Mirrors `pkg/controller/deployment/sync.go` for a Deployment with one revision: a missing new ReplicaSet is created
with spec.replicas pods (NewRSNewReplicas with nothing else running), and with one active ReplicaSet a scaling
event sets it to spec.replicas directly, paused or not; a paused Deployment never creates its first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import SetReplicas
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import QUIET, Among, Writes
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import short_name
from kubeproof.cluster.state import NEVER, NodeCell, WorkloadCell
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle


class Sizes(NamedTuple):
    """spec.replicas of a Deployment, and of its ReplicaSet."""

    desired: int
    actual: int


@dataclass(frozen=True, slots=True)
class DeploymentController:
    """The loop for one Deployment."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS

    reads_nodes = mention_nothing
    footprint = replace(QUIET, writes=Writes.REPLICA_SETS, among=Among.BY_ITSELF)

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.DEPLOYMENT, short_name(self.layout.setup, self.workload))

    @property
    def reads(self) -> Reads:
        return Reads(workloads=(self.workload,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Sizes | None:
        """Desired and actual spec.replicas, None while the object does not exist."""
        never_rolled_out = cell.replicas == NEVER and self.layout.setup.workloads[self.workload].paused
        return Sizes(cell.desired, cell.replicas) if cell.exists and not never_rolled_out else None

    def show_node(self, place: int, cell: NodeCell) -> None:
        """Never looks at nodes."""

    def act(self, seen: Seen[Sizes | None, Groups[None]]) -> tuple[Decision, ...]:
        """Sets the ReplicaSet's size to the Deployment's."""
        sizes = seen.workloads[0]
        if sizes is None or sizes.desired == sizes.actual:
            return ()
        return (Decision((SetReplicas(self.workload, sizes.desired),)),)

    def why_not(self, seen: Seen[Sizes | None, Groups[None]]) -> Iterator[Idle]:
        """That a paused Deployment gets no first ReplicaSet."""
        from kubeproof.controllers.rollout.inaction import why_paused

        declared = self.layout.setup.workloads[self.workload]
        if declared.paused and seen.workloads[0] is None:
            yield why_paused(declared.ref)
