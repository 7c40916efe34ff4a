"""RemoveDuplicates: several pods of one ReplicaSet on a node, where an even spread would have fewer.

Mirrors `plugins/removeduplicates`, same in all versions. Target nodes are judged by taints and labels only: a full
node counts as a target (upstream issue 1237), so that pods are evicted which can only come back. Images are the
same for all pods of a workload, so namespace and owner are the key.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubeproof.cluster.kinds import REPLICA_SET
from kubeproof.cluster.objects import Workload
from kubeproof.controllers.descheduler.ledger import Block, Ledger, NodeState, Take, Work, plan_of
from kubeproof.controllers.descheduler.protocol import Context
from kubeproof.values import dataclass

NAME = "RemoveDuplicates"
ARGUMENTS = frozenset({"namespaces", "excludeOwnerKinds"})


@dataclass(frozen=True, slots=True)
class Share:
    """How the pods of one owner would spread over the nodes that could take them."""

    workload: int
    occurrences: int
    targets: tuple[int, ...]  # entries
    nodes: int  # how many nodes these are
    upper_average: int


class RemoveDuplicates:
    """Evicts from each node what exceeds the upper average, whatever room the other nodes have."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._excluded = context.arguments.texts("excludeOwnerKinds")

    def run(self, ledger: Ledger) -> frozenset[Ledger]:
        """All ledgers; owners come in any order, which matters under limits only."""
        shares = tuple(self.shares(ledger))
        if self._context.evictions.unlimited:
            return self._in_order(ledger, shares)
        return frozenset(end for order in _orders(shares) for end in self._in_order(ledger, order))

    def _in_order(self, ledger: Ledger, shares: tuple[Share, ...]) -> frozenset[Ledger]:
        ledgers = frozenset({ledger})
        for share in shares:
            work = partial(self._work, share=share)
            ledgers = frozenset(
                after
                for before in ledgers
                for after in self._context.evictions.node_by_node(before, plan_of(before.nodes, work))
            )
        return ledgers

    def _work(self, state: NodeState, share: Share) -> Work:
        """The pods above the upper average; the list has no order, so any of them."""
        groups = tuple(index for index, workload, _ in self._candidates(state) if workload == share.workload)
        surplus = self._on_node(state, share.workload) - share.upper_average
        return (Block(0, (Take(groups, surplus),)),) if surplus > 0 else ()

    def _candidates(self, state: NodeState) -> Iterator[tuple[int, int, int]]:
        """Group, workload and number of the pods that may be duplicates."""
        for index, group, left in self._context.evictable(state):
            kind = _owner_kind(self._context.scene.workload(group.workload))
            if kind and not group.failed and kind not in self._excluded:
                yield index, group.workload, left

    def _on_node(self, state: NodeState, workload: int) -> int:
        return sum(left for _, owner, left in self._candidates(state) if owner == workload)

    def shares(self, ledger: Ledger) -> Iterator[Share]:
        """The arithmetic of every owner that has duplicates and at least two target nodes."""
        scene = self._context.scene
        for workload in range(len(scene.setup.workloads)):
            on_nodes = [(self._on_node(state, workload), count) for state, count in ledger.nodes]
            targets = tuple(e for e in scene.ready if scene.tolerates(workload, e) and scene.matches_node(workload, e))
            nodes = scene.node_count(targets)
            if all(pods < 2 for pods, _ in on_nodes) or nodes < 2:
                continue
            occurrences = sum(pods * count for pods, count in on_nodes)
            yield Share(workload, occurrences, targets, nodes, -(-occurrences // nodes))

    def never_evicts(self) -> bool:
        """It evicts where several pods of an owner are on one node."""
        return False

    def keeps_even(self) -> bool:
        """True if all pods of an owner are counted, and every node is a target.

        None has more than the upper average of all then, which is what it leaves.
        """
        scene = self._context.scene
        owners = [n for n, workload in enumerate(scene.setup.workloads) if _owner_kind(workload)]
        return not self._context.evictor.tells_pods_apart and all(
            entry in scene.ready and scene.tolerates(owner, entry) and scene.matches_node(owner, entry)
            for entry in range(len(scene.entries))
            for owner in owners
        )

    def explain(self, ledger: Ledger) -> Iterator[str]:
        """The average, the evictions, and target nodes that have no room (issue 1237)."""
        scene = self._context.scene
        for share in self.shares(ledger):
            ref = scene.workload(share.workload).ref
            yield (
                f"{NAME}: {ref} has {share.occurrences} pods for {share.nodes} target nodes, "
                f"upper average ceil({share.occurrences} / {share.nodes}) = {share.upper_average}"
            )
            for state, _ in ledger.nodes:
                pods = self._on_node(state, share.workload)
                if pods > share.upper_average:
                    name = scene.entries[state.entry].node.name
                    yield f"{NAME}: node {name} has {pods}, evicts {pods - share.upper_average}"
            for target in share.targets:
                if not scene.has_room(share.workload, target):
                    yield (
                        f"{NAME}: node {scene.entries[target].node.name} counts as a target although it is full: "
                        "targets are chosen by taints and labels, without resources (upstream issue 1237)"
                    )


def build(context: Context) -> RemoveDuplicates:
    """The plugin with its arguments."""
    return RemoveDuplicates(context)


def _owner_kind(workload: Workload) -> str:
    """The kind that owns a workload's pods; empty for a bare pod."""
    if workload.rules.is_pod:
        return ""
    return REPLICA_SET if workload.rules.owns_replica_sets else workload.kind


def _orders(shares: tuple[Share, ...]) -> Iterator[tuple[Share, ...]]:
    """Every order of the owners."""
    if len(shares) <= 1:
        yield shares
        return
    for index, first in enumerate(shares):
        for rest in _orders(shares[:index] + shares[index + 1 :]):
            yield (first, *rest)
