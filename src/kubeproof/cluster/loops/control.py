"""How control loops and events speak: what they are shown, what they decide.

A controller is a pure function. It declares what it reads, reduces each thing it reads to a view, and answers a
tuple of views with all decisions that are possible. The same controller serves search, replay, simulation
and probabilities; none of them shows it more than it declared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import IntEnum
from typing import Generic, Protocol, TypeVar, cast

from kubeproof.cluster.loops.actions import (
    ANY as ANY,
)
from kubeproof.cluster.loops.actions import (
    Action as Action,
)
from kubeproof.cluster.loops.actions import (
    Advance as Advance,
)
from kubeproof.cluster.loops.actions import (
    Arrive as Arrive,
)
from kubeproof.cluster.loops.actions import (
    Bind as Bind,
)
from kubeproof.cluster.loops.actions import (
    BindPinned as BindPinned,
)
from kubeproof.cluster.loops.actions import (
    Crash as Crash,
)
from kubeproof.cluster.loops.actions import (
    CreateObject as CreateObject,
)
from kubeproof.cluster.loops.actions import (
    CreatePods as CreatePods,
)
from kubeproof.cluster.loops.actions import (
    Delete as Delete,
)
from kubeproof.cluster.loops.actions import (
    DeleteObject as DeleteObject,
)
from kubeproof.cluster.loops.actions import (
    DeleteUnbound as DeleteUnbound,
)
from kubeproof.cluster.loops.actions import (
    EvictDue as EvictDue,
)
from kubeproof.cluster.loops.actions import (
    EvictedPods as EvictedPods,
)
from kubeproof.cluster.loops.actions import (
    EvictPods as EvictPods,
)
from kubeproof.cluster.loops.actions import (
    KeepNode as KeepNode,
)
from kubeproof.cluster.loops.actions import (
    NodeAction as NodeAction,
)
from kubeproof.cluster.loops.actions import (
    NodeChange as NodeChange,
)
from kubeproof.cluster.loops.actions import (
    NodeRef as NodeRef,
)
from kubeproof.cluster.loops.actions import (
    NoteCompleted as NoteCompleted,
)
from kubeproof.cluster.loops.actions import (
    NoteFailed as NoteFailed,
)
from kubeproof.cluster.loops.actions import (
    Preempt as Preempt,
)
from kubeproof.cluster.loops.actions import (
    Remember as Remember,
)
from kubeproof.cluster.loops.actions import (
    SetCondition as SetCondition,
)
from kubeproof.cluster.loops.actions import (
    SetCurrent as SetCurrent,
)
from kubeproof.cluster.loops.actions import (
    SetDesired as SetDesired,
)
from kubeproof.cluster.loops.actions import (
    SetReplicas as SetReplicas,
)
from kubeproof.cluster.loops.actions import (
    SetTemplate as SetTemplate,
)
from kubeproof.cluster.loops.actions import (
    TendJob as TendJob,
)
from kubeproof.cluster.loops.actions import (
    Tick as Tick,
)
from kubeproof.cluster.loops.actions import (
    Unnominate as Unnominate,
)
from kubeproof.cluster.loops.actions import (
    Unroute as Unroute,
)
from kubeproof.cluster.loops.actions import (
    WorkloadAction as WorkloadAction,
)
from kubeproof.cluster.loops.actions import (
    Writing as Writing,
)
from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.state import Health, NodeCell, WorkloadCell
from kubeproof.named_tuples import NamedTuple

# What a controller makes of the cells it reads: named tuples of its own, or plain hashable values.
WorkloadView = TypeVar("WorkloadView", bound=Hashable)
NodeView = TypeVar("NodeView", bound=Hashable)
Shown_co = TypeVar("Shown_co", bound=Hashable, covariant=True)
Place_co = TypeVar("Place_co", bound=Hashable, covariant=True)

View = Hashable  # to whom only hands it on: whoever made a view alone knows its form

Groups = tuple[tuple[NodeView, int], ...]  # the nodes of a place as a controller sees them: (view, how many such nodes)


class Stage(IntEnum):
    """When a controller or event is asked."""

    ALWAYS = 0
    IDLE = 1  # only when nobody has urgent work: the clock
    CALM = 2  # only in stable states: events that wait for stability


class Role(IntEnum):
    """What kind of step a decision is."""

    URGENT = 0  # work that is due: time stands still until it is done
    OPTIONAL = 1  # may happen now, need not yet
    TIME = 2
    EVENT = 3


class Decision(NamedTuple):
    """One thing a controller may do now, all actions at once."""

    actions: tuple[Action, ...]
    role: int = Role.URGENT


class Reads(NamedTuple):
    """What a controller is shown: workloads, places and memories by index."""

    workloads: tuple[int, ...] = ()
    places: tuple[int, ...] = ()
    memories: tuple[int, ...] = ()


class Seen(NamedTuple, Generic[Shown_co, Place_co]):
    """The views, in the order of `Reads`; to a controller a place is `Groups` of nodes that look alike."""

    workloads: tuple[Shown_co, ...] = ()
    places: tuple[Place_co, ...] = ()
    memories: tuple[tuple[int, ...], ...] = ()


AnySeen = Seen[View, Hashable]  # to whom only hands it on


class Controller(Protocol[WorkloadView, NodeView]):
    """A control loop or an event, as its author writes it: what it makes of cells is what it is shown to act on."""

    @property
    def name(self) -> Actor:
        """Who acts, as traces say it; steps of equal name share one claim to fairness."""
        ...

    @property
    def stage(self) -> int: ...

    @property
    def reads(self) -> Reads: ...

    def show_workload(self, workload: int, cell: WorkloadCell) -> WorkloadView:
        """What of a workload's cell matters to this controller."""
        ...

    def show_node(self, place: int, cell: NodeCell) -> NodeView | None:
        """What of a node's cell matters; None leaves the node out."""
        ...

    def act(self, seen: Seen[WorkloadView, Groups[NodeView]]) -> Sequence[Decision]:
        """All decisions possible now, in a fixed order."""
        ...


class Loop(Protocol):
    """A controller, whatever its views, to those who run it: they hand it the views it made, unread."""

    @property
    def name(self) -> Actor: ...

    @property
    def stage(self) -> int: ...

    @property
    def reads(self) -> Reads: ...

    def show_workload(self, workload: int, cell: WorkloadCell) -> View: ...

    def show_node(self, place: int, cell: NodeCell) -> View: ...

    @property
    def act(self) -> Callable[..., Sequence[Decision]]: ...


def show_node_to(controller: Controller[WorkloadView, NodeView], place: int, cell: NodeCell) -> NodeView | None:
    """The controller's view of a node; one that is not there is shown to nobody but the event that brings it."""
    if cell.health == Health.ABSENT and not getattr(controller, "sees_absent", False):
        return None
    return controller.show_node(place, cell)


def has_nothing_to_do(controller: Controller[WorkloadView, NodeView], workloads: tuple[WorkloadView, ...]) -> bool:
    """True if a controller says that it does nothing whatever nodes look like, so that it need not be shown them."""
    asked = getattr(controller, "is_idle", None)
    return asked is not None and bool(asked(workloads))


class PeriodicController(Controller[WorkloadView, NodeView], Protocol[WorkloadView, NodeView]):
    """A loop with a clock of its own: its memory holds what it needs to know of time.

    When it would change nothing, its clock does not hold time up: `due` is NEVER. At rest the phase of its period is
    forgotten, because anything may happen at any phase. `remembers_next_round_only` is true of a loop whose memory is
    (least, most) seconds until its next round.
    """

    @property
    def memory(self) -> int:
        """The index of its memory, the first of its `reads.memories`."""
        ...

    def due(self, seen: Seen[WorkloadView, Groups[NodeView]]) -> int:
        """Seconds until it may or must act if nothing else changes; NEVER if it would not act."""
        ...

    def later(self, seen: Seen[WorkloadView, Groups[NodeView]], seconds: int | None) -> tuple[int, ...]:
        """Its memory so many seconds later (None: after any long time) if nothing else changes."""
        ...


class PeriodicLoop(Loop, Protocol):
    """A periodic controller, whatever its views, to those who run it."""

    @property
    def memory(self) -> int: ...

    @property
    def due(self) -> Callable[..., int]: ...

    @property
    def later(self) -> Callable[..., tuple[int, ...]]: ...


def as_periodic(controller: Loop) -> PeriodicLoop | None:
    """The controller as a periodic one, None if it has no clock."""
    return cast("PeriodicLoop", controller) if hasattr(controller, "due") else None
