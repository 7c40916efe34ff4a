"""The model by name with chance in place of choice: among all that a step may hit, it hits some, each equally likely.

Every step that it takes is one of the steps of `IndividualModel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import comb, prod
from random import Random

from kubeproof.cluster.loops.actions import (
    ANY,
    Action,
    Delete,
    DeleteUnbound,
    EvictedPods,
    NodeAction,
    NodeRef,
)
from kubeproof.cluster.loops.control import Decision, Loop
from kubeproof.cluster.loops.meanings import MEANINGS
from kubeproof.cluster.state import NEVER, is_of_life
from kubeproof.model.by_name.node import NodeState, Pod, kubelet_lives
from kubeproof.model.by_name.state import Concrete, State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import Plan
from kubeproof.simulate.control.measuring.views import Views


class SampledModel(IndividualModel):
    """Steps by name, one of the equally likely ones at a time."""

    def __init__(self, plan: Plan, rng: Random) -> None:
        super().__init__(plan)
        self._rng = rng
        self.views: Views | None = None

    def carry_out(
        self, controller: Loop, state: State, decision: Decision
    ) -> tuple[State, tuple[Concrete, ...]] | None:
        """The state after a decision, and what was done by name; None if it cannot be carried out."""
        done: list[Concrete] = []
        for action in decision.actions:
            found = self._draw(controller, state, action)
            if found is None:
                return None
            state, concrete = found
            done.append(concrete)
        return state, tuple(done)

    def _draw(self, controller: Loop, state: State, action: Action) -> tuple[State, Concrete] | None:
        if not isinstance(action, NodeAction):
            return self._rng.choice(list(self._do(controller, state, action)))
        nodes = list(self._matching(controller, state, action.node))
        weights = [self._ways(state.nodes[node], action) for node in nodes]
        if not any(weights):
            return None
        (node,) = self._rng.choices(nodes, weights)
        return self._rng.choice(list(self._on_node(state, node, action)))

    def ways(self, controller: Loop, state: State, decision: Decision) -> int:
        """In how many ways, by name, a decision can be carried out; each action on its own."""
        found = 1
        for action in decision.actions:
            if isinstance(action, NodeAction):
                nodes = self._matching(controller, state, action.node)
                found *= sum(self._ways(state.nodes[node], action) for node in nodes)
        return found

    def _ways(self, node: NodeState, action: NodeAction) -> int:
        """In how many ways an action can hit pods of a node."""
        picks = MEANINGS[type(action)].picks
        return 1 if picks is None else prod([comb(len(_hit(node, loss)), loss.pods) for loss in picks(action)])

    # -- chance in place of choice ----------------------------------------------------------------

    def _matching(self, controller: Loop, state: State, ref: NodeRef) -> Iterator[int]:
        if self.views is None or ref.view == ANY:
            yield from super()._matching(controller, state, ref)
            return
        base, onlooker = self.views.state.nodes, self.views.of(controller)
        if state.nodes is base:
            yield from onlooker.nodes_like(ref.place, ref.view)
            return
        for index, view in onlooker.places[ref.place].views.items():
            same = state.nodes[index] is base[index]
            if (view if same else self._node_view(controller, ref.place, state.nodes[index])) == ref.view:
                yield index

    def _list_unbound_sets(self, state: State, action: DeleteUnbound) -> Iterable[tuple[str, ...]]:
        waiting = state.unbound[action.workload]
        chosen = set(self._rng.sample(waiting, action.pods))
        return (tuple(name for name in waiting if name in chosen),)

    def _bindable(self, state: State, workload: int) -> tuple[str, ...]:
        return state.unbound[workload][:1]

    def _victims(self, node: NodeState, action: Delete) -> Iterator[tuple[Pod, ...]]:
        drafted: list[Pod] = []
        for phases, count in action.losses:
            drafted += self._some(_hit(node, EvictedPods(action.workload, phases, NEVER, count)), count)
        yield tuple(drafted)

    def _crashable(self, node: NodeState, workload: int) -> Iterable[Pod]:
        return self._some(list(super()._crashable(node, workload)), 1)

    def _list_picks(self, moving: tuple[Pod, ...], count: int) -> Iterable[tuple[Pod, ...]]:
        return (tuple(self._some(list(moving), count)),)

    def _some(self, pods: list[Pod], count: int) -> list[Pod]:
        """So many of the pods, in their order."""
        if count == len(pods):
            return pods
        chosen = set(self._rng.sample(range(len(pods)), count))
        return [pod for at, pod in enumerate(pods) if at in chosen]

    def _bind(
        self, index: int, node: NodeState, workload: int, pod: str
    ) -> Iterator[tuple[NodeState, tuple[int, ...]]]:
        choices = self.setup.settings.startup_choices if kubelet_lives(node) else ()
        if not choices:
            yield from super()._bind(index, node, workload, pod)
            return
        (start_s,) = self._rng.choices([s for s, _ in choices], [p for _, p in choices])
        yield self._arrive(index, node, workload, (pod,), start_s), (start_s,)


def _hit(node: NodeState, loss: EvictedPods) -> list[Pod]:
    """The pods of which some are meant, whatever their restarts where nobody asks for them."""
    hit = [pod for pod in node.pods if pod.workload == loss.workload and pod.phase in loss.phases]
    return [
        pod for pod in hit if loss.restarts in (NEVER, pod.kind.restarts) and is_of_life(pod.kind.life_s, loss.life)
    ]
