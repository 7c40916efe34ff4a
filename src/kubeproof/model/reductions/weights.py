"""In how many ways, by name, a step of the grouped model can be taken."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from math import comb, prod
from typing import Any

from kubeproof.cluster.loops.actions import (
    ANY,
    Action,
    Bind,
    BindPinned,
    KeepNode,
    NodeAction,
)
from kubeproof.cluster.loops.meanings import MEANINGS
from kubeproof.cluster.objects import Node
from kubeproof.cluster.state import NodeCell, Nodes, replace_node
from kubeproof.model.grouped import GroupedSystem


class Weights:
    """Weights of the outcomes of a system's edits: so many choices of nodes and pods by name lead to each.

    Every order of steps must be followed: steps that stand for several have no weight.
    """

    def __init__(self, system: GroupedSystem) -> None:
        assert not system.leaves_out_orders
        self._system = system
        self._mechanics = system.plan.mechanics

    def __call__(self, slot: int, cell: Any, operation: Any) -> tuple[float, ...]:
        """One weight per outcome of `GroupedSystem.edit`, in its order."""
        action: Action = operation[2]
        if not isinstance(action, NodeAction):
            return (1.0,)  # whatever is not about nodes has one outcome
        return tuple(self._on_nodes(slot - self._system.slots.first_place, cell, operation[1], action).values())

    def _on_nodes(self, place: int, nodes: Nodes, actor: int, action: NodeAction) -> dict[Hashable, float]:
        """Per outcome its weight, found in the order in which `GroupedSystem.edit` finds them."""
        sample = self._system.plan.layout.places[place].sample
        ways: dict[Hashable, float] = {}
        for cell, count in nodes:
            if action.node.view == ANY or self._system.node_view(actor, action.node.place, cell) == action.node.view:
                for changed, number in self._change(sample, cell, action):
                    outcome = replace_node(nodes, cell, changed)
                    ways[outcome] = ways.get(outcome, 0.0) + count * number
        return ways

    def _change(self, node: Node, cell: NodeCell, action: NodeAction) -> Iterator[tuple[NodeCell, float]]:
        """All contents of one node after an action, with their weights."""
        if isinstance(action, Bind | BindPinned):
            yield from self._mechanics.bind(node, cell, action)
            return
        for changed in self._mechanics.on_node(node, cell, action):
            yield changed, _choices(cell, changed, action)


def _choices(before: NodeCell, after: NodeCell, action: NodeAction) -> float:
    """In how many ways pods can be chosen so that one node becomes another: by those that each kind loses."""
    if MEANINGS[type(action)].picks is None:
        return 1.0
    left, waiting = dict(after.pods), dict(before.pinned)
    lost = [(count, count - left.get(kind, 0)) for kind, count in before.pods if left.get(kind, 0) < count]
    lost += [(waiting[workload], count) for workload, count in action.drops] if isinstance(action, KeepNode) else []
    return float(prod(comb(count, fewer) for count, fewer in lost))
