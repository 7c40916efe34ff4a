"""What intents ask about traffic."""

from __future__ import annotations

from kubeproof.cluster.loops.control import Reads, Seen
from kubeproof.cluster.loops.footprint import NOBODY, Footprint
from kubeproof.cluster.services import (
    Extremes,
    Fallback,
    count_misrouted,
    count_misrouted_pods,
    extremes,
    fallbacks,
    load_ratio,
    sharing,
    splits_by_node,
)
from kubeproof.cluster.state import Nodes, Phase
from kubeproof.intents.facts.counts import WorkloadFact, count_pods
from kubeproof.intents.views import Counts
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass


class Loads(NamedTuple):
    """How the ready pods of a place share the traffic of Services."""

    ready: int
    splits: tuple[Extremes, ...]  # per Service that splits by node


class Routes(NamedTuple):
    """Where the traffic of a place goes."""

    ready: int
    misrouted: int
    services: tuple[Fallback, ...]  # per Service that selects the workload's pods


@dataclass(frozen=True, slots=True)
class LoadSkewAtMost(WorkloadFact):
    """maxLoadSkew: no ready pod gets more than so many times the load of another, whichever Service it comes from."""

    skew: int = 1

    footprint = Footprint(
        tells_ends=NOBODY,
        sees_objects=NOBODY,
    )

    @property
    def splits(self) -> tuple[tuple[int, ...], ...]:
        """Per Service that splits by node, the workloads that share its traffic."""
        return splits_by_node(self.layout.setup, self.members)

    @property
    def reads(self) -> Reads:
        sharing = sorted({number for split in self.splits for number in split} - set(self.members))
        return Reads((*self.members, *sharing), self.layout.every_place)

    def show_nodes(self, place: int, nodes: Nodes) -> Loads:
        """Ready pods of the workload, and per such Service the fewest and most on a node."""
        ready = count_pods(nodes, self.members, (Phase.READY,))
        return Loads(ready, tuple(extremes(nodes, split) for split in self.splits))

    def holds(self, seen: Seen[Counts, Loads]) -> bool:
        return self._find_ratio(seen) <= self.skew

    def describe_found(self, seen: Seen[Counts, Loads]) -> str:
        return f"a ready pod with {self._find_ratio(seen)} times the traffic of another, at most {self.skew} wanted"

    def _find_ratio(self, seen: Seen[Counts, Loads]) -> int:
        """By which factor loads differ at most, over all such Services."""
        ratios = (load_ratio(view.splits[at] for view in seen.places) for at in range(len(self.splits)))
        return max(ratios, default=0)


@dataclass(frozen=True, slots=True)
class NothingMisrouted(WorkloadFact):
    """noTrafficToTerminating: no pod gets traffic that has been told to stop."""

    footprint = Footprint()  # everything: no reduction was thought through for it

    @property
    def reads(self) -> Reads:
        others = sorted({number for group in self.groups for number in group} - set(self.members))
        return Reads((*self.members, *others), self.layout.every_place)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Per Service that selects the workload's pods, all workloads that it selects."""
        return sharing(self.layout.setup, self.members)

    def show_nodes(self, place: int, nodes: Nodes) -> Routes:
        """Ready pods of the workload, its misrouted ones, and per Service who is ready and who has been stopped."""
        ready = count_pods(nodes, self.members, (Phase.READY,))
        services = tuple(fallbacks(nodes, group, self.members) for group in self.groups)
        return Routes(ready, count_misrouted(nodes, self.members), services)

    def holds(self, seen: Seen[Counts, Routes]) -> bool:
        return self._count(seen) == 0

    def describe_found(self, seen: Seen[Counts, Routes]) -> str:
        found = self._count(seen)
        return (
            f"{found} pod{'' if found == 1 else 's'} with traffic that {'was' if found == 1 else 'were'} told to stop"
        )

    def _count(self, seen: Seen[Counts, Routes]) -> int:
        return count_misrouted_pods([(view.misrouted, view.services) for view in seen.places])
