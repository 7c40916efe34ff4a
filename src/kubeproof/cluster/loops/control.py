"""How control loops and events speak: what they are shown, what they decide.

A controller is a pure function. It declares what it reads, reduces each thing it reads to a view, and answers a
tuple of views with all decisions that are possible. The same controller serves search, replay, simulation
and probabilities; none of them shows it more than it declared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from enum import IntEnum
from typing import Generic, NamedTuple, Protocol, TypeVar, cast

from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.node_verbs import NodeVerb
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.state import ANY_LIFE, NEVER, Health, NodeCell, WorkloadCell

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


# -- actions on workloads ---------------------------------------------------------------------------


class SetDesired(NamedTuple):
    """Writes spec.replicas of the Deployment or bare ReplicaSet."""

    workload: int
    replicas: int


class SetReplicas(NamedTuple):
    """Writes spec.replicas of a Deployment's ReplicaSet, creating it if need be, and its annotations."""

    workload: int
    replicas: int
    noted: int = NEVER
    max_noted: int = NEVER


class SetTemplate(NamedTuple):
    """Gives a Deployment the pod template of one of its revisions."""

    workload: int
    template: int


class SetCurrent(NamedTuple):
    """A StatefulSet's update to a revision is complete: status.currentRevision."""

    workload: int
    revision: int


class SetCondition(NamedTuple):
    """Writes the condition of a Job: see `kubeproof.controllers.workloads.job_sync`."""

    workload: int
    condition: int


class CreateObject(NamedTuple):
    """The workload object itself appears."""

    workload: int


class DeleteObject(NamedTuple):
    """The workload object disappears, and with it its ReplicaSet's claim to pods."""

    workload: int


class NoteFailed(NamedTuple):
    """Pods of the workload failed; their objects stay."""

    workload: int
    pods: int


class NoteCompleted(NamedTuple):
    """Pods of a Job that it has counted had succeeded; their objects stay as long as the Job's."""

    workload: int
    pods: int


class CreatePods(NamedTuple):
    """New pods without a node."""

    workload: int
    pods: int


class DeleteUnbound(NamedTuple):
    """Pods without a node vanish at once."""

    workload: int
    pods: int


class Remember(NamedTuple):
    """A controller or event writes its own memory."""

    memory: int
    value: tuple[int, ...]


# -- actions on one node; `NodeRef` says which ------------------------------------------------------


ANY = "any"  # a view that every node answers to


class NodeRef(NamedTuple):
    """Any node of a place that looks like `view` to the controller who says so."""

    place: int
    view: View


class Bind(NamedTuple):
    """One unbound pod of the workload goes to the node."""

    node: NodeRef
    workload: int
    was_nominated: bool = False  # to this node, so that its nomination ends


class Preempt(NamedTuple):
    """Pods of lower priority get a deletionTimestamp, and the node is nominated for a pod of the workload."""

    node: NodeRef
    workload: int  # of the pod that gets room
    losses: tuple[tuple[int, int], ...]  # (workload, pods)
    was_nominated: bool = False  # to this node already


class Unnominate(NamedTuple):
    """One pod of the workload is no longer nominated to the node."""

    node: NodeRef
    workload: int


class Arrive(NamedTuple):
    """New pods that name their node in the template appear there, past the scheduler."""

    node: NodeRef
    workload: int
    pods: int


class Delete(NamedTuple):
    """Pods get a deletionTimestamp: for each loss, so many of the workload's pods in one of the phases."""

    node: NodeRef
    workload: int
    losses: tuple[tuple[tuple[int, ...], int], ...]  # (phases, count)
    is_eviction: bool = False  # not by the workload's own controller


class KeepNode(NamedTuple):
    """An owner's work on one node: a new pod that may only run there, and pods of any revision that have to go."""

    node: NodeRef
    workload: int  # the DaemonSet or StatefulSet
    creates: int | None = None  # of which revision one new pod comes; None: of none
    drops: tuple[tuple[int, int], ...] = ()  # (revision, pods) without a node that vanish
    losses: tuple[tuple[int, int, int], ...] = ()  # (revision, phase, pods) that get a deletionTimestamp


class TendJob(NamedTuple):
    """A Job's work on one node: its finished pods there are counted, and some that run get a deletionTimestamp."""

    node: NodeRef
    workload: int
    losses: tuple[tuple[tuple[int, ...], int], ...] = ()  # (phases, count)
    succeeded: int = 0  # of the finished pods


class BindPinned(NamedTuple):
    """One pod that may only run on this node, and has none yet, goes there."""

    node: NodeRef
    workload: int
    was_nominated: bool = False


class Crash(NamedTuple):
    """A container of one of the workload's running pods exits; the kubelet restarts it after its back-off."""

    node: NodeRef
    workload: int


class EvictedPods(NamedTuple):
    """Pods of one workload that the one who evicts cannot tell apart."""

    workload: int
    phases: tuple[int, ...]
    restarts: int
    pods: int
    life: tuple[int, int] = ANY_LIFE  # span of seconds since they got their node: see life_span


class EvictPods(NamedTuple):
    """Pods of any workloads get a deletionTimestamp by other hands than their controllers'."""

    node: NodeRef
    losses: tuple[EvictedPods, ...]
    by: int = Tag.BY_DESCHEDULER


class Unroute(NamedTuple):
    """Proxies stop to send traffic to the workload's terminating pods with this much time left to learn it."""

    node: NodeRef
    workload: int
    route_s: int


class EvictDue(NamedTuple):
    """All pods of the workload whose taint eviction is due get a deletionTimestamp."""

    node: NodeRef
    workload: int


class Advance(NamedTuple):
    """The kubelet moves pods of one kind on: started, ready, gone. `rejected` of them fail admission."""

    node: NodeRef
    workload: int
    phase: int
    least_s: int
    most_s: int
    rejected: int = 0
    pods: int | None = None  # so many of them, any; None: all


class NodeChange(NamedTuple):
    """A change of the node itself."""

    node: NodeRef
    verb: NodeVerb
    mark: int = 0  # that is left on the node: a bit of `NodeCell.marks`


class Tick(NamedTuple):
    """Time passes for the whole cluster."""

    seconds: int


Writing = SetDesired | SetReplicas | SetTemplate | SetCurrent | SetCondition  # of a spec or a status
WorkloadAction = Writing | DeleteObject | NoteFailed | NoteCompleted | CreateObject | CreatePods | DeleteUnbound
NodeAction = (
    Bind
    | BindPinned
    | KeepNode
    | TendJob
    | Preempt
    | Unnominate
    | Arrive
    | Crash
    | Delete
    | EvictPods
    | EvictDue
    | Unroute
    | Advance
    | NodeChange
)
Action = WorkloadAction | NodeAction | Remember | Tick


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
    forgotten, because anything may happen at any phase.
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
