"""What becomes of a node and its pods when the node's condition changes."""

from __future__ import annotations

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
from kubeproof.cluster.nodes.places import taints_of
from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import (
    ACTIVE,
    NEVER,
    Cause,
    Health,
    JobPodEnd,
    NodeCell,
    Phase,
    PodKind,
    Work,
    add_finished,
)
from kubeproof.controllers.evictions.taint_eviction import clock_after, seconds_tolerated
from kubeproof.model.by_name.ticks import Pods, map_pods
from kubeproof.model.pod_life import DEAD, PodLife

CAUSES = {FAIL: Cause.FAILURE, PANIC: Cause.PANIC, FAIL_FOR_GOOD: Cause.FOR_GOOD, FAIL_ZONE: Cause.ZONE}
GROUP_VERBS = (PROVISION, FORSAKE, MARK_SPARE, MARK_NEEDED, EVACUATE, REMOVE, SPARE)
WORK_OF_VERB = {
    DRAIN: Work.DRAIN,
    DRAIN_UNCORDON: Work.DRAIN_UNCORDON,
    MAINTAIN: Work.MAINTAIN,
    RETIRE: Work.RETIRE,
}
PAUSES = {TAINT: NEVER, TAINT_SLOWLY: 10, TAINT_VERY_SLOWLY: 100}  # until the next node of the zone may be tainted
MOST_EVICTING_S = 120  # max-pod-eviction-time: how long the cluster autoscaler asks for the pods of a node it drains


class NodeConditions(PodLife):
    """Nodes that fail, come back, are tainted, drained, added and removed."""

    def _change(self, node: Node, cell: NodeCell, verb: NodeVerb) -> NodeCell:
        if verb == CORDON:
            return cell._replace(cordoned=1)
        if verb == UNCORDON:
            return cell._replace(cordoned=0)
        if verb == JOIN:
            return cell._replace(health=int(Health.UP), least_s=NEVER, most_s=NEVER)
        if verb in GROUP_VERBS:
            return self._regroup(node, cell, verb)
        if verb in WORK_OF_VERB:
            return cell._replace(cordoned=1, work=int(WORK_OF_VERB[verb]))
        if verb == DRAINED:
            return self._drain(cell)
        if verb == RETURN:
            return cell._replace(cordoned=0, work=int(Work.NONE), least_s=NEVER, most_s=NEVER)
        if verb in CAUSES:
            return self._fail(cell._replace(cause=int(CAUSES[verb])))
        if verb == RECOVER:
            return self._recover(cell)
        if verb == NOTICE:
            pods = _rename(cell.pods, Phase.READY, Phase.UNREADY)
            return cell._replace(health=Health.UNKNOWN, least_s=NEVER, most_s=NEVER, pods=pods)
        if verb in PAUSES:
            return self._start_clocks(node, self._pause(cell._replace(no_execute=1), PAUSES[verb]))
        if verb == UNTAINT:
            return self._stop_clocks(node, cell._replace(no_execute=0))
        assert verb == WELCOME, verb
        pods = _rename(cell.pods, Phase.UNREADY, Phase.READY)
        return self._stop_clocks(node, cell._replace(health=Health.UP, no_execute=0, pods=pods))

    def _regroup(self, node: Node, cell: NodeCell, verb: NodeVerb) -> NodeCell:
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
        finished = self._leave_behind(cell).finished if verb == REMOVE else cell.finished
        empty = NodeCell(health=int(Health.ABSENT), cordoned=int(node.unschedulable), finished=finished)
        if verb != PROVISION:
            return empty
        assert self.setup.cluster_autoscaler is not None, verb
        least_s, most_s = self.setup.cluster_autoscaler.provisioning_s
        return empty._replace(least_s=least_s, most_s=most_s)

    def _leave_behind(self, cell: NodeCell) -> NodeCell:
        """The node as it is when its object goes: pods of Jobs that are left there have failed."""
        for kind, count in cell.pods:
            ended = kind.phase in ACTIVE or self.setup.workloads[kind.workload].job.only_failed
            if ended and self.setup.workloads[kind.workload].rules.counts_completions:
                cell = add_finished(cell, kind.workload, JobPodEnd.FAILED, count)
        return cell

    def _drain(self, cell: NodeCell) -> NodeCell:
        if cell.work == Work.MAINTAIN:
            least_s, most_s = self.setup.settings.maintenance_s
            return cell._replace(work=int(Work.DOWN), least_s=least_s, most_s=most_s)
        return cell._replace(work=int(Work.NONE), cordoned=int(cell.work == Work.DRAIN))

    def _fail(self, cell: NodeCell) -> NodeCell:
        settings = self.setup.settings
        if cell.health == Health.BACK:
            cell = cell._replace(health=Health.UNKNOWN)
        else:
            most_s = settings.grace_s + settings.monitor_period_s
            cell = cell._replace(health=Health.LOST, least_s=settings.grace_s, most_s=most_s)
        return cell._replace(pods=map_pods(cell.pods, lambda kind: kind._replace(least_s=NEVER, most_s=NEVER)))

    def _recover(self, cell: NodeCell) -> NodeCell:
        """Containers survive the silence, a panic they do not; what the kubelet had begun it begins again."""
        health = Health.UP if cell.health == Health.LOST else Health.BACK
        is_rebooted = cell.cause == Cause.PANIC
        cell = cell._replace(health=health, least_s=NEVER, most_s=NEVER, cause=int(Cause.NONE))

        def resume(kind: PodKind) -> PodKind:
            if is_rebooted and kind.phase in ACTIVE:
                again = self._kind(cell, kind.workload, Phase.STARTING, kind.evict_s, restarts=kind.restarts)
                return again._replace(life_s=kind.life_s)  # the containers are new, the pod is not
            return self._midway(self._kind(cell, kind.workload, kind.phase, *kind[4:]))

        return cell._replace(pods=map_pods(cell.pods, resume))

    def _pause(self, cell: NodeCell, seconds: int) -> NodeCell:
        """The node that has just been tainted, with the clock that its zone waits for."""
        return cell if cell.work == Work.LEAVE else cell._replace(least_s=seconds, most_s=seconds)

    def _start_clocks(self, node: Node, cell: NodeCell) -> NodeCell:
        """Eviction clocks start; one that runs already is kept, unless a taint is not tolerated at all."""
        taints = taints_of(node, cell)

        def start_clock(kind: PodKind) -> PodKind:
            if kind.phase == Phase.TERMINATING:
                return kind
            tolerations = self.setup.workloads[kind.workload].template.tolerations
            return kind._replace(evict_s=clock_after(kind.evict_s, tolerations, taints))

        return cell._replace(pods=map_pods(cell.pods, start_clock))

    def _stop_clocks(self, node: Node, cell: NodeCell) -> NodeCell:
        """Eviction clocks stop, unless the node's own taints keep them going."""
        taints = taints_of(node, cell)

        def stop_clock(kind: PodKind) -> PodKind:
            tolerations = self.setup.workloads[kind.workload].template.tolerations
            stays = seconds_tolerated(tolerations, taints) == NEVER
            return kind._replace(evict_s=NEVER) if stays else kind

        return cell._replace(pods=map_pods(cell.pods, stop_clock))


def _rename(pods: Pods, old: int, new: int) -> Pods:
    return map_pods(pods, lambda kind: kind._replace(phase=int(new)) if kind.phase == old else kind)
