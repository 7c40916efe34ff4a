"""The individual model with one alternative for each that differs in more than names.

Where the oracle binds every pod to every equal node, this one binds the first pod to the first. Each of its steps is a
step of the individual model. Traces are named and replayed on it: a cluster of hundreds of nodes has far too many
alternatives that differ in names alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kubeproof.cluster.loops.actions import Action, Delete, DeleteUnbound, KeepNode, NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.control import Decision, Loop
from kubeproof.cluster.state import NodeCell, PodKind
from kubeproof.model.by_name.node import NodeState, Pod
from kubeproof.model.by_name.state import State, node_cell
from kubeproof.model.by_name.system import Draft, IndividualModel

Hit = Mapping[NodeRef, Sequence[int]]


class RepresentativeModel(IndividualModel):
    """Steps by name, equal ones once."""

    def _list_unbound_sets(self, state: State, action: DeleteUnbound) -> Iterable[tuple[str, ...]]:
        return (state.unbound[action.workload][: action.pods],)

    def _bindable(self, state: State, workload: int) -> tuple[str, ...]:
        return state.unbound[workload][:1]

    def _victims(self, node: NodeState, action: Delete) -> Iterator[tuple[Pod, ...]]:
        """Sets that differ in the kinds of their pods."""
        seen: set[tuple[PodKind, ...]] = set()
        for drafted in self._drafts(node, action, 0):
            kinds = tuple(sorted(pod.kind for pod in drafted))
            if kinds not in seen:
                seen.add(kinds)
                yield drafted

    def _drafts(self, node: NodeState, action: Delete, position: int) -> Iterator[tuple[Pod, ...]]:
        if position == len(action.losses):
            yield ()
            return
        phases, count = action.losses[position]
        hit = [pod for pod in node.pods if pod.workload == action.workload and pod.phase in phases]
        for taken in _firsts(_by_kind(hit), count):
            for rest in self._drafts(node, action, position + 1):
                yield (*taken, *rest)

    def _crashable(self, node: NodeState, workload: int) -> Iterable[Pod]:
        """The first pod of each kind."""
        return [alike[0] for alike in _by_kind(super()._crashable(node, workload))]

    def _list_picks(self, moving: tuple[Pod, ...], count: int) -> Iterable[tuple[Pod, ...]]:
        """Sets that differ in kinds: pods that start together may differ in their eviction clocks."""
        return _firsts(_by_kind(moving), count)

    def _carry_out(self, controller: Loop, state: State, decision: Decision) -> list[Draft]:
        """The same; where all nodes that look alike change alike, in one order: with a whole zone there are many."""
        every = super()._matching
        changes = [action for action in decision.actions if isinstance(action, NodeChange | KeepNode)]
        hit = {ref: list(every(controller, state, ref)) for ref in {change.node for change in changes}}
        if len(changes) < 2 or not _change_alike(decision.actions, changes, hit):
            return super()._carry_out(controller, state, decision)
        drafts: list[Draft] = [(state, ())]
        for action in decision.actions:
            index = hit[action.node].pop(0) if isinstance(action, NodeChange | KeepNode) else None
            drafts = [
                (target, (*done, concrete))
                for current, done in drafts
                for target, concrete in (
                    self._do(controller, current, action) if index is None else self._on_node(current, index, action)  # type: ignore[arg-type]
                )
            ]
        return drafts

    def _matching(self, controller: Loop, state: State, ref: NodeRef) -> Iterator[int]:
        """The first node of each content that answers to the reference."""
        seen: set[NodeCell] = set()
        for index in super()._matching(controller, state, ref):
            cell = node_cell(state.nodes[index])
            if cell not in seen:
                seen.add(cell)
                yield index


def _change_alike(actions: Sequence[Action], changes: Sequence[NodeChange | KeepNode], hit: Hit) -> bool:
    """True if all nodes that look alike change alike: what hits which of them first differs in names alone."""
    if all(isinstance(action, KeepNode) for action in actions):
        counts = Counter(changes)  # a DaemonSet's work on nodes, the same on each that it takes for equal
        return len(counts) == len(hit) and all(count == len(hit[one.node]) for one, count in counts.items())
    is_plain = all(isinstance(action, NodeChange | Remember) for action in actions)
    verbs = {change.verb for change in changes if isinstance(change, NodeChange)}
    return is_plain and len(verbs) == 1 and len(changes) == sum(map(len, hit.values()))


def _by_kind(pods: Iterable[Pod]) -> list[list[Pod]]:
    """The pods, those that differ in nothing but their names together."""
    groups: dict[PodKind, list[Pod]] = {}
    for pod in pods:
        groups.setdefault(pod.kind, []).append(pod)
    return list(groups.values())


def _firsts(groups: list[list[Pod]], count: int) -> Iterator[tuple[Pod, ...]]:
    """`count` pods, from each group the first ones, in every mix of groups."""
    if not groups:
        if count == 0:
            yield ()
        return
    for amount in range(min(len(groups[0]), count), -1, -1):
        for rest in _firsts(groups[1:], count - amount):
            yield (*groups[0][:amount], *rest)
