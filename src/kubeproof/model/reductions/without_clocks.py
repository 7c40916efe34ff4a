"""A plan without clocks: whatever takes a while may end at any time.

Durations are ranges, and every combination of running clocks is a state of its own. Many proofs do not need them: what
never happens although pods start, end and come back whenever they like does not happen within the declared
ranges either. So a plan whose clocks are all of this kind is searched without them first. That allows every run of the
full model and more (any part of the pods on a node may move on, and none has to), so what holds here holds there; what
does not is searched again in full. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import or_

from kubeproof.cluster.loops.actions import Advance
from kubeproof.cluster.loops.footprint import NOTHING, Clocks, Writes, footprint_of
from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import NEVER, NodeCell, Phase, PodKind, Work, add_pods, moves_alike
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.controllers.kubelet import MOVING
from kubeproof.model.mechanics import Mechanics, takes
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import SETTLED_NODES, is_evicted_by_taints

RANGES = Clocks.PHASES | Clocks.MAINTENANCE  # that may be left open
IDLE = Clocks.TAINTS | Clocks.SILENCE  # that do not run where no node fails and no taint evicts
OPEN = RANGES | IDLE
ANY_TIME = (0, NEVER)  # may happen now, and never has to


def gains_without_clocks(plan: Plan) -> bool:
    """True for plans with drains, where clocks that began at different moments run side by side.

    All clocks must be ranges of pods and of maintenance: no ages, periods, evictions by taints or back-offs.
    """
    clocks = all(one.clocks in OPEN for one in plan.footprints)
    written = reduce(or_, (footprint_of(event).writes for event in plan.events), NOTHING)
    if not clocks or written not in SETTLED_NODES | Writes.DRAINS or any(plan.mechanics.ages):
        return False
    if has_priorities(plan.setup) or Writes.DRAINS not in written:
        return False  # what starts together ends together: there are few combinations, and fewer than without clocks
    return not any(
        is_evicted_by_taints(plan, number) or workload.template.node_name
        for number, workload in enumerate(plan.setup.workloads)
    )


def without_clocks(plan: Plan) -> Plan:
    """The plan in which nothing takes a definite time."""
    mechanics = TimelessMechanics(
        plan.setup, plan.mechanics.ages, most_failed=plan.mechanics.most_failed, never_ready=plan.mechanics.never_ready
    )
    return replace(plan, mechanics=mechanics, nodes=tuple(map(clockless, plan.nodes)))


def clockless(cell: NodeCell) -> NodeCell:
    """A node whose clocks are open."""
    pods: tuple[tuple[PodKind, int], ...] = ()
    for kind, count in cell.pods:
        runs = kind.phase in MOVING and kind.least_s != NEVER
        pods = add_pods(pods, kind._replace(least_s=ANY_TIME[0], most_s=ANY_TIME[1]) if runs else kind, count)
    is_down = cell.work == Work.DOWN and cell.least_s != NEVER
    least_s, most_s = ANY_TIME if is_down else (cell.least_s, cell.most_s)
    return cell._replace(least_s=least_s, most_s=most_s, pods=pods)


class TimelessMechanics(Mechanics):
    """The mechanics of a setup in which a phase that ends by itself may end at any time."""

    def clocks(self, workload: int, phase: int) -> tuple[int, int]:
        """Open, or NEVER twice for lasting phases."""
        exact = super().clocks(workload, phase)
        return exact if exact == (NEVER, NEVER) else ANY_TIME

    def starts(self, cell: NodeCell) -> tuple[tuple[int | None, float], ...]:
        """As open as everything."""
        return ((None, 1.0),)

    def _drain(self, cell: NodeCell) -> NodeCell:
        return clockless(super()._drain(cell))

    def _advance(self, node: Node, cell: NodeCell, action: Advance) -> Iterator[NodeCell]:
        """Any part of the pods moves on: pods that came at different times are one kind here."""
        moving = [(kind, count) for kind, count in cell.pods if moves_alike(kind, action)]
        starts = action.phase == Phase.STARTING
        images = self._images_after(node, cell, action.workload) if starts else cell.images
        for number in range(1, 1 + sum(count for _, count in moving)):
            for taken in takes(moving, number):
                pods = self._move(cell, taken, ends=action.phase == Phase.TERMINATING)
                yield cell._replace(pods=pods, images=images)

    def _move(
        self, cell: NodeCell, taken: tuple[tuple[PodKind, int], ...], *, ends: bool
    ) -> tuple[tuple[PodKind, int], ...]:
        pods = cell.pods
        for kind, count in taken:
            pods = add_pods(pods, kind, -count)
            if not ends:
                pods = add_pods(pods, self._next(cell, kind), count)
        return pods
