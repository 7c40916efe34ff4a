"""One node with its pods by name, and what can happen to it."""

from __future__ import annotations

from kubeproof.cluster.labels import NO_EXECUTE, Taint
from kubeproof.cluster.loops.node_verbs import (
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
    NodeVerb,
)
from kubeproof.cluster.nodes.places import UNREACHABLE
from kubeproof.cluster.objects import Node, Setup
from kubeproof.cluster.state import NEVER, SERVING, Cause, Health, JobPodEnd, Phase, PodKind, Work
from kubeproof.controllers.evictions.taint_eviction import clock_after, seconds_tolerated
from kubeproof.named_tuples import NamedTuple


class Pod(NamedTuple):
    """A bound pod: its name, and what pods of its kind are to every controller."""

    name: str
    kind: PodKind

    @property
    def workload(self) -> int:
        return self.kind.workload

    @property
    def phase(self) -> int:
        return self.kind.phase

    def become(self, **changes: int) -> Pod:
        """The pod with some fields of its kind changed."""
        return Pod(self.name, self.kind._replace(**changes))


class NodeState(NamedTuple):
    """A node, as `NodeCell` tells it but with pods by name, sorted."""

    health: int
    least_s: int = NEVER
    most_s: int = NEVER
    cordoned: int = 0
    no_execute: int = 0
    work: int = 0
    cause: int = 0
    pods: tuple[Pod, ...] = ()
    images: int = 0  # that started pods have brought
    pinned: tuple[tuple[int, str], ...] = ()  # workload and name of pods without a node that may only run here
    nominated: tuple[int, ...] = ()  # workloads of the pods that wait for this node, sorted
    spare_s: int = NEVER  # for how long it has been unneeded
    finished: tuple[tuple[int, int], ...] = ()  # Job and outcome of each pod that it has not counted yet, sorted
    marks: int = 0  # of the events that have had this node, as bits


def with_nominated(node: NodeState, workload: int) -> NodeState:
    """The node with one more pod of the workload nominated to it."""
    return node._replace(nominated=tuple(sorted((*node.nominated, workload))))


def without_nominated(node: NodeState, workload: int) -> NodeState:
    """The node with one pod of the workload fewer that waits for it."""
    rest = list(node.nominated)
    rest.remove(workload)
    return node._replace(nominated=tuple(rest))


def with_ended(node: NodeState, ended: list[tuple[int, int]]) -> NodeState:
    """The node with more pods, told by Job and outcome, that their Jobs have yet to count."""
    return node._replace(finished=tuple(sorted((*node.finished, *ended)))) if ended else node


def without_ended(node: NodeState, workload: int) -> NodeState:
    """The node whose finished pods of a Job are counted."""
    return node._replace(finished=tuple(one for one in node.finished if one[0] != workload))


def kubelet_lives(node: NodeState) -> bool:
    """True if the kubelet acts."""
    return node.health in (Health.UP, Health.BACK)


def vanishes_at_once(setup: Setup, node: NodeState, pod: Pod, route_s: int = NEVER) -> bool:
    """True if a deleted pod needs no termination: nothing of it runs, or its grace period is zero.

    One that still gets traffic (`route_s`) is looked at once more before it is gone.
    """
    grace_s = setup.workloads[pod.workload].template.grace_s
    return kubelet_lives(node) and (pod.phase == Phase.STARTING or (grace_s == 0 and route_s in (NEVER, SERVING)))


def ending_clocks(setup: Setup, workload: int) -> tuple[int, int]:
    """When a pod that was deleted may end, and when it must: not before its preStop hook is over."""
    template = setup.workloads[workload].template
    return min(template.pre_stop_s, template.grace_s), template.grace_s


def _taints(declared: Node, *, unreachable: bool) -> list[Taint]:
    own = [taint for taint in declared.taints if taint.effect == NO_EXECUTE]
    return [*own, Taint(UNREACHABLE, "", NO_EXECUTE)] if unreachable else own


def _find_toleration(setup: Setup, declared: Node, workload: int, *, unreachable: bool) -> int:
    tolerations = setup.workloads[workload].template.tolerations
    return seconds_tolerated(tolerations, _taints(declared, unreachable=unreachable))


def arrival(setup: Setup, declared: Node, node: NodeState, workload: int, name: str, start_s: int | None = None) -> Pod:
    """A pod that has just been bound here; its start takes so long, or as long as any."""
    seconds = _find_toleration(setup, declared, workload, unreachable=bool(node.no_execute))
    evict_s = NEVER if seconds == NEVER else max(1, seconds)
    range_s = setup.settings.startup_s if start_s is None else (start_s, start_s)
    least, most = range_s if kubelet_lives(node) else (NEVER, NEVER)
    return Pod(name, PodKind(workload, int(Phase.STARTING), least, most, evict_s))


def start_times(setup: Setup, node: NodeState) -> tuple[int | None, ...]:
    """How long the start of a pod that is bound here may take; None for the usual range."""
    drawn = setup.settings.startup_choices if kubelet_lives(node) else ()
    return tuple(seconds for seconds, _ in drawn) or (None,)


def change_node(
    setup: Setup,
    declared: Node,
    node: NodeState,
    verb: NodeVerb,
    never_ready: frozenset[int] = frozenset(),
    runs_s: tuple[tuple[int, int] | None, ...] = (),
) -> NodeState:
    """The node after a change of its condition."""
    if verb in (CORDON, UNCORDON):
        return node._replace(cordoned=int(verb == CORDON))
    if verb == JOIN:
        return node._replace(health=int(Health.UP), least_s=NEVER, most_s=NEVER)
    if verb in (PROVISION, FORSAKE, REMOVE):
        left = _leave_behind(setup, node) if verb == REMOVE else node
        return with_ended(_slot(setup, declared, is_coming=verb == PROVISION), list(left.finished))
    if verb in (MARK_SPARE, MARK_NEEDED):
        return node._replace(spare_s=0 if verb == MARK_SPARE else NEVER)
    if verb == EVACUATE:
        return node._replace(cordoned=1, work=int(Work.LEAVE), spare_s=NEVER, least_s=120, most_s=120)
    if verb == SPARE:
        open_again = node._replace(cordoned=0, work=0)
        return open_again._replace(least_s=NEVER, most_s=NEVER) if kubelet_lives(node) else open_again
    works = {DRAIN: Work.DRAIN, DRAIN_UNCORDON: Work.DRAIN_UNCORDON, MAINTAIN: Work.MAINTAIN, RETIRE: Work.RETIRE}
    if verb in works:
        return node._replace(cordoned=1, work=int(works[verb]))
    if verb in (DRAINED, RETURN):
        return _after_drain(setup, node, verb)
    if verb in (FAIL, PANIC, FAIL_FOR_GOOD, FAIL_ZONE):
        causes = {FAIL: Cause.FAILURE, PANIC: Cause.PANIC, FAIL_FOR_GOOD: Cause.FOR_GOOD, FAIL_ZONE: Cause.ZONE}
        return _fail(setup, node._replace(cause=int(causes[verb])))
    if verb == RECOVER:
        return _recover(setup, node, never_ready, runs_s)
    if verb == NOTICE:
        return _notice(node)
    if verb in (TAINT, TAINT_SLOWLY, TAINT_VERY_SLOWLY):
        tainted = _taint(setup, declared, node)
        pause = {TAINT_SLOWLY: 10, TAINT_VERY_SLOWLY: 100}.get(verb, NEVER)
        return tainted if node.work == Work.LEAVE else tainted._replace(least_s=pause, most_s=pause)
    if verb == UNTAINT:
        return _without_taint(setup, declared, node._replace(no_execute=0))
    assert verb == WELCOME, verb
    welcomed = [pod.become(phase=int(Phase.READY)) if pod.phase == Phase.UNREADY else pod for pod in node.pods]
    up = node._replace(health=int(Health.UP), no_execute=0, pods=tuple(welcomed))
    return _without_taint(setup, declared, up)


def _slot(setup: Setup, declared: Node, *, is_coming: bool) -> NodeState:
    """Where no node is, or one is on its way."""
    groups = setup.cluster_autoscaler
    clocks = groups.provisioning_s if is_coming and groups is not None else (NEVER, NEVER)
    least_s, most_s = clocks
    return NodeState(int(Health.ABSENT), least_s, most_s, int(declared.unschedulable))


def _leave_behind(setup: Setup, node: NodeState) -> NodeState:
    """The node as it goes: a Job has lost the pods that are left there."""
    lost = []
    for pod in node.pods:
        job = setup.workloads[pod.workload]
        if job.rules.counts_completions and (pod.phase != Phase.TERMINATING or job.job.only_failed):
            lost.append((pod.workload, int(JobPodEnd.FAILED)))
    return with_ended(node, lost)


def _after_drain(setup: Setup, node: NodeState, verb: NodeVerb) -> NodeState:
    if verb == RETURN:
        return node._replace(cordoned=0, work=0, least_s=NEVER, most_s=NEVER)
    if node.work == Work.MAINTAIN:
        least, most = setup.settings.maintenance_s
        return node._replace(work=int(Work.DOWN), least_s=least, most_s=most)
    return node._replace(work=0, cordoned=1 if node.work == Work.DRAIN else 0)


def crash(setup: Setup, pod: Pod) -> Pod:
    """A pod whose container has just exited: it runs again after its back-off and a start-up."""
    delay = (0, 10, 20, 40, 80, 160, 300)[min(pod.kind.restarts, 6)]
    least, most = setup.settings.startup_s
    probe = setup.workloads[pod.workload].template.readiness
    if probe is not None:
        delay += probe.initial_delay_s + probe.period_s * (probe.success_threshold - 1)
        most += probe.period_s
    job = setup.workloads[pod.workload]
    again = min(pod.kind.restarts + 1, max(6, job.job.backoff_limit) if job.rules.counts_completions else 6)
    return pod.become(phase=int(Phase.RUNNING), least_s=delay + least, most_s=delay + most, restarts=again)


def _fail(setup: Setup, node: NodeState) -> NodeState:
    pods = tuple(pod.become(least_s=NEVER, most_s=NEVER) for pod in node.pods)
    if node.health == Health.BACK:
        return node._replace(health=int(Health.UNKNOWN), pods=pods)
    grace = setup.settings.grace_s
    latest = grace + setup.settings.monitor_period_s
    return node._replace(health=int(Health.LOST), least_s=grace, most_s=latest, pods=pods)


def _recover(
    setup: Setup, node: NodeState, never_ready: frozenset[int], runs_s: tuple[tuple[int, int] | None, ...]
) -> NodeState:
    unnoticed = node.health == Health.LOST
    before = tuple(_reboot(pod) for pod in node.pods) if node.cause == Cause.PANIC else node.pods
    pods = tuple(_at_work(_resume(setup, pod, never_ready), runs_s) for pod in before)
    health = int(Health.UP if unnoticed else Health.BACK)
    return node._replace(health=health, least_s=NEVER, most_s=NEVER, cause=0, pods=pods)


def _reboot(pod: Pod) -> Pod:
    """A pod of a node that panicked: its containers are gone, and start from nothing."""
    return pod if pod.phase == Phase.TERMINATING else pod.become(phase=int(Phase.STARTING), age_s=NEVER)


def _resume(setup: Setup, pod: Pod, never_ready: frozenset[int]) -> Pod:
    """What the kubelet had begun it begins again."""
    template = setup.workloads[pod.workload].template
    restarts = pod.phase == Phase.RUNNING and template.readiness is None and pod.workload not in never_ready
    if pod.phase == Phase.STARTING or restarts:
        least, most = setup.settings.startup_s
        return pod.become(least_s=least, most_s=most)
    if pod.phase == Phase.TERMINATING:
        least, most = ending_clocks(setup, pod.workload)
        return pod.become(least_s=least, most_s=most)
    if pod.phase == Phase.RUNNING and template.readiness is not None and pod.workload not in never_ready:
        probe = template.readiness
        least = probe.initial_delay_s + probe.period_s * (probe.success_threshold - 1)
        return pod.become(least_s=least, most_s=least + probe.period_s)
    return pod


def _at_work(pod: Pod, runs_s: tuple[tuple[int, int] | None, ...]) -> Pod:
    """A pod of a Job may have done its work while its node was silent."""
    run_s = runs_s[pod.workload] if runs_s else None
    if run_s is None or pod.phase not in (Phase.READY, Phase.UNREADY):
        return pod
    return pod.become(least_s=0, most_s=run_s[1])


def _notice(node: NodeState) -> NodeState:
    pods = tuple(pod.become(phase=int(Phase.UNREADY)) if pod.phase == Phase.READY else pod for pod in node.pods)
    return node._replace(health=int(Health.UNKNOWN), least_s=NEVER, most_s=NEVER, pods=pods)


def _taint(setup: Setup, declared: Node, node: NodeState) -> NodeState:
    pods = []
    for pod in node.pods:
        if pod.phase != Phase.TERMINATING:
            tolerations = setup.workloads[pod.workload].template.tolerations
            pod = pod.become(evict_s=clock_after(pod.kind.evict_s, tolerations, _taints(declared, unreachable=True)))
        pods.append(pod)
    return node._replace(no_execute=1, pods=tuple(pods))


def _without_taint(setup: Setup, declared: Node, node: NodeState) -> NodeState:
    pods = []
    for pod in node.pods:
        if _find_toleration(setup, declared, pod.workload, unreachable=False) == NEVER:
            pod = pod.become(evict_s=NEVER)
        pods.append(pod)
    return node._replace(pods=tuple(pods))
