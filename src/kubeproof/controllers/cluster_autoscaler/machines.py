"""Machines of node groups: they come some time after they were asked for, and go when they are empty.

A node that the autoscaler drains is deleted as soon as only pods of DaemonSets are left. If its pods are not evicted
within max-pod-eviction-time (2 min), or never end because the node is dead, the autoscaler gives up, uncordons it, and
deletes nothing for a while (`Evictor.DrainNode`, `scale-down-delay-after-failure`). A machine of a zone that is down
does not come: its group is backed off, first for 5 min, then up to 30 (`clusterstate`, `utils/backoff`).
"""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Footprint, Writes
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.loops.node_verbs import FORSAKE, JOIN, REMOVE, SPARE, NodeVerb
from kubeproof.cluster.nodes.daemons import daemon_sets
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import ACTIVE, KUBELET_LIVES, Health, NodeCell, Work, WorkloadCell
from kubeproof.values import dataclass

FIRST_BACKOFF_S = 300  # initial-node-group-backoff-duration
LAST_BACKOFF_S = 1800  # max-node-group-backoff-duration
CLOCKS = 3  # of the autoscaler's memory, before the back-offs
Memories = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class MachineArrival:
    """Nodes of one place that were asked for: they join, or do not while their zone is down."""

    layout: Layout
    place: int
    memory: int  # of the autoscaler
    outages: tuple[int, ...] = ()  # memories of the events that take zones down
    is_down: Callable[[int, Memories], bool] = lambda place, memories: False
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.MACHINES)
    sees_absent: bool = True

    reads_nodes = mention_nothing
    footprint = Footprint(
        writes=Writes.ARRIVALS,
        sees_objects=NOBODY,
        wakes_on=Writes.ARRIVALS,
    )

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,), memories=(self.memory, *self.outages) if self.outages else ())

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that has to be there by now, 0 for one that may."""
        if cell.health != Health.ABSENT or cell.least_s != 0:
            return None
        return int(cell.most_s == 0)

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """The arrival, or that it does not come about."""
        is_down = bool(self.outages) and self.is_down(self.place, seen.memories[1:])
        found = []
        for must in dict.fromkeys(view for view, _ in seen.places[0]):
            ref = NodeRef(self.place, must)
            if not is_down:
                found.append(Decision((NodeChange(ref, JOIN),), Role.URGENT if must else Role.OPTIONAL))
            elif must:
                found.append(Decision((NodeChange(ref, FORSAKE), self._back_off(seen.memories[0]))))
        return tuple(found)

    def _back_off(self, memory: tuple[int, ...]) -> Remember:
        groups = self.layout.setup.cluster_autoscaler
        assert groups is not None
        number = [group.name for group in groups.groups].index(self.layout.places[self.place].sample.group)
        at = CLOCKS + 2 * number
        length_s = min(LAST_BACKOFF_S, max(FIRST_BACKOFF_S, 2 * memory[at + 1]))
        return Remember(self.memory, (*memory[:at], length_s, length_s, *memory[at + 2 :]))


@dataclass(frozen=True, slots=True)
class MachineDeparture:
    """Nodes of one place that the autoscaler drains: deleted when empty, given up when that takes too long."""

    layout: Layout
    place: int
    memory: int  # of the autoscaler
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.CLUSTER_AUTOSCALER)

    reads_nodes = mention_nothing
    footprint = Footprint(
        writes=Writes.DEPARTURES | Writes.DRAINS,
        sees_objects=NOBODY,
        wakes_on=Writes.DRAINS,
    )

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,), memories=(self.memory,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> NodeVerb | None:
        """What must happen to the node now."""
        if cell.work != Work.LEAVE:
            return None
        if cell.health == Health.LOST:
            return SPARE
        rest = [kind for kind, _ in cell.pods if kind.workload not in daemon_sets(self.layout.setup)]
        if not rest:
            return None if cell.finished else REMOVE  # Jobs count their finished pods first
        if any(kind.phase in ACTIVE for kind in rest):
            return SPARE if cell.most_s == 0 else None
        return None if cell.health in KUBELET_LIVES else SPARE  # nobody ends what terminates there

    def act(self, seen: Seen[None, Groups[NodeVerb]]) -> tuple[Decision, ...]:
        """One step per node."""
        return tuple(self._step(verb, seen.memories[0]) for verb in dict.fromkeys(view for view, _ in seen.places[0]))

    def _step(self, verb: NodeVerb, memory: tuple[int, ...]) -> Decision:
        change = NodeChange(NodeRef(self.place, verb), verb)
        if verb == REMOVE:
            return Decision((change,))
        flags = self.layout.setup.cluster_autoscaler
        assert flags is not None
        least_s, most_s, cooldown_s, *rest = memory
        waits_s = max(cooldown_s, flags.delay_after_failure_s)
        return Decision((change, Remember(self.memory, (least_s, most_s, waits_s, *rest))))
