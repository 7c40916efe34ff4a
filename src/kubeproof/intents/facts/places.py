"""Facts about where pods are: skew, spread, allowed nodes, neighbours."""

from __future__ import annotations

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.loops.footprint import NOBODY, Footprint
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import PodTemplate, Workload
from kubeproof.cluster.state import ACTIVE, NodeCell, Nodes, Phase, WorkloadCell
from kubeproof.intents.facts.counts import count_pods, describe_bound, ready_pods
from kubeproof.intents.views import Counts, Domain, Rows, Used
from kubeproof.values import dataclass


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
        labels = sample.label_map
        if self.topology_key not in labels:
            return False
        if self.affine is None:
            return True
        if any(labels.get(key) != value for key, value in self.affine.node_selector):
            return False
        terms = self.affine.required_terms
        return terms is None or any(term.matches(labels, sample.name) for term in terms)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        return Counts(cell.exists, cell.desired)

    def show_nodes(self, place: int, nodes: Nodes) -> Domain | None:
        """Least and most pods in a domain here (of a unique key), or the sum twice; and ready pods."""
        if not nodes:
            return None
        per_node = [self._pods(cell, ACTIVE) for cell, _ in nodes]
        ready = sum(self._pods(cell, (Phase.READY,)) * count for cell, count in nodes)
        if self.topology_key in self.layout.unique_keys:
            return Domain(min(per_node), max(per_node), ready)
        total = sum(pods * count for pods, (_, count) in zip(per_node, nodes, strict=True))
        return Domain(total, total, ready)

    def _pods(self, cell: NodeCell, phases: tuple[int, ...]) -> int:
        return sum(n for kind, n in cell.pods if kind.workload in self.workloads and kind.phase in phases)

    def holds(self, seen: Seen[Counts, Domain | None]) -> bool:
        return self.widest(seen) <= self.skew

    def describe_found(self, seen: Seen[Counts, Domain | None]) -> str:
        return describe_bound(self.widest(seen), "pods of difference", "at most", self.skew)

    def widest(self, seen: Seen[Counts, Domain | None]) -> int:
        """By how much the domain with most pods exceeds the one with fewest."""
        there = [(place, view) for place, view in zip(self.reads.places, seen.places, strict=True) if view]
        if not there:
            return 0
        if self.topology_key in self.layout.unique_keys:
            return max(view.most for _, view in there) - min(view.fewest for _, view in there)
        totals: dict[str, int] = {}
        for place, view in there:
            value = self.layout.places[place].sample.label_map[self.topology_key]
            totals[value] = totals.get(value, 0) + view.most
        return max(totals.values()) - min(totals.values())

    def is_settled(self, seen: Seen[Counts, Domain | None]) -> bool:
        desired = sum(view.desired for view in seen.workloads if view.exists)
        return 0 < desired <= sum(view.ready for view in seen.places if view)

    def matters(self, seen: Seen[Counts, Domain | None]) -> bool:
        return any(view.exists and view.desired for view in seen.workloads)


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
class PlacesFact:
    """Shared by facts about where pods are."""

    layout: Layout
    members: tuple[int, ...]  # the target and its later revisions
    others: tuple[int, ...] = ()

    @property
    def reads(self) -> Reads:
        return Reads(self.members, self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        return Counts(cell.exists, cell.desired, cell.unbound)

    def show_nodes(self, place: int, nodes: Nodes) -> Rows:
        rows = tuple(sorted({self._row(cell) for cell, _ in nodes}))
        return Rows(rows, count_pods(nodes, self.members, (Phase.READY,)))

    def _row(self, cell: NodeCell) -> tuple[int, int]:
        own = sum(n for kind, n in cell.pods if kind.workload in self.members and kind.phase in ACTIVE)
        foreign = sum(n for kind, n in cell.pods if kind.workload in self.others and kind.phase in ACTIVE)
        return own, foreign

    def is_settled(self, seen: Seen[Counts, Rows]) -> bool:
        own = seen.workloads[0]
        return bool(own.exists and 0 < own.desired <= ready_pods(seen))

    def matters(self, seen: Seen[Counts, Rows]) -> bool:
        return bool(seen.workloads[0].exists and seen.workloads[0].desired)

    def domains(self, seen: Seen[Counts, Rows], key: str) -> dict[object, list[tuple[int, int]]]:
        """The rows of every domain of a topology key; each node is one where the key is unique to a node."""
        found: dict[object, list[tuple[int, int]]] = {}
        for place, view in zip(self.reads.places, seen.places, strict=True):
            value = self.layout.places[place].sample.label_map.get(key)
            if value is None:
                continue
            for row in view.nodes:
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

    def holds(self, seen: Seen[Counts, Rows]) -> bool:
        return not any(
            own
            for place, view in zip(self.reads.places, seen.places, strict=True)
            if not self._is_allowed(place)
            for own, _ in view.nodes
        )

    def _is_allowed(self, place: int) -> bool:
        sample = self.layout.places[place].sample
        if self.names is not None and sample.name not in self.names:
            return False
        return self.nodes is None or self.nodes.matches(sample.label_map)


@dataclass(frozen=True, slots=True)
class NotColocated(PlacesFact):
    """notColocated: the target's pods are never in one domain with the others."""

    topology_key: str = ""

    footprint = Footprint(
        tells_starts=NOBODY,
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    def holds(self, seen: Seen[Counts, Rows]) -> bool:
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

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counts:
        return Counts(cell.exists, cell.desired, cell.unbound)

    def show_nodes(self, place: int, nodes: Nodes) -> Used:
        """Nodes with pods of the target, and its ready pods."""
        used = sum(
            count
            for cell, count in nodes
            if any(kind.workload in self.members and kind.phase in ACTIVE for kind, _ in cell.pods)
        )
        return Used(used, count_pods(nodes, self.members, (Phase.READY,)))

    def holds(self, seen: Seen[Counts, Used]) -> bool:
        return self._count(seen) >= self.least

    def describe_found(self, seen: Seen[Counts, Used]) -> str:
        return describe_bound(self._count(seen), f"domain(s) of {self.topology_key}", "at least", self.least)

    def _count(self, seen: Seen[Counts, Used]) -> int:
        """The domains that have pods."""
        values: set[str] = set()
        single = 0
        for place, (used, _) in zip(self.reads.places, seen.places, strict=True):
            value = self.layout.places[place].sample.label_map.get(self.topology_key)
            if value is None or not used:
                continue
            if self.topology_key in self.layout.unique_keys:
                single += used
            else:
                values.add(value)
        return single + len(values)

    def is_settled(self, seen: Seen[Counts, Used]) -> bool:
        own = seen.workloads[0]
        return bool(own.exists and 0 < own.desired <= ready_pods(seen))

    def matters(self, seen: Seen[Counts, Used]) -> bool:
        return bool(seen.workloads[0].exists and seen.workloads[0].desired)
