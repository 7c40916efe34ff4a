"""cordon: an operator marks a node unschedulable, and perhaps lifts it again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen
from kubeproof.cluster.loops.footprint import MOMENT, QUIET, Scope, Writes
from kubeproof.cluster.loops.node_verbs import CORDON, UNCORDON, NodeVerb
from kubeproof.cluster.state import NodeCell
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced
from kubeproof.events.event import Event, NodeChoice
from kubeproof.events.manual import NODES, Manual, flag
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordon(Event):
    """An operator marks a node unschedulable; with `reversible` also back."""

    nodes: NodeChoice = NodeChoice()
    reversible: bool = False

    manuals = (
        Manual(
            key="cordon",
            text="Somebody makes a node unschedulable.",
            fields=(NODES, flag("reversible")),
            example="cordon: {max: 1, reversible: true}",
            is_timed=True,
        ),
    )

    footprint = replace(MOMENT, writes=Writes.CORDONS, takes_pods_of=Scope.NOWHERE)
    end_field = "reversible"

    def describe(self) -> str:
        lifted = ", and may be uncordoned" if self.reversible else ""
        return f"{self.nodes.one_of} is cordoned {self.times}{lifted}"

    @property
    def may_uncordon(self) -> bool:
        return self.reversible

    def first_memory(self, most: int) -> tuple[int, ...]:
        return (most, 0)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield CordonEvent(at, self)


@dataclass(frozen=True, slots=True)
class CordonEvent(Sourced, NoWorkloads):
    """Cordons one node per occurrence; memory is (left, cordons that may be lifted)."""

    source: EventSource
    event: Cordon

    footprint = replace(QUIET, writes=Writes.CORDONS)

    @property
    def reads(self) -> Reads:
        places = self.source.layout.places
        hit = tuple(i for i, place in enumerate(places) if self.event.nodes.admits(place.sample))
        return self.source.reads(places=hit)

    def show_node(self, place: int, cell: NodeCell) -> int:
        """Whether the node is cordoned."""
        return cell.cordoned

    def ends(self, decision: Decision) -> bool:
        """True if it lifts a cordon."""
        return any(isinstance(action, NodeChange) and action.verb == UNCORDON for action in decision.actions)

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """Cordons any node that is not; lifts a cordon if that is allowed."""
        if not self.source.may_happen(seen.memories):
            return ()
        left, liftable = seen.memories[0]
        decisions = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for cordoned in sorted({view for view, _ in groups}):
                if not cordoned and left:
                    memory = (left - 1, liftable + self.event.reversible)
                    decisions.append(self._change(place, cordoned, CORDON, memory))
                elif cordoned and liftable:
                    decisions.append(self._change(place, cordoned, UNCORDON, (left, liftable - 1)))
        return tuple(decisions)

    def _change(self, place: int, view: int, verb: NodeVerb, memory: tuple[int, int]) -> Decision:
        change = NodeChange(NodeRef(place, view), verb)
        return Decision((change, Remember(self.source.memory, memory)), Role.EVENT)
