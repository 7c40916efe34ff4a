"""Statuses of PodDisruptionBudgets for a cluster as it is: what every loop that asks them shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat

from kubeproof.cluster.loops.footprint import Workloads, some
from kubeproof.cluster.objects import Setup, Workload, family
from kubeproof.cluster.state import Phase
from kubeproof.cluster.steering.policies import ALWAYS_ALLOW, PodDisruptionBudget
from kubeproof.controllers.evictions.disruption import (
    Amount,
    Budget,
    BudgetStatus,
    Owner,
    PodFacts,
    budget,
    count_healthy,
    sum_scales,
)
from kubeproof.named_tuples import NamedTuple

API_PHASE = {Phase.STARTING: "Pending"}  # all others run


class BudgetScale(NamedTuple):
    """What of a workload budgets ask for: its spec.replicas, and its pods without a node."""

    desired: int
    unbound: int


def budgets_of(setup: Setup, workload: int) -> tuple[PodDisruptionBudget, ...]:
    """The budgets that select a workload's pods."""
    declared = setup.workloads[workload]
    return tuple(budget for budget in setup.budgets if _selects(budget, declared))


def select_by(setup: Setup, chosen: PodDisruptionBudget) -> tuple[int, ...]:
    """The workloads whose pods a budget selects."""
    return tuple(index for index, declared in enumerate(setup.workloads) if _selects(chosen, declared))


def _selects(chosen: PodDisruptionBudget, declared: Workload) -> bool:
    is_near = declared.namespace == chosen.namespace and chosen.selector is not None
    return is_near and chosen.selector is not None and chosen.selector.matches(dict(declared.template.labels))


def ask_for_ends(setup: Setup, workload: int) -> bool:
    """True if it may matter to a budget of the workload's pods which of them are going away.

    These are not healthy, and count among the selected pods only: an eviction is asked for a pod that stays, so there
    are some anyway. But of several owners the scales of those count that have pods of any kind.
    """
    owners = ({family(setup, one)[0] for one in select_by(setup, budget)} for budget in budgets_of(setup, workload))
    return any(len(found) > 1 for found in owners)


def find_read_by_budgets(setup: Setup) -> Workloads:
    """The workloads of whose pods somebody who asks budgets has to know which are ready."""
    return some(workload for budget in setup.budgets for workload in select_by(setup, budget))


def find_asked_by(setup: Setup, chosen: PodDisruptionBudget) -> tuple[int, ...]:
    """The workloads whose pods or scale decide about a budget."""
    selected = select_by(setup, chosen)
    return tuple(sorted({*selected, *(family(setup, workload)[0] for workload in selected)}))


def status_of(
    setup: Setup,
    declared: PodDisruptionBudget,
    scales: Mapping[int, BudgetScale],
    bound: Iterable[tuple[int, PodFacts, int]],
) -> BudgetStatus:
    """The status of a budget; `bound` are all pods with a node as (workload, facts, number).

    Only controllers that have a pod are asked for their scale, as upstream finds them through the pods.
    """
    chosen = select_by(setup, declared)
    on_nodes = [(workload, facts, count) for workload, facts, count in bound if workload in chosen and count]
    present = {workload for workload, _, _ in on_nodes} | {w for w in chosen if scales[w].unbound}
    owners = [_owner(setup, workload, scales) for workload in sorted(present)]
    selected = sum(count for _, _, count in on_nodes) + sum(scales[w].unbound for w in chosen)
    healthy = count_healthy(pod for _, facts, count in on_nodes for pod in repeat(facts, count))
    return budget(amounts_of(declared), sum_scales(owners), selected, healthy)


def _owner(setup: Setup, workload: int, scales: Mapping[int, BudgetScale]) -> Owner | None:
    """The controller of a workload's pods: for ReplicaSets of a Deployment that is the Deployment."""
    top = family(setup, workload)[0]
    owner = setup.workloads[top]
    if owner.rules.is_pod:
        return None
    return Owner(owner.ref, scales[top].desired if owner.rules.has_replicas else None)


def facts_of(phase: int) -> PodFacts:
    """A bound pod as budgets and the eviction API see it."""
    return PodFacts(API_PHASE.get(Phase(phase), "Running"), phase == Phase.READY, phase == Phase.TERMINATING)


def amounts_of(declared: PodDisruptionBudget) -> Budget:
    """What a declared budget demands."""

    def amount(value: tuple[int, bool] | None) -> Amount | None:
        return None if value is None else Amount(*value)

    always = declared.unhealthy_policy == ALWAYS_ALLOW
    return Budget(amount(declared.min_available), amount(declared.max_unavailable), always)
