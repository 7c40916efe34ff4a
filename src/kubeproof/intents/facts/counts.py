"""What an intent asks about single states: facts over counts, with the views they need."""

from __future__ import annotations

from dataclasses import field

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.loops.control import AnySeen, Reads, Seen, View
from kubeproof.cluster.loops.footprint import EVERYBODY, NOBODY, Footprint
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Node, family
from kubeproof.cluster.state import ACTIVE, Nodes, Phase, WorkloadCell
from kubeproof.intents.declarations import Amount
from kubeproof.intents.views import Counts, Pods, Ready
from kubeproof.values import dataclass

API_PHASES = {
    Phase.STARTING: "Pending",
    Phase.RUNNING: "Running",
    Phase.READY: "Running",
    Phase.UNREADY: "Running",
    Phase.TERMINATING: "Terminating",
}


def count_pods(nodes: Nodes, workloads: tuple[int, ...], phases: tuple[int, ...]) -> int:
    """Pods of the workloads in one of the phases, over all nodes."""
    return sum(
        pods * count
        for cell, count in nodes
        for kind, pods in cell.pods
        if kind.workload in workloads and kind.phase in phases
    )


def count_pinned(nodes: Nodes, workloads: tuple[int, ...]) -> int:
    """Pods of the workloads that wait for the one node they may run on, over all nodes."""
    return sum(pods * count for cell, count in nodes for workload, pods in cell.pinned if workload in workloads)


def describe_bound(number: int, what: str, side: str, bound: int) -> str:
    """What a fact counts and wants, as a reader would count it: `6 pods, at most 5 wanted`."""
    told = what.replace("(s)", "" if number == 1 else "s")
    return f"{number} {told}, {side} {bound} wanted"


@dataclass(frozen=True, slots=True)
class WorkloadFact:
    """Shared by facts about one workload's pods, whatever they look at in a place."""

    layout: Layout
    workload: int
    # The workload and the ReplicaSets of its later revisions.
    members: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", family(self.layout.setup, self.workload))

    @property
    def reads(self) -> Reads:
        return Reads(self.members, self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        return Counts(cell.exists, cell.desired, cell.unbound)

    def is_settled(self, seen: Seen[Counts, Ready]) -> bool:
        own = seen.workloads[0]
        return bool(own.exists and 0 < own.desired <= ready_pods(seen))

    def matters(self, seen: Seen[Counts, View]) -> bool:
        return bool(seen.workloads[0].exists and seen.workloads[0].desired)


@dataclass(frozen=True, slots=True)
class PodsFact(WorkloadFact):
    """Shared by facts that count one workload's pods."""

    def show_nodes(self, place: int, nodes: Nodes) -> Pods:
        ready = active = 0
        for cell, count in nodes:
            for kind, pods in cell.pods:
                if kind.workload in self.members and kind.phase in ACTIVE:
                    active += pods * count
                    ready += pods * count if kind.phase == Phase.READY else 0
        return Pods(ready, active, count_pinned(nodes, self.members))


def ready_pods(seen: Seen[View, Ready]) -> int:
    """Ready pods, over all places."""
    return sum(view.ready for view in seen.places)


def pending_pods(seen: Seen[Counts, View]) -> int:
    """Pods without a node, over all revisions."""
    return sum(view.unbound for view in seen.workloads)


def _describe_waiting(seen: Seen[Counts, Pods]) -> str:
    waiting = pending_pods(seen) + sum(view.pinned for view in seen.places)
    return f"{waiting} pod{'' if waiting == 1 else 's'} without a node" if waiting else ""


def active_pods(seen: Seen[Counts, Pods]) -> int:
    """Pods that count as replicas: not terminating, bound or not."""
    return pending_pods(seen) + sum(view.active + view.pinned for view in seen.places)


@dataclass(frozen=True, slots=True)
class ReadyAtLeast(PodsFact):
    """minReady: so many pods are ready."""

    amount: Amount = Amount(1)

    footprint = Footprint(
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen[Counts, Pods]) -> bool:
        return self.spare(seen) >= 0

    def spare(self, seen: Seen[Counts, Pods]) -> int:
        """How many pods more are ready than have to be."""
        return ready_pods(seen) - self.amount.of(seen.workloads[0].desired)

    def describe_found(self, seen: Seen[Counts, Pods]) -> str:
        return describe_bound(ready_pods(seen), "ready", "at least", self.amount.of(seen.workloads[0].desired))


@dataclass(frozen=True, slots=True)
class ReplicasAtLeast(PodsFact):
    """minReplicas: so many pods exist."""

    amount: Amount = Amount(1)

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen[Counts, Pods]) -> bool:
        return self.spare(seen) >= 0

    def spare(self, seen: Seen[Counts, Pods]) -> int:
        """How many pods more exist than have to."""
        return active_pods(seen) - self.amount.of(seen.workloads[0].desired)

    def describe_found(self, seen: Seen[Counts, Pods]) -> str:
        return describe_bound(active_pods(seen), "pod(s)", "at least", self.amount.of(seen.workloads[0].desired))


@dataclass(frozen=True, slots=True)
class ReplicasAtMost(PodsFact):
    """maxReplicas: no more pods exist."""

    amount: Amount = Amount(1)

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen[Counts, Pods]) -> bool:
        return self.spare(seen) >= 0

    def spare(self, seen: Seen[Counts, Pods]) -> int:
        """How many pods more may exist."""
        return self.amount.of(seen.workloads[0].desired) - active_pods(seen)

    def describe_found(self, seen: Seen[Counts, Pods]) -> str:
        return describe_bound(active_pods(seen), "pod(s)", "at most", self.amount.of(seen.workloads[0].desired))


@dataclass(frozen=True, slots=True)
class NothingPending(PodsFact):
    """schedulable, noPendingForever: no pod is without a node."""

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen[Counts, Pods]) -> bool:
        return pending_pods(seen) == 0 and not any(view.pinned for view in seen.places)

    def describe_found(self, seen: Seen[Counts, Pods]) -> str:
        return _describe_waiting(seen)


@dataclass(frozen=True, slots=True)
class NothingMissing(PodsFact):
    """noPendingForever where the API server may refuse pods: none is without a node, none is left to be created."""

    footprint = Footprint(
        tells_starts=NOBODY,
    )

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        return Counts(cell.exists, cell.desired, cell.unbound, max(0, cell.replicas))

    def holds(self, seen: Seen[Counts, Pods]) -> bool:
        waits = pending_pods(seen) or any(view.pinned for view in seen.places)
        return not waits and active_pods(seen) >= sum(view.replicas for view in seen.workloads)

    def describe_found(self, seen: Seen[Counts, Pods]) -> str:
        return _describe_waiting(seen)


@dataclass(frozen=True, slots=True)
class RolloutComplete(WorkloadFact):
    """rolloutCompletes: all pods are of the revision asked for, and as many as desired are ready."""

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        return Counts(cell.exists, cell.desired, cell.unbound, cell.replicas, cell.template)

    def show_nodes(self, place: int, nodes: Nodes) -> tuple[Pods, ...]:
        """Ready and active pods per revision."""
        return tuple(
            Pods(count_pods(nodes, (member,), (Phase.READY,)), count_pods(nodes, (member,), ACTIVE))
            for member in self.members
        )

    def holds(self, seen: Seen[Counts, tuple[Pods, ...]]) -> bool:
        own = seen.workloads[0]
        if not own.exists:
            return True
        for position, revision in enumerate(seen.workloads):
            ready = sum(view[position].ready for view in seen.places)
            active = sum(view[position].active for view in seen.places) + revision.unbound
            wanted = own.desired if position == own.template else 0
            if max(revision.replicas, 0) != wanted or active != wanted or (wanted and ready != wanted):
                return False
        return True

    def describe_found(self, seen: Seen[Counts, tuple[Pods, ...]]) -> str:
        """How many pods of the revision asked for are ready, and how many of others are left."""
        own = seen.workloads[0]
        ready = sum(view[own.template].ready for view in seen.places)
        places = range(len(seen.workloads))
        left = sum(view[at].active for view in seen.places for at in places if at != own.template)
        return f"{ready} of {own.desired} pods of the new revision ready and {left} of others left"

    def is_settled(self, seen: AnySeen) -> bool:
        return True

    def matters(self, seen: Seen[Counts, View]) -> bool:
        """True once another revision than the first was asked for."""
        own, *others = seen.workloads
        return bool(own.exists and (own.template or any(later.replicas >= 0 for later in others)))


@dataclass(frozen=True, slots=True)
class PodObjectsAtMost:
    """maxPodObjects: no more Pod objects of these phases exist; without phases all count, also failed ones."""

    layout: Layout
    members: tuple[int, ...]  # whose pods count
    most: int
    phases: tuple[str, ...] = ()

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            tells_starts=EVERYBODY if self.phases else NOBODY,
            sees_objects=NOBODY,
        )

    @property
    def reads(self) -> Reads:
        return Reads(self.members, self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        """Whether it exists and wants pods, and its pods that count and have no node."""
        waiting = cell.unbound if self._counts("Pending") else 0
        return Counts(cell.exists, cell.desired, waiting + (cell.failed if self._counts("Failed") else 0))

    def show_nodes(self, place: int, nodes: Nodes) -> int:
        """The pods that count here."""
        counted = tuple(phase for phase, name in API_PHASES.items() if self._counts(name))
        pinned = count_pinned(nodes, self.members) if self._counts("Pending") else 0
        return count_pods(nodes, self.members, counted) + pinned

    def _counts(self, phase: str) -> bool:
        return not self.phases or phase in self.phases

    def holds(self, seen: Seen[Counts, int]) -> bool:
        return self.spare(seen) >= 0

    def spare(self, seen: Seen[Counts, int]) -> int:
        """How many Pod objects more may exist."""
        return self.most - pending_pods(seen) - sum(seen.places)

    def describe_found(self, seen: Seen[Counts, int]) -> str:
        return describe_bound(pending_pods(seen) + sum(seen.places), "Pod objects", "at most", self.most)

    def is_settled(self, seen: Seen[Counts, int]) -> bool:
        return True

    def matters(self, seen: Seen[Counts, int]) -> bool:
        return any(view.exists and view.desired for view in seen.workloads)


@dataclass(frozen=True, slots=True)
class NodesAtMost:
    """maxNodes: no more matching nodes exist; only events that create nodes change their number."""

    layout: Layout
    count: int
    nodes: LabelSelector | None = None
    names: tuple[str, ...] | None = None

    footprint = Footprint(
        tells_ends=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        places = self.layout.places
        return Reads((), tuple(p for p in self.layout.every_place if self._is_counted(places[p].sample)))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_nodes(self, place: int, nodes: Nodes) -> int:
        """The nodes that are there."""
        return sum(count for _, count in nodes)

    def holds(self, seen: Seen[None, int]) -> bool:
        return sum(seen.places) <= self.count

    def describe_found(self, seen: Seen[None, int]) -> str:
        return describe_bound(sum(seen.places), "nodes", "at most", self.count)

    def _is_counted(self, node: Node) -> bool:
        if self.names is not None and node.name not in self.names:
            return False
        return self.nodes is None or self.nodes.matches(node.label_map)

    def is_settled(self, seen: Seen[None, int]) -> bool:
        return True

    def matters(self, seen: Seen[None, int]) -> bool:
        return True
