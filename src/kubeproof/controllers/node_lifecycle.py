"""The node lifecycle controller: notices silent kubelets, taints, and welcomes nodes back.

Mirrors `pkg/controller/nodelifecycle/node_lifecycle_controller.go`. A kubelet's silence is noticed between the grace
period and one monitor period later. Then Ready becomes Unknown, the NoSchedule taint appears and the node's pods
are marked not ready, in one step. The NoExecute taint follows if the zone's state allows (section 6.3):
a zone with more than two and at least 55 % of its nodes not ready taints nobody if it has 50 nodes or fewer; if all zones
are fully down, nobody is tainted and existing NoExecute taints are removed. The rate limits (one node per 10 s) are not
modelled: a taint that is allowed comes at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from kubeproof.cluster.control import (
    NOTICE,
    TAINT,
    UNTAINT,
    WELCOME,
    Decision,
    NodeChange,
    NodeRef,
    Reads,
    Role,
    Seen,
    Stage,
)
from kubeproof.cluster.objects import REGION, ZONE
from kubeproof.cluster.places import Layout
from kubeproof.cluster.state import Health, NodeCell, WorkloadCell

UNHEALTHY_FRACTION_PERCENT = 55
LARGE_CLUSTER = 50

NORMAL, PARTIAL, FULL = "Normal", "PartialDisruption", "FullDisruption"


def zone_state(ready: int, not_ready: int) -> str:
    """The state of a zone with these nodes (`ComputeZoneState`)."""
    if ready == 0 and not_ready > 0:
        return FULL
    if not_ready > 2 and 100 * not_ready >= UNHEALTHY_FRACTION_PERCENT * (ready + not_ready):
        return PARTIAL
    return NORMAL


def may_taint(state: str, size: int, *, all_full: bool) -> bool:
    """True if NoExecute taints are put on nodes of a zone in this state."""
    if all_full:
        return False
    return state != PARTIAL or size > LARGE_CLUSTER


@dataclass(frozen=True, slots=True)
class NodeMonitor:
    """Notices silence and return, for the nodes of one place."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: str = "node-controller"

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, int] | None:
        """Health, and whether the silence must be noticed now; None when there is nothing to do."""
        if cell.health == Health.BACK:
            return (Health.BACK, 1)
        if cell.health == Health.LOST and cell.least_s == 0:
            return (Health.LOST, int(cell.most_s == 0))
        return None

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """One step per node that needs it."""
        return tuple(
            Decision(
                (NodeChange(NodeRef(self.place, view), WELCOME if view[0] == Health.BACK else NOTICE),),  # type: ignore[index]
                Role.URGENT if view[1] else Role.OPTIONAL,  # type: ignore[index]
            )
            for view in dict.fromkeys(view for view, _ in seen.places[0])
        )


@dataclass(frozen=True, slots=True)
class NoExecuteTainter:
    """Puts and removes the NoExecute taint by the state of the zones."""

    layout: Layout
    stage: int = Stage.ALWAYS
    name: str = "node-controller"

    @property
    def reads(self) -> Reads:
        return Reads(places=self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> tuple[int, int]:
        """Whether the node counts as not ready, and whether it is tainted."""
        return (int(cell.health == Health.UNKNOWN), cell.no_execute)

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """Taints or untaints one node per step, where the zones' states ask for it."""
        zones = self._zones(seen)
        states = {zone: zone_state(ready, not_ready) for zone, (ready, not_ready) in zones.items()}
        all_full = bool(states) and all(state == FULL for state in states.values())
        decisions = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            zone = self._zone_of(place)
            for view in dict.fromkeys(view for view, _ in groups):
                verb = self._verb(view, states[zone], sum(zones[zone]), all_full=all_full)  # type: ignore[arg-type]
                if verb:
                    decisions.append(Decision((NodeChange(NodeRef(place, view), verb),)))
        return tuple(decisions)

    def _verb(self, view: tuple[int, int], state: str, size: int, *, all_full: bool) -> str:
        not_ready, tainted = view
        if tainted and all_full:
            return UNTAINT
        if not_ready and not tainted and may_taint(state, size, all_full=all_full):
            return TAINT
        return ""

    def _zones(self, seen: Seen) -> dict[tuple[str, str], tuple[int, int]]:
        """Ready and not ready nodes per zone."""
        zones: dict[tuple[str, str], tuple[int, int]] = {}
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            ready, not_ready = zones.get(self._zone_of(place), (0, 0))
            for view, count in groups:
                if view[0]:  # type: ignore[index]
                    not_ready += count
                else:
                    ready += count
            zones[self._zone_of(place)] = (ready, not_ready)
        return zones

    def _zone_of(self, place: int) -> tuple[str, str]:
        labels = dict(self.layout.places[place].sample.labels)
        return labels.get(REGION, ""), labels.get(ZONE, "")
