"""What intents ask about traffic."""

from __future__ import annotations

from kubeproof.cluster.control import Reads, Seen, View
from kubeproof.cluster.footprint import NOBODY, Footprint
from kubeproof.cluster.services import (
    extremes,
    fallbacks,
    load_ratio,
    misrouted,
    misrouted_pods,
    sharing,
    splits_by_node,
)
from kubeproof.cluster.state import Nodes, Phase
from kubeproof.intents.facts import PodsFact, count_pods
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class LoadSkewAtMost(PodsFact):
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

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        """Ready pods of the workload, and per such Service the fewest and most on a node."""
        ready = count_pods(nodes, self.members, (Phase.READY,))
        return ready, tuple(extremes(nodes, split) for split in self.splits)

    def holds(self, seen: Seen) -> bool:
        ratios = (load_ratio(view[1][at] for view in seen.places) for at in range(len(self.splits)))
        return all(ratio <= self.skew for ratio in ratios)


@dataclass(frozen=True, slots=True)
class NothingMisrouted(PodsFact):
    """noTrafficToTerminating: no pod gets traffic that has been told to stop."""

    footprint = Footprint(
        sees_objects=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        others = sorted({number for group in self.groups for number in group} - set(self.members))
        return Reads((*self.members, *others), self.layout.every_place)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Per Service that selects the workload's pods, all workloads that it selects."""
        return sharing(self.layout.setup, self.members)

    def show_nodes(self, place: int, nodes: Nodes) -> View:
        """Ready pods of the workload, its misrouted ones, and per Service who is ready and who has been stopped."""
        ready = count_pods(nodes, self.members, (Phase.READY,))
        return ready, misrouted(nodes, self.members), tuple(fallbacks(nodes, g, self.members) for g in self.groups)

    def holds(self, seen: Seen) -> bool:
        return misrouted_pods([view[1:] for view in seen.places]) == 0
