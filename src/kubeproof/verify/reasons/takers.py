"""Why no budget and no priority kept somebody from taking pods away."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import Preempt
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import BudgetScale, budgets_of, facts_of, find_asked_by, status_of
from kubeproof.controllers.evictions.disruption import BudgetStatus
from kubeproof.controllers.evictions.inaction import why_not_held_back
from kubeproof.controllers.scheduler.inaction import why_taken
from kubeproof.model.by_name.state import State, Transition, workload_cell
from kubeproof.verify.explained import Inaction
from kubeproof.verify.reasons.scene import Scene, count_active

EVICTION_API = Actor(ActorKind.OTHER, "eviction API")


def why_taken_away(scene: Scene) -> Iterator[Inaction]:
    """About the last step that took pods of these workloads."""
    for number, step in scene.backwards():
        if step.controller.kind in (ActorKind.EVENT, ActorKind.TIME):
            continue
        before, after = scene.states[number], scene.states[number + 1]
        lost = {w: count_active(before, w) - count_active(after, w) for w in scene.concerned}
        taken = {workload: count for workload, count in lost.items() if count > 0}
        for workload, count in taken.items():
            yield from _of_step(scene, number, step, workload, count)
        if taken:
            return


def _of_step(scene: Scene, number: int, step: Transition, workload: int, count: int) -> Iterator[Inaction]:
    ref, setup = scene.ref(workload), scene.model.setup
    for action in step.decision.actions:
        if isinstance(action, Preempt):
            yield scene.tell(step.controller, why_taken(setup, workload, action.workload), ref, number)
    budgets = [(one, _status(scene, scene.states[number], one)) for one in budgets_of(setup, workload)]
    is_rolled = scene.states[number].specs[scene.head_of(workload)].template > 0
    kind = step.controller.kind
    kind = ActorKind.DEPLOYMENT if kind == ActorKind.REPLICA_SET and is_rolled else kind
    for idle in why_not_held_back(kind, ref, count, budgets):
        yield scene.tell(EVICTION_API, idle, ref, number)


def _status(scene: Scene, state: State, budget: PodDisruptionBudget) -> BudgetStatus:
    """The status of a budget in a state."""
    asked = find_asked_by(scene.model.setup, budget)
    cells = {w: workload_cell(state, w) for w in asked}
    scales = {w: BudgetScale(cell.desired, cell.unbound) for w, cell in cells.items()}
    pods = (pod for node in state.nodes for pod in node.pods if pod.workload in asked)
    return status_of(scene.model.setup, budget, scales, [(pod.workload, facts_of(pod.phase), 1) for pod in pods])
