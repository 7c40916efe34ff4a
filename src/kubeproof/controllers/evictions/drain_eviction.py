"""Evictions that a drain asks for: one workload's pods on nodes that are being drained.

All pods of the node are asked for at once; the eviction API grants what the workload's budget allows
(`kubeproof.controllers.evictions.disruption`). What is refused is asked for again, which here means: as soon as it is
allowed. Requests for one node and workload are granted in one step, unless others ask the same budget for more than it
allows: then pod by pod, so that what is allowed is shared in every way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import Delete, NodeRef
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Among, Clocks, Deletes, Footprint, Sizing, Writes
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.state import ACTIVE, EVICTING, NodeCell, WorkloadCell
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import (
    BudgetScale,
    amounts_of,
    budgets_of,
    facts_of,
    find_asked_by,
    status_of,
)
from kubeproof.controllers.evictions.disruption import Answer, BudgetStatus, Matching, evict
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle

ENDLESS = 10**9


class Pods(NamedTuple):
    """The pods of a node that matter."""

    is_drained: int  # being drained
    amounts: tuple[tuple[tuple[int, int], int], ...]  # ((workload, phase), pods)


Sight = Seen[BudgetScale, Groups[Pods]]


@dataclass(frozen=True, slots=True)
class DrainEviction:
    """The evictions of one workload's pods."""

    layout: Layout
    workload: int
    stage: int = Stage.ALWAYS
    name: Actor = Actor(ActorKind.DRAIN)
    reads: Reads = field(init=False, compare=False, repr=False)  # worked out once: asked for in every state
    _budgets: tuple[PodDisruptionBudget, ...] = field(init=False, compare=False, repr=False)

    reads_nodes = mention_nothing

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            writes=Writes.DELETIONS,
            deletes=Deletes.GUARDED,
            sizing=Sizing.KEPT,
            clocks=Clocks(0),
            sees_objects=NOBODY,  # budgets ask for what users write, not for ReplicaSets
            wakes_on=Writes.DRAINS,
            among=Among.BY_ITSELF,
        )

    def __post_init__(self) -> None:
        budgets = budgets_of(self.layout.setup, self.workload)
        # The workloads whose pods matter: its own, and those that share its budget.
        counted = find_asked_by(self.layout.setup, budgets[0]) if len(budgets) == 1 else (self.workload,)
        object.__setattr__(self, "_budgets", budgets)
        object.__setattr__(self, "reads", Reads(counted, self.layout.every_place))

    def show_workload(self, workload: int, cell: WorkloadCell) -> BudgetScale:
        """The scale, and the pods without a node."""
        return BudgetScale(cell.desired, cell.unbound)

    def show_node(self, place: int, cell: NodeCell) -> Pods | None:
        """Whether it is being drained, and the pods that matter by workload and phase."""
        amounts: dict[tuple[int, int], int] = {}
        for kind, count in cell.pods:
            if kind.workload in self.reads.workloads:
                key = (kind.workload, kind.phase)
                amounts[key] = amounts.get(key, 0) + count
        return Pods(int(cell.work in EVICTING), tuple(sorted(amounts.items()))) if amounts else None

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """One step per drained node: all evictions that are granted now."""
        if not any(view.is_drained for groups in seen.places for view, _ in groups):
            return ()
        matching = self._matching(seen)
        most = 1 if self._is_contested(seen, matching) else ENDLESS
        decisions = []
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            for view in dict.fromkeys(view for view, _ in groups):
                losses = tuple(self._grant(view, matching, most)) if view.is_drained else ()
                if losses:
                    action = Delete(NodeRef(place, view), self.workload, losses, is_eviction=True)
                    decisions.append(Decision((action,)))
        return tuple(decisions)

    def _is_contested(self, seen: Sight, matching: tuple[Matching, ...]) -> bool:
        """True if several nodes or workloads ask for more evictions together than their budget allows."""
        allowed = matching[0].status.allowed if len(matching) == 1 else 0
        if allowed < 2:
            return False
        asking = [
            (pods, nodes)
            for groups in seen.places
            for view, nodes in groups
            if view.is_drained
            for (_, phase), pods in view.amounts
            if phase in ACTIVE and evict(facts_of(phase), matching).charged is not None
        ]
        rivals, asked = sum(nodes for _, nodes in asking), sum(pods * nodes for pods, nodes in asking)
        return bool(rivals > 1 and asked > allowed)

    def _grant(self, view: Pods, matching: tuple[Matching, ...], most: int) -> Iterable[tuple[tuple[int, ...], int]]:
        left = min(most, matching[0].status.allowed) if matching else 0
        for (workload, phase), count in view.amounts:
            if workload != self.workload or phase not in ACTIVE:
                continue
            answer = evict(facts_of(phase), matching)
            if answer.granted:
                granted = count if answer.charged is None else min(count, left)
                left -= granted if answer.charged is not None else 0
                if granted:
                    yield ((phase,), granted)

    @property
    def has_several_budgets(self) -> bool:
        """True if more than one budget selects the pods, so that no eviction is granted."""
        return len(self._budgets) > 1

    def refusals(self, seen: Sight) -> list[str]:
        """Why pods on drained nodes may not be evicted now."""
        ref = self.layout.setup.workloads[self.workload].ref
        return [f"eviction of {n} pod(s) of {ref} refused: {answer.why}" for n, answer, _ in self._refused(seen)]

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """The same as the rule that refuses, with its numbers."""
        from kubeproof.controllers.evictions.inaction import why_refused

        setup = self.layout.setup
        declared = setup.workloads[self.workload]
        autoscalers = [one for one in setup.autoscalers if one.target in (declared.ref, declared.owner)]
        for count, answer, status in self._refused(seen):
            yield why_refused(declared.ref, count, answer, self._budgets, status, autoscalers)

    def _refused(self, seen: Sight) -> Iterator[tuple[int, Answer, BudgetStatus | None]]:
        """Pods whose eviction is refused, the answer, and the status of their budget if they have one."""
        matching = self._matching(seen)
        status = matching[0].status if len(matching) == 1 else None
        for view in dict.fromkeys(view for groups in seen.places for view, _ in groups if view.is_drained):
            for (workload, phase), count in view.amounts:
                if workload == self.workload and phase in ACTIVE:
                    answer = evict(facts_of(phase), matching)
                    if not answer.granted:
                        yield count, answer, status

    def _matching(self, seen: Sight) -> tuple[Matching, ...]:
        if len(self._budgets) > 1:  # the answer is the same whatever they allow
            return tuple(Matching(b.name, amounts_of(b), BudgetStatus()) for b in self._budgets)
        return tuple(Matching(b.name, amounts_of(b), self._status(b, seen)) for b in self._budgets)

    def _status(self, declared: PodDisruptionBudget, seen: Sight) -> BudgetStatus:
        """The budget's status for the cluster as it is."""
        scales = dict(zip(self.reads.workloads, seen.workloads, strict=True))
        bound = [
            (workload, facts_of(phase), pods * nodes)
            for groups in seen.places
            for view, nodes in groups
            for (workload, phase), pods in view.amounts
        ]
        return status_of(self.layout.setup, declared, scales, bound)
