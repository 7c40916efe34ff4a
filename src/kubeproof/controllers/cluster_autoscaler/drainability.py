"""Which pods keep the autoscaler from draining a node.

Mirrors the rules of `simulator/drainability/rules` in their order: pods of DaemonSets and pods that are declared safe
do not block; then no controller does, a system pod without a budget, a pod that is declared unsafe, local storage, and
a budget that is used up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler
from kubeproof.cluster.objects import Setup

SYSTEM = "kube-system"


class Drainability:
    """The rules for the pods of one setup."""

    def __init__(self, setup: Setup, flags: ClusterAutoscaler, budgets: Sequence[tuple[int, ...]]) -> None:
        """`budgets` are per workload the budgets that select its pods."""
        self._setup = setup
        self._flags = flags
        self._budgets = budgets

    def is_moved(self, workload: int) -> bool:
        """True if pods of the workload need another node when theirs goes; those of DaemonSets go with it."""
        return not self._setup.workloads[workload].rules.runs_per_node

    def find_blocker(self, workload: int, allowed: Sequence[int]) -> str:
        """Why a pod of the workload may not be moved, "" if it may; `allowed` is what each budget still allows."""
        declared = self._setup.workloads[workload]
        if declared.rules.runs_per_node or declared.template.safe_to_evict:
            return ""
        return next(self._blocks(workload, allowed), "")

    def _blocks(self, workload: int, allowed: Sequence[int]) -> Iterator[str]:
        declared, flags = self._setup.workloads[workload], self._flags
        if declared.rules.is_pod:
            yield "it has no controller"
        if flags.skips_system_pods and declared.namespace == SYSTEM and not self._budgets[workload]:
            yield f"it is in {SYSTEM} and no budget is for it"
        if declared.template.safe_to_evict is False:
            yield "it is declared not safe to evict"
        if flags.skips_local_storage and declared.template.has_local_storage:
            yield "it has local storage"
        for budget in self._budgets[workload]:
            if allowed[budget] < 1:
                yield f"budget {self._setup.budgets[budget].name} allows no disruption"

    def charge(self, workload: int, pods: int, allowed: tuple[int, ...]) -> tuple[int, ...]:
        """What the budgets allow after so many pods were moved."""
        return tuple(left - pods * (budget in self._budgets[workload]) for budget, left in enumerate(allowed))
