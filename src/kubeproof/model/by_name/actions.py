"""What actions do to a cluster by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from kubeproof.cluster.api import versions
from kubeproof.cluster.loops.actions import (
    ANY,
    Action,
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
    NodeRef,
    NoteCompleted,
    NoteFailed,
    Preempt,
    Remember,
    SetCondition,
    SetCurrent,
    SetReplicas,
    SetTemplate,
    TendJob,
    Tick,
    Unnominate,
    Unroute,
    Verb,
    Writing,
)
from kubeproof.cluster.loops.control import Loop, View, show_node_to
from kubeproof.cluster.nodes.daemons import nodes_wanted
from kubeproof.cluster.nodes.images import track_images
from kubeproof.cluster.objects import family, short_name
from kubeproof.cluster.state import NEVER, SERVING, JobPodEnd, Phase, PodKind, WorkloadCell, moves_alike
from kubeproof.cluster.steering.priorities import priority_of
from kubeproof.errors import LimitReached
from kubeproof.model.by_name.choices import Choices
from kubeproof.model.by_name.node import (
    NodeState,
    Pod,
    arrival,
    change_node,
    crash,
    ending_clocks,
    kubelet_lives,
    start_times,
    vanishes_at_once,
    with_ended,
    with_nominated,
    without_ended,
    without_nominated,
)
from kubeproof.model.by_name.state import Concrete, State, node_cell
from kubeproof.model.plan import Plan

T = TypeVar("T")
MOST_NAMED = 100_000  # pods that one step may create by name
VERBS = {
    Phase.STARTING: Verb.START, Phase.RUNNING: Verb.READY, Phase.READY: Verb.COMPLETE, Phase.UNREADY: Verb.COMPLETE,
    Phase.TERMINATING: Verb.FINISH,
}  # fmt: skip


class NamedActions(Choices):
    """What actions do to a state by name, every outcome of them."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.setup = plan.setup
        self.names = tuple(node.name for node in self.setup.nodes)
        self._tracked = track_images(self.setup)

    def pod_name(self, workload: int, number: int) -> str:
        """`web-3`: the third pod; numbers of vanished pods are used again, so that names stay few."""
        declared = self.setup.workloads[workload]
        if declared.rules.is_pod:
            equals = [index for index, first in enumerate(self.plan.kin) if first == workload]
            return short_name(self.setup, equals[number - 1] if number <= len(equals) else workload)
        name = short_name(self.setup, workload)
        return name if declared.ordinal is not None and not declared.rules.counts_completions else f"{name}-{number}"

    def _matching(self, controller: Loop, state: State, ref: NodeRef) -> Iterator[int]:
        for index in self.plan.layout.places[ref.place].nodes:
            if ref.view == ANY or self._node_view(controller, ref.place, state.nodes[index]) == ref.view:
                yield index

    def _node_view(self, controller: Loop, place: int, node: NodeState) -> View:
        return show_node_to(controller, place, node_cell(node))

    def _do(self, controller: Loop, state: State, action: Action) -> Iterator[tuple[State, Concrete]]:
        if isinstance(action, NodeAction):
            for index in self._matching(controller, state, action.node):
                yield from self._on_node(state, index, action)
        elif isinstance(action, DeleteUnbound):
            for names in self._list_unbound_sets(state, action):
                rest = tuple(n for n in state.unbound[action.workload] if n not in names)
                yield self._with_unbound(state, action.workload, rest), (Verb.DELETE, names)
        elif isinstance(action, Tick | NoteFailed | NoteCompleted):
            raise TypeError(f"no controller decides {action}")
        else:
            yield self._on_workload(state, action)

    def _on_workload(
        self,
        state: State,
        action: Writing | DeleteObject | CreateObject | CreatePods | Remember,
    ) -> tuple[State, Concrete]:
        if isinstance(action, Remember):
            memories = _replace(state.memories, action.memory, action.value)
            return state._replace(memories=memories), (Verb.REMEMBER, action.memory, action.value)
        workload = action.workload
        declared, spec = self.setup.workloads[workload], state.specs[workload]
        ref = declared.ref if declared.ordinal is None or declared.rules.counts_completions else str(declared.owner)
        if isinstance(action, CreatePods):
            names = self._new_names(state, workload, action.pods)
            waiting = tuple(sorted((*state.unbound[workload], *names), key=_by_number))
            return self._with_unbound(state, workload, waiting), (Verb.CREATE, ref, names)
        if isinstance(action, CreateObject):
            return self._create(state, workload), (Verb.CREATE_OBJECT, ref)
        concrete: Concrete
        if isinstance(action, DeleteObject):
            is_pod = self.setup.workloads[workload].rules.is_pod
            spec = spec._replace(exists=0, desired=0, replicas=0 if is_pod else min(spec.replicas, 0))
            if workload in self.plan.mechanics.kept:  # the garbage collector takes finished pods, too
                spec = spec._replace(failed=0, completed=0)
            concrete = (Verb.DELETE_OBJECT, ref)
        elif isinstance(action, SetCurrent):
            spec = spec._replace(noted=action.revision)
            concrete = (Verb.SET_CURRENT, ref, action.revision)
        elif isinstance(action, SetCondition):
            spec = spec._replace(noted=action.condition)
            concrete = (Verb.SET_CONDITION, ref, action.condition)
        elif isinstance(action, SetTemplate):
            spec = spec._replace(template=action.template, desired=self._count_wanted(workload, spec, action.template))
            concrete = (Verb.SET_TEMPLATE, ref, action.template)
        elif isinstance(action, SetReplicas):
            spec = spec._replace(replicas=action.replicas, noted=action.noted, max_noted=action.max_noted)
            concrete = (Verb.SET_REPLICAS, ref, action.replicas)
        else:
            has_no_size = self.setup.workloads[workload].rules.sizes_in_sync
            follows = spec.replicas if has_no_size else action.replicas
            spec = spec._replace(desired=action.replicas, replicas=follows)
            concrete = (Verb.SET_DESIRED, ref, action.replicas)
        return state._replace(specs=_replace(state.specs, workload, spec)), concrete

    def _count_wanted(self, workload: int, spec: WorkloadCell, template: int) -> int:
        """What a workload wants with another template: a DaemonSet perhaps other nodes."""
        is_daemon_set = self.setup.workloads[workload].rules.runs_per_node
        return nodes_wanted(self.setup, family(self.setup, workload)[template]) if is_daemon_set else spec.desired

    def _create(self, state: State, workload: int) -> State:
        declared = self.setup.workloads[workload]
        if declared.rules.is_pod:
            waits = declared.home not in self.names  # a pod that names its node arrives there in the same step
            state = self._with_unbound(state, workload, (self.pod_name(workload, 1),) if waits else ())
            spec = WorkloadCell(1, 1, NEVER)
        elif declared.rules.runs_per_node:
            spec = WorkloadCell(1, nodes_wanted(self.setup, workload), NEVER)
        elif declared.rules.runs_to_completion:
            spec = WorkloadCell(1, declared.replicas, NEVER)
        else:
            kept = state.specs[workload].replicas  # of the ReplicaSet that a deleted Deployment left
            replicas = kept if declared.rules.sizes_in_sync else declared.replicas
            spec = WorkloadCell(1, declared.replicas, replicas)
        spec = spec._replace(failed=state.specs[workload].failed)
        return state._replace(specs=_replace(state.specs, workload, spec))

    def _new_names(self, state: State, workload: int, count: int) -> tuple[str, ...]:
        """The first names nobody bears."""
        if count > MOST_NAMED:
            raise LimitReached(f"a step that creates {count} pods is too large to be told by name")
        taken = set(state.unbound[workload])
        taken |= {pod.name for node in state.nodes for pod in node.pods if pod.workload == workload}
        taken |= {name for node in state.nodes for owner, name in node.pinned if owner == workload}
        free: list[str] = []
        number = 1
        while len(free) < count:
            name = self.pod_name(workload, number)
            if name not in taken:
                free.append(name)
            number += 1
        return tuple(free)

    @staticmethod
    def _with_unbound(state: State, workload: int, names: tuple[str, ...]) -> State:
        return state._replace(unbound=_replace(state.unbound, workload, names))

    def _with_node(self, state: State, index: int, node: NodeState) -> State:
        return state._replace(nodes=_replace(state.nodes, index, node))

    def _on_node(self, state: State, index: int, action: NodeAction) -> Iterator[tuple[State, Concrete]]:
        """Every outcome of an action on a node."""
        node, name = state.nodes[index], self.names[index]
        if isinstance(action, Bind | BindPinned | Preempt | Unnominate):
            yield from self._schedule(state, index, action)
        elif isinstance(action, Delete | EvictPods | EvictDue | TendJob):
            yield from self._take(state, index, action)
        elif isinstance(action, KeepNode):
            yield from self._keep(state, index, action)
        elif isinstance(action, Arrive):
            names = self._new_names(state, action.workload, action.pods)
            arrived = self._arrive(index, node, action.workload, names)
            ref = self.setup.workloads[action.workload].ref
            yield self._with_node(state, index, arrived), (Verb.ARRIVE, ref, name, names)
        elif isinstance(action, Crash):
            job = self.setup.workloads[action.workload].job
            is_listed = action.workload in self.plan.mechanics.kept and not job.restarts
            noted = self._with_failed(state, action.workload, int(is_listed))
            for hit in self._crashable(node, action.workload):
                yield self._with_node(noted, index, self._crash(node, hit)), (Verb.CRASH, name, hit.name)
        elif isinstance(action, Unroute):
            meant = [p for p in node.pods if (p.workload, p.kind.route_s) == (action.workload, action.route_s)]
            pods = tuple(p.become(route_s=SERVING) if p in meant else p for p in node.pods)
            names = tuple(pod.name for pod in meant)
            yield self._with_node(state, index, node._replace(pods=pods)), (Verb.UNROUTE, name, names)
        elif isinstance(action, Advance):
            yield from self._advance(state, index, action)
        else:
            mechanics = self.plan.mechanics
            declared = self.setup.nodes[index]
            new = change_node(self.setup, declared, node, action.verb, mechanics.never_ready, mechanics.runs_s)
            new = new._replace(marks=new.marks | action.mark)
            yield self._with_node(state, index, new), (action.verb, name)

    def _schedule(
        self, state: State, index: int, action: Bind | BindPinned | Preempt | Unnominate
    ) -> Iterator[tuple[State, Concrete]]:
        """What a scheduler decides about a node."""
        node, name = state.nodes[index], self.names[index]
        if isinstance(action, Bind):
            if action.was_nominated:
                node = without_nominated(node, action.workload)
            for pod in self._bindable(state, action.workload):
                rest = tuple(other for other in state.unbound[action.workload] if other != pod)
                bound = self._with_unbound(state, action.workload, rest)
                how = ("nominated",) if action.was_nominated else ()
                for arrived, told in self._bind(index, node, action.workload, pod):
                    yield self._with_node(bound, index, arrived), (Verb.BIND, pod, name, *how, *told)
        elif isinstance(action, BindPinned):
            if action.was_nominated:
                node = without_nominated(node, action.workload)
            for pod in self._find_pinned(node, action.workload):
                left = tuple(other for other in node.pinned if other[1] != pod)
                for arrived, told in self._bind(index, node._replace(pinned=left), action.workload, pod):
                    yield self._with_node(state, index, arrived), (Verb.BIND, pod, name, *told)
        elif isinstance(action, Preempt):
            for victims in self._preemptions(node, action.losses):
                after = self._nominate(self._take_from(node, victims, preempted=1), action)
                names = tuple(pod.name for pod in victims)
                homes = tuple(self.setup.workloads[pod.workload].namespace for pod in victims)
                ref = self.setup.workloads[action.workload].ref
                yield self._with_node(state, index, after), (Verb.PREEMPT, name, names, ref, homes)
        else:
            ref = self.setup.workloads[action.workload].ref
            yield self._with_node(state, index, without_nominated(node, action.workload)), (Verb.UNNOMINATE, name, ref)

    def _take(
        self, state: State, index: int, action: Delete | EvictPods | EvictDue | TendJob
    ) -> Iterator[tuple[State, Concrete]]:
        """Pods of a node that somebody deletes, for every choice of them."""
        node, name = state.nodes[index], self.names[index]
        if isinstance(action, Delete):
            for victims in self._victims(node, action):
                gone = self._take_from(node, victims) if action.is_eviction else self._delete(node, victims)
                yield self._with_node(state, index, gone), (Verb.DELETE, tuple(pod.name for pod in victims))
        elif isinstance(action, EvictPods):
            for victims in self._list_evicted(node, action.losses):
                gone = self._take_from(node, victims)
                yield self._with_node(state, index, gone), (Verb.EVICT_PODS, name, tuple(pod.name for pod in victims))
        elif isinstance(action, EvictDue):
            due = tuple(pod for pod in node.pods if _is_due(pod, action.workload))
            gone = self._take_from(node, due)
            yield self._with_node(state, index, gone), (Verb.EVICT, name, tuple(pod.name for pod in due))
        else:
            for victims in self._victims(node, Delete(action.node, action.workload, action.losses)):
                gone = without_ended(self._delete(node, victims), action.workload)
                ended = self._count_ended(node, action.workload)
                counted = self._with_completed(state, action.workload, ended[0])
                yield (
                    self._with_node(counted, index, gone),
                    (Verb.TEND, name, ended, tuple(pod.name for pod in victims)),
                )

    def _crash(self, node: NodeState, hit: Pod) -> NodeState:
        """The node after a container of a pod exited: the pod is restarted, or has failed."""
        job = self.setup.workloads[hit.workload]
        if job.rules.counts_completions and not job.job.restarts:
            rest = tuple(pod for pod in node.pods if pod != hit)
            return with_ended(node._replace(pods=rest), [(hit.workload, int(JobPodEnd.FAILED))])
        return node._replace(pods=tuple(crash(self.setup, pod) if pod == hit else pod for pod in node.pods))

    def _take_from(self, node: NodeState, victims: Sequence[Pod], preempted: int = 0) -> NodeState:
        """The node after others than their controllers deleted pods: to a Job these have failed."""
        ended = []
        for pod in victims:
            job = self.setup.workloads[pod.workload]
            vanishes = vanishes_at_once(self.setup, node, pod, self._route_s(pod))
            if job.rules.counts_completions and (vanishes or not job.job.only_failed):
                ended.append((pod.workload, int(JobPodEnd.FAILED)))
        return with_ended(self._delete(node, victims, preempted), ended)

    @staticmethod
    def _count_ended(node: NodeState, workload: int) -> tuple[int, int]:
        """How many pods of a Job that it has not counted have succeeded, and how many have failed."""
        outcomes = [outcome for job, outcome in node.finished if job == workload]
        return outcomes.count(JobPodEnd.SUCCEEDED), outcomes.count(JobPodEnd.FAILED)

    def _keep(self, state: State, index: int, action: KeepNode) -> Iterator[tuple[State, Concrete]]:
        """A DaemonSet's work on a node, for every choice of pods that answer to it."""
        node, name = state.nodes[index], self.names[index]
        created = () if action.creates is None else self._new_names(state, action.creates, 1)
        for victims in self._list_losses(node, action.losses):
            for dropped in self._list_drops(node, action.drops):
                left = [(owner, pod) for owner, pod in node.pinned if pod not in dropped]
                left += [(owner, pod) for owner in (action.creates,) if owner is not None for pod in created]
                after = self._delete(node, victims)._replace(pinned=tuple(sorted(left)))
                gone = (*dropped, *(pod.name for pod in victims))
                yield self._with_node(state, index, after), (Verb.KEEP, name, created, gone)

    def _bind(
        self, index: int, node: NodeState, workload: int, pod: str
    ) -> Iterator[tuple[NodeState, tuple[int, ...]]]:
        """The node with the pod, for every time that its start may take; that time, if it was drawn."""
        for start_s in start_times(self.setup, node):
            told = () if start_s is None else (start_s,)
            yield self._arrive(index, node, workload, (pod,), start_s), told

    def _arrive(
        self, index: int, node: NodeState, workload: int, names: Sequence[str], start_s: int | None = None
    ) -> NodeState:
        pods = [arrival(self.setup, self.setup.nodes[index], node, workload, name, start_s) for name in names]
        if self.plan.mechanics.lives[workload]:
            pods = [pod.become(life_s=0) for pod in pods]
        return node._replace(pods=tuple(sorted((*node.pods, *pods))))

    def _nominate(self, node: NodeState, action: Preempt) -> NodeState:
        """The node with the nomination; those of lower priority end."""
        own = priority_of(self.setup.workloads[action.workload].template)
        kept = tuple(w for w in node.nominated if priority_of(self.setup.workloads[w].template) >= own)
        node = node._replace(nominated=kept)
        return node if action.was_nominated else with_nominated(node, action.workload)

    def _delete(self, node: NodeState, victims: Sequence[Pod], preempted: int = 0) -> NodeState:
        names = {pod.name for pod in victims}
        kept = []
        for pod in node.pods:
            if pod.name not in names:
                kept.append(pod)
            elif not vanishes_at_once(self.setup, node, pod, self._route_s(pod)):
                kept.append(Pod(pod.name, self._ending(node, pod, preempted)))
        return node._replace(pods=tuple(kept if kubelet_lives(node) else self._bound_pods(kept)))

    def _ending(self, node: NodeState, pod: Pod, preempted: int) -> PodKind:
        """What a pod is that has just been deleted."""
        least_s, most_s = ending_clocks(self.setup, pod.workload) if kubelet_lives(node) else (NEVER, NEVER)
        return PodKind(
            pod.workload,
            int(Phase.TERMINATING),
            least_s,
            most_s,
            restarts=self._restarts_kept(pod),
            preempted=preempted,
            route_s=self._route_s(pod),
        )

    def _restarts_kept(self, pod: Pod) -> int:
        """What a pod that is deleted tells of its restarts: a Job goes on counting them."""
        return pod.kind.restarts if self.setup.workloads[pod.workload].job.restarts else 0

    def _route_s(self, pod: Pod) -> int:
        """How long a pod that is deleted now goes on getting traffic."""
        known = self.plan.mechanics.routes.get(pod.workload)
        if known is None or pod.phase == Phase.STARTING:
            return NEVER
        return known[0] if pod.phase == Phase.READY else known[1]

    def _bound_pods(self, pods: list[Pod]) -> list[Pod]:
        """Pods of a dead node without the terminating ones of a workload beyond those that make a difference."""
        most = self.plan.mechanics.most_stuck
        counts: dict[int, int] = {}
        kept = []
        for pod in pods:
            if pod.phase == Phase.TERMINATING:
                counts[pod.workload] = counts.get(pod.workload, 0) + 1
            if pod.phase != Phase.TERMINATING or counts[pod.workload] <= most:
                kept.append(pod)
        return kept

    def _advance(self, state: State, index: int, action: Advance) -> Iterator[tuple[State, Concrete]]:
        node, name = state.nodes[index], self.names[index]
        due = tuple(pod for pod in node.pods if moves_alike(pod.kind, action))
        together = [due] if action.pods is None else self._list_picks(due, action.pods)
        for moving, failed in ((some, out) for some in together for out in self._list_picks(some, action.rejected)):
            pods = []
            for pod in node.pods:
                if pod not in moving:
                    pods.append(pod)
                elif pod not in failed and pod.phase in (Phase.STARTING, Phase.RUNNING):
                    pods.append(self._next(pod))
            names = tuple(pod.name for pod in moving if pod not in failed)
            verb = VERBS[Phase(action.phase)]
            concrete = (verb, name, names, tuple(pod.name for pod in failed))
            after = self._with_failed(state, action.workload, len(failed))
            images = self._images(index, action.workload) if verb == Verb.START and names else 0
            moved = node._replace(pods=tuple(pods), images=node.images | images)
            yield self._with_node(after, index, with_ended(moved, self._count_moved(action, moving, failed))), concrete

    def _count_moved(self, action: Advance, moving: Sequence[Pod], failed: Sequence[Pod]) -> list[tuple[int, int]]:
        """What a Job has yet to count of pods that the kubelet moved on."""
        job = self.setup.workloads[action.workload]
        if not job.rules.counts_completions:
            return []
        if action.phase in (Phase.READY, Phase.UNREADY):
            return [(action.workload, int(JobPodEnd.SUCCEEDED))] * len(moving)
        if action.phase == Phase.TERMINATING and job.job.only_failed:
            return [(action.workload, int(JobPodEnd.FAILED))] * len(moving)
        return [(action.workload, int(JobPodEnd.FAILED))] * len(failed)

    def _images(self, index: int, workload: int) -> int:
        """The images that a started pod of the workload brings to a node without them."""
        if not self._tracked:
            return 0
        template, node = self.setup.workloads[workload].template, self.setup.nodes[index]
        pulled = {container.image for container in (*template.containers, *template.init_containers)}
        if versions.VOLUME_IMAGES.holds_in(self.setup.settings.kubernetes_version):
            pulled |= set(template.volume_images)
        lacking = pulled - {name for name, _ in node.images}
        return sum(1 << bit for bit, name in enumerate(self._tracked) if name in lacking)

    def _with_completed(self, state: State, workload: int, succeeded: int) -> State:
        """The state with pods of a Job that have succeeded left behind, if somebody still lists them."""
        spec = state.specs[workload]
        if workload not in self.plan.mechanics.kept or not spec.exists:
            return state
        spec = spec._replace(completed=spec.completed + succeeded)
        return state._replace(specs=_replace(state.specs, workload, spec))

    def _with_failed(self, state: State, workload: int, failed: int) -> State:
        spec = state.specs[workload]
        count = min(spec.failed + failed, self.plan.mechanics.most_failed[workload])
        return state._replace(specs=_replace(state.specs, workload, spec._replace(failed=count)))

    def _pod_clocks(self, pod: Pod) -> list[int]:
        kind = pod.kind
        ages = self.plan.mechanics.ages[kind.workload] if kind.age_s != NEVER else ()
        clocks = [
            pod.kind.least_s,
            pod.kind.most_s,
            pod.kind.evict_s,
            pod.kind.route_s,
            *(age - pod.kind.age_s for age in ages),
        ]
        asked = self.plan.mechanics.lives[kind.workload] if kind.life_s != NEVER else ()
        return clocks + [life_s - kind.life_s for life_s in asked]

    def _next(self, pod: Pod) -> Pod:
        if pod.phase == Phase.STARTING and self.plan.mechanics.ages[pod.workload]:
            pod = pod.become(age_s=0)
        probe = self.setup.workloads[pod.workload].template.readiness
        if pod.workload in self.plan.mechanics.never_ready:
            return pod.become(phase=int(Phase.RUNNING), least_s=NEVER, most_s=NEVER)
        if pod.phase == Phase.STARTING and probe is not None:
            least = probe.initial_delay_s + probe.period_s * (probe.success_threshold - 1)
            return pod.become(phase=int(Phase.RUNNING), least_s=least, most_s=least + probe.period_s)
        least, most = self.plan.mechanics.runs_s[pod.workload] or (NEVER, NEVER)
        return pod.become(phase=int(Phase.READY), least_s=least, most_s=most)


def _by_number(name: str) -> tuple[int, str]:
    """Sorts web-2 before web-10."""
    return len(name), name


def _replace(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _is_due(pod: Pod, workload: int) -> bool:
    return pod.workload == workload and pod.kind.evict_s == 0 and pod.phase != Phase.TERMINATING
