"""The node lifecycle controller: notices silent kubelets, taints, and welcomes nodes back.

Mirrors `pkg/controller/nodelifecycle/node_lifecycle_controller.go`. A kubelet's silence is noticed between the grace
period and one monitor period later. Then Ready becomes Unknown, the NoSchedule taint appears and the node's pods
are marked not ready, in one step. The NoExecute taint follows if the zone's state allows (section 6.3):
a zone with more than two and at least 55 % of its nodes not ready taints nobody if it has 50 nodes or fewer; if all
zones are fully down, nobody is tainted and existing NoExecute taints are removed. Nodes labelled
`node.kubernetes.io/exclude-disruption` do not count for their zone's state, but follow it. Each zone taints at a
limited rate: one node per 10 s, per 100 s in a zone of more than 50 nodes that is partly down, the first at once. The
wait is a clock of the node that was tainted last; of several nodes that wait any may be next, upstream takes the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import NodeChange, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import QUIET, Among, Clocks, Writes
from kubeproof.cluster.loops.mentions import Mentions, mention_nothing
from kubeproof.cluster.loops.node_verbs import (
    NOTICE,
    TAINT,
    TAINT_SLOWLY,
    TAINT_VERY_SLOWLY,
    UNTAINT,
    WELCOME,
    NodeVerb,
)
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import REGION, ZONE, Node, Setup
from kubeproof.cluster.state import Health, NodeCell, WorkloadCell, holds_up_zone
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle

UNHEALTHY_FRACTION_PERCENT = 55
LARGE_CLUSTER = 50

EXCLUDED = "node.kubernetes.io/exclude-disruption"
UNWATCHED = (1, 0)  # a zone of which no node counts is in its normal state

NORMAL, PARTIAL, FULL = "Normal", "PartialDisruption", "FullDisruption"


def mention_zones(found: Mentions, setup: Setup) -> None:
    """Adds what decides about NoExecute taints where nodes fail: the states of zones."""
    found.topology |= {ZONE, REGION}
    found.keys.add(EXCLUDED)


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


class News(NamedTuple):
    """What is to be noticed of a node."""

    health: int  # LOST or BACK
    is_due: int  # it must be noticed now


@dataclass(frozen=True, slots=True)
class NodeMonitor:
    """Notices silence and return, for the nodes of one place."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.NODE_CONTROLLER)

    reads_nodes = mention_nothing
    footprint = replace(QUIET, writes=Writes.CONDITIONS, clocks=Clocks.SILENCE, among=Among.BY_ITSELF)

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> News | None:
        """Health, and whether the silence must be noticed now; None when there is nothing to do."""
        if cell.health == Health.BACK:
            return News(Health.BACK, 1)
        if cell.health == Health.LOST and cell.least_s == 0:
            return News(Health.LOST, int(cell.most_s == 0))
        return None

    def act(self, seen: Seen[None, Groups[News]]) -> tuple[Decision, ...]:
        """One step per node that needs it."""
        return tuple(
            Decision(
                (NodeChange(NodeRef(self.place, news), WELCOME if news.health == Health.BACK else NOTICE),),
                Role.URGENT if news.is_due else Role.OPTIONAL,
            )
            for news in dict.fromkeys(news for news, _ in seen.places[0])
        )


class Condition(NamedTuple):
    """What of a node matters to the taints of its zone."""

    is_out: int  # counts as not ready
    is_tainted: int
    zone_waits: int  # others of its zone have to wait


Sight = Seen[None, Groups[Condition]]


@dataclass(frozen=True, slots=True)
class NoExecuteTainter:
    """Puts and removes the NoExecute taint by the state of the zones."""

    layout: Layout
    is_limited: bool = False  # several nodes may be down at once, so that the rate of taints matters
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.NODE_CONTROLLER)

    reads_nodes = mention_zones
    footprint = replace(QUIET, writes=Writes.CONDITIONS, clocks=Clocks.SILENCE, among=Among.TAINTING)

    @property
    def reads(self) -> Reads:
        return Reads(places=self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> Condition:
        """Whether the node counts as not ready, whether it is tainted, and whether its zone waits for it."""
        return Condition(int(cell.health == Health.UNKNOWN), cell.no_execute, int(holds_up_zone(cell)))

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """Taints or untaints one node per step, where the zones' states ask for it."""
        if not any(view.is_out or view.is_tainted for groups in seen.places for view, _ in groups):
            return ()  # labels of zones are mentioned only where nodes may fail
        zones, waiting = self._zones(seen), self._waiting(seen)
        all_full = bool(zones) and all(zone_state(*nodes) == FULL for nodes in zones.values())
        decisions = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for view in dict.fromkeys(view for view, _ in groups):
                nodes = zones.get(self._zone_of(place, view), UNWATCHED)
                verb = self._verb(view, nodes, all_full=all_full)
                if verb == TAINT:
                    verb = None if self._zone_of(place, view) in waiting else self._pace(place, nodes)
                if verb:
                    decisions.append(Decision((NodeChange(NodeRef(place, view), verb),)))
        return tuple(decisions)

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """Why nodes that are down are not tainted, zone by zone."""
        from kubeproof.controllers.silent_nodes import why_no_taint

        if any(view.is_out and not view.is_tainted for groups in seen.places for view, _ in groups):
            zones = self._zones(seen)
            all_full = bool(zones) and all(zone_state(*nodes) == FULL for nodes in zones.values())
            for zone, nodes in sorted(zones.items()):
                yield from why_no_taint(zone[-1], *nodes, all_full=all_full)

    def _waiting(self, seen: Sight) -> frozenset[tuple[str, ...]]:
        """The zones of which no node is tainted yet, because one was just before."""
        shown = zip(self.reads.places, seen.places, strict=True)
        return frozenset(self._zone_of(place, view) for place, groups in shown for view, _ in groups if view.zone_waits)

    def _pace(self, place: int, nodes: tuple[int, int]) -> NodeVerb:
        """The verb for a taint, with the wait of the next one where the zone has another node."""
        own = _zone(self.layout.places[place].sample)
        if not self.is_limited or sum(_zone(node) == own for node in self.layout.setup.nodes) < 2:
            return TAINT
        return TAINT_VERY_SLOWLY if zone_state(*nodes) == PARTIAL else TAINT_SLOWLY

    def _verb(self, view: Condition, nodes: tuple[int, int], *, all_full: bool) -> NodeVerb | None:
        if view.is_tainted and all_full:
            return UNTAINT
        if view.is_out and not view.is_tainted and may_taint(zone_state(*nodes), sum(nodes), all_full=all_full):
            return TAINT
        return None

    def _zones(self, seen: Sight) -> dict[tuple[str, ...], tuple[int, int]]:
        """Ready and not ready nodes per zone.

        Where every node has a zone of its own, all zones of equal state are told as one zone of one node: whether
        a zone is full, and whether all are, does not depend on how many there are.
        """
        zones: dict[tuple[str, ...], tuple[int, int]] = {}
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            if EXCLUDED in self.layout.places[place].sample.label_map:
                continue
            for view, count in groups:
                zone = self._zone_of(place, view)
                ready, not_ready = zones.get(zone, (0, 0))
                amount = 1 if self._has_own_zone(place) else count
                if self._has_own_zone(place):
                    ready = not_ready = 0
                zones[zone] = (ready, not_ready + amount) if view.is_out else (ready + amount, not_ready)
        return zones

    def _has_own_zone(self, place: int) -> bool:
        labels = self.layout.places[place].sample.label_map
        return any(key in self.layout.unique_keys and key in labels for key in (ZONE, REGION))

    def _zone_of(self, place: int, view: Condition) -> tuple[str, ...]:
        if self._has_own_zone(place):
            return (f"own zone, {'not ready' if view.is_out else 'ready'}",)
        return _zone(self.layout.places[place].sample)


def _zone(node: Node) -> tuple[str, str]:
    labels = node.label_map
    return labels.get(REGION, ""), labels.get(ZONE, "")
