"""Evictions that a drain asks for: one workload's pods on nodes that are being drained.

All pods of the node are asked for at once; the eviction API grants what the workload's budget allows
(`kubeproof.controllers.disruption`). What is refused is asked for again, which here means: as soon as it is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat

from kubeproof.cluster.control import Decision, Delete, NodeRef, Reads, Seen, Stage
from kubeproof.cluster.objects import DAEMON_SET, POD
from kubeproof.cluster.places import Layout
from kubeproof.cluster.policies import ALWAYS_ALLOW, PodDisruptionBudget
from kubeproof.cluster.state import ACTIVE, DRAINING, NodeCell, Phase, WorkloadCell
from kubeproof.controllers.disruption import (
    Amount,
    Budget,
    BudgetStatus,
    Matching,
    Owner,
    PodFacts,
    budget,
    count_healthy,
    evict,
    expected_scale,
)

API_PHASE = {Phase.STARTING: "Pending"}  # all others run
View = tuple[int, tuple[tuple[tuple[int, int], int], ...]]  # being drained; ((workload, phase), pods)


def budgets_of(layout: Layout, workload: int) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that select a workload's pods."""
    declared = layout.setup.workloads[workload]
    labels = dict(declared.template.labels)
    return tuple(
        b
        for b in layout.setup.budgets
        if b.namespace == declared.namespace and b.selector is not None and b.selector.matches(labels)
    )


def selected_by(layout: Layout, chosen: PodDisruptionBudget) -> tuple[int, ...]:
    """The workloads whose pods a budget selects."""
    return tuple(i for i in range(len(layout.setup.workloads)) if chosen in budgets_of(layout, i))


@dataclass(frozen=True, slots=True)
class DrainEviction:
    """The evictions of one workload's pods."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS
    name: str = "drain"

    @property
    def _counted(self) -> tuple[int, ...]:
        """The workloads whose pods matter: its own, and those that share its budget."""
        budgets = budgets_of(self.layout, self.workload)
        return selected_by(self.layout, budgets[0]) if len(budgets) == 1 else (self.workload,)

    @property
    def reads(self) -> Reads:
        return Reads(self._counted, self.layout.every_place)

    def show_workload(self, workload: int, cell: WorkloadCell) -> tuple[int, int]:
        """The scale, and the pods without a node."""
        return cell.desired, cell.unbound

    def show_node(self, place: int, cell: NodeCell) -> View | None:
        """Whether it is being drained, and the pods that matter by workload and phase."""
        amounts: dict[tuple[int, int], int] = {}
        for kind, count in cell.pods:
            if kind.workload in self._counted:
                key = (kind.workload, kind.phase)
                amounts[key] = amounts.get(key, 0) + count
        return (int(cell.work in DRAINING), tuple(sorted(amounts.items()))) if amounts else None

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """One step per drained node: all evictions that are granted now."""
        matching = self._matching(seen)
        decisions = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for view in dict.fromkeys(view for view, _ in groups):
                losses = tuple(self._granted(view, matching)) if view[0] else ()
                if losses:
                    action = Delete(NodeRef(place, view), self.workload, losses, is_eviction=True)
                    decisions.append(Decision((action,)))
        return tuple(decisions)

    def _granted(self, view: View, matching: tuple[Matching, ...]) -> Iterable[tuple[tuple[int, ...], int]]:
        left = matching[0].status.allowed if matching else 0
        for (workload, phase), count in view[1]:
            if workload != self.workload or phase not in ACTIVE:
                continue
            answer = evict(facts_of(phase), matching)
            if answer.granted:
                granted = count if answer.charged is None else min(count, left)
                left -= granted if answer.charged is not None else 0
                if granted:
                    yield ((phase,), granted)

    def refusals(self, seen: Seen) -> list[str]:
        """Why pods on drained nodes may not be evicted now."""
        matching = self._matching(seen)
        ref = self.layout.setup.workloads[self.workload].ref
        found = []
        for view in dict.fromkeys(view for groups in seen.places for view, _ in groups if view[0]):
            for (workload, phase), count in view[1]:
                if workload == self.workload and phase in ACTIVE:
                    answer = evict(facts_of(phase), matching)
                    if not answer.granted:
                        found.append(f"eviction of {count} pod(s) of {ref} refused: {answer.why}")
        return found

    def _matching(self, seen: Seen) -> tuple[Matching, ...]:
        return tuple(
            Matching(b.name, amounts_of(b), self._status(amounts_of(b), seen))
            for b in budgets_of(self.layout, self.workload)
        )

    def _status(self, amounts: Budget, seen: Seen) -> BudgetStatus:
        """The budget's status for the cluster as it is."""
        declared = [self.layout.setup.workloads[workload] for workload in self.reads.workloads]
        scale = expected_scale(
            Owner(w.ref, None if w.kind == DAEMON_SET else desired) if w.kind != POD else None
            for w, (desired, _) in zip(declared, seen.workloads, strict=True)
        )
        on_nodes = [(key, n * count) for groups in seen.places for view, count in groups for key, n in view[1]]
        selected = sum(n for _, n in on_nodes) + sum(unbound for _, unbound in seen.workloads)
        healthy = count_healthy(pod for (_, phase), n in on_nodes for pod in repeat(facts_of(phase), n))
        return budget(amounts, scale, selected, healthy)


def facts_of(phase: int) -> PodFacts:
    """A bound pod as budgets and the eviction API see it."""
    return PodFacts(API_PHASE.get(Phase(phase), "Running"), phase == Phase.READY, phase == Phase.TERMINATING)


def amounts_of(declared: PodDisruptionBudget) -> Budget:
    """What a declared budget demands."""

    def amount(value: tuple[int, bool] | None) -> Amount | None:
        return None if value is None else Amount(*value)

    always = declared.unhealthy_policy == ALWAYS_ALLOW
    return Budget(amount(declared.min_available), amount(declared.max_unavailable), always)
