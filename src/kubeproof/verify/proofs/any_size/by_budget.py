"""minReady under a budget, at all sizes at once (`kubeproof.verify.proofs.guarded`)."""

from __future__ import annotations

from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import budgets_of, select_by
from kubeproof.intents.facts.counts import ReadyAtLeast
from kubeproof.intents.monitor import NEVER, Monitor
from kubeproof.model.grouped import GroupedSystem
from kubeproof.verify.proofs.any_size.by_sizes import Ties
from kubeproof.verify.proofs.any_size.family import Family
from kubeproof.verify.proofs.any_size.linear import Number, at_most
from kubeproof.verify.proofs.guarded import only_budgets_decide
from kubeproof.verify.proofs.sizes import is_left_alone, pods_at_start


def find_ties_of_budget(family: Family, monitor: Monitor) -> Ties | None:
    """What sizes must keep to for a budget to keep as many pods ready as is asked for; None: not proved."""
    fact, plan = monitor.fact, family.plan
    if monitor.kind != NEVER or not isinstance(fact, ReadyAtLeast) or fact.workload != family.number:
        return None
    if not only_budgets_decide(plan) or not is_left_alone(plan, fact.workload):
        return None
    budgets = budgets_of(plan.setup, fact.workload)
    if len(budgets) != 1 or select_by(plan.setup, budgets[0]) != (fact.workload,):
        return None
    if family.starts == "empty" and any(pods_at_start(plan, fact.workload, (GroupedSystem(plan).first_cells,))):
        return None
    count, demanded = family.count_of(monitor.intent.name), _find_demand(family, budgets[0])
    if count is None or demanded is None:
        return None
    found = (at_most(family.box, count, demanded), at_most(family.box, count, family.replicas))
    return None if None in found else tuple(tie for one in found if one is not None for tie in one)


def _find_demand(family: Family, budget: PodDisruptionBudget) -> Number | None:
    """The healthy pods that a budget demands of a workload that has all of its replicas; None: a percentage."""
    if budget.max_unavailable is None:
        return family.min_available_of(budget)
    amount, is_percent = budget.max_unavailable
    return None if is_percent else ((family.term(pods=1, plus=-amount),), (family.term(),))
