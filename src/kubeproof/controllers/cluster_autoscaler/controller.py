"""The cluster autoscaler as a periodic control loop: one step is one round in which it changes something.

Mirrors `StaticAutoscaler.RunOnce` (`core/static_autoscaler.go` of kubernetes/autoscaler): pods that fit neither on a
node nor on one that is coming make a group grow; then unneeded nodes are found, and if nothing grew and no cool-down is
on, those that have been unneeded for long enough are deleted, empty ones at once, others by draining them.

Memory is (least, most, cool-down, then per group remaining and last back-off, where zones may be lost): seconds until
the next round, and until nodes may be deleted. At rest the phase is forgotten, and cool-downs are over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import Action, NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Footprint, Writes
from kubeproof.cluster.loops.memories import Holds, MemoryKind
from kubeproof.cluster.loops.node_verbs import EVACUATE, MARK_NEEDED, MARK_SPARE, PROVISION, REMOVE
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import KUBELET_LIVES, NEVER, Health, NodeCell, Work, WorkloadCell
from kubeproof.controllers.cluster_autoscaler.round import Round, Rounds, Shown, mention_groups
from kubeproof.controllers.cluster_autoscaler.scale_down import LONG_ENOUGH
from kubeproof.controllers.cluster_autoscaler.snapshot import NodeView, Pending
from kubeproof.controllers.scheduler.controller import node_facts
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle

REMEMBERS = MemoryKind("cluster autoscaler", Holds.TIMES)
FREE = "free"  # a slot of a group
COMING = "coming"  # a node that was asked for
CLOCKS = 3  # least, most, cool-down; back-offs follow
MOST_KNOWN = 100_000
Sight = Seen[Pending, Groups[NodeView | str]]


@dataclass(frozen=True, slots=True)
class ClusterAutoscalerController:
    """The loop of the one cluster autoscaler."""

    layout: Layout
    memory: int
    claims: tuple[int, ...] = ()  # memories of the claims whose volume is decided during the run
    reserved: frozenset[int] = frozenset()  # places of nodes that an event brings: no slots of a group
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.CLUSTER_AUTOSCALER)
    sees_absent: bool = True  # slots of groups
    _rounds: Rounds = field(init=False, compare=False, repr=False)
    _known: dict[object, tuple[Round, ...]] = field(default_factory=dict, compare=False, repr=False)

    reads_nodes = mention_groups
    # Nodes come and go: it sees every pod, and whatever relies on nodes that stay does not apply beside it.
    footprint = Footprint(
        writes=Writes.ARRIVALS | Writes.DEPARTURES | Writes.DRAINS | Writes.CONDITIONS,
        sees_objects=NOBODY,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_rounds", Rounds(self.layout, self.claims))

    @property
    def reads(self) -> Reads:
        every = tuple(range(len(self.layout.setup.workloads)))
        return Reads(every, self.layout.every_place, (self.memory, *self.claims))

    def show_workload(self, workload: int, cell: WorkloadCell) -> Pending:
        """Pods without a node, and the scale where a budget asks for it."""
        return Pending(cell.unbound, cell.desired if workload in self._rounds.counted else 0)

    def show_node(self, place: int, cell: NodeCell) -> NodeView | str | None:
        """What of a node decides; of a slot, whether a node is coming."""
        if cell.health == Health.ABSENT:
            is_slot = bool(self.layout.places[place].sample.group) and place not in self.reserved
            return (FREE if cell.least_s == NEVER else COMING) if is_slot else None
        ready = self._rounds.ready_pods(cell)
        is_ready = cell.health in (Health.UP, Health.LOST)
        return NodeView(
            node_facts(cell),
            int(is_ready),
            int(cell.health not in KUBELET_LIVES),
            int(cell.work == Work.LEAVE),
            self._spare(cell, is_ready=is_ready),
            ready,
            cell.nominated,
        )

    def _spare(self, cell: NodeCell, *, is_ready: bool) -> int:
        if cell.spare_s == NEVER:
            return 0
        flags = self._rounds.flags
        if cell.finished:
            return 1  # Jobs count their finished pods first
        return LONG_ENOUGH if cell.spare_s >= (flags.unneeded_s if is_ready else flags.unready_s) else 1

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """A round, if it is due or may be, with each of its possible outcomes."""
        least_s, most_s, *_ = seen.memories[0]
        rounds = self._outcomes(seen) if least_s == 0 else ()
        if not any(one.changes for one in rounds):
            return ()
        role = Role.URGENT if most_s == 0 else Role.OPTIONAL
        return tuple(Decision((*self._actions(one), self._after(seen, one)), role) for one in rounds)

    def _after(self, seen: Sight, one: Round) -> Remember:
        interval_s = self._rounds.flags.scan_interval_s
        _, _, cooldown_s, *rest = seen.memories[0]
        if one.grown:
            cooldown_s = self._rounds.flags.delay_after_add_s
        return Remember(self.memory, (interval_s, interval_s, cooldown_s, *rest))

    def _actions(self, one: Round) -> Iterator[Action]:
        for place in one.grown:
            yield NodeChange(NodeRef(place, FREE), PROVISION)
        for verb, nodes in (
            (MARK_NEEDED, one.needed),
            (MARK_SPARE, one.spare),
            (REMOVE, one.gone),
            (EVACUATE, one.drained),
        ):
            for place, view in nodes:
                yield NodeChange(NodeRef(place, view), verb)

    def _outcomes(self, seen: Sight, *, patient: bool = False) -> tuple[Round, ...]:
        """What a round may do now; with `patient` after all cool-downs and back-offs."""
        _, _, cooldown_s, *backoffs = seen.memories[0]
        waits = (not patient and cooldown_s > 0, tuple(not patient and left_s > 0 for left_s in backoffs[::2]))
        key = (seen.workloads, seen.places, seen.memories[1:], waits)
        found = self._known.get(key)
        if found is None:
            found = self._rounds.outcomes(self._show(seen), in_cooldown=waits[0], backed_off=waits[1])
            if len(self._known) < MOST_KNOWN:
                self._known[key] = found
        return found

    def _show(self, seen: Sight) -> Shown:
        nodes: dict[tuple[int, NodeView], int] = {}
        free: list[int] = []
        coming: list[int] = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for view, count in groups:
                if isinstance(view, NodeView):
                    nodes[place, view] = nodes.get((place, view), 0) + count
                elif view == FREE:
                    free += [place] * count
                else:
                    coming += [place] * count
        return Shown(seen.workloads, tuple(nodes.items()), tuple(free), tuple(coming), seen.memories[1:])

    def why(self, seen: Sight) -> tuple[str, ...]:
        """The numbers behind a round."""
        return self._rounds.explain(self._show(seen))

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """Why it adds no node for pods that wait, and keeps those that are hardly used."""
        return self._rounds.why_not(self._show(seen))

    # -- time -----------------------------------------------------------------------------------

    def due(self, seen: Sight) -> int:
        """Seconds until a round that changes something may or must happen."""
        least_s, most_s, cooldown_s, *backoffs = seen.memories[0]
        if any(one.changes for one in self._outcomes(seen)):
            return least_s if least_s > 0 else most_s
        waits = [clock for clock in (cooldown_s, *backoffs[::2]) if clock > 0]
        if waits and any(one.changes for one in self._outcomes(seen, patient=True)):
            return min(waits)
        return NEVER

    def later(self, seen: Sight, seconds: int | None) -> tuple[int, ...]:
        """The clocks later; the phase is forgotten while nothing would change and it is open."""
        least_s, most_s, cooldown_s, *backoffs = seen.memories[0]
        interval_s = self._rounds.flags.scan_interval_s
        if seconds is None:
            return (0, interval_s, 0, *(0 for _ in backoffs))
        waits = (max(0, cooldown_s - seconds), *_shorten(backoffs, seconds))
        is_idle = not any(one.changes for one in self._outcomes(seen))
        if is_idle and least_s < most_s:
            return (0, interval_s, *waits)
        if is_idle and most_s <= seconds:  # rounds that changed nothing have passed
            left = interval_s - (seconds - most_s) % interval_s
            return (left, left, *waits)
        return (max(0, least_s - seconds), max(0, most_s - seconds), *waits)


def _shorten(backoffs: list[int], seconds: int) -> Iterator[int]:
    for index, value in enumerate(backoffs):
        yield value if index % 2 else max(0, value - seconds)


def first_memory(interval_s: int, groups_that_may_fail: int) -> tuple[int, ...]:
    """What the loop remembers at the start."""
    return (0, interval_s, 0, *(0,) * 2 * groups_that_may_fail)
