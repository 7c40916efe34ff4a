"""Wrong rules of preemption that the corpus must catch."""

from __future__ import annotations

from tests.conformance.mutant import Mutant

CORPUS = "scheduler-preemption"
MODULE = "controllers/scheduler/preemption.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the least important pods are given back first",
        MODULE,
        "ranks.setdefault((-pod.priority, pod.started_s or 0), [])",
        "ranks.setdefault((pod.priority, pod.started_s or 0), [])",
        CORPUS,
    ),
    Mutant(
        "of equal priorities the younger pod is given back first",
        MODULE,
        "ranks.setdefault((-pod.priority, pod.started_s or 0), [])",
        "ranks.setdefault((-pod.priority, -(pod.started_s or 0)), [])",
        CORPUS,
    ),
    Mutant(
        "pods that break no budget are given back first",
        MODULE,
        "        return {(first, kept) for first in spared for kept in self._keep(first, others)}\n",
        "        spared = self._keep((0,) * len(self.pods), others)\n"
        "        return {(_minus(kept, first), kept) for first in spared for kept in self._keep(first, violating)}\n",
        CORPUS,
    ),
    Mutant(
        "a budget that allows one disruption is broken by it",
        MODULE,
        "allowed[budget] < 0",
        "allowed[budget] <= 0",
        CORPUS,
    ),
    Mutant(
        "the number of victims decides before their priorities",
        MODULE,
        "return sum(broken), max(pod.priority for pod in first), weight, sum(lost), -oldest",
        "return sum(broken), sum(lost), max(pod.priority for pod in first), weight, -oldest",
        CORPUS,
    ),
    Mutant(
        "broken budgets do not weigh on a node",
        MODULE,
        "return sum(broken), max(pod.priority for pod in first), weight, sum(lost), -oldest",
        "return max(pod.priority for pod in first), weight, sum(lost), -oldest",
        CORPUS,
    ),
    Mutant(
        "the node whose victims run longest is taken",
        MODULE,
        "sum(lost), -oldest",
        "sum(lost), oldest",
        CORPUS,
    ),
    Mutant(
        "many victims of negative priority weigh less than few",
        MODULE,
        "SHIFT = 1 << 31",
        "SHIFT = 0",
        CORPUS,
    ),
    Mutant(
        "1.26 looks at the most important of all victims",
        MODULE,
        "SORTED_AGAIN_SINCE = versions.SORTED_AGAIN.since",
        "SORTED_AGAIN_SINCE = (1, 20)",
        CORPUS,
        "kubernetes-1.26",
    ),
    Mutant(
        "a pod behind a broken budget is charged to its others, too",
        MODULE,
        "ONE_BUDGET_PER_POD_SINCE = versions.ONE_BUDGET_PER_POD.since",
        "ONE_BUDGET_PER_POD_SINCE = (9, 0)",
        CORPUS,
    ),
)
