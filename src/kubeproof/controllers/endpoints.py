"""Endpoints, proxies and Ingress controllers: how long they go on sending traffic to pods that terminate.

The EndpointSlice controller takes a deleted pod out of the ready endpoints at once; every proxy, and the controller of
an Ingress after that, learns it with a delay of its own. Here one step tells all of them; it may be taken at any
moment and must be within the delay (`Settings.endpoints_lag_s`, `ingress_lag_s`). With `publishNotReadyAddresses`
there is nothing to learn: such a pod stays published until it is gone.
"""

from __future__ import annotations

from kubeproof.cluster.loops.actions import NodeRef, Unroute
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Deletes, Footprint, Sizing, Writes
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


class Routed(NamedTuple):
    """Terminating pods of a workload that still get traffic."""

    workload: int
    left_s: int  # to learn that they terminate


@dataclass(frozen=True, slots=True)
class EndpointController:
    """What is learnt about the pods of one place."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.ENDPOINTS)

    reads_nodes = mention_nothing
    footprint = Footprint(  # terminating pods are what it looks at, and its delays are clocks of their own
        writes=Writes.ROUTES,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        tells_starts=NOBODY,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> tuple[Routed, ...] | None:
        """The terminating pods that still get traffic."""
        routed = {Routed(kind.workload, kind.route_s) for kind, _ in cell.pods if kind.route_s >= 0}
        return tuple(sorted(routed)) or None

    def act(self, seen: Seen[None, Groups[tuple[Routed, ...]]]) -> tuple[Decision, ...]:
        """One step per node and kind of such pods."""
        return tuple(
            Decision((Unroute(NodeRef(self.place, view), workload, left_s),), Role.OPTIONAL if left_s else Role.URGENT)
            for view in dict.fromkeys(view for view, _ in seen.places[0])
            for workload, left_s in view
        )
