"""The Deschedule plugins that judge each pod by itself: taints, node affinity, restarts, life time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeproof.controllers.descheduler.ledger import Block, Ledger, NodeState, Plan, Take, Work, plan_of
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.controllers.descheduler.values import PodGroup

Verdict = Callable[[PodGroup, int], str]  # why a pod on a node of this entry is evicted; empty: it stays
Order = Callable[[PodGroup], int]  # lower goes first


class RulePlugin:
    """Evicts, node after node, the pods to which a rule applies.

    Neither the order of nodes nor that of pods is fixed upstream, beyond `order`; it matters under limits only.
    """

    def __init__(
        self,
        name: str,
        context: Context,
        verdicts: tuple[Verdict, ...],
        *,
        order: Order | None = None,
        everywhere: bool = False,
        keeps_failed: bool = True,
    ) -> None:
        self._name = name
        self._context = context
        self._verdicts = verdicts
        self._order = order
        self._everywhere = everywhere  # the order goes over the pods of all nodes at once
        self._keeps_failed = keeps_failed  # the plugin does not look at Failed pods

    def run(self, ledger: Ledger) -> frozenset[Ledger]:
        """All ledgers after one pass per verdict."""
        ledgers = frozenset({ledger})
        for verdict in self._verdicts:
            ledgers = frozenset(
                after for before in ledgers for after in self._evict(before, self._plan(before, verdict))
            )
        return ledgers

    def _plan(self, ledger: Ledger, verdict: Verdict) -> Plan:
        return plan_of(ledger.nodes, lambda state: self._work(state, verdict))

    def _evict(self, ledger: Ledger, plan: Plan) -> frozenset[Ledger]:
        evictions = self._context.evictions
        return evictions.pod_by_pod(ledger, plan) if self._everywhere else evictions.node_by_node(ledger, plan)

    def _work(self, state: NodeState, verdict: Verdict) -> Work:
        ranked: dict[int, list[tuple[int, int]]] = {}
        for index, group, left in self._context.evictable(state):
            if not (group.failed and self._keeps_failed) and verdict(group, state.entry):
                ranked.setdefault(self._order(group) if self._order else 0, []).append((index, left))
        takes = [
            (rank, Take(tuple(index for index, _ in groups), sum(left for _, left in groups)))
            for rank, groups in sorted(ranked.items())
        ]
        if self._everywhere:
            return tuple(Block(rank, (take,)) for rank, take in takes)
        return (Block(0, tuple(take for _, take in takes)),) if takes else ()

    def explain(self, ledger: Ledger) -> Iterator[str]:
        """Which pods the rule applies to, and why."""
        scene = self._context.scene
        for state, _ in ledger.nodes:
            for _, group, left in self._context.evictable(state):
                for verdict in self._verdicts:
                    why = "" if group.failed and self._keeps_failed else verdict(group, state.entry)
                    if why:
                        ref, node = scene.workload(group.workload).ref, scene.entries[state.entry].node.name
                        yield f"{self._name}: evicts {left} of {ref} on {node}: {why}"
