"""What actions do to the cells of a state: pods as counts, nodes as contents."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import (
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
    EvictedPods,
    EvictPods,
    KeepNode,
    NodeAction,
    NodeChange,
    NoteCompleted,
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
from kubeproof.cluster.nodes.daemons import nodes_wanted
from kubeproof.cluster.objects import Node, family
from kubeproof.cluster.state import (
    ACTIVE,
    NEVER,
    SERVING,
    JobPodEnd,
    NodeCell,
    Phase,
    PodKind,
    WorkloadCell,
    add_finished,
    add_nominated,
    add_pinned,
    add_pods,
    is_of_life,
    moves_alike,
    without_finished,
)
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.controllers.kubelet import back_off_s
from kubeproof.model.by_name.ticks import map_pods
from kubeproof.model.node_conditions import NodeConditions
from kubeproof.model.pod_life import AT_WORK, DEAD

LAST = (Phase.TERMINATING, *AT_WORK)  # phases after which there is no pod any more
UNSENT = (NEVER, SERVING)  # `route_s` of pods that get no traffic while others are ready


class Mechanics(NodeConditions):
    """The mechanics of one setup."""

    def on_workload(self, cell: WorkloadCell, action: WorkloadAction) -> tuple[WorkloadCell, ...]:
        """The workload's cell after an action."""
        match action:
            case SetDesired(workload, replicas):
                follows = cell.replicas if self.setup.workloads[workload].rules.sizes_in_sync else replicas
                return (cell._replace(desired=replicas, replicas=follows),)
            case SetReplicas(_, replicas, noted, max_noted):
                return (cell._replace(replicas=replicas, noted=noted, max_noted=max_noted),)
            case DeleteObject(workload):
                is_pod = self.setup.workloads[workload].rules.is_pod
                gone = NEVER if cell.replicas == NEVER and not is_pod else 0
                deleted = cell._replace(exists=0, desired=0, replicas=gone)
                return (deleted._replace(failed=0, completed=0) if workload in self.kept else deleted,)
            case NoteFailed(workload, pods):
                return (cell._replace(failed=min(cell.failed + pods, self.most_failed[workload])),)
            case NoteCompleted(_, pods):
                return (cell._replace(completed=cell.completed + pods) if cell.exists else cell,)
            case SetCurrent(_, revision):
                return (cell._replace(noted=revision),)
            case SetCondition(_, condition):
                return (cell._replace(noted=condition),)
            case SetTemplate(workload, template):
                return (self._give_template(cell._replace(template=template), workload),)
            case CreateObject(workload):
                return (self._recreate(workload, cell),)
            case CreatePods(_, count):
                return (cell._replace(unbound=cell.unbound + count),)
            case DeleteUnbound(_, count):
                return (cell._replace(unbound=cell.unbound - count),)
        raise TypeError(action)

    def _give_template(self, cell: WorkloadCell, workload: int) -> WorkloadCell:
        """The workload with another template; a DaemonSet may then want other nodes."""
        if not self.setup.workloads[workload].rules.runs_per_node:
            return cell
        revision = family(self.setup, workload)[cell.template]
        return cell._replace(desired=nodes_wanted(self.setup, revision))

    def _recreate(self, workload: int, before: WorkloadCell) -> WorkloadCell:
        """A workload that appears; where a deleted one left its ReplicaSet, the new object takes that over."""
        fresh = self.create(workload)
        takes_over = before.replicas != NEVER and self.setup.workloads[workload].rules.owns_replica_sets
        return fresh._replace(
            replicas=before.replicas if takes_over else fresh.replicas,
            unbound=before.unbound + fresh.unbound,
            failed=before.failed,
        )

    def create(self, workload: int) -> WorkloadCell:
        """A workload's cell right after the object appears."""
        declared = self.setup.workloads[workload]
        if declared.owner is not None and not declared.rules.counts_completions:
            return WorkloadCell(1, 0, NEVER, 0)
        if declared.rules.sizes_in_sync:
            return WorkloadCell(1, declared.replicas, NEVER, 0)
        if declared.rules.runs_per_node:
            return WorkloadCell(1, nodes_wanted(self.setup, workload), NEVER, 0)
        if declared.rules.is_pod:
            at_home = any(node.name == declared.home for node in self.setup.nodes)
            return WorkloadCell(1, 1, NEVER, 0 if at_home else 1)
        return WorkloadCell(1, declared.replicas, declared.replicas, 0)

    def on_node(self, node: Node, cell: NodeCell, action: NodeAction) -> tuple[NodeCell, ...]:
        """All contents the node may have after an action."""
        match action:
            case Bind() | BindPinned():
                return tuple(bound for bound, _ in self.bind(node, cell, action))
            case Preempt():
                return tuple(dict.fromkeys(self._preempt(cell, action)))
            case Unnominate(_, workload):
                return (add_nominated(cell, workload, -1),)
            case KeepNode():
                return tuple(dict.fromkeys(self._keep(cell, action)))
            case TendJob(_, workload, losses):
                return tuple(dict.fromkeys(self._delete(without_finished(cell, workload), workload, losses)))
            case Arrive(_, workload, count):
                return (self._arrive(node, cell, workload, count),)
            case Delete(_, workload, losses, is_eviction):
                return tuple(dict.fromkeys(self._delete(cell, workload, losses, by_others=is_eviction)))
            case Crash(_, workload):
                return tuple(self._crash(cell, workload))
            case EvictPods(_, losses, _):
                return tuple(dict.fromkeys(self._take_evicted(cell, losses)))
            case EvictDue(_, workload):
                return (self._evict(cell, workload),)
            case Unroute(_, workload, route_s):
                return (_unroute(cell, workload, route_s),)
            case Advance():
                return tuple(dict.fromkeys(self._advance(node, cell, action)))
            case NodeChange(_, verb, mark):
                changed = self._change(node, cell, verb)
                return (changed._replace(marks=changed.marks | mark) if mark else changed,)
        raise TypeError(action)

    def running(self, node: Node, cell: NodeCell, workload: int, count: int) -> NodeCell:
        """The node with pods that have been ready there before the run; taint eviction finds them, too."""
        age_s = self.ages[workload][-1] if self.ages[workload] else NEVER
        evict_s, life_s = self._first_evict_s(node, cell, workload), self._long_life(workload)
        kind = self._midway(self._kind(cell, workload, Phase.READY, evict_s, age_s, life_s=life_s))
        return cell._replace(pods=add_pods(cell.pods, kind, count), images=self._images_after(node, cell, workload))

    def place_found(self, node: Node, cell: NodeCell, workload: int, phase: int, count: int) -> NodeCell:
        """The node with pods that a cluster showed there in a phase; what they have begun may be over at any moment."""
        if phase == Phase.READY:
            return self.running(node, cell, workload, count)
        is_ending = phase == Phase.TERMINATING
        evict_s = NEVER if is_ending else self._first_evict_s(node, cell, workload)
        kind = self._kind(cell, workload, phase, evict_s, life_s=NEVER if is_ending else self._long_life(workload))
        begun = kind._replace(least_s=0) if kind.least_s != NEVER else kind
        return cell._replace(pods=add_pods(cell.pods, begun, count), images=self._images_after(node, cell, workload))

    def bind(self, node: Node, cell: NodeCell, action: Bind | BindPinned) -> Iterator[tuple[NodeCell, float]]:
        """The node with one more pod, for every time that it may take to start, with the probability of that."""
        for start_s, probability in self.starts(cell):
            bound = self._arrive(node, cell, action.workload, 1, start_s)
            if isinstance(action, BindPinned):
                bound = bound._replace(pinned=add_pinned(cell.pinned, action.workload, -1))
            if action.was_nominated:
                bound = add_nominated(bound, action.workload, -1)
            yield bound, probability

    def _arrive(self, node: Node, cell: NodeCell, workload: int, count: int, start_s: int | None = None) -> NodeCell:
        evict_s, life_s = self._first_evict_s(node, cell, workload), self._life_at_birth(workload)
        kind = self._kind(cell, workload, Phase.STARTING, evict_s, life_s=life_s)
        if start_s is not None:
            kind = kind._replace(least_s=start_s, most_s=start_s)
        return cell._replace(pods=add_pods(cell.pods, kind, count))

    def _delete(
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
            yield from self._delete(smaller, workload, rest, by_others=by_others)

    def _keep(self, cell: NodeCell, action: KeepNode) -> Iterator[NodeCell]:
        """The node after a DaemonSet's work, in every way to take what has to go."""
        pinned = cell.pinned
        for workload, count in action.drops:
            pinned = add_pinned(pinned, workload, -count)
        if action.creates is not None:
            pinned = add_pinned(pinned, action.creates, 1)
        outcomes = [cell._replace(pinned=pinned)]
        for workload, phase, count in action.losses:
            outcomes = [after for before in outcomes for after in self._delete(before, workload, (((phase,), count),))]
        yield from outcomes

    def _crash(self, cell: NodeCell, workload: int) -> Iterator[NodeCell]:
        """The node after a pod of any kind that runs has crashed."""
        least_s, most_s = self.clocks(workload, Phase.STARTING)
        if self.setup.workloads[workload].template.readiness is not None:
            probed_least_s, probed_most_s = self.clocks(workload, Phase.RUNNING)
            least_s, most_s = least_s + probed_least_s, most_s + probed_most_s
        for kind, _ in cell.pods:
            if kind.workload == workload and kind.phase == Phase.READY and self._ends_for_good(workload):
                yield add_finished(cell._replace(pods=add_pods(cell.pods, kind, -1)), workload, JobPodEnd.FAILED, 1)
            elif kind.workload == workload and kind.phase == Phase.READY:
                delay_s = back_off_s(kind.restarts)
                again = kind._replace(
                    phase=int(Phase.RUNNING),
                    least_s=delay_s + least_s,
                    most_s=delay_s + most_s,
                    restarts=min(kind.restarts + 1, self.most_restarts(workload)),
                )
                yield cell._replace(pods=add_pods(add_pods(cell.pods, kind, -1), again, 1))

    def _take_evicted(self, cell: NodeCell, losses: tuple[EvictedPods, ...]) -> Iterator[NodeCell]:
        """Every way to take losses of several workloads."""
        if not losses:
            yield cell
            return
        (workload, phases, restarts, count, life), rest = losses[0], losses[1:]
        kinds = [
            (k, n)
            for k, n in cell.pods
            if k.workload == workload and k.phase in phases and k.restarts == restarts and is_of_life(k.life_s, life)
        ]
        for taken in takes(kinds, count):
            smaller = cell
            for kind, amount in taken:
                smaller = self._without(smaller, kind, amount, by_others=True)
            yield from self._take_evicted(smaller, rest)

    def _preempt(self, cell: NodeCell, action: Preempt) -> Iterator[NodeCell]:
        """Every way to take the victims; nominations of lower priority end."""
        priority = priority_of(self.setup.workloads[action.workload].template)
        kept = tuple((w, n) for w, n in cell.nominated if priority_of(self.setup.workloads[w].template) >= priority)
        nominated = add_nominated(cell._replace(nominated=kept), action.workload, 0 if action.was_nominated else 1)

        def take(cell: NodeCell, losses: tuple[tuple[int, int], ...]) -> Iterator[NodeCell]:
            if not losses:
                yield cell
                return
            kinds = [(k, n) for k, n in cell.pods if k.workload == losses[0][0] and k.phase in ACTIVE]
            for chosen in takes(kinds, losses[0][1]):
                smaller = cell
                for kind, amount in chosen:
                    smaller = self._without(smaller, kind, amount, preempted=1, by_others=True)
                yield from take(smaller, losses[1:])

        yield from take(nominated, action.losses)

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
            cell = add_finished(cell, kind.workload, JobPodEnd.FAILED, count)
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

    def _evict(self, cell: NodeCell, workload: int) -> NodeCell:
        for kind, count in cell.pods:
            if kind.workload == workload and kind.evict_s == 0 and kind.phase != Phase.TERMINATING:
                cell = self._without(cell, kind, count, by_others=True)
        return cell

    def _advance(self, node: Node, cell: NodeCell, action: Advance) -> Iterator[NodeCell]:
        """The pods moved on; of kinds that differ in their eviction clock alone any may be the rejected ones."""
        due = [(kind, count) for kind, count in cell.pods if moves_alike(kind, action)]
        number = sum(count for _, count in due) if action.pods is None else action.pods
        starts = action.phase == Phase.STARTING and number > action.rejected
        images = self._images_after(node, cell, action.workload) if starts else cell.images
        for moving in (due,) if action.pods is None else takes(due, number):
            for rejected in takes(list(moving), action.rejected):
                failed, pods = dict(rejected), cell.pods
                for kind, count in moving:
                    pods = add_pods(pods, kind, -count)
                    left = count - failed.get(kind, 0)
                    if action.phase not in LAST and left:
                        pods = add_pods(pods, self._next(cell, kind), left)
                yield self._count_moved(cell._replace(pods=pods, images=images), action, number)

    def _count_moved(self, cell: NodeCell, action: Advance, moved: int) -> NodeCell:
        """The node with what a Job has yet to count of pods that moved on."""
        declared = self.setup.workloads[action.workload]
        if not declared.rules.counts_completions:
            return cell
        if action.phase in AT_WORK:
            return add_finished(cell, action.workload, JobPodEnd.SUCCEEDED, moved)
        ended = moved if action.phase == Phase.TERMINATING and declared.job.only_failed else action.rejected
        return add_finished(cell, action.workload, JobPodEnd.FAILED, ended)


def _unroute(cell: NodeCell, workload: int, route_s: int) -> NodeCell:
    """The node whose terminating pods with so much time left get no traffic any more."""

    def unroute(kind: PodKind) -> PodKind:
        is_meant = kind.workload == workload and kind.route_s == route_s
        return kind._replace(route_s=SERVING) if is_meant else kind

    return cell._replace(pods=map_pods(cell.pods, unroute))


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
