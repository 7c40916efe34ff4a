"""`must: true`: an event that does not stay away for ever where it is possible.

While it has not happened, a cluster at rest does not end a run: the event is due, like the next instant of a clock.
An endless run in which it is possible all the time counts only if it happens (weak fairness, as for urgent work). Time
does not wait for it, and what is safe before it is judged as ever.
"""

from __future__ import annotations

from kubeproof.cluster.loops.actions import Action
from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.control import AnySeen, Decision, Loop, Reads, Role, Stage, View
from kubeproof.cluster.state import NodeCell, WorkloadCell
from kubeproof.values import dataclass


class _Speaker:
    """For who stands in for the source of an event: its name, what it is shown and its words are the event's."""

    __slots__ = ()
    event: Loop

    @property
    def name(self) -> Actor:
        return self.event.name

    @property
    def reads(self) -> Reads:
        return self.event.reads

    @property
    def sees_absent(self) -> bool:
        return bool(getattr(self.event, "sees_absent", False))

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        """As the event sees it."""
        return self.event.show_workload(workload, cell)

    def show_node(self, place: int, cell: NodeCell) -> View:
        """As the event sees it."""
        return self.event.show_node(place, cell)

    def tells(self, actions: tuple[Action, ...]) -> str:
        """What happens, in the event's own words if it has some."""
        tells = getattr(self.event, "tells", None)
        return "" if tells is None else str(tells(actions))


@dataclass(frozen=True, slots=True)
class Promise(_Speaker):
    """The source of an event as long as it has not happened.

    In stage CALM its step is one that the cluster waits for; in stage ALWAYS it may come before.
    """

    event: Loop
    first: tuple[int, ...]  # the event's memory before it happens
    stage: int
    is_promise: bool = True

    def act(self, seen: AnySeen) -> tuple[Decision, ...]:
        """What the event may do, unless it has happened."""
        if seen.memories[0] != self.first:
            return ()
        role = Role.OPTIONAL if self.stage == Stage.CALM else Role.EVENT
        return tuple(decision._replace(role=role) for decision in self.event.act(seen))


@dataclass(frozen=True, slots=True)
class Kept(_Speaker):
    """The source of an event whose promise is kept: what it may do after it has happened once."""

    event: Loop
    first: tuple[int, ...]

    @property
    def stage(self) -> int:
        return self.event.stage

    def act(self, seen: AnySeen) -> tuple[Decision, ...]:
        """What the event may do, once it has happened."""
        return () if seen.memories[0] == self.first else tuple(self.event.act(seen))


def promise(event: Loop, first: tuple[int, ...]) -> tuple[Loop, ...]:
    """The sources of an event that must happen, in place of its own."""
    stages = (Stage.CALM,) if event.stage == Stage.CALM else (Stage.ALWAYS, Stage.CALM)
    return (*(Promise(event, first, int(stage)) for stage in stages), Kept(event, first))
