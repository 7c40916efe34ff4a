"""The representative model for long walks: it remembers what loops were shown of nodes that have not changed.

A run of a whole cluster changes one node at a time, while every loop looks at all of them. Views are functions of what
they are views of, so the last ones serve again as long as a node's state is the very same value. Runs found on it are
replayed on the model that remembers nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.control import AnySeen, Decision, Loop, View, has_nothing_to_do
from kubeproof.model.by_name.node import NodeState
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import Concrete, State, Transition
from kubeproof.model.plan import Plan


class RememberingModel(RepresentativeModel):
    """Steps by name, equal ones once, with a memory."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._views: dict[tuple[int, int, int], tuple[NodeState, View]] = {}
        self._names = {id(controller): controller.name for controller in plan.actors}
        self._decided: dict[int, tuple[AnySeen, tuple[Decision, ...]]] = {}

    def _node_view(self, controller: Loop, place: int, node: NodeState) -> View:
        key = (id(controller), place, id(node))
        known = self._views.get(key)
        if known is None:  # the node is kept with its view, so that no other takes its identity
            known = self._views[key] = (node, super()._node_view(controller, place, node))
        return known[1]

    def offers_of(self, controller: Loop, state: State) -> Iterator[Transition]:
        """The steps of one controller or event, each distinct outcome once, not seen by monitors yet."""
        done: set[tuple[tuple[Concrete, ...], int]] = set()
        for decision in self._decisions(controller, state):
            for target, concrete in self._carry_out(controller, state, decision):
                key = (concrete, int(decision.role))
                if key not in done and target != state:
                    done.add(key)
                    yield Transition(self._names[id(controller)], decision, concrete, target)

    def _decisions(self, controller: Loop, state: State) -> tuple[Decision, ...]:
        """What it would do; as before, if it is shown what it was shown before."""
        if has_nothing_to_do(controller, self._show_workloads(controller, state)):
            return ()
        seen = self.show_to(controller, state)
        known = self._decided.get(id(controller))
        if known is None or known[0] != seen:
            known = self._decided[id(controller)] = (seen, tuple(dict.fromkeys(controller.act(seen))))
        return known[1]
