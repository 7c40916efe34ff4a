"""The kubelet: starts pods, finds them ready, ends terminating ones; rejects what it cannot admit.

One step moves all pods of one kind (same workload, same phase, same clocks) on one node; pods of different workloads
that name a node which has not room for all of them are admitted one by one, any first. Start-up takes
`Settings.startup_s`; with a readiness probe the pod is ready after its initial delay and, from the first success on,
one period per further success asked for, at the latest one period later. Termination takes as long as a preStop hook
sleeps, and up to the grace period.
Admission (`pkg/kubelet/lifecycle/predicate.go`) is re-checked for pods that name their node themselves: resources,
node affinity, NoExecute taints; a rejected pod fails and never comes back. Pods that the scheduler placed fit and are
admitted. A pod of a Job ends by itself when it has run for its time.
"""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.loops.actions import Advance, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import EVERYBODY, QUIET, Among, Clocks, Writes
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import KUBELET_LIVES, NEVER, NodeCell, Phase, PodKind, Work, WorkloadCell
from kubeproof.controllers.admission.kubelet_admission import competing, count_rejected
from kubeproof.controllers.scheduler.mentions import mention_scheduling
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

MOVING = (Phase.STARTING, Phase.RUNNING, Phase.TERMINATING)


class Moving(NamedTuple):
    """Pods of one kind that may or must move on now."""

    kind: PodKind  # without its clocks of eviction and of traffic
    rejected: int
    total: int
    together: int | None  # how many move at once; None: all


FIRST_BACK_OFF_S, LONGEST_BACK_OFF_S = 10, 300
MOST_RESTARTS = 6  # from here on the back-off does not grow: 0, 10, 20, 40, 80, 160, 300 s


def back_off_s(restarts: int) -> int:
    """CrashLoopBackOff before the next restart: none at first, then 10 s doubling up to 300 s.

    Upstream starts again from nothing when a container ran for ten minutes; that is not modelled.
    """
    return 0 if restarts == 0 else min(FIRST_BACK_OFF_S * 2 ** (restarts - 1), LONGEST_BACK_OFF_S)


@dataclass(frozen=True, slots=True)
class Kubelet:
    """The kubelets of one place."""

    layout: Layout
    place: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.KUBELET)

    reads_nodes = mention_scheduling
    footprint = replace(
        QUIET,
        writes=Writes.PHASES,
        clocks=Clocks.PHASES,
        chooses_by_start=EVERYBODY,
        chooses_by_end=EVERYBODY,
        among=Among.BY_ITSELF,
    )

    @property
    def reads(self) -> Reads:
        return Reads(places=(self.place,))

    def show_workload(self, workload: int, cell: WorkloadCell) -> None:
        """Never looks at workloads."""

    def show_node(self, place: int, cell: NodeCell) -> tuple[Moving, ...] | None:
        """The kinds of pods that may or must move on now; None if the kubelet is dead or has nothing to do."""
        if cell.health not in KUBELET_LIVES or cell.work == Work.DOWN:
            return None
        due = {
            kind._replace(evict_s=0, route_s=NEVER, life_s=NEVER)
            for kind, _ in cell.pods
            if kind.least_s == 0 and self._moves(kind)
        }
        setup, sample = self.layout.setup, self.layout.places[place].sample
        rivals = competing(setup, sample, cell, due)
        found = []
        for kind in sorted(due):
            rejected, total = count_rejected(setup, sample, cell, kind)
            one_by_one = kind in rivals and total > 1
            first = Moving(kind, int(rejected == total), total, 1)
            found.append(first if one_by_one else Moving(kind, rejected, total, None))
        return tuple(found) or None

    def _moves(self, kind: PodKind) -> bool:
        """True if the pod does not stay as it is for ever: a Job's pods end by themselves."""
        return kind.phase in MOVING or self.layout.setup.workloads[kind.workload].rules.counts_completions

    def act(self, seen: Seen[None, Groups[tuple[Moving, ...]]]) -> tuple[Decision, ...]:
        """One step per node and kind that is due."""
        return tuple(
            self._step(NodeRef(self.place, due), moving)
            for due in dict.fromkeys(due for due, _ in seen.places[0])
            for moving in due
        )

    def _step(self, node: NodeRef, moving: Moving) -> Decision:
        kind = moving.kind
        action = Advance(node, kind.workload, kind.phase, kind.least_s, kind.most_s, moving.rejected, moving.together)
        return Decision((action,), Role.URGENT if kind.most_s == 0 else Role.OPTIONAL)
