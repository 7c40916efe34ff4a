"""What actions do to the cells of a state: pods as counts, nodes as contents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from kubeproof.cluster.control import (
    CORDON,
    DRAIN,
    DRAIN_UNCORDON,
    DRAINED,
    EVACUATE,
    FAIL,
    FAIL_FOR_GOOD,
    FAIL_ZONE,
    FORSAKE,
    JOIN,
    MAINTAIN,
    MARK_NEEDED,
    MARK_SPARE,
    NOTICE,
    PANIC,
    PROVISION,
    RECOVER,
    REMOVE,
    RETIRE,
    RETURN,
    SPARE,
    TAINT,
    TAINT_SLOWLY,
    TAINT_VERY_SLOWLY,
    UNCORDON,
    UNTAINT,
    WELCOME,
    Advance,
    Arrive,
    Bind,
    BindPinned,
    Crash,
    CreateObject,
    CreatePods,
    Delete,
    DeleteObject,
    DeleteUnbound,
    EvictDue,
    EvictPods,
    KeepNode,
    NodeAction,
    NodeChange,
    NoteFailed,
    Preempt,
    SetCondition,
    SetCurrent,
    SetDesired,
    SetReplicas,
    SetTemplate,
    TendJob,
    Unnominate,
    Unroute,
    WorkloadAction,
)
from kubeproof.cluster.daemons import nodes_wanted
from kubeproof.cluster.images import brought_images, missing_images
from kubeproof.cluster.objects import DAEMON_SET, DEPLOYMENT, JOB, JOBS, POD, STATEFUL_SET, Node, Setup, family
from kubeproof.cluster.places import taints_of
from kubeproof.cluster.priorities import priority_of
from kubeproof.cluster.state import (
    ACTIVE,
    NEVER,
    SERVING,
    Cause,
    Health,
    NodeCell,
    Nodes,
    Outcome,
    Phase,
    PodKind,
    Work,
    WorkloadCell,
    add_finished,
    add_nominated,
    add_pinned,
    add_pods,
    holds_up_zone,
    without_finished,
)
from kubeproof.controllers.kubelet import MOST_RESTARTS, back_off_s
from kubeproof.controllers.taint_eviction import clock_after, seconds_tolerated

Pods = tuple[tuple[PodKind, int], ...]
Ages = tuple[tuple[int, ...], ...]  # per workload, the ages in seconds at which something about a pod changes
CAUSES = {FAIL: Cause.FAILURE, PANIC: Cause.PANIC, FAIL_FOR_GOOD: Cause.FOR_GOOD, FAIL_ZONE: Cause.ZONE}
GROUP_VERBS = (PROVISION, FORSAKE, MARK_SPARE, MARK_NEEDED, EVACUATE, REMOVE, SPARE)
WORK_OF_VERB = {
    DRAIN: Work.DRAIN,
    DRAIN_UNCORDON: Work.DRAIN_UNCORDON,
    MAINTAIN: Work.MAINTAIN,
    RETIRE: Work.RETIRE,
}
DEAD = (Health.LOST, Health.UNKNOWN)
PAUSES = {TAINT: NEVER, TAINT_SLOWLY: 10, TAINT_VERY_SLOWLY: 100}  # until the next node of the zone may be tainted
RunTimes = tuple[tuple[int, int] | None, ...]  # per workload, least and most seconds that a pod of a Job runs
AT_WORK = (Phase.READY, Phase.UNREADY)  # phases in which a pod of a Job does what it is for
LAST = (Phase.TERMINATING, *AT_WORK)  # phases after which there is no pod any more
UNSENT = (NEVER, SERVING)  # `route_s` of pods that get no traffic while others are ready
MOST_EVICTING_S = 120  # max-pod-eviction-time: how long the cluster autoscaler asks for the pods of a node it drains
HANDLING_S = 1  # least time in which taint eviction handles a pod that arrives on a tainted node


class Mechanics:
    """The mechanics of one setup."""

    def __init__(
        self,
        setup: Setup,
        ages: Ages = (),
        *,
        most_failed: tuple[int, ...] = (),
        never_ready: frozenset[int] = frozenset(),
        most_asked: int = 0,  # the largest number that a property compares terminating pods with
        runs_s: RunTimes = (),
        routes: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        spare_ages: tuple[int, ...] = (),  # for how long a node has to be unneeded until something follows, ascending
    ) -> None:
        self.setup = setup
        self.ages = ages or ((),) * len(setup.workloads)
        self.most_failed = most_failed or (0,) * len(setup.workloads)  # failed pods counted up to here
        self.never_ready = never_ready  # workloads whose pods run but never become ready
        self.runs_s = runs_s or (None,) * len(setup.workloads)
        self.routes = routes  # where traffic is followed: `route_s` of deleted pods that were ready, and of others
        self.spare_ages = spare_ages
        self._brought = brought_images(setup)
        self._missing = {node.name: missing_images(setup, node) for node in setup.nodes} if any(self._brought) else {}
        largest = max((node.pods for node in setup.nodes), default=0)
        self.most_stuck = 1 + max(
            largest, *self.most_failed, most_asked
        )  # terminating pods on a dead node are counted up to here

    # -- clocks that phases start with ----------------------------------------------------------

    def clocks(self, workload: int, phase: int) -> tuple[int, int]:
        """Least and most seconds a pod stays in a phase while its kubelet lives; NEVER twice for lasting phases."""
        template = self.setup.workloads[workload].template
        restarts = phase == Phase.RUNNING and template.readiness is None and workload not in self.never_ready
        if phase == Phase.STARTING or restarts:
            return self.setup.settings.startup_s
        if phase == Phase.RUNNING and template.readiness is not None and workload not in self.never_ready:
            probe = template.readiness
            settled = probe.period_s * (probe.success_threshold - 1)
            least = probe.initial_delay_s + settled
            return least, least + probe.period_s
        if phase == Phase.TERMINATING:
            return min(template.pre_stop_s, template.grace_s), template.grace_s
        run_s = self.runs_s[workload]
        return run_s if phase in AT_WORK and run_s is not None else (NEVER, NEVER)

    def _midway(self, kind: PodKind) -> PodKind:
        """The pod as one of which nobody knows how long it has been at work."""
        is_at_work = kind.phase in AT_WORK and kind.least_s != NEVER
        return kind._replace(least_s=0) if is_at_work else kind

    def _kind(
        self,
        cell: NodeCell,
        workload: int,
        phase: int,
        evict_s: int = NEVER,
        age_s: int = NEVER,
        restarts: int = 0,
        preempted: int = 0,
        route_s: int = NEVER,
    ) -> PodKind:
        clocks = (NEVER, NEVER) if cell.health in DEAD else self.clocks(workload, phase)
        return PodKind(workload, phase, *clocks, evict_s, age_s, restarts, preempted, route_s)

    def newborn(self, workload: int) -> PodKind:
        """A pod that was just bound to a node that lives and evicts nobody."""
        return self._kind(NodeCell(), workload, Phase.STARTING)

    def next_kind(self, kind: PodKind) -> PodKind:
        """What becomes of a pod that moves on, on a node that lives."""
        return self._next(NodeCell(), kind)

    # -- workloads ------------------------------------------------------------------------------

    def on_workload(self, cell: WorkloadCell, action: WorkloadAction) -> tuple[WorkloadCell, ...]:
        """The workload's cell after an action."""
        match action:
            case SetDesired(workload, replicas):
                has_no_size = self.setup.workloads[workload].kind in (DEPLOYMENT, STATEFUL_SET, JOB)
                follows = cell.replicas if has_no_size else replicas
                return (cell._replace(desired=replicas, replicas=follows),)
            case SetReplicas(_, replicas, noted, max_noted):
                return (cell._replace(replicas=replicas, noted=noted, max_noted=max_noted),)
            case DeleteObject(workload):
                is_pod = self.setup.workloads[workload].kind == POD
                gone = NEVER if cell.replicas == NEVER and not is_pod else 0
                return (cell._replace(exists=0, desired=0, replicas=gone),)
            case NoteFailed(workload, pods):
                return (cell._replace(failed=min(cell.failed + pods, self.most_failed[workload])),)
            case SetCurrent(_, revision):
                return (cell._replace(noted=revision),)
            case SetCondition(_, condition):
                return (cell._replace(noted=condition),)
            case SetTemplate(workload, template):
                return (self._given(cell._replace(template=template), workload),)
            case CreateObject(workload):
                return (self._recreated(workload, cell),)
            case CreatePods(_, count):
                return (cell._replace(unbound=cell.unbound + count),)
            case DeleteUnbound(_, count):
                return (cell._replace(unbound=cell.unbound - count),)
        raise TypeError(action)

    def _given(self, cell: WorkloadCell, workload: int) -> WorkloadCell:
        """The workload with another template; a DaemonSet may then want other nodes."""
        if self.setup.workloads[workload].kind != DAEMON_SET:
            return cell
        revision = family(self.setup, workload)[cell.template]
        return cell._replace(desired=nodes_wanted(self.setup, revision))

    def _recreated(self, workload: int, before: WorkloadCell) -> WorkloadCell:
        """A workload that appears; where a deleted one left its ReplicaSet, the new object takes that over."""
        fresh = self.created(workload)
        takes_over = before.replicas != NEVER and self.setup.workloads[workload].kind == DEPLOYMENT
        return fresh._replace(
            replicas=before.replicas if takes_over else fresh.replicas,
            unbound=before.unbound + fresh.unbound,
            failed=before.failed,
        )

    def created(self, workload: int) -> WorkloadCell:
        """A workload's cell right after the object appears."""
        declared = self.setup.workloads[workload]
        if declared.owner is not None and declared.kind != JOB:
            return WorkloadCell(1, 0, NEVER, 0)
        if declared.kind in JOBS:
            return WorkloadCell(1, declared.replicas, NEVER, 0)
        if declared.kind in (DEPLOYMENT, STATEFUL_SET):
            return WorkloadCell(1, declared.replicas, NEVER, 0)
        if declared.kind == DAEMON_SET:
            return WorkloadCell(1, nodes_wanted(self.setup, workload), NEVER, 0)
        if declared.kind == POD:
            at_home = any(node.name == declared.home for node in self.setup.nodes)
            return WorkloadCell(1, 1, NEVER, 0 if at_home else 1)
        return WorkloadCell(1, declared.replicas, declared.replicas, 0)

    # -- nodes ----------------------------------------------------------------------------------

    def on_node(self, node: Node, cell: NodeCell, action: NodeAction) -> tuple[NodeCell, ...]:
        """All contents the node may have after an action."""
        match action:
            case Bind() | BindPinned():
                return tuple(bound for bound, _ in self.bound(node, cell, action))
            case Preempt():
                return tuple(dict.fromkeys(self._preempted(cell, action)))
            case Unnominate(_, workload):
                return (add_nominated(cell, workload, -1),)
            case KeepNode():
                return tuple(dict.fromkeys(self._kept(cell, action)))
            case TendJob(_, workload, losses):
                return tuple(dict.fromkeys(self._deleted(without_finished(cell, workload), workload, losses)))
            case Arrive(_, workload, count):
                return (self._arrived(node, cell, workload, count),)
            case Delete(_, workload, losses, is_eviction):
                return tuple(dict.fromkeys(self._deleted(cell, workload, losses, by_others=is_eviction)))
            case Crash(_, workload):
                return tuple(self._crashed(cell, workload))
            case EvictPods(_, losses, _):
                return tuple(dict.fromkeys(self._robbed(cell, losses)))
            case EvictDue(_, workload):
                return (self._evicted(cell, workload),)
            case Unroute(_, workload, route_s):
                return (_unrouted(cell, workload, route_s),)
            case Advance():
                return tuple(dict.fromkeys(self._advanced(node, cell, action)))
            case NodeChange(_, verb):
                return (self._changed(node, cell, verb),)
        raise TypeError(action)

    def running(self, node: Node, cell: NodeCell, workload: int, count: int) -> NodeCell:
        """The node with pods that have been ready there before the run; taint eviction finds them, too."""
        age_s = self.ages[workload][-1] if self.ages[workload] else NEVER
        kind = self._midway(self._kind(cell, workload, Phase.READY, self._first_evict_s(node, cell, workload), age_s))
        return cell._replace(pods=add_pods(cell.pods, kind, count), images=self._images_after(node, cell, workload))

    def found(self, node: Node, cell: NodeCell, workload: int, phase: int, count: int) -> NodeCell:
        """The node with pods that a cluster showed there in a phase; what they have begun may be over at any moment."""
        if phase == Phase.READY:
            return self.running(node, cell, workload, count)
        evict_s = NEVER if phase == Phase.TERMINATING else self._first_evict_s(node, cell, workload)
        kind = self._kind(cell, workload, phase, evict_s)
        begun = kind._replace(least_s=0) if kind.least_s != NEVER else kind
        return cell._replace(pods=add_pods(cell.pods, begun, count), images=self._images_after(node, cell, workload))

    def bound(self, node: Node, cell: NodeCell, action: Bind | BindPinned) -> Iterator[tuple[NodeCell, float]]:
        """The node with one more pod, for every time that it may take to start, with the probability of that."""
        for start_s, probability in self.starts(cell):
            bound = self._arrived(node, cell, action.workload, 1, start_s)
            if isinstance(action, BindPinned):
                bound = bound._replace(pinned=add_pinned(cell.pinned, action.workload, -1))
            if action.was_nominated:
                bound = add_nominated(bound, action.workload, -1)
            yield bound, probability

    def starts(self, cell: NodeCell) -> tuple[tuple[int | None, float], ...]:
        """How long a pod that is bound takes to start, with probabilities; None for the usual range."""
        choices = self.setup.settings.startup_choices
        return choices if choices and cell.health not in DEAD else ((None, 1.0),)

    def _arrived(self, node: Node, cell: NodeCell, workload: int, count: int, start_s: int | None = None) -> NodeCell:
        kind = self._kind(cell, workload, Phase.STARTING, self._first_evict_s(node, cell, workload))
        if start_s is not None:
            kind = kind._replace(least_s=start_s, most_s=start_s)
        return cell._replace(pods=add_pods(cell.pods, kind, count))

    def _first_evict_s(self, node: Node, cell: NodeCell, workload: int) -> int:
        tolerations = self.setup.workloads[workload].template.tolerations
        seconds = seconds_tolerated(tolerations, taints_of(node, cell))
        return max(seconds, HANDLING_S) if seconds != NEVER else NEVER

    def _deleted(
        self,
        cell: NodeCell,
        workload: int,
        losses: tuple[tuple[tuple[int, ...], int], ...],
        *,
        by_others: bool = False,
    ) -> Iterator[NodeCell]:
        """Every way to take the losses from kinds that the one who deletes cannot tell apart."""
        if not losses:
            yield cell
            return
        (phases, count), rest = losses[0], losses[1:]
        kinds = [(k, n) for k, n in cell.pods if k.workload == workload and k.phase in phases]
        for taken in takes(kinds, count):
            smaller = cell
            for kind, amount in taken:
                smaller = self._without(smaller, kind, amount, by_others=by_others)
            yield from self._deleted(smaller, workload, rest, by_others=by_others)

    def _kept(self, cell: NodeCell, action: KeepNode) -> Iterator[NodeCell]:
        """The node after a DaemonSet's work, in every way to take what has to go."""
        pinned = cell.pinned
        for workload, count in action.drops:
            pinned = add_pinned(pinned, workload, -count)
        if action.creates is not None:
            pinned = add_pinned(pinned, action.creates, 1)
        outcomes = [cell._replace(pinned=pinned)]
        for workload, phase, count in action.losses:
            outcomes = [after for before in outcomes for after in self._deleted(before, workload, (((phase,), count),))]
        yield from outcomes

    def _crashed(self, cell: NodeCell, workload: int) -> Iterator[NodeCell]:
        """The node after a pod of any kind that runs has crashed."""
        least_s, most_s = self.clocks(workload, Phase.STARTING)
        if self.setup.workloads[workload].template.readiness is not None:
            probed_least_s, probed_most_s = self.clocks(workload, Phase.RUNNING)
            least_s, most_s = least_s + probed_least_s, most_s + probed_most_s
        for kind, _ in cell.pods:
            if kind.workload == workload and kind.phase == Phase.READY and self._ends_for_good(workload):
                yield add_finished(cell._replace(pods=add_pods(cell.pods, kind, -1)), workload, Outcome.FAILED, 1)
            elif kind.workload == workload and kind.phase == Phase.READY:
                delay_s = back_off_s(kind.restarts)
                again = kind._replace(
                    phase=int(Phase.RUNNING),
                    least_s=delay_s + least_s,
                    most_s=delay_s + most_s,
                    restarts=min(kind.restarts + 1, self.most_restarts(workload)),
                )
                yield cell._replace(pods=add_pods(add_pods(cell.pods, kind, -1), again, 1))

    def _robbed(self, cell: NodeCell, losses: tuple[tuple[int, tuple[int, ...], int, int], ...]) -> Iterator[NodeCell]:
        """Every way to take losses of several workloads."""
        if not losses:
            yield cell
            return
        (workload, phases, restarts, count), rest = losses[0], losses[1:]
        kinds = [
            (k, n) for k, n in cell.pods if k.workload == workload and k.phase in phases and k.restarts == restarts
        ]
        for taken in takes(kinds, count):
            smaller = cell
            for kind, amount in taken:
                smaller = self._without(smaller, kind, amount, by_others=True)
            yield from self._robbed(smaller, rest)

    def _preempted(self, cell: NodeCell, action: Preempt) -> Iterator[NodeCell]:
        """Every way to take the victims; nominations of lower priority end."""
        priority = priority_of(self.setup.workloads[action.workload].template)
        kept = tuple((w, n) for w, n in cell.nominated if priority_of(self.setup.workloads[w].template) >= priority)
        nominated = add_nominated(cell._replace(nominated=kept), action.workload, 0 if action.was_nominated else 1)

        def taken(cell: NodeCell, losses: tuple[tuple[int, int], ...]) -> Iterator[NodeCell]:
            if not losses:
                yield cell
                return
            kinds = [(k, n) for k, n in cell.pods if k.workload == losses[0][0] and k.phase in ACTIVE]
            for chosen in takes(kinds, losses[0][1]):
                smaller = cell
                for kind, amount in chosen:
                    smaller = self._without(smaller, kind, amount, preempted=1, by_others=True)
                yield from taken(smaller, losses[1:])

        yield from taken(nominated, action.losses)

    def _without(
        self, cell: NodeCell, kind: PodKind, count: int, preempted: int = 0, *, by_others: bool = False
    ) -> NodeCell:
        """The node after `count` pods of a kind were deleted: gone if never started, else terminating.

        Pods that a Job loses to others have failed: at once, or when they have ended.
        """
        pods = add_pods(cell.pods, kind, -count)
        is_dead = cell.health in DEAD
        grace_s = self.setup.workloads[kind.workload].template.grace_s
        route_s = self._route_s(kind)
        vanishes = not is_dead and (kind.phase == Phase.STARTING or (grace_s == 0 and route_s in UNSENT))
        if by_others and self.fails_when_deleted(kind.workload, vanishes=vanishes):
            cell = add_finished(cell, kind.workload, Outcome.FAILED, count)
        if vanishes:
            return cell._replace(pods=pods)
        left = kind.restarts if self.setup.workloads[kind.workload].job.restarts else 0
        ending = self._kind(cell, kind.workload, Phase.TERMINATING, restarts=left, preempted=preempted, route_s=route_s)
        if is_dead:
            # Nobody ends them, and more than fit on any node make no difference: without a bound a controller that
            # names a dead node would add to them for ever.
            stuck = sum(n for k, n in pods if k.workload == kind.workload and k.phase == Phase.TERMINATING)
            count = min(count, max(0, self.most_stuck - stuck))
        return cell._replace(pods=add_pods(pods, ending, count) if count else pods)

    def fails_when_deleted(self, workload: int, *, vanishes: bool) -> bool:
        """True if a pod that somebody else deletes counts as failed at once, and not when it has ended."""
        declared = self.setup.workloads[workload]
        return declared.kind == JOB and (vanishes or not declared.job.only_failed)

    def most_restarts(self, workload: int) -> int:
        """Up to where restarts of a pod are counted: a Job's limit may be higher than where the back-off ends."""
        declared = self.setup.workloads[workload]
        return max(MOST_RESTARTS, declared.job.backoff_limit) if declared.kind == JOB else MOST_RESTARTS

    def _ends_for_good(self, workload: int) -> bool:
        """True if a container that exits is not restarted."""
        declared = self.setup.workloads[workload]
        return declared.kind == JOB and not declared.job.restarts

    def _route_s(self, kind: PodKind) -> int:
        """How long a pod that is deleted now goes on getting traffic."""
        if kind.phase == Phase.STARTING:
            return NEVER
        if_ready, otherwise = self.routes.get(kind.workload, (NEVER, NEVER))
        return if_ready if kind.phase == Phase.READY else otherwise

    def _evicted(self, cell: NodeCell, workload: int) -> NodeCell:
        for kind, count in cell.pods:
            if kind.workload == workload and kind.evict_s == 0 and kind.phase != Phase.TERMINATING:
                cell = self._without(cell, kind, count, by_others=True)
        return cell

    def _advanced(self, node: Node, cell: NodeCell, action: Advance) -> Iterator[NodeCell]:
        """The pods moved on; of kinds that differ in their eviction clock alone any may be the rejected ones."""
        wanted = (action.workload, action.phase, action.least_s, action.most_s)
        moving = [(kind, count) for kind, count in cell.pods if kind[:4] == wanted]
        starts = action.phase == Phase.STARTING and sum(count for _, count in moving) > action.rejected
        images = self._images_after(node, cell, action.workload) if starts else cell.images
        for rejected in takes(moving, action.rejected):
            failed, pods = dict(rejected), cell.pods
            for kind, count in moving:
                pods = add_pods(pods, kind, -count)
                left = count - failed.get(kind, 0)
                if action.phase not in LAST and left:
                    pods = add_pods(pods, self._next(cell, kind), left)
            yield self._told(cell._replace(pods=pods, images=images), action, sum(count for _, count in moving))

    def _told(self, cell: NodeCell, action: Advance, moved: int) -> NodeCell:
        """The node with what a Job has yet to count of pods that moved on."""
        declared = self.setup.workloads[action.workload]
        if declared.kind != JOB:
            return cell
        if action.phase in AT_WORK:
            return add_finished(cell, action.workload, Outcome.SUCCEEDED, moved)
        ended = moved if action.phase == Phase.TERMINATING and declared.job.only_failed else action.rejected
        return add_finished(cell, action.workload, Outcome.FAILED, ended)

    def _images_after(self, node: Node, cell: NodeCell, workload: int) -> int:
        """The images that the node has got, a pod of the workload having started there."""
        return cell.images | self._brought[workload] & self._missing.get(node.name, 0)

    def _next(self, cell: NodeCell, kind: PodKind) -> PodKind:
        probed = self.setup.workloads[kind.workload].template.readiness is not None or kind.workload in self.never_ready
        phase = Phase.RUNNING if kind.phase == Phase.STARTING and probed else Phase.READY
        age_s = 0 if kind.phase == Phase.STARTING and self.ages[kind.workload] else kind.age_s
        return self._kind(cell, kind.workload, phase, kind.evict_s, age_s, kind.restarts)

    # -- node conditions ------------------------------------------------------------------------

    def _changed(self, node: Node, cell: NodeCell, verb: str) -> NodeCell:
        if verb == CORDON:
            return cell._replace(cordoned=1)
        if verb == UNCORDON:
            return cell._replace(cordoned=0)
        if verb == JOIN:
            return cell._replace(health=int(Health.UP), least_s=NEVER, most_s=NEVER)
        if verb in GROUP_VERBS:
            return self._regrouped(node, cell, verb)
        if verb in WORK_OF_VERB:
            return cell._replace(cordoned=1, work=int(WORK_OF_VERB[verb]))
        if verb == DRAINED:
            return self._drained(cell)
        if verb == RETURN:
            return cell._replace(cordoned=0, work=int(Work.NONE), least_s=NEVER, most_s=NEVER)
        if verb in CAUSES:
            return self._failed(cell._replace(cause=int(CAUSES[verb])))
        if verb == RECOVER:
            return self._recovered(cell)
        if verb == NOTICE:
            pods = _renamed(cell.pods, Phase.READY, Phase.UNREADY)
            return cell._replace(health=Health.UNKNOWN, least_s=NEVER, most_s=NEVER, pods=pods)
        if verb in PAUSES:
            return self._timed(node, self._paused(cell._replace(no_execute=1), PAUSES[verb]))
        if verb == UNTAINT:
            return self._untimed(node, cell._replace(no_execute=0))
        assert verb == WELCOME, verb
        pods = _renamed(cell.pods, Phase.UNREADY, Phase.READY)
        return self._untimed(node, cell._replace(health=Health.UP, no_execute=0, pods=pods))

    def _regrouped(self, node: Node, cell: NodeCell, verb: str) -> NodeCell:
        """The node, or its slot, after what a cluster autoscaler has done to it."""
        if verb == MARK_SPARE:
            return cell._replace(spare_s=0)
        if verb == MARK_NEEDED:
            return cell._replace(spare_s=NEVER)
        if verb == EVACUATE:
            cell = cell._replace(least_s=MOST_EVICTING_S, most_s=MOST_EVICTING_S)
            return cell._replace(cordoned=1, work=int(Work.LEAVE), spare_s=NEVER)
        if verb == SPARE:
            cell = cell if cell.health in DEAD else cell._replace(least_s=NEVER, most_s=NEVER)
            return cell._replace(cordoned=0, work=int(Work.NONE))
        finished = self._left_behind(cell).finished if verb == REMOVE else cell.finished
        empty = NodeCell(health=int(Health.ABSENT), cordoned=int(node.unschedulable), finished=finished)
        if verb != PROVISION:
            return empty
        assert self.setup.cluster_autoscaler is not None, verb
        least_s, most_s = self.setup.cluster_autoscaler.provisioning_s
        return empty._replace(least_s=least_s, most_s=most_s)

    def _left_behind(self, cell: NodeCell) -> NodeCell:
        """The node as it is when its object goes: pods of Jobs that are left there have failed."""
        for kind, count in cell.pods:
            ended = kind.phase in ACTIVE or self.setup.workloads[kind.workload].job.only_failed
            if ended and self.setup.workloads[kind.workload].kind == JOB:
                cell = add_finished(cell, kind.workload, Outcome.FAILED, count)
        return cell

    def _drained(self, cell: NodeCell) -> NodeCell:
        if cell.work == Work.MAINTAIN:
            least_s, most_s = self.setup.settings.maintenance_s
            return cell._replace(work=int(Work.DOWN), least_s=least_s, most_s=most_s)
        return cell._replace(work=int(Work.NONE), cordoned=int(cell.work == Work.DRAIN))

    def _failed(self, cell: NodeCell) -> NodeCell:
        settings = self.setup.settings
        if cell.health == Health.BACK:
            cell = cell._replace(health=Health.UNKNOWN)
        else:
            most_s = settings.grace_s + settings.monitor_period_s
            cell = cell._replace(health=Health.LOST, least_s=settings.grace_s, most_s=most_s)
        return cell._replace(pods=_mapped(cell.pods, lambda kind: kind._replace(least_s=NEVER, most_s=NEVER)))

    def _recovered(self, cell: NodeCell) -> NodeCell:
        """Containers survive the silence, a panic they do not; what the kubelet had begun it begins again."""
        health = Health.UP if cell.health == Health.LOST else Health.BACK
        is_rebooted = cell.cause == Cause.PANIC
        cell = cell._replace(health=health, least_s=NEVER, most_s=NEVER, cause=int(Cause.NONE))

        def resumed(kind: PodKind) -> PodKind:
            if is_rebooted and kind.phase in ACTIVE:
                return self._kind(cell, kind.workload, Phase.STARTING, kind.evict_s, restarts=kind.restarts)
            return self._midway(self._kind(cell, kind.workload, kind.phase, *kind[4:]))

        return cell._replace(pods=_mapped(cell.pods, resumed))

    def _paused(self, cell: NodeCell, seconds: int) -> NodeCell:
        """The node that has just been tainted, with the clock that its zone waits for."""
        return cell if cell.work == Work.LEAVE else cell._replace(least_s=seconds, most_s=seconds)

    def _timed(self, node: Node, cell: NodeCell) -> NodeCell:
        """Eviction clocks start; one that runs already is kept, unless a taint is not tolerated at all."""
        taints = taints_of(node, cell)

        def timed(kind: PodKind) -> PodKind:
            if kind.phase == Phase.TERMINATING:
                return kind
            tolerations = self.setup.workloads[kind.workload].template.tolerations
            return kind._replace(evict_s=clock_after(kind.evict_s, tolerations, taints))

        return cell._replace(pods=_mapped(cell.pods, timed))

    def _untimed(self, node: Node, cell: NodeCell) -> NodeCell:
        """Eviction clocks stop, unless the node's own taints keep them going."""
        taints = taints_of(node, cell)

        def untimed(kind: PodKind) -> PodKind:
            tolerations = self.setup.workloads[kind.workload].template.tolerations
            stays = seconds_tolerated(tolerations, taints) == NEVER
            return kind._replace(evict_s=NEVER) if stays else kind

        return cell._replace(pods=_mapped(cell.pods, untimed))


def _mapped(pods: Pods, change: Callable[[PodKind], PodKind]) -> Pods:
    result: Pods = ()
    for kind, count in pods:
        result = add_pods(result, change(kind), count)
    return result


def _unrouted(cell: NodeCell, workload: int, route_s: int) -> NodeCell:
    """The node whose terminating pods with so much time left get no traffic any more."""

    def unrouted(kind: PodKind) -> PodKind:
        is_meant = kind.workload == workload and kind.route_s == route_s
        return kind._replace(route_s=SERVING) if is_meant else kind

    return cell._replace(pods=_mapped(cell.pods, unrouted))


def _renamed(pods: Pods, old: int, new: int) -> Pods:
    return _mapped(pods, lambda kind: kind._replace(phase=int(new)) if kind.phase == old else kind)


def takes(kinds: list[tuple[PodKind, int]], count: int) -> Iterator[tuple[tuple[PodKind, int], ...]]:
    """Every way to take `count` pods from the kinds."""
    if not kinds:
        if count == 0:
            yield ()
        return
    (kind, available), rest = kinds[0], kinds[1:]
    for amount in range(min(available, count), -1, -1):
        for others in takes(rest, count - amount):
            yield ((kind, amount), *others) if amount else others


# -- time -------------------------------------------------------------------------------------------


def next_due(cell: NodeCell, ages: Ages, spare_ages: tuple[int, ...] = ()) -> int:
    """Seconds until the next clock of the node runs out or a pod reaches an age that matters; NEVER if none runs."""
    clocks = [cell.least_s, cell.most_s]
    if cell.spare_s != NEVER:
        clocks += [age - cell.spare_s for age in spare_ages]
    for kind, _ in cell.pods:
        clocks += (*kind[2:5], kind.route_s)
        if kind.age_s != NEVER:
            clocks += [age - kind.age_s for age in ages[kind.workload]]
    return min((clock for clock in clocks if clock > 0), default=NEVER)


def ticked(cell: NodeCell, seconds: int, ages: Ages, spare_ages: tuple[int, ...] = ()) -> NodeCell:
    """The node `seconds` later."""

    def later(kind: PodKind) -> PodKind:
        age_s = kind.age_s if kind.age_s == NEVER else min(kind.age_s + seconds, ages[kind.workload][-1])
        least_s, most_s, evict_s = (_later(clock, seconds) for clock in kind[2:5])
        clocks = least_s, most_s, evict_s, age_s
        return PodKind(*kind[:2], *clocks, kind.restarts, kind.preempted, _later(kind.route_s, seconds))

    pods = _mapped(cell.pods, later)
    spare_s = cell.spare_s if cell.spare_s == NEVER else min(cell.spare_s + seconds, spare_ages[-1])
    least_s, most_s = _later(cell.least_s, seconds), _later(cell.most_s, seconds)
    if least_s == 0 and holds_up_zone(cell):
        least_s = most_s = NEVER  # nobody waits for it any more
    return cell._replace(least_s=least_s, most_s=most_s, pods=pods, spare_s=spare_s)


def _later(clock: int, seconds: int) -> int:
    return clock if clock < 0 else max(0, clock - seconds)


def all_ticked(nodes: Nodes, seconds: int, ages: Ages, spare_ages: tuple[int, ...] = ()) -> Nodes:
    """All nodes `seconds` later; clocks only fall, so distinct nodes may become equal."""
    amounts: dict[NodeCell, int] = {}
    for cell, count in nodes:
        later = ticked(cell, seconds, ages, spare_ages)
        amounts[later] = amounts.get(later, 0) + count
    return tuple(sorted(amounts.items()))
