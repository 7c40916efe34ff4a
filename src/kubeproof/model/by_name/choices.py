"""Which pods an action may hit, by name: every set of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from kubeproof.cluster.loops.actions import ANY, Delete, DeleteUnbound, EvictedPods, NodeRef
from kubeproof.cluster.state import ACTIVE, NEVER, Phase
from kubeproof.model.by_name.node import NodeState, Pod
from kubeproof.model.by_name.state import State


class Choices:
    """All choices; a model of representatives narrows them to one of those that are equal."""

    def _list_unbound_sets(self, state: State, action: DeleteUnbound) -> Iterable[tuple[str, ...]]:
        """Every set of pods without a node that the deletion may hit."""
        return combinations(state.unbound[action.workload], action.pods)

    def _bindable(self, state: State, workload: int) -> tuple[str, ...]:
        """The pods that a binding may be about."""
        return state.unbound[workload]

    def _victims(self, node: NodeState, action: Delete) -> Iterable[tuple[Pod, ...]]:
        """Every set of pods on the node that answers to the losses."""
        drafts: list[tuple[Pod, ...]] = [()]
        for phases, count in action.losses:
            candidates = [pod for pod in node.pods if pod.workload == action.workload and pod.phase in phases]
            drafts = [(*draft, *extra) for draft in drafts for extra in combinations(candidates, count)]
        return drafts

    def _list_evicted(self, node: NodeState, losses: tuple[EvictedPods, ...]) -> Iterator[tuple[Pod, ...]]:
        """Every set of pods that losses of several workloads may hit."""
        if not losses:
            yield ()
            return
        workload, phases, restarts, count, (since_s, before_s) = losses[0]
        alike = node._replace(
            pods=tuple(
                pod
                for pod in node.pods
                if pod.kind.restarts == restarts
                and pod.kind.life_s >= since_s
                and (before_s == NEVER or pod.kind.life_s < before_s)
            )
        )
        for victims in self._victims(alike, Delete(NodeRef(-1, ANY), workload, ((phases, count),))):
            for rest in self._list_evicted(node, losses[1:]):
                yield (*victims, *rest)

    def _crashable(self, node: NodeState, workload: int) -> Iterable[Pod]:
        """The pods that a crash may hit."""
        return [pod for pod in node.pods if pod.workload == workload and pod.phase == Phase.READY]

    def _list_picks(self, moving: tuple[Pod, ...], count: int) -> Iterable[tuple[Pod, ...]]:
        """Every set of so many pods that the kubelet may admit next, or reject."""
        return combinations(moving, count)

    def _find_pinned(self, node: NodeState, workload: int) -> tuple[str, ...]:
        """The pods without a node that may only run here."""
        return tuple(name for owner, name in node.pinned if owner == workload)

    def _list_losses(self, node: NodeState, losses: tuple[tuple[int, int, int], ...]) -> Iterator[tuple[Pod, ...]]:
        if not losses:
            yield ()
            return
        workload, phase, count = losses[0]
        for victims in self._victims(node, Delete(NodeRef(-1, ANY), workload, (((phase,), count),))):
            for rest in self._list_losses(node, losses[1:]):
                yield (*victims, *rest)

    def _list_drops(self, node: NodeState, drops: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, ...]]:
        if not drops:
            yield ()
            return
        workload, count = drops[0]
        for names in combinations(self._find_pinned(node, workload), count):
            for rest in self._list_drops(node, drops[1:]):
                yield (*names, *rest)

    def _preemptions(self, node: NodeState, losses: tuple[tuple[int, int], ...]) -> Iterator[tuple[Pod, ...]]:
        """Every set of victims that a preemption may take."""
        if not losses:
            yield ()
            return
        (workload, count), rest = losses[0], losses[1:]
        for victims in self._victims(node, Delete(NodeRef(-1, ANY), workload, ((ACTIVE, count),))):
            for others in self._preemptions(node, rest):
                yield (*victims, *others)
