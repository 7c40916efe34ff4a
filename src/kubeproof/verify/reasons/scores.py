"""Why the scheduler put a pod where it did although another node would have kept an intent: the scores side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.loops.actions import Bind
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.inaction import pod_field
from kubeproof.cluster.loops.tags import Tag
from kubeproof.cluster.objects import HOSTNAME
from kubeproof.controllers.scheduler.framework import Row
from kubeproof.controllers.scheduler.inaction import why_chosen, why_nobody_moves
from kubeproof.controllers.workloads.inaction import why_those
from kubeproof.named_tuples import NamedTuple
from kubeproof.verify.explained import Inaction
from kubeproof.verify.reasons.scene import Scene, count_active
from kubeproof.verify.words.explain import evaluation, scheduler_of


class Bound(NamedTuple):
    """A pod that got a node, in the step with this number."""

    number: int
    workload: int
    pod: str
    node: str


def why_there(scene: Scene) -> Iterator[Inaction]:
    """The last binding to a node although another had fewer of these workloads' pods, and that nobody moves them."""
    gone = _find_deletion(scene)
    if gone is not None:
        yield gone
        return
    for bound in _bindings(scene):
        nodes = zip(scene.model.names, scene.states[bound.number].nodes, strict=True)
        own = {name: sum(pod.workload in scene.concerned for pod in node.pods) for name, node in nodes}
        emptier = [name for name in own if own[name] < own[bound.node]]
        found = _compare(scene, bound, emptier, _ask_firmly(scene, bound.workload))
        if found is not None:
            yield found
            break
    idle = why_nobody_moves(has_descheduler=scene.model.setup.descheduler is not None)
    for workload in scene.concerned[:1]:
        yield scene.tell(Actor(ActorKind.SCHEDULER), idle, scene.ref(workload))


def _ask_firmly(scene: Scene, workload: int) -> str:
    """The hard rule in place of scores."""
    ref, key = scene.model.setup.workloads[workload].declared_as, scene.monitor.intent.topology_key or HOSTNAME
    return f"let {ref} ask for it by a hard rule: a spread over {key} with whenUnsatisfiable: DoNotSchedule"


def _find_deletion(scene: Scene) -> Inaction | None:
    """The last step that changed how many pods there are, if a scale-down was it."""
    for number, step in scene.backwards():
        for workload in scene.concerned:
            lost = count_active(scene.states[number], workload) - count_active(scene.states[number + 1], workload)
            if lost < 0 or (lost > 0 and step.controller.kind != ActorKind.REPLICA_SET):
                return None
            if lost > 0:
                return scene.tell(step.controller, why_those(scene.ref(workload), lost), scene.ref(workload), number)
    return None


def why_back(scene: Scene) -> Iterator[Inaction]:
    """The last binding to a node from which pods were evicted, against the best of all others."""
    evicted = {scene.model.names[index] for number, _ in scene.backwards() for index in _lose(scene, number)}
    for bound in _bindings(scene):
        if bound.node in evicted:
            found = _compare(scene, bound, [name for name in scene.model.names if name != bound.node])
            if found is not None:
                yield found
                return


def _lose(scene: Scene, number: int) -> Iterator[int]:
    """The nodes from which a step evicts pods."""
    if scene.steps[number].tags & Tag.EVICT:
        pairs = zip(scene.states[number].nodes, scene.states[number + 1].nodes, strict=True)
        yield from (index for index, (before, after) in enumerate(pairs) if before.pods != after.pods)


def _bindings(scene: Scene) -> Iterator[Bound]:
    """From the last to the first."""
    for number, step in scene.backwards():
        for action, concrete in zip(step.decision.actions, step.concrete, strict=False):
            if isinstance(action, Bind) and action.workload in scene.concerned:
                yield Bound(number, action.workload, str(concrete[1]), str(concrete[2]))


def _compare(scene: Scene, bound: Bound, others: Sequence[str], change: str = "") -> Inaction | None:
    """The node chosen against the best of some others; None where there is none, or no scheduler decides."""
    state = scene.states[bound.number]
    scheduler = scheduler_of(scene.model, state, bound.workload)
    judged = evaluation(scene.model, state, bound.workload)
    if scheduler is None or judged is None:
        return None
    rows: dict[str, Row] = dict(zip(judged[0], judged[1].rows, strict=True))
    known = [name for name in others if name in rows]
    if not known or bound.node not in rows:
        return None
    other = min(known, key=lambda name: (bool(rows[name].rejected_by), -rows[name].total, name))
    pair = (bound.node, rows[bound.node]), (other, rows[other])
    ref = scene.model.setup.workloads[bound.workload].declared_as
    idle = why_chosen(bound.pod, *pair, scheduler.kernel.weights, change)
    idle = idle._replace(fields=(pod_field(ref, "topologySpreadConstraints"),)) if idle.change else idle
    return scene.tell(scheduler.name, idle, scene.ref(bound.workload), bound.number)
