"""drain and maintenance: an operator empties nodes through the eviction API.

Mirrors `kubectl drain --ignore-daemonsets --delete-emptydir-data --force`: the node is cordoned, then all its pods but
those of DaemonSets are asked to be evicted; a refusal by a budget is tried again for ever. Here a refused eviction has
no step until the budget allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import MOMENT, Among, Clocks, Deletes, Footprint, Scope, Sizing, Writes
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.loops.node_verbs import DRAIN, DRAIN_UNCORDON, DRAINED, MAINTAIN, REMOVE, RETURN, NodeVerb
from kubeproof.cluster.nodes.daemons import daemon_sets
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import DRAINING, KUBELET_LIVES, NodeCell, Work
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced
from kubeproof.events.event import Event, NodeChoice
from kubeproof.events.manual import NODES, Manual, count, flag
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

EACH_ONCE = flag("eachOnce", "each_once", note="false: any node again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drain(Event):
    """An operator drains a node: cordons it, then evicts its pods through the eviction API, retrying."""

    nodes: NodeChoice = NodeChoice()
    concurrent: int = 1
    uncordon: bool = False
    each_once: bool = False  # no node twice: with `max` as many as there are nodes, each in its turn, in any order

    manuals = (
        Manual(
            key="drain",
            text="kubectl drain: the node is cordoned, its pods are evicted as far as PodDisruptionBudgets grant it, "
            "and what they refuse is asked for again.",
            fields=(NODES, count("concurrent"), flag("uncordon"), EACH_ONCE),
            example="drain: {nodes: {matchLabels: {pool: web}}, after: stable}",
            is_timed=True,
        ),
    )

    footprint = replace(MOMENT, writes=Writes.DRAINS, takes_pods_of=Scope.NODE)

    def describe(self) -> str:
        return _describe(self, "uncordoned when empty" if self.uncordon else "left cordoned")

    @property
    def drains(self) -> bool:
        return True

    @property
    def marks_nodes(self) -> bool:
        return self.each_once

    def default_times(self, nodes: Iterable[Node]) -> int:
        return _turns(self, nodes)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield DrainEvent(at, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Maintenance(Event):
    """An operator drains a node, takes it down, brings it back and uncordons it."""

    nodes: NodeChoice = NodeChoice()
    concurrent: int = 1
    each_once: bool = False  # as for Drain

    manuals = (
        Manual(
            key="maintenance",
            text="A drain, after which the node is down for a while, comes back and is uncordoned.",
            fields=(NODES, count("concurrent"), EACH_ONCE),
            example="maintenance: {max: 3, concurrent: 1}",
            is_timed=True,
        ),
    )

    footprint = replace(MOMENT, writes=Writes.DRAINS, takes_pods_of=Scope.NODE)

    def describe(self) -> str:
        return _describe(self, "down for a while, back and uncordoned")

    @property
    def drains(self) -> bool:
        return True

    @property
    def marks_nodes(self) -> bool:
        return self.each_once

    def default_times(self, nodes: Iterable[Node]) -> int:
        return _turns(self, nodes)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield DrainEvent(at, self)


def _describe(event: Drain | Maintenance, end: str) -> str:
    at_once = "" if event.max == 1 else f", {event.concurrent} at once"
    if not event.each_once:
        return f"{event.nodes.one_of} is drained {event.times}{at_once}, {end}"
    which = f" {event.nodes.which}" if event.nodes != NodeChoice() else ""
    how = "one after the other" if event.concurrent == 1 else f"{event.concurrent} at once"
    return f"{event.max} node(s){which} are drained, {how}, none twice, {end}"


def _turns(event: Drain | Maintenance, nodes: Iterable[Node]) -> int:
    """How many nodes are worked on: one unless the event says otherwise, all of them if each has its turn."""
    return max(1, sum(event.nodes.admits(node) for node in nodes)) if event.each_once else 1


@dataclass(frozen=True, slots=True)
class DrainEvent(Sourced, NoWorkloads):
    """Begins to drain a node, while its budget lasts and not too many are under way."""

    source: EventSource
    event: Drain | Maintenance

    may_repeat: ClassVar[bool] = True  # to forget how often it happened, and where, only allows more runs
    footprint = Footprint(
        writes=Writes.DRAINS,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        clocks=Clocks.MAINTENANCE,
    )

    @property
    def reads(self) -> Reads:
        places = self.source.layout.places
        hit = tuple(i for i, place in enumerate(places) if self.event.nodes.admits(place.sample))
        return self.source.reads(places=hit)

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node under work, 0 for one that can be taken up."""
        if cell.work == Work.LEAVE:
            return None  # the cluster autoscaler is about to delete it
        if cell.work:
            return 1
        if cell.marks & self.source.mark:
            return None  # it has had its turn
        return 0 if cell.health in KUBELET_LIVES else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """The beginning of a drain of any node that is free."""
        left = seen.memories[0][0]
        under_way = sum(count for groups in seen.places for busy, count in groups if busy)
        if left <= 0 or under_way >= self.event.concurrent or not self.source.may_happen(seen.memories):
            return ()
        memory = Remember(self.source.memory, (left - 1,))
        return tuple(
            Decision((NodeChange(NodeRef(place, 0), self._verb, self.source.mark), memory), Role.EVENT)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            if any(not busy for busy, _ in groups)
        )

    @property
    def _verb(self) -> NodeVerb:
        if isinstance(self.event, Maintenance):
            return MAINTAIN
        return DRAIN_UNCORDON if self.event.uncordon else DRAIN


class Next(NamedTuple):
    """What happens to a node next."""

    verb: NodeVerb
    is_due: int  # it must happen now


@dataclass(frozen=True, slots=True)
class DrainProgress(NoWorkloads):
    """Goes on when a node is empty: deletes it if it is to go, brings it back from maintenance."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.DRAIN)

    reads_nodes = mention_nothing
    footprint = Footprint(
        writes=Writes.DRAINS | Writes.DEPARTURES,
        deletes=Deletes.NO_PODS,
        sizing=Sizing.KEPT,
        clocks=Clocks.MAINTENANCE,
        wakes_on=Writes.DRAINS,
        among=Among.EMPTYING,
    )

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_node(self, place: int, cell: NodeCell) -> Next | None:
        """What may or must happen to the node next."""
        is_empty = all(kind.workload in daemon_sets(self.layout.setup) for kind, _ in cell.pods)
        if cell.work in DRAINING and is_empty and cell.health in KUBELET_LIVES:
            # a node that fails meanwhile keeps its operator waiting
            return Next(REMOVE if cell.work == Work.RETIRE else DRAINED, 1)
        if cell.work == Work.DOWN and cell.least_s == 0:
            return Next(RETURN, int(cell.most_s == 0))
        return None

    def act(self, seen: Seen[None, Groups[Next]]) -> tuple[Decision, ...]:
        """One step per node."""
        return tuple(
            Decision((NodeChange(NodeRef(self.place, view), view.verb),), Role.URGENT if view.is_due else Role.OPTIONAL)
            for view in dict.fromkeys(view for view, _ in seen.places[0])
        )
