"""zoneFailure: all nodes of one domain fall silent together, and may speak again together.

Memory is (how often it may still happen, the domains that are down as bits). Nodes that were asked for do not come
while their zone is down.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import Footprint, Scope, Writes
from kubeproof.cluster.loops.node_verbs import FAIL_ZONE, RECOVER
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import ZONE
from kubeproof.cluster.state import KUBELET_LIVES, Cause, NodeCell, Work
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced
from kubeproof.events.event import Event
from kubeproof.events.manual import Field, FieldType, Manual, flag
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneFailure(Event):
    """All nodes of one domain fail together; with `recovers` they may come back together."""

    topology_key: str = ZONE
    recovers: bool = True

    manuals = (
        Manual(
            key="zoneFailure",
            text="All nodes with the same value of the label fail in one step, and may come back together.",
            fields=(
                Field("topologyKey", FieldType.LABEL_KEY, "topology_key", ZONE),
                flag("recovers", default=True),
            ),
            example="zoneFailure: {topologyKey: topology.kubernetes.io/zone}",
            is_timed=True,
        ),
    )

    footprint = Footprint(
        writes=Writes.FAILURES | Writes.OUTAGES,
        concerns_all="",
        takes_pods_of=Scope.DOMAIN,
    )
    end_field = "recovers"

    @property
    def domain_key(self) -> str:
        return self.topology_key

    def is_domain_down(self, layout: Layout, place: int, memory: tuple[int, ...]) -> bool:
        return is_down(layout, self, place, memory)

    def describe(self) -> str:
        end = "may recover together" if self.recovers else "for good"
        return f"all nodes of one {self.topology_key} fail together {self.times}, {end}"

    def first_memory(self, most: int) -> tuple[int, ...]:
        return (most, 0)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield ZoneFailureEvent(at, self)
        if self.recovers:
            yield ZoneRecoveryEvent(at, self)


def domains(layout: Layout, event: ZoneFailure) -> tuple[str, ...]:
    """The values of the topology key, sorted; each is a domain that may be lost."""
    labels = (place.sample.label_map for place in layout.places)
    return tuple(sorted({own[event.topology_key] for own in labels if event.topology_key in own}))


def is_down(layout: Layout, event: ZoneFailure, place: int, memory: tuple[int, ...]) -> bool:
    """True if the domain of the place is lost."""
    value = layout.places[place].sample.label_map.get(event.topology_key)
    return value is not None and bool(memory[1] >> domains(layout, event).index(value) & 1)


def _places(layout: Layout, event: ZoneFailure) -> tuple[tuple[int, int], ...]:
    """Places with the number of their domain."""
    values = domains(layout, event)
    labelled = ((place, one.sample.label_map.get(event.topology_key)) for place, one in enumerate(layout.places))
    return tuple((place, values.index(value)) for place, value in labelled if value is not None)


@dataclass(frozen=True, slots=True)
class ZoneFailureEvent(Sourced, NoWorkloads):
    """Takes one domain down while its budget lasts."""

    source: EventSource
    event: ZoneFailure

    footprint = Footprint(
        writes=Writes.FAILURES | Writes.OUTAGES,
    )

    @property
    def reads(self) -> Reads:
        return self.source.reads(places=tuple(place for place, _ in _places(self.source.layout, self.event)))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that fails with its zone."""
        return 1 if cell.health in KUBELET_LIVES and cell.work != Work.DOWN else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """The loss of any domain that has nodes and is not lost already."""
        left, down = seen.memories[0]
        if left <= 0 or not self.source.may_happen(seen.memories):
            return ()
        found = []
        for number in range(len(domains(self.source.layout, self.event))):
            changes = () if down >> number & 1 else tuple(self._changes(seen, number))
            if changes:
                memory = Remember(self.source.memory, (left - 1, down | 1 << number))
                found.append(Decision((*changes, memory), Role.EVENT))
        return tuple(found)

    def _changes(self, seen: Seen[None, Groups[int]], number: int) -> Iterator[NodeChange]:
        for (place, domain), groups in zip(_places(self.source.layout, self.event), seen.places, strict=True):
            if domain == number:
                for _ in range(sum(count for _, count in groups)):
                    yield NodeChange(NodeRef(place, 1), FAIL_ZONE)


@dataclass(frozen=True, slots=True)
class ZoneRecoveryEvent(NoWorkloads):
    """Brings a lost domain back with all its nodes, at any later moment."""

    source: EventSource
    event: ZoneFailure
    stage: int = Stage.ALWAYS

    ends = True
    footprint = Footprint(
        writes=Writes.FAILURES,
    )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.EVENT, self.event.name)

    @property
    def reads(self) -> Reads:
        places = tuple(place for place, _ in _places(self.source.layout, self.event))
        return Reads(places=places, memories=(self.source.memory,))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that is down with its zone."""
        return 1 if cell.health not in KUBELET_LIVES and cell.cause == Cause.ZONE else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """The return of any domain that is lost."""
        left, down = seen.memories[0]
        numbers = [n for n in range(len(domains(self.source.layout, self.event))) if down >> n & 1]
        return tuple(
            Decision(
                (*self._changes(seen, number), Remember(self.source.memory, (left, down & ~(1 << number)))), Role.EVENT
            )
            for number in numbers
        )

    def _changes(self, seen: Seen[None, Groups[int]], number: int) -> Iterator[NodeChange]:
        for (place, domain), groups in zip(_places(self.source.layout, self.event), seen.places, strict=True):
            if domain == number:
                for _ in range(sum(count for _, count in groups)):
                    yield NodeChange(NodeRef(place, 1), RECOVER)
