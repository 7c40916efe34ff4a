"""A plan in which nothing takes a definite time, yet whatever takes time happens in the end.

Every clock has run out from the beginning: a pod starts, turns ready or ends, a silence is noticed and a pod evicted at
any moment from now on, in any order with all other steps and events, but fairness does not let them wait for ever.
That allows the steps of every run with clocks, in their order. Unlike
`kubeproof.model.reductions.without_clocks` it can prove that something happens; it is
meant for plans without periodic loops and ages, whose clocks mean nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.loops.actions import Advance
from kubeproof.cluster.nodes.daemons import daemon_sets
from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import NEVER, Health, NodeCell, Phase, PodKind, add_pods, moves_alike
from kubeproof.model.by_name.ticks import Pods
from kubeproof.model.mechanics import LAST, Mechanics, takes
from kubeproof.model.plan import Plan
from kubeproof.model.pod_life import DEAD
from kubeproof.model.reductions.without_clocks import TimelessMechanics

NOW = (0, 0)


def asynchronous(plan: Plan, forgotten: frozenset[int] = frozenset()) -> Plan:
    """The plan whose clocks have all run out; pods of `forgotten` workloads that end on dead nodes are gone.

    A dead node without pods evicts none: whether it is marked to do so is forgotten, too, where no DaemonSet looks.
    """
    exact = plan.mechanics
    mechanics = AsynchronousMechanics(
        plan.setup, exact.ages, most_failed=exact.most_failed, never_ready=exact.never_ready, runs_s=exact.runs_s
    )
    mechanics.forgotten = forgotten
    return replace(plan, mechanics=mechanics, nodes=tuple(map(_run_out, plan.nodes)))


class AsynchronousMechanics(TimelessMechanics):
    """The mechanics of a setup in which every wait may be over at any moment."""

    forgotten: frozenset[int] = frozenset()

    def _without(
        self, cell: NodeCell, kind: PodKind, count: int, preempted: int = 0, *, by_others: bool = False
    ) -> NodeCell:
        if cell.health in DEAD and kind.workload in self.forgotten:
            pods = add_pods(cell.pods, kind, -count)
            return cell._replace(pods=pods, no_execute=cell.no_execute if pods or daemon_sets(self.setup) else 0)
        return super()._without(cell, kind, count, preempted, by_others=by_others)

    def clocks(self, workload: int, phase: int) -> tuple[int, int]:
        """Run out, or NEVER twice for lasting phases."""
        exact = Mechanics.clocks(self, workload, phase)
        return exact if exact == (NEVER, NEVER) else NOW

    def _advance(self, node: Node, cell: NodeCell, action: Advance) -> Iterator[NodeCell]:
        """Any part of the pods moves on: pods that came at different times are one kind here."""
        moving = [(kind, count) for kind, count in cell.pods if moves_alike(kind, action)]
        images = self._images_after(node, cell, action.workload) if action.phase == Phase.STARTING else cell.images
        for number in range(1, 1 + sum(count for _, count in moving)):
            for taken in takes(moving, number):
                pods = self._move(cell, taken, ends=action.phase in LAST)
                yield self._count_moved(cell._replace(pods=pods, images=images), action, number)

    def _crash(self, cell: NodeCell, workload: int) -> Iterator[NodeCell]:
        yield from map(_run_out, super()._crash(cell, workload))

    def _drain(self, cell: NodeCell) -> NodeCell:
        return _run_out(Mechanics._drain(self, cell))

    def _first_evict_s(self, node: Node, cell: NodeCell, workload: int) -> int:
        return min(0, super()._first_evict_s(node, cell, workload))

    def _fail(self, cell: NodeCell) -> NodeCell:
        failed = super()._fail(cell)
        return failed._replace(least_s=0, most_s=0) if failed.health == Health.LOST else failed

    def _pause(self, cell: NodeCell, seconds: int) -> NodeCell:
        return super()._pause(cell, NEVER)

    def _start_clocks(self, node: Node, cell: NodeCell) -> NodeCell:
        timed = super()._start_clocks(node, cell)
        pods: Pods = ()
        for kind, count in timed.pods:
            pods = add_pods(pods, _due(kind), count)
        return timed._replace(pods=pods)


def _run_out(cell: NodeCell) -> NodeCell:
    """The node whose clocks have all run out."""
    pods: Pods = ()
    for kind, count in cell.pods:
        clocks = (min(0, kind.least_s), min(0, kind.most_s), min(0, kind.evict_s))
        pods = add_pods(pods, kind._replace(least_s=clocks[0], most_s=clocks[1], evict_s=clocks[2]), count)
    return cell._replace(least_s=min(0, cell.least_s), most_s=min(0, cell.most_s), pods=pods)


def _due(kind: PodKind) -> PodKind:
    return kind._replace(evict_s=min(0, kind.evict_s))
