"""nodeFailure: a kubelet falls silent, and may speak again."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Loop, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Footprint, Scope, Writes
from kubeproof.cluster.loops.node_verbs import FAIL, FAIL_FOR_GOOD, RECOVER
from kubeproof.cluster.state import KUBELET_LIVES, Cause, NodeCell, Work
from kubeproof.events.common import Around, EventSource, NoWorkloads, Sourced, one_less
from kubeproof.events.event import Event, NodeChoice, Problem
from kubeproof.events.manual import NODES, Manual, flag
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFailure(Event):
    """A node's kubelet stops; with `recovers` it may come back."""

    nodes: NodeChoice = NodeChoice()
    recovers: bool = True
    together: bool = False  # `max` nodes in one step
    or_fewer: bool = False  # with `together`: that many or fewer, once
    max: int | None = 1  # type: ignore[assignment]  # None: any number of failures
    comes_back: bool = False  # with `recovers`: it does come back, sooner or later; no run ends without it

    manuals = (
        Manual(
            key="nodeFailure",
            text="A node falls silent. The node controller notices after its grace period, taints the node, and pods "
            "are evicted when their tolerations end. The node may come back at any later moment.",
            fields=(
                NODES,
                flag("recovers", default=True),
                flag("comesBack", "comes_back", note="false: it may stay down"),
                flag("together", note="false: one at a time"),
                flag("orFewer", "or_fewer", note="false: exactly max of them, with together"),
            ),
            example="nodeFailure: {max: 1, recovers: true}",
            is_unlimited=True,
            is_timed=True,
        ),
    )

    footprint = Footprint(
        writes=Writes.FAILURES,
        concerns_all="",
        takes_pods_of=Scope.NODE,
    )
    end_field = "recovers"

    @property
    def has_one_chance(self) -> bool:
        return self.together

    @property
    def hits_several(self) -> bool:
        return self.together and self.max != 1

    def describe(self) -> str:
        end = "comes back" if self.comes_back else "may recover" if self.recovers else "for good"
        if not self.together or self.max == 1:
            return f"{self.nodes.one_of} fails {self.times}, {end}"
        which = f" {self.nodes.which}" if self.nodes != NodeChoice() else ""
        return f"{'up to ' if self.or_fewer else ''}{self.max} nodes{which} fail together, once, {end}"

    def problems(self) -> Iterator[Problem]:
        if self.comes_back and not self.recovers:
            yield Problem("comesBack", "is given, but recovers is false", "Remove one of the two")
        if self.or_fewer and not self.together:
            yield Problem("orFewer", "is set, but nodes fail one by one", "Write together: true beside it")
        if self.or_fewer and self.chance is not None:
            remedy = "A chance is that of a number: take one of them out"
            yield Problem("orFewer", "leaves open how many fail", remedy)

    def sources(self, at: EventSource, around: Around) -> Iterator[Loop]:
        yield NodeFailureEvent(at, self)
        if self.recovers:
            yield NodeRecoveryEvent(at, self)


@dataclass(frozen=True, slots=True)
class NodeFailureEvent(Sourced, NoWorkloads):
    """Fails nodes (one at a time, or `max` together, or up to so many) while its budget lasts."""

    source: EventSource
    event: NodeFailure

    footprint = Footprint(
        writes=Writes.FAILURES,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def reads(self) -> Reads:
        return self.source.reads(places=hit_places(self.source, self.event))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that can fail."""
        return 1 if cell.health in KUBELET_LIVES and cell.work != Work.DOWN else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """A failure of any node it may hit."""
        left = seen.memories[0][0]
        if left == 0 or not self.source.may_happen(seen.memories):
            return ()
        alive = [sum(count for _, count in groups) for groups in seen.places]
        memory = Remember(self.source.memory, (0 if self.event.together else one_less(left),))
        return tuple(
            Decision((*self._failures(picks), memory), Role.EVENT)
            for amount in self._amounts(left)
            for picks in _picks(alive, amount)
        )

    def _amounts(self, left: int) -> range:
        """How many nodes may fail in one step, most first."""
        if not self.event.together:
            return range(1, 2)
        return range(left, 0 if self.event.or_fewer else left - 1, -1)

    def _failures(self, picks: tuple[int, ...]) -> Iterator[NodeChange]:
        for place, count in zip(self.reads.places, picks, strict=True):
            for _ in range(count):
                yield NodeChange(NodeRef(place, 1), FAIL if self.event.recovers else FAIL_FOR_GOOD)


@dataclass(frozen=True, slots=True)
class NodeRecoveryEvent(NoWorkloads):
    """Brings a failed node back, at any later moment."""

    source: EventSource
    event: NodeFailure
    stage: int = Stage.ALWAYS

    ends = True
    footprint = Footprint(
        writes=Writes.FAILURES,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.EVENT, self.event.name)

    @property
    def is_promise(self) -> bool:
        """True if no endless run keeps the node down, whatever else goes on meanwhile."""
        return self.event.comes_back

    @property
    def reads(self) -> Reads:
        return Reads(places=hit_places(self.source, self.event))

    def show_node(self, place: int, cell: NodeCell) -> int | None:
        """1 for a node that is down and may come back."""
        return 1 if cell.health not in KUBELET_LIVES and cell.cause == Cause.FAILURE else None

    def act(self, seen: Seen[None, Groups[int]]) -> tuple[Decision, ...]:
        """A recovery of any node that is down."""
        role = Role.OPTIONAL if self.event.comes_back else Role.EVENT
        return tuple(
            Decision((NodeChange(NodeRef(place, 1), RECOVER),), role)
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            if groups
        )


def hit_places(source: EventSource, event: NodeFailure) -> tuple[int, ...]:
    """The places whose nodes the event may hit."""
    places = source.layout.places
    return tuple(i for i, place in enumerate(places) if event.nodes.admits(place.sample))


def _picks(available: list[int], amount: int) -> Iterator[tuple[int, ...]]:
    """All ways to pick `amount` nodes from places with so many each."""
    if not available:
        if amount == 0:
            yield ()
        return
    for here in range(min(available[0], amount), -1, -1):
        for rest in _picks(available[1:], amount - here):
            yield (here, *rest)
