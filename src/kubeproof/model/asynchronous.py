"""A plan in which nothing takes a definite time, yet whatever takes time happens in the end.

Every clock has run out from the beginning: a pod starts, turns ready or ends, a silence is noticed and a pod evicted at
any moment from now on, in any order with all other steps and events, but fairness does not let them wait for ever.
That allows the steps of every run with clocks, in their order. Unlike `kubeproof.model.timeless` it can prove that
something happens; it is meant for plans without periodic loops, ages and back-offs, whose clocks mean nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import NEVER, Health, NodeCell, PodKind, add_pods
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.plan import Plan
from kubeproof.model.ticks import Pods
from kubeproof.model.timeless import TimelessMechanics

NOW = (0, 0)


def asynchronous(plan: Plan) -> Plan:
    """The plan whose clocks have all run out."""
    mechanics = AsynchronousMechanics(
        plan.setup, plan.mechanics.ages, most_failed=plan.mechanics.most_failed, never_ready=plan.mechanics.never_ready
    )
    return replace(plan, mechanics=mechanics)


class AsynchronousMechanics(TimelessMechanics):
    """The mechanics of a setup in which every wait may be over at any moment."""

    def clocks(self, workload: int, phase: int) -> tuple[int, int]:
        """Run out, or NEVER twice for lasting phases."""
        exact = Mechanics.clocks(self, workload, phase)
        return exact if exact == (NEVER, NEVER) else NOW

    def _first_evict_s(self, node: Node, cell: NodeCell, workload: int) -> int:
        return min(0, super()._first_evict_s(node, cell, workload))

    def _failed(self, cell: NodeCell) -> NodeCell:
        failed = super()._failed(cell)
        return failed._replace(least_s=0, most_s=0) if failed.health == Health.LOST else failed

    def _paused(self, cell: NodeCell, seconds: int) -> NodeCell:
        return super()._paused(cell, NEVER)

    def _timed(self, node: Node, cell: NodeCell) -> NodeCell:
        timed = super()._timed(node, cell)
        pods: Pods = ()
        for kind, count in timed.pods:
            pods = add_pods(pods, _due(kind), count)
        return timed._replace(pods=pods)


def _due(kind: PodKind) -> PodKind:
    return kind._replace(evict_s=min(0, kind.evict_s))
