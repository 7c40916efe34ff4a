"""Who could have helped in a counterexample and does not: the loops are asked, each by its own rules.

What is asked for is told by what is wrong in the end (`Trouble`), so that nobody is heard about what is no trouble.
Loops that few clusters have are imported where one of them is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actions import Advance
from kubeproof.cluster.loops.actors import KUBELET, Actor, ActorKind
from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.inaction import Trouble
from kubeproof.cluster.objects import family
from kubeproof.cluster.state import Health, Phase
from kubeproof.controllers.admission.inaction import why_refused, why_rejected
from kubeproof.controllers.guard import working
from kubeproof.controllers.scheduler.framework import Row
from kubeproof.controllers.scheduler.inaction import (
    why_kept_for_others,
    why_no_preemption,
    why_unplaced,
)
from kubeproof.controllers.scheduler.protocol import Judging
from kubeproof.controllers.scheduler.registry import filters_judging
from kubeproof.controllers.workloads.inaction import why_gone, why_so_many
from kubeproof.intents.catalogue import entry
from kubeproof.intents.monitor import CYCLE, NEVER, STEP
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.explained import Inaction
from kubeproof.verify.reasons.scene import Scene, count_active
from kubeproof.verify.words.explain import (
    evaluation,
    explain_rejection_on,
    judge_pinned,
    missing_reasons,
    scheduler_of,
)

DOWN = (Health.LOST, Health.UNKNOWN)
MOST = 24  # entries; large clusters repeat themselves


def find_inaction(scene: Scene, *, is_loop: bool = False) -> tuple[Inaction, ...]:
    """Who does not help in the last state of a run, and who did not hold it up.

    Of a run that goes on for ever everybody acts: asked is by which rule pods are taken and come back.
    """
    found = list(_of_rejections(scene))
    if is_loop:
        from kubeproof.verify.reasons.scores import why_back

        found += why_back(scene)
    else:
        troubles = frozenset(_troubles(scene))
        found = [*_of_loops(scene, troubles), *_of_pods(scene, troubles), *found, *_of_rare(scene, troubles)]
    return tuple(dict.fromkeys(found))[:MOST]


def _troubles(scene: Scene) -> Iterator[Trouble]:
    """What is wrong in the end."""
    monitor, state, model = scene.monitor, scene.last, scene.model
    for trouble in entry(monitor.intent.key).troubles:
        if trouble != Trouble.TAKEN or monitor.kind in (NEVER, STEP):
            yield trouble
    if any(model.setup.workloads[w].owner for w in scene.concerned):
        yield Trouble.ROLLOUT
    for workload in scene.concerned:
        if state.unbound[workload] or any(w == workload for node in state.nodes for w, _ in node.pinned):
            yield Trouble.PENDING
        if any(True for _ in missing_reasons(model, state, workload)):
            yield Trouble.MISSING
        for node in state.nodes:
            own = {pod.phase for pod in node.pods if pod.workload == workload}
            if own and node.health in DOWN:
                yield Trouble.DEAD_NODE
            if own - {Phase.READY} and monitor.kind != CYCLE:
                yield Trouble.NOT_READY


def _of_rare(scene: Scene, troubles: frozenset[Trouble]) -> Iterator[Inaction]:
    """What only some intents are about."""
    if Trouble.TRAFFIC in troubles:
        from kubeproof.verify.reasons.traffic import why_routed

        yield from why_routed(scene)
    if Trouble.TAKEN in troubles:
        from kubeproof.verify.reasons.takers import why_none_left, why_taken_away

        yield from why_taken_away(scene)
        yield from why_none_left(scene)
    if Trouble.PLACES in troubles:
        from kubeproof.verify.reasons.scores import why_there
        from kubeproof.verify.reasons.traffic import why_shared

        yield from why_shared(scene)
        yield from why_there(scene)


# -- loops ------------------------------------------------------------------------------------------


def _of_loops(scene: Scene, troubles: frozenset[Trouble]) -> Iterator[Inaction]:
    for loop in working(scene.model.plan.controllers, scene.last.memories):
        explain = getattr(loop, "why_not", None)
        if explain is None or not _is_about(loop, scene.concerned):
            continue
        for idle in explain(scene.model.show_to(loop, scene.last)):
            if troubles & set(idle.rule.helps):
                yield scene.tell(loop.name, idle, _object_of(scene.model, loop))


def _is_about(loop: Loop, concerned: Sequence[int]) -> bool:
    """True if a loop looks after one of the workloads, or after the whole cluster."""
    own = [number for number in (getattr(loop, "workload", None), getattr(loop, "target", None)) if number is not None]
    return not own or any(number in concerned for number in own)


def _object_of(model: IndividualModel, loop: Loop) -> str:
    number = getattr(loop, "workload", getattr(loop, "target", None))
    return model.setup.workloads[number].ref if isinstance(number, int) else ""


# -- pods -------------------------------------------------------------------------------------------


def _of_pods(scene: Scene, troubles: frozenset[Trouble]) -> Iterator[Inaction]:
    for workload in scene.concerned:
        ref = scene.ref(workload)
        if Trouble.PENDING in troubles:
            yield from _of_scheduler(scene, workload)
        for reason in missing_reasons(scene.model, scene.last, workload):
            declared = scene.model.setup.workloads[workload]
            quotas = [one for one in scene.model.setup.quotas if one.namespace == declared.namespace]
            idle = why_refused(declared.declared_as, reason, quotas)
            yield scene.tell(Actor(_creator(scene.model, workload), ref), idle, ref)
        if Trouble.REPLICAS in troubles:
            yield from _of_size(scene, workload)
    if Trouble.NOT_READY in troubles:
        from kubeproof.verify.reasons.dead_nodes import why_unready

        yield from why_unready(scene)
    if Trouble.DEAD_NODE in troubles:
        from kubeproof.verify.reasons.dead_nodes import why_stuck

        yield from why_stuck(scene, DOWN)


def _of_size(scene: Scene, workload: int) -> Iterator[Inaction]:
    """Why there are as many pods as there are, where no autoscaler decides."""
    declared, spec = scene.model.setup.workloads[workload], scene.last.specs[workload]
    is_scaled = any(one.target == declared.ref for one in scene.model.setup.autoscalers)
    if declared.rules.is_pod and not count_active(scene.last, workload):
        yield scene.tell(Actor(ActorKind.OTHER, "control plane"), why_gone(declared.ref), declared.ref)
    elif declared.owner is None and declared.rules.has_replicas and spec.exists and not is_scaled:
        amount = scene.monitor.intent.count
        is_upper = entry(scene.monitor.intent.key).is_upper_bound
        bound = spec.desired if amount is None or amount.percent else amount.number
        if spec.desired > bound if is_upper else spec.desired < bound:
            idle = why_so_many(declared.ref, spec.desired, bound)
            yield scene.tell(Actor(_creator(scene.model, workload)), idle, declared.ref)


def _creator(model: IndividualModel, workload: int) -> ActorKind:
    """The loop that creates its pods."""
    rules = model.setup.workloads[workload].rules
    if rules.counts_completions:
        return ActorKind.JOB
    if rules.runs_per_node:
        return ActorKind.DAEMON_SET
    return ActorKind.STATEFUL_SET if rules.has_ordinals else ActorKind.REPLICA_SET


def _of_scheduler(scene: Scene, workload: int) -> Iterator[Inaction]:
    """Why its pods get no node; nothing if it only has not been their turn."""
    model, state, declared = scene.model, scene.last, scene.model.setup.workloads[workload]
    pods, rows = _judge(scene, workload)
    if not pods or any(not row.rejected_by for _, row in rows):
        return
    scheduler = scheduler_of(model, state, workload)
    actor = Actor(ActorKind.SCHEDULER) if scheduler is None else scheduler.name
    down = [name for name, node in zip(model.names, state.nodes, strict=True) if node.health in DOWN]
    yield scene.tell(actor, why_unplaced(declared, pods, rows, down), declared.ref)
    if _holds_others(scene, workload, rows):
        for idle in why_no_preemption(model.setup, workload):
            yield scene.tell(actor, idle, declared.ref)
    for index, node in enumerate(state.nodes):
        others = [(scene.ref(w), node.nominated.count(w)) for w in sorted(set(node.nominated)) if w != workload]
        if others:
            yield scene.tell(actor, why_kept_for_others(model.names[index], others), declared.ref)


def _judge(scene: Scene, workload: int) -> tuple[list[str], list[tuple[str, Row]]]:
    """Its pods without a node, and the verdicts on nodes that are up, by name."""
    model, state = scene.model, scene.last
    pods, rows = list(state.unbound[workload]), []
    for index, node in enumerate(state.nodes):
        pinned = [name for owner, name in node.pinned if owner == workload]
        if pinned:
            pods += pinned
            rows.append((model.names[index], judge_pinned(model, state, workload, index)))
    judged = evaluation(model, state, workload) if state.unbound[workload] else None
    if judged is not None:
        up = {name for name, node in zip(model.names, state.nodes, strict=True) if node.health == Health.UP}
        rows += [(name, row) for name, row in zip(judged[0], judged[1].rows, strict=True) if name in up]
    return pods, rows


def _holds_others(scene: Scene, workload: int, rows: Sequence[tuple[str, Row]]) -> bool:
    """True if pods of other workloads are on a node that refuses the pods for what is there."""
    own = family(scene.model.setup, scene.head_of(workload))
    names = {name for name, row in rows if row.rejected_by in filters_judging(Judging.ROOM, Judging.PODS)}
    refusing = (n for name, n in zip(scene.model.names, scene.last.nodes, strict=True) if name in names)
    return any(pod.workload not in own for node in refusing for pod in node.pods)


def _of_rejections(scene: Scene) -> Iterator[Inaction]:
    """The last rejection of pods of these workloads by a kubelet."""
    for number, step in scene.backwards():
        for action, concrete in zip(step.decision.actions, step.concrete, strict=False):
            if isinstance(action, Advance) and action.rejected and action.workload in scene.concerned:
                node, ref = str(concrete[1]), scene.ref(action.workload)
                reason = explain_rejection_on(scene.model, scene.states[number], node, action.workload)
                yield scene.tell(KUBELET, why_rejected(node, action.rejected, ref, reason), ref, number)
                return
