"""What an intent asks about single states: facts over counts, with the views they need."""

from __future__ import annotations

from dataclasses import field
from typing import Protocol

from kubeproof.cluster.control import Reads, Seen, View
from kubeproof.cluster.footprint import EVERYBODY, NOBODY, Footprint
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import Node, PodTemplate, Workload, family
from kubeproof.cluster.places import Layout
from kubeproof.cluster.state import ACTIVE, DRAINING, KUBELET_LIVES, NodeCell, Nodes, Phase, WorkloadCell
from kubeproof.intents.declarations import Amount
from kubeproof.values import dataclass

API_PHASES = {
    Phase.STARTING: "Pending",
    Phase.RUNNING: "Running",
    Phase.READY: "Running",
    Phase.UNREADY: "Running",
    Phase.TERMINATING: "Terminating",
}


class Fact(Protocol):
    """A statement about one state."""

    @property
    def reads(self) -> Reads: ...

    def show_workload(self, workload: int, cell: WorkloadCell) -> View: ...

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        """What of a place's nodes matters, added up."""
        ...

    def holds(self, seen: Seen) -> bool:
        """The statement itself."""
        ...

    def is_settled(self, seen: Seen) -> bool:
        """True once the workload has reached its desired state: from then on `always` counts."""
        ...

    def matters(self, seen: Seen) -> bool:
        """True in states that say something about the intent; if none does, the verdict is vacuous."""
        ...


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


@dataclass(frozen=True, slots=True)
class PodsFact:
    """Shared by facts that count one workload's pods.

    Views are (exists, desired, unbound) of a workload and (ready, active, pinned) of a place.
    """

    layout: Layout
    workload: int
    # The workload and the ReplicaSets of its later revisions.
    members: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", family(self.layout.setup, self.workload))

    @property
    def reads(self) -> Reads:
        return Reads(self.members, self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        return cell.exists, cell.desired, cell.unbound

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        ready = active = 0
        for cell, count in nodes:
            for kind, pods in cell.pods:
                if kind.workload in self.members and kind.phase in ACTIVE:
                    active += pods * count
                    ready += pods * count if kind.phase == Phase.READY else 0
        return ready, active, count_pinned(nodes, self.members)

    def is_settled(self, seen: Seen) -> bool:
        exists, desired, _ = seen.workloads[0]
        return bool(exists and 0 < desired <= ready_pods(seen))

    def matters(self, seen: Seen) -> bool:
        exists, desired, _ = seen.workloads[0]
        return bool(exists and desired)


def ready_pods(seen: Seen) -> int:
    """Ready pods in views of a `PodsFact`."""
    return int(sum(view[0] for view in seen.places))


def pending_pods(seen: Seen) -> int:
    """Pods without a node, over all revisions."""
    return int(sum(view[2] for view in seen.workloads))  # unbound is third in every view of a workload


def active_pods(seen: Seen) -> int:
    """Pods that count as replicas: not terminating, bound or not."""
    return int(pending_pods(seen) + sum(view[1] + view[2] for view in seen.places))


@dataclass(frozen=True, slots=True)
class ReadyAtLeast(PodsFact):
    """minReady: so many pods are ready."""

    amount: Amount = Amount(1)

    footprint = Footprint(
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen) -> bool:
        return ready_pods(seen) >= self.amount.of(seen.workloads[0][1])


@dataclass(frozen=True, slots=True)
class ReplicasAtLeast(PodsFact):
    """minReplicas: so many pods exist."""

    amount: Amount = Amount(1)

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen) -> bool:
        return active_pods(seen) >= self.amount.of(seen.workloads[0][1])


@dataclass(frozen=True, slots=True)
class ReplicasAtMost(PodsFact):
    """maxReplicas: no more pods exist."""

    amount: Amount = Amount(1)

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen) -> bool:
        return active_pods(seen) <= self.amount.of(seen.workloads[0][1])


@dataclass(frozen=True, slots=True)
class NothingPending(PodsFact):
    """schedulable, noPendingForever: no pod is without a node."""

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen) -> bool:
        return pending_pods(seen) == 0 and not any(view[2] for view in seen.places)


@dataclass(frozen=True, slots=True)
class NothingMissing(PodsFact):
    """noPendingForever where the API server may refuse pods: none is without a node, none is left to be created."""

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        return cell.exists, cell.desired, cell.unbound, max(0, cell.replicas)

    def holds(self, seen: Seen) -> bool:
        waits = pending_pods(seen) or any(view[2] for view in seen.places)
        return not waits and active_pods(seen) >= sum(view[3] for view in seen.workloads)

    def is_settled(self, seen: Seen) -> bool:
        exists, desired, *_ = seen.workloads[0]
        return bool(exists and 0 < desired <= ready_pods(seen))

    def matters(self, seen: Seen) -> bool:
        exists, desired, *_ = seen.workloads[0]
        return bool(exists and desired)


@dataclass(frozen=True, slots=True)
class SkewAtMost:
    """maxSkew: bound, non-terminating pods differ by at most so much between domains.

    Domains are the values of the key on nodes that the pods' node affinity admits; a key whose value is
    different on every node makes each node a domain.
    """

    layout: Layout
    workloads: tuple[int, ...]  # whose pods count
    affine: PodTemplate | None  # whose node affinity limits the domains
    topology_key: str
    skew: int
    target: int | None = None  # whose desired state starts `always`

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        return Reads(self.workloads, tuple(p for p in self.layout.every_place if self._is_domain(p)))

    def _is_domain(self, place: int) -> bool:
        sample = self.layout.places[place].sample
        labels = dict(sample.labels)
        if self.topology_key not in labels:
            return False
        if self.affine is None:
            return True
        if any(labels.get(key) != value for key, value in self.affine.node_selector):
            return False
        terms = self.affine.required_terms
        return terms is None or any(term.matches(labels, sample.name) for term in terms)

    def show_workload(self, workload: int, cell: WorkloadCell) -> tuple[int, int]:
        return cell.exists, cell.desired

    def show_nodes(self, place: int, nodes: Nodes) -> tuple[int, int, int] | None:
        """Least and most pods in a domain here (of a unique key), or the sum twice; and ready pods."""
        if not nodes:
            return None
        per_node = [self._pods(cell, ACTIVE) for cell, _ in nodes]
        ready = sum(self._pods(cell, (Phase.READY,)) * count for cell, count in nodes)
        if self.topology_key in self.layout.unique_keys:
            return min(per_node), max(per_node), ready
        total = sum(pods * count for pods, (_, count) in zip(per_node, nodes, strict=True))
        return total, total, ready

    def _pods(self, cell: NodeCell, phases: tuple[int, ...]) -> int:
        return sum(n for kind, n in cell.pods if kind.workload in self.workloads and kind.phase in phases)

    def holds(self, seen: Seen) -> bool:
        return self.widest(seen) <= self.skew

    def widest(self, seen: Seen) -> int:
        """By how much the domain with most pods exceeds the one with fewest."""
        there = [(place, view) for place, view in zip(self.reads.places, seen.places, strict=True) if view]
        if not there:
            return 0
        if self.topology_key in self.layout.unique_keys:
            return int(max(view[1] for _, view in there) - min(view[0] for _, view in there))
        totals: dict[str, int] = {}
        for place, view in there:
            value = dict(self.layout.places[place].sample.labels)[self.topology_key]
            totals[value] = totals.get(value, 0) + view[0]
        return max(totals.values()) - min(totals.values())

    def is_settled(self, seen: Seen) -> bool:
        desired = sum(view[1] for view in seen.workloads if view[0])
        return bool(0 < desired <= sum(view[2] for view in seen.places if view))

    def matters(self, seen: Seen) -> bool:
        return any(view[0] and view[1] for view in seen.workloads)


def matching_workloads(
    workloads: tuple[Workload, ...], selector: LabelSelector, namespace: str | None
) -> tuple[int, ...]:
    """The workloads whose pods the selector matches, in one namespace or in all."""
    return tuple(
        index
        for index, workload in enumerate(workloads)
        if namespace in (None, workload.namespace) and selector.matches(dict(workload.template.labels))
    )


@dataclass(frozen=True, slots=True)
class RolloutComplete(PodsFact):
    """rolloutCompletes: all pods are of the revision asked for, and as many as desired are ready."""

    def show_workload(self, workload: int, cell: WorkloadCell) -> tuple[int, int, int, int, int]:
        return cell.exists, cell.desired, cell.unbound, cell.replicas, cell.template

    def show_nodes(self, place: int, nodes: Nodes) -> tuple[tuple[int, int], ...]:
        """Ready and active pods per revision."""
        return tuple(
            (count_pods(nodes, (member,), (Phase.READY,)), count_pods(nodes, (member,), ACTIVE))
            for member in self.members
        )

    def holds(self, seen: Seen) -> bool:
        exists, desired, _, _, template = seen.workloads[0]
        if not exists:
            return True
        for position, (_, _, unbound, replicas, _) in enumerate(seen.workloads):
            ready = sum(view[position][0] for view in seen.places)
            active = sum(view[position][1] for view in seen.places) + unbound
            wanted = desired if position == template else 0
            if max(replicas, 0) != wanted or active != wanted or (wanted and ready != wanted):
                return False
        return True

    def is_settled(self, seen: Seen) -> bool:
        return True

    def matters(self, seen: Seen) -> bool:
        """True once another revision than the first was asked for."""
        exists, _, _, _, template = seen.workloads[0]
        later = any(replicas >= 0 for _, _, _, replicas, _ in seen.workloads[1:])
        return bool(exists and (template or later))


@dataclass(frozen=True, slots=True)
class NoDrainUnderWay:
    """drainCompletes: no node that is up is being drained."""

    layout: Layout

    footprint = Footprint(
        tells_starts=NOBODY,
        sees_objects=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        return Reads((), self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_nodes(self, place: int, nodes: Nodes) -> int:
        """Nodes that are being drained, dead ones aside."""
        return sum(count for cell, count in nodes if cell.work in DRAINING and cell.health in KUBELET_LIVES)

    def holds(self, seen: Seen) -> bool:
        return bool(sum(seen.places) == 0)

    def is_settled(self, seen: Seen) -> bool:
        return True

    def matters(self, seen: Seen) -> bool:
        return bool(sum(seen.places) > 0)


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

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        """Whether it exists and wants pods, and its pods that count and have no node."""
        waiting = cell.unbound if self._counts("Pending") else 0
        return cell.exists, cell.desired, waiting + (cell.failed if self._counts("Failed") else 0)

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        """The pods that count here."""
        counted = tuple(phase for phase, name in API_PHASES.items() if self._counts(name))
        pinned = count_pinned(nodes, self.members) if self._counts("Pending") else 0
        return count_pods(nodes, self.members, counted) + pinned

    def _counts(self, phase: str) -> bool:
        return not self.phases or phase in self.phases

    def holds(self, seen: Seen) -> bool:
        return bool(pending_pods(seen) + sum(seen.places) <= self.most)

    def is_settled(self, seen: Seen) -> bool:
        return True

    def matters(self, seen: Seen) -> bool:
        return any(exists and desired for exists, desired, _ in seen.workloads)


@dataclass(frozen=True, slots=True)
class PlacesFact:
    """Shared by facts about where pods are; the view of a place is (target's pods, others) per node."""

    layout: Layout
    members: tuple[int, ...]  # the target and its later revisions
    others: tuple[int, ...] = ()

    @property
    def reads(self) -> Reads:
        return Reads(self.members, self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        return cell.exists, cell.desired, cell.unbound

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        """Per node: the target's pods, the others' pods, the target's ready pods; sorted, each once."""
        return tuple(sorted({self._row(cell) for cell, _ in nodes})), count_pods(nodes, self.members, (Phase.READY,))

    def _row(self, cell: NodeCell) -> tuple[int, int]:
        own = sum(n for kind, n in cell.pods if kind.workload in self.members and kind.phase in ACTIVE)
        foreign = sum(n for kind, n in cell.pods if kind.workload in self.others and kind.phase in ACTIVE)
        return own, foreign

    def is_settled(self, seen: Seen) -> bool:
        exists, desired, _ = seen.workloads[0]
        return bool(exists and 0 < desired <= sum(view[1] for view in seen.places))

    def matters(self, seen: Seen) -> bool:
        return bool(seen.workloads[0][0] and seen.workloads[0][1])

    def domains(self, seen: Seen, key: str) -> dict[object, list[tuple[int, int]]]:
        """The rows of every domain of a topology key; each node is one where the key is unique to a node."""
        found: dict[object, list[tuple[int, int]]] = {}
        for place, (rows, _) in zip(self.reads.places, seen.places, strict=True):
            value = dict(self.layout.places[place].sample.labels).get(key)
            if value is None:
                continue
            for row in rows:
                name: object = (place, row) if key in self.layout.unique_keys else value
                found.setdefault(name, []).append(row)
        return found


@dataclass(frozen=True, slots=True)
class OnlyOn(PlacesFact):
    """onlyOn: the target's pods are on matching nodes only."""

    nodes: LabelSelector | None = None
    names: tuple[str, ...] | None = None

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen) -> bool:
        return not any(
            own
            for place, (rows, _) in zip(self.reads.places, seen.places, strict=True)
            if not self._is_allowed(place)
            for own, _ in rows
        )

    def _is_allowed(self, place: int) -> bool:
        sample = self.layout.places[place].sample
        if self.names is not None and sample.name not in self.names:
            return False
        return self.nodes is None or self.nodes.matches(dict(sample.labels))


@dataclass(frozen=True, slots=True)
class NotColocated(PlacesFact):
    """notColocated: the target's pods are never in one domain with the others."""

    topology_key: str = ""

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen) -> bool:
        return not any(
            any(own for own, _ in rows) and any(foreign for _, foreign in rows)
            for rows in self.domains(seen, self.topology_key).values()
        )


@dataclass(frozen=True, slots=True)
class SpreadOver:
    """spread: the target's pods are in at least so many domains."""

    layout: Layout
    members: tuple[int, ...]
    topology_key: str
    least: int

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        return Reads(self.members, self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        return cell.exists, cell.desired, cell.unbound

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        """Nodes with pods of the target, and its ready pods."""
        used = sum(
            count
            for cell, count in nodes
            if any(kind.workload in self.members and kind.phase in ACTIVE for kind, _ in cell.pods)
        )
        return used, count_pods(nodes, self.members, (Phase.READY,))

    def holds(self, seen: Seen) -> bool:
        values: set[str] = set()
        single = 0
        for place, (used, _) in zip(self.reads.places, seen.places, strict=True):
            value = dict(self.layout.places[place].sample.labels).get(self.topology_key)
            if value is None or not used:
                continue
            if self.topology_key in self.layout.unique_keys:
                single += used
            else:
                values.add(value)
        return single + len(values) >= self.least

    def is_settled(self, seen: Seen) -> bool:
        exists, desired, _ = seen.workloads[0]
        return bool(exists and 0 < desired <= sum(view[1] for view in seen.places))

    def matters(self, seen: Seen) -> bool:
        return bool(seen.workloads[0][0] and seen.workloads[0][1])


@dataclass(frozen=True, slots=True)
class NodesAtMost:
    """maxNodes: no more matching nodes exist; only events that create nodes change their number."""

    layout: Layout
    count: int
    nodes: LabelSelector | None = None
    names: tuple[str, ...] | None = None

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        places = self.layout.places
        return Reads((), tuple(p for p in self.layout.every_place if self._is_counted(places[p].sample)))

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        return None

    def show_nodes(self, place: int, nodes: Nodes) -> int:
        """The nodes that are there."""
        return sum(count for _, count in nodes)

    def holds(self, seen: Seen) -> bool:
        return bool(sum(seen.places) <= self.count)

    def _is_counted(self, node: Node) -> bool:
        if self.names is not None and node.name not in self.names:
            return False
        return self.nodes is None or self.nodes.matches(dict(node.labels))

    def is_settled(self, seen: Seen) -> bool:
        return True

    def matters(self, seen: Seen) -> bool:
        return True
