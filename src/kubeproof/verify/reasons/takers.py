"""Why no budget and no priority kept somebody from taking pods away."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import Preempt
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.inaction import Field
from kubeproof.cluster.state import Phase
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.evictions.budgets import BudgetScale, budgets_of, facts_of, find_asked_by, status_of
from kubeproof.controllers.evictions.disruption import BudgetStatus
from kubeproof.controllers.evictions.inaction import why_not_held_back
from kubeproof.controllers.rollout.inaction import why_taken_at_once
from kubeproof.controllers.scheduler.inaction import why_taken
from kubeproof.controllers.silent_nodes import why_lost
from kubeproof.controllers.workloads.inaction import why_none_to_spare
from kubeproof.model.by_name.state import State, Transition, workload_cell
from kubeproof.verify.explained import Inaction
from kubeproof.verify.reasons.scene import Scene, count_active

EVICTION_API = Actor(ActorKind.OTHER, "eviction API")


def why_taken_away(scene: Scene) -> Iterator[Inaction]:
    """About the last step that took pods of these workloads, or took them out of service with their nodes."""
    for number, step in scene.backwards():
        before, after = scene.states[number], scene.states[number + 1]
        if step.controller.kind in (ActorKind.EVENT, ActorKind.NODE_CONTROLLER):
            out = list(_of_nodes(scene, number))
            yield from out
            if out:
                return
            continue
        lost = {w: count_active(before, w) - count_active(after, w) for w in scene.concerned}
        taken = {workload: count for workload, count in lost.items() if count > 0}
        for workload, count in taken.items():
            yield from _of_step(scene, number, step, workload, count)
        if taken:
            return


def _of_nodes(scene: Scene, number: int) -> Iterator[Inaction]:
    """About pods that are not ready any more, because their nodes are not."""
    for workload in scene.concerned:
        before, after = (_list_ready(scene.states[at], workload) for at in (number, number + 1))
        names = scene.model.names
        lost = [(name, a - b) for name, a, b in zip(names, before, after, strict=True) if a > b]
        if lost and scene.steps[number].controller.kind == ActorKind.NODE_CONTROLLER:
            declared = scene.model.setup.workloads[workload]
            idle = why_lost(declared, lost, sum(before), _count_needed(scene, workload, sum(before)))
            yield scene.tell(scene.steps[number].controller, idle, scene.ref(workload), number)


def why_none_left(scene: Scene) -> Iterator[Inaction]:
    """Of a bound of ready pods: that there is none to spare, and who says how many there are."""
    if scene.monitor.intent.key != "minReady":
        return
    for workload in scene.concerned:
        declared, spec = scene.model.setup.workloads[workload], scene.last.specs[workload]
        needed = _count_needed(scene, workload, spec.desired)
        if declared.owner is None and declared.rules.has_replicas and 0 < spec.desired <= needed:
            by = next((one for one in scene.model.setup.autoscalers if one.target == declared.ref), None)
            field = Field(declared.ref, "spec.replicas")
            if by is not None:
                field = Field(f"HorizontalPodAutoscaler/{by.namespace}/{by.name}", "spec.minReplicas")
            idle = why_none_to_spare(declared, spec.desired, needed, field)
            yield scene.tell(Actor(ActorKind.OTHER, "control plane"), idle, declared.ref)


def _count_needed(scene: Scene, workload: int, otherwise: int) -> int:
    """How many pods the intent wants."""
    amount = scene.monitor.intent.count
    return otherwise if amount is None else amount.of(scene.last.specs[scene.head_of(workload)].desired)


def _list_ready(state: State, workload: int) -> list[int]:
    """The workload's ready pods, node by node."""
    return [sum(pod.workload == workload and pod.phase == Phase.READY for pod in node.pods) for node in state.nodes]


def _of_step(scene: Scene, number: int, step: Transition, workload: int, count: int) -> Iterator[Inaction]:
    ref, setup = scene.ref(workload), scene.model.setup
    for action in step.decision.actions:
        if isinstance(action, Preempt):
            yield scene.tell(step.controller, why_taken(setup, workload, action.workload), ref, number)
    budgets = [(one, _status(scene, scene.states[number], one)) for one in budgets_of(setup, workload)]
    spec = scene.states[number].specs[scene.head_of(workload)]
    kind = step.controller.kind
    kind = ActorKind.DEPLOYMENT if kind == ActorKind.REPLICA_SET and spec.template > 0 else kind
    for idle in why_not_held_back(kind, ref, spec.desired, count, budgets):
        yield scene.tell(EVICTION_API, idle, ref, number)
    if kind == ActorKind.DEPLOYMENT:
        head = setup.workloads[scene.head_of(workload)]
        idle = why_taken_at_once(head, spec.desired, count, _count_needed(scene, workload, spec.desired))
        yield scene.tell(step.controller, idle, ref, number)


def _status(scene: Scene, state: State, budget: PodDisruptionBudget) -> BudgetStatus:
    """The status of a budget in a state."""
    asked = find_asked_by(scene.model.setup, budget)
    cells = {w: workload_cell(state, w) for w in asked}
    scales = {w: BudgetScale(cell.desired, cell.unbound) for w, cell in cells.items()}
    pods = (pod for node in state.nodes for pod in node.pods if pod.workload in asked)
    return status_of(scene.model.setup, budget, scales, [(pod.workload, facts_of(pod.phase), 1) for pod in pods])
