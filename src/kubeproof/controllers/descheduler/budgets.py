"""What the eviction API answers to a descheduling cycle: which pods it refuses, and what it charges.

The descheduler asks for one eviction after the other. A refusal is logged and counts as nothing: neither towards its
limits nor as usage that became free; the next pod is tried (`pkg/descheduler/evictions`, same from 0.27 to 0.36). A
budget allows as many as at the beginning of the cycle: what is granted lowers disruptionsAllowed at once, and the
disruption controller later finds the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kubeproof.cluster.objects import Setup
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.descheduler.values import NodeEntry, PodGroup
from kubeproof.controllers.evictions.budgets import BudgetScale, amounts_of, budgets_of, status_of
from kubeproof.controllers.evictions.disruption import FAILED, PENDING, RUNNING, BudgetStatus, Matching, PodFacts, evict
from kubeproof.values import dataclass

REFUSED = "/"  # the allowance of pods that are never granted: no budget has this name


@dataclass(frozen=True, slots=True)
class Allowances:
    """What budgets allow in a cycle, and which evictions are charged to them."""

    rooms: Mapping[str, int]  # evictions left by name of the budget, namespace/name
    charged: Mapping[tuple[int, int], str]  # (entry, group) to the budget that is charged; others are free


NO_ALLOWANCES = Allowances({}, {})


def allowances_of(setup: Setup, entries: Sequence[NodeEntry], scales: Mapping[int, BudgetScale]) -> Allowances:
    """The allowances of a cycle that finds the pods of these nodes."""
    if not setup.budgets:
        return NO_ALLOWANCES
    bound = [(group.workload, _facts(group), group.pods * entry.count) for entry in entries for group in entry.pods]
    statuses = {_name(b): status_of(setup, b, scales, bound) for b in setup.budgets}
    rooms = {name: status.allowed for name, status in statuses.items()} | {REFUSED: 0}
    charged = {}
    for number, entry in enumerate(entries):
        for index, group in enumerate(entry.pods):
            if name := _find_allowance(setup, group, statuses):
                charged[number, index] = name
    return Allowances(rooms, charged)


def _find_allowance(setup: Setup, group: PodGroup, statuses: Mapping[str, BudgetStatus]) -> str:
    """The allowance that an eviction of such a pod is taken from; empty if none is asked."""
    budgets = budgets_of(setup, group.workload)
    matching = [Matching(_name(b), amounts_of(b), statuses[_name(b)]) for b in budgets]
    answer = evict(_facts(group), matching)
    if answer.granted:
        return answer.charged or ""
    return REFUSED if len(matching) > 1 else matching[0].name


def _facts(group: PodGroup) -> PodFacts:
    phase = FAILED if group.failed else PENDING if group.pending else RUNNING
    return PodFacts(phase, group.ready and not group.failed, group.terminating)


def _name(budget: PodDisruptionBudget) -> str:
    return f"{budget.namespace}/{budget.name}"
