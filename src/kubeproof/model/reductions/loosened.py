"""A plan of some workloads that allows all that workloads beside them can bring about.

The others take room, sway the scheduler's choice among nodes, keep drained nodes from being empty, and make time pass
in other portions. So the scheduler takes any node that the rules of its pods admit, no clock holds anything up, and
what may be held up for ever by the others is a step that may come or not: a binding where all admitted nodes may be
full, and the end of a drain. `kubeproof.verify.proofs.crowd` says where that is all they can do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kubeproof.cluster.loops.actions import Action, Bind, NodeChange, NodeRef, Remember, SetDesired
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import AnySeen, Decision, Groups, Loop, Reads, Role, Seen, Stage, View
from kubeproof.cluster.loops.footprint import Among, footprint_of
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.loops.node_verbs import RETURN
from kubeproof.cluster.nodes.daemons import daemon_sets
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import HOSTNAME, PodAffinity, PodTemplate, Setup, family, workload_number
from kubeproof.cluster.state import ACTIVE, NodeCell, WorkloadCell
from kubeproof.controllers.evictions.budgets import ask_for_ends
from kubeproof.controllers.late import GitOpsController, JobController, PinnedScheduler
from kubeproof.controllers.node_lifecycle import Condition, NoExecuteTainter
from kubeproof.controllers.scheduler.controller import SchedulerController, Sight
from kubeproof.intents.monitor import Monitor
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.fair_waits import asynchronous
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import complete, dataclass

if TYPE_CHECKING:
    from kubeproof.controllers.gitops import Spec as Written
    from kubeproof.controllers.workloads.job import Owned, Spec

Inner = TypeVar("Inner", bound=Loop)
FEW_TIMES = 3  # that are counted


class Bounds(NamedTuple):
    """The sizes that an autoscaler may write."""

    least: int
    most: int
    is_patient: bool = False  # only when the last one is in force: all pods are there and have nodes


class Sway(NamedTuple):
    """How others may sway the choice among nodes where the scores of the pods' own rules are kept."""

    slack: int  # by how much other scores may favour one node over another
    missing: int  # how many of the nodes that admit the pods may be full at any one time


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the workloads of a plan have to expect of others, by Workload.ref."""

    short: Mapping[str, int]  # how many nodes that admit its pods may be full for ever
    drains_end: bool = False  # the others always leave a node that is drained, in the end
    bounds: Mapping[str, Bounds] = field(default_factory=dict)  # of those that an autoscaler may resize
    sway: Mapping[str, Sway] = field(default_factory=dict)  # empty: any node may be chosen


def loosen(plan: Plan, around: Surroundings) -> Plan:
    """The plan with all that others may bring about."""
    free = asynchronous(plan, frozenset(_find_forgotten(plan)))
    return replace(
        free,
        controllers=(
            *(_loosen(controller, free, around) for controller in free.controllers),
            *(
                FreeAutoscaler(free.layout.to(FreeAutoscaler), workload_number(free.setup, ref), bounds)
                for ref, bounds in sorted(around.bounds.items())
            ),
        ),
        events=tuple(map(_loosen_event, free.events)),
        monitors=tuple(_monitor(monitor, free.layout) for monitor in free.monitors),
    )


def _find_forgotten(plan: Plan) -> Iterator[int]:
    """The workloads whose pods nobody asks for once they end on a node that nobody reaches."""
    setup = plan.setup
    if any(_asks_for_pods(setup, workload.template) for workload in setup.workloads):
        return
    for number in range(len(setup.workloads)):
        owner = setup.workloads[family(setup, number)[0]]
        is_counted = ask_for_ends(setup, number) or owner.template.claims
        if owner.rules.has_replica_set and owner.strategy.rolling and not is_counted:
            yield number


def _asks_for_pods(setup: Setup, template: PodTemplate) -> bool:
    """True if a rule of the pods looks at those on a dead node; that node takes none, but others of its zone do."""
    apart = template.pod_anti_affinity
    hosts = [dict(node.labels).get(HOSTNAME) for node in setup.nodes]
    is_by_node = len(set(hosts)) == len(hosts) and all(term.topology_key == HOSTNAME for term in apart.required)
    return template.pod_affinity != PodAffinity() or bool(apart.preferred) or not is_by_node


def _loosen(controller: Loop, plan: Plan, around: Surroundings) -> Loop:
    """The loop with what others may do to it, as it says itself."""
    return LOOSENED[footprint_of(controller).among](controller, plan, around)


def _loosen_event(event: Loop) -> Loop:
    """The event as one that happens any number of times, where it may and how often makes too many states."""
    if not getattr(event, "may_repeat", False):
        return event
    most: int | None = event.source.event.max  # type: ignore[attr-defined]  # a source of a declared event
    return event if most is not None and most <= FEW_TIMES else EndlessEvent(event)


def _free(scheduler: SchedulerController, plan: Plan, around: Surroundings) -> FreeScheduler:
    sway = around.sway.get(_ref(plan, scheduler.workload))
    return FreeScheduler(scheduler, _short(plan, scheduler.workload, around), sway)


def _fill(scheduler: PinnedScheduler, plan: Plan, around: Surroundings) -> Loop:
    if _short(plan, scheduler.workload, around):
        return OptionalLoop(scheduler)
    return scheduler


def _empty(loop: Loop, plan: Plan, around: Surroundings) -> Loop:
    if not around.drains_end:
        return OptionalLoop(loop)
    return loop


def _taint(loop: NoExecuteTainter, plan: Plan, around: Surroundings) -> Loop:
    return loop if daemon_sets(plan.setup) else TainterOfPods(loop)


def _short(plan: Plan, number: int, around: Surroundings) -> int:
    return around.short[_ref(plan, number)]


def _ref(plan: Plan, number: int) -> str:
    workload = plan.setup.workloads[number]
    return workload.owner or workload.ref


class _Wrapped(Generic[Inner]):
    """A loop that sees what another one sees."""

    def __init__(self, loop: Inner) -> None:
        self._loop = loop
        self.name = loop.name
        self.stage: int = loop.stage
        self.reads: Reads = loop.reads
        self.sees_absent: bool = getattr(loop, "sees_absent", False)

    def show_workload(self, workload: int, cell: WorkloadCell) -> View:
        return self._loop.show_workload(workload, cell)

    def show_node(self, place: int, cell: NodeCell) -> View:
        return self._loop.show_node(place, cell)


class FreeScheduler(_Wrapped[SchedulerController]):
    """A scheduler that takes any node it finds feasible, or with `sway` any that may win because of others.

    So many of the nodes may be full for ever because of others.
    """

    def __init__(self, loop: SchedulerController, short: int, sway: Sway | None) -> None:
        super().__init__(loop)
        self._short, self._sway = short, sway
        self._known: dict[object, tuple[Decision, ...]] = {}

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """A binding to each node that may win; if all feasible ones may be full it may not come."""
        if not seen.workloads[0]:
            return ()
        key = (seen.places, seen.memories)
        if key not in self._known:
            self._known[key] = self._bindings(seen)
        return self._known[key]

    def _bindings(self, seen: Sight) -> tuple[Decision, ...]:
        every = self._loop.bindings_to_all(seen)
        refs, infos = self._loop.candidates(seen)
        if self._sway is None:
            chosen = set(refs)
        else:
            kernel = self._loop.kernel_of(seen.memories)
            chosen = {refs[index] for index in kernel.near_best(infos, self._sway.slack, self._sway.missing)}
        taken = tuple(one for one in every if _node_of(one) in chosen)
        if not self._is_certain(seen, every):
            return tuple(map(_open, taken))
        return taken

    def _is_certain(self, seen: Sight, decisions: tuple[Decision, ...]) -> bool:
        """True if more nodes are feasible than may be full."""
        chosen = {_node_of(one) for one in decisions}
        feasible: int = sum(
            count
            for place, groups in zip(self.reads.places, seen.places, strict=True)
            for view, count in groups
            if NodeRef(place, view) in chosen
        )
        return feasible > self._short


def _node_of(decision: Decision) -> NodeRef | None:
    return next((action.node for action in decision.actions if isinstance(action, Bind)), None)


class OptionalLoop(_Wrapped[Loop]):
    """A loop whose steps others may hold up for ever; a node that is down for maintenance comes back."""

    def act(self, seen: AnySeen) -> tuple[Decision, ...]:
        """The steps, of which none has to come."""
        return tuple(one if _returns(one) else _open(one) for one in self._loop.act(seen))


class Occupied(NamedTuple):
    """A node as the loop sees it, and whether it has pods."""

    condition: Condition
    has_pods: bool


class TainterOfPods(_Wrapped[NoExecuteTainter]):
    """Taints dead nodes that have pods. Others take none, so that it does not matter whether pods would be evicted.

    Except to DaemonSets, which look at taints before they create a pod.
    """

    def show_node(self, place: int, cell: NodeCell) -> Occupied:
        """What the loop sees, and whether the node has pods."""
        return Occupied(self._loop.show_node(place, cell), bool(cell.pods))

    def act(self, seen: Seen[None, Groups[Occupied]]) -> tuple[Decision, ...]:
        """The decisions about nodes with pods."""
        shown = tuple(tuple((view.condition, count) for view, count in groups) for groups in seen.places)
        decisions = self._loop.act(Seen(seen.workloads, shown, seen.memories))
        return tuple(one for decision in decisions for one in self._with_pods(seen, decision))

    def _with_pods(self, seen: Seen[None, Groups[Occupied]], decision: Decision) -> Iterator[Decision]:
        (change,) = decision.actions
        if isinstance(change, NodeChange):
            place, condition = change.node
            for view, _ in seen.places[self.reads.places.index(place)]:
                if view.has_pods and view.condition == condition:
                    yield decision._replace(actions=(change._replace(node=NodeRef(place, view)),))
                    return


class EndlessEvent(_Wrapped[Loop]):
    """An event that may hit any node any number of times: which ones have had their turn makes too many states."""

    def show_node(self, place: int, cell: NodeCell) -> View:
        """The node as if it had not had its turn."""
        return self._loop.show_node(place, cell._replace(marks=0))

    def act(self, seen: AnySeen) -> tuple[Decision, ...]:
        """The event, which leaves no trace but what it does."""
        return tuple(
            one._replace(actions=tuple(_unmark(action) for action in one.actions if not isinstance(action, Remember)))
            for one in self._loop.act(seen)
        )


def _unmark(action: Action) -> Action:
    return action._replace(mark=0) if isinstance(action, NodeChange) else action


class Target(NamedTuple):
    """What an autoscaler sizes."""

    exists: int
    desired: int
    is_synced: bool  # its ReplicaSet has that size, too, and no pod waits


@dataclass(frozen=True, slots=True)
class FreeAutoscaler:
    """An autoscaler that may write any size between its bounds, at any moment that they allow, or none."""

    layout: Layout
    workload: int
    bounds: Bounds
    name: Actor = Actor(ActorKind.HPA)
    stage: int = Stage.ALWAYS
    reads_nodes = mention_nothing

    @property
    def reads(self) -> Reads:
        return Reads((self.workload,), self.layout.every_place if self.bounds.is_patient else ())

    def show_workload(self, workload: int, cell: WorkloadCell) -> Target:
        """Whether the target exists, its size, and whether its ReplicaSet has that, too, and no pod waits."""
        return Target(cell.exists, cell.desired, cell.replicas == cell.desired and not cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> int:
        """The pods of the target."""
        return sum(count for kind, count in cell.pods if kind.workload == self.workload and kind.phase in ACTIVE)

    def act(self, seen: Seen[Target, Groups[int]]) -> tuple[Decision, ...]:
        """Every size that is another one."""
        exists, current, is_synced = seen.workloads[0]
        pods = sum(pods * count for groups in seen.places for pods, count in groups)
        if not exists or (self.bounds.is_patient and not (is_synced and pods == current)):
            return ()
        sizes = range(self.bounds.least, self.bounds.most + 1)
        return tuple(Decision((SetDesired(self.workload, n),), Role.EVENT) for n in sizes if n != current)


class UntimedJob(_Wrapped[JobController]):
    """A Job whose back-off, and time until it is deleted, may be over at any moment."""

    def act(self, seen: Seen[Spec, Groups[Owned]]) -> tuple[Decision, ...]:
        """The steps; what they write has no clock that runs."""
        return tuple(
            Decision(tuple(map(self._remove_clocks, one.actions)), Role.URGENT) for one in self._loop.act(seen)
        )

    def _remove_clocks(self, action: Action) -> Action:
        if not isinstance(action, Remember):
            return action
        *counted, _, left_s = action.value
        return action._replace(value=(*counted, 0, left_s))


class UntimedReconciler(_Wrapped[GitOpsController]):
    """A reconciler that may be due at any moment, and will be."""

    def act(self, seen: Seen[Written, Groups[None]]) -> tuple[Decision, ...]:
        """What it writes if something drifted; when it comes again is open."""
        due = Seen(seen.workloads, seen.places, ((0, 0), *seen.memories[1:]))
        return tuple(
            Decision(tuple(action for action in one.actions if not isinstance(action, Remember)), Role.URGENT)
            for one in self._loop.act(due)
        )


LOOSENED: Mapping[Among, Callable[[Any, Plan, Surroundings], Loop]] = complete(
    Among,
    {
        Among.HELD_UP: lambda loop, plan, around: OptionalLoop(loop),
        Among.BY_ITSELF: lambda loop, plan, around: loop,
        Among.CHOOSING: _free,
        Among.FILLED: _fill,
        Among.EMPTYING: _empty,
        Among.TAINTING: _taint,
        Among.RETRYING: lambda loop, plan, around: UntimedJob(loop),
        Among.IN_ROUNDS: lambda loop, plan, around: UntimedReconciler(loop),
    },
)


def _open(decision: Decision) -> Decision:
    """The decision as one that may come or not."""
    return decision._replace(role=Role.EVENT)


def _returns(decision: Decision) -> bool:
    return any(isinstance(action, NodeChange) and action.verb == RETURN for action in decision.actions)


# -- drains -----------------------------------------------------------------------------------------


def _monitor(monitor: Monitor, layout: Layout) -> Monitor:
    """The monitor; what pods of others may hold up is asked as far as it depends on the plan's own."""
    among = getattr(monitor.fact, "among", None)
    return monitor if among is None else replace(monitor, fact=among(tuple(range(len(layout.setup.workloads)))))
