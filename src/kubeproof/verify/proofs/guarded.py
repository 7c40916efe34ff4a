"""minReady proved from a budget: nobody but the eviction API takes pods away, and it asks the budget each time.

A workload that nobody resizes has no more pods than it wants, so its ReplicaSet never deletes any. Ready pods then go
only by evictions, and those leave as many healthy pods as the budget demands; a drained node goes down when
it is empty. `docs/explanation/reductions.md` has the argument; differential tests compare with the search.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.footprint import Deletes, Sizing, Writes, footprint_of
from kubeproof.cluster.state import NEVER
from kubeproof.controllers.evictions.budgets import amounts_of, budgets_of, select_by
from kubeproof.controllers.evictions.disruption import budget
from kubeproof.intents.facts.counts import ReadyAtLeast
from kubeproof.intents.monitor import NEVER as IN_NO_STATE
from kubeproof.intents.monitor import Monitor
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import BY_SIZE_ALONE
from kubeproof.verify.proofs.sizes import Starts, is_left_alone, pods_at_start

IN_PLACE = Writes.DRAINS | Writes.CORDONS  # no node fails or goes


def only_budgets_decide(plan: Plan) -> bool:
    """True if pods are taken away by ReplicaSets and by drains alone."""
    told = all(
        one.sizing is Sizing.KEPT and one.deletes in (*BY_SIZE_ALONE, Deletes.GUARDED) for one in plan.footprints
    )
    return told and all(footprint_of(event).writes in IN_PLACE for event in plan.events)


def is_guarded(plan: Plan, monitor: Monitor, starts: Starts) -> bool:
    """True if the budget of a workload keeps as many pods ready as the property asks for, from these states on."""
    fact = monitor.fact
    if monitor.kind != IN_NO_STATE or not isinstance(fact, ReadyAtLeast) or not is_left_alone(plan, fact.workload):
        return False
    size = plan.setup.workloads[fact.workload].replicas
    demanded = healthy_demanded(plan, fact.workload)
    if demanded is None or fact.amount.of(size) > min(demanded, size):
        return False
    return all(found in (size, NEVER) for found in _sizes(plan, fact.workload, starts)) and all(
        pods <= size for pods in pods_at_start(plan, fact.workload, starts)
    )


def healthy_demanded(plan: Plan, workload: int) -> int | None:
    """How many healthy pods of a workload its budget demands; None if there is none, or not for it alone."""
    budgets = budgets_of(plan.setup, workload)
    if len(budgets) != 1 or select_by(plan.setup, budgets[0]) != (workload,):
        return None
    size = plan.setup.workloads[workload].replicas
    return budget(amounts_of(budgets[0]), size, size, size).desired


def _sizes(plan: Plan, workload: int, starts: Starts) -> Iterator[int]:
    """The sizes that the objects have in the first states."""
    for cells in starts:
        yield from (cells[1 + workload].desired, cells[1 + workload].replicas)
