"""The numbers behind a decision, and what is wrong in the last state of a counterexample."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeproof.cluster.jobs import REPLACED
from kubeproof.cluster.loops.actions import Advance, Bind, Preempt
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.objects import family
from kubeproof.cluster.said import Said
from kubeproof.cluster.services import is_stopped
from kubeproof.cluster.state import PUBLISHED, SERVING, Health, Phase
from kubeproof.cluster.usage import CPU, MEMORY, request_milli
from kubeproof.controllers.admission.kubelet_admission import explain_rejection
from kubeproof.controllers.guard import working
from kubeproof.controllers.late import (
    DaemonSetController,
    DrainEviction,
    JobController,
    PinnedScheduler,
    PreemptingScheduler,
    StatefulSetController,
)
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.controllers.scheduler.framework import Evaluation, Row
from kubeproof.controllers.workloads.replicaset import ReplicaSetController
from kubeproof.intents.monitor import Monitor
from kubeproof.model.by_name.state import State, Transition, node_cell
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.verify.facts import Fact
from kubeproof.verify.words.steps import CONDITION_NAMES

MOST_NODES = 12  # nodes listed one by one; more are summed up
WAITING = "without a node"


def why(model: IndividualModel, state: State, step: Transition) -> tuple[str, ...]:
    """Why the step was taken: filters and scores behind a binding, the arithmetic of loops that tell it."""
    binds = [action for action in step.decision.actions if isinstance(action, Bind)]
    if binds:
        return tuple(_score_lines(model, state, binds[0].workload))
    for action in step.decision.actions:
        scheduler = scheduler_of(model, state, action.workload) if isinstance(action, Preempt) else None
        if isinstance(scheduler, PreemptingScheduler):
            from kubeproof.verify.words.preemption import preemption_lines

            return tuple(preemption_lines(model, state, scheduler))
    for controller in model.plan.controllers:
        explain = getattr(controller, "why", None)
        if explain is not None and controller.name == step.controller:
            return tuple(explain(model.show_to(controller, state)))
    if step.controller.kind == ActorKind.KUBELET:
        return tuple(_explain_rejections(model, state, step))
    for event in model.plan.actors:
        explain = getattr(event, "why_of", None)
        if explain is not None and event.name == step.controller:
            return tuple(explain(step.decision.actions, model.show_to(event, state)))
    return ()


def _explain_rejections(model: IndividualModel, state: State, step: Transition) -> Iterator[str]:
    """Why a kubelet rejects pods that named its node."""
    advances = [action for action in step.decision.actions if isinstance(action, Advance) and action.rejected]
    for action, (_, node, *_) in zip(advances, step.concrete, strict=False):
        reason = explain_rejection_on(model, state, str(node), action.workload)
        if reason:
            yield f"{node}: {reason}"


def explain_rejection_on(model: IndividualModel, state: State, node: str, workload: int) -> str:
    """Why the kubelet of a node rejects pods of a workload that name it."""
    number = model.names.index(node)
    return explain_rejection(model.setup, model.setup.nodes[number], node_cell(state.nodes[number]), workload)


def event_words(model: IndividualModel, step: Transition) -> str:
    """What an event or a loop that changes no object says of itself; empty for all others."""
    for event in model.plan.actors:
        tells = getattr(event, "tells", None)
        if tells is not None and event.name == step.controller:
            return str(tells(step.decision.actions))
    return ""


def explain_added(model: IndividualModel, step: Transition) -> str:
    """What a loop says besides the changes of objects, such as the volumes that claims get; mostly empty."""
    for controller in model.plan.controllers:
        adds = getattr(controller, "adds", None)
        if adds is not None and controller.name == step.controller:
            return str(adds(step.decision.actions))
    return ""


def evaluation(model: IndividualModel, state: State, workload: int) -> tuple[list[str], Evaluation] | None:
    """The scheduler's judgement of every node, by name."""
    controller = scheduler_of(model, state, workload)
    if controller is None or not controller.kernel.has_profile:
        return None
    names, infos = [], []
    for place_number, place in enumerate(model.plan.layout.places):
        for index in (i for i in place.nodes if state.nodes[i].health != Health.ABSENT):
            names.append(model.names[index])
            info = controller.info_of(place_number, node_cell(state.nodes[index]))
            infos.append(info._replace(node=model.setup.nodes[index]))  # not the place's sample: values are told
    memories = model.show_to(controller, state).memories
    return names, controller.kernel_of(memories).evaluate(infos)


def scheduler_of(model: IndividualModel, state: State, workload: int) -> SchedulerController | None:
    """The loop that places the workload's pods."""
    for controller in working(model.plan.controllers, state.memories):
        if isinstance(controller, SchedulerController) and controller.workload == workload:
            return controller
    return None


def _score_lines(model: IndividualModel, state: State, workload: int) -> Iterator[str]:
    scheduler, judged = scheduler_of(model, state, workload), evaluation(model, state, workload)
    if scheduler is None or judged is None:
        return
    weights = scheduler.kernel.weights
    for name, row in zip(judged[0], judged[1].rows, strict=True):
        if row.rejected_by:
            yield f"{name}: rejected by {_refusal(row)}"
        elif row.scores:
            parts = " + ".join(_describe_weighed(plugin, score, weights.get(plugin, 1)) for plugin, score in row.scores)
            yield f"{name}: score {row.total} ({parts})"
        else:
            yield f"{name}: the only feasible node, not scored"


def _describe_weighed(plugin: str, score: int, weight: int) -> str:
    """A score as it enters the sum."""
    return f"{plugin} {score}" if weight == 1 else f"{weight} x {plugin} {score}"


def _refusal(row: Row) -> str:
    if not row.rejected_by:
        return "feasible"
    detail = f" ({row.detail})" if row.detail else ""
    return f"{row.rejected_by}: {row.reason}{detail}"


def _of_node(name: str, row: Row) -> Fact:
    return Fact(f"{name}: {_refusal(row)}", node=name if row.rejected_by else "", shape=_why(row))


def _why(row: Row) -> str:
    """Who refuses a node and why, without names."""
    return f"{row.rejected_by}: {row.reason}" if row.rejected_by else "feasible"


def pending_reasons(model: IndividualModel, state: State, workload: int) -> tuple[Fact, ...]:
    """Why the workload's pods without a node fit nowhere, node by node."""
    if any(owner == workload for node in state.nodes for owner, _ in node.pinned):
        return tuple(_explain_pinned(model, state, workload))
    waiting = state.unbound[workload]
    if not waiting:
        return ()
    declared = model.setup.workloads[workload]
    told = f"{len(waiting)} pod(s) of {declared.ref} without a node: {', '.join(waiting[:MOST_NODES])}"
    lines = [Fact(told, declared.ref, shape=WAITING)]
    judged = evaluation(model, state, workload)
    if judged is None:
        said = f"no scheduler profile is named {declared.template.scheduler_name}"
        return (*lines, Fact(said, shape="no such scheduler profile"))
    if not judged[0]:
        return (*lines, Fact("the cluster has no nodes", shape="no nodes"))
    rows = list(zip(judged[0], judged[1].rows, strict=True))
    if len(rows) <= MOST_NODES:
        return (*lines, *(_of_node(name, row) for name, row in rows))
    return (*lines, *_sum_up(rows))


def _explain_pinned(model: IndividualModel, state: State, workload: int) -> Iterator[Fact]:
    """Why pods that may only run on one node cannot, pod by pod."""
    pods = [(index, name) for index, node in enumerate(state.nodes) for w, name in node.pinned if w == workload]
    ref = model.setup.workloads[workload].ref
    yield Fact(f"{len(pods)} pod(s) of {ref} without a node", ref, shape=WAITING)
    for index, name in pods[:MOST_NODES]:
        row = judge_pinned(model, state, workload, index)
        yield Fact(f"{name} may only run on {model.names[index]}: {_refusal(row)}", shape=_why(row))


def judge_pinned(model: IndividualModel, state: State, workload: int, node: int) -> Row:
    """The scheduler's judgement of the one node that a pod of the workload may run on."""
    controller = next(
        c
        for c in working(model.plan.controllers, state.memories)
        if isinstance(c, PinnedScheduler) and c.workload == workload
    )
    place = next(number for number, place in enumerate(model.plan.layout.places) if node in place.nodes)
    there = [i for i in model.plan.layout.places[place].nodes if state.nodes[i].health != Health.ABSENT]
    position = there.index(node)
    return controller.judgement(model.show_to(controller, state), place, position)


def missing_reasons(model: IndividualModel, state: State, workload: int) -> Iterator[Said]:
    """Why pods of the workload are not created."""
    for controller in model.plan.controllers:
        if (
            isinstance(controller, (ReplicaSetController, StatefulSetController, DaemonSetController, JobController))
            and controller.workload == workload
        ):
            loop: Loop = controller
            refusal: Callable[..., Said] = controller.refusal
            reason = refusal(model.show_to(loop, state))
            if reason:
                yield reason


def _sum_up(rows: list[tuple[str, Row]]) -> Iterator[Fact]:
    """One line per reason, with the first node that has it as an example."""
    groups: dict[tuple[str, str], list[tuple[str, Row]]] = {}
    for name, row in rows:
        groups.setdefault((row.rejected_by, row.reason), []).append((name, row))
    for members in groups.values():
        name, row = members[0]
        yield Fact(f"{len(members)} node(s), e.g. {name}: {_refusal(row)}", shape=_why(row))


def final_facts(model: IndividualModel, state: State, monitor: Monitor) -> tuple[Fact, ...]:
    """What a reader should know about the last state."""
    lines: list[Fact] = []
    if monitor.intent.key == "drainCompletes":
        lines += _drain_refusals(model, state, monitor)
    for index in find_concerned(model, monitor):
        if model.setup.workloads[index].owner and is_unused(model, state, index):
            continue
        if model.setup.workloads[index].resized:
            lines += _size_facts(model, state, index)
        elif model.setup.workloads[index].ordinal is None:
            lines.append(_counts(model, state, index))
        if model.setup.workloads[index].rules.counts_completions:
            lines += _job_facts(model, state, index)
        lines += pending_reasons(model, state, index)
        lines += (Fact(one, shape=one.shape) for one in missing_reasons(model, state, index))
        lines += _explain_misrouted(model, state, index)
    if monitor.temporal is not None and model.is_stable(state):
        lines.append(Fact("nothing changes any more until an event comes, and none need come", shape="at rest"))
    return tuple(lines)


def _size_facts(model: IndividualModel, state: State, workload: int) -> Iterator[Fact]:
    """What pods of one size request, and how many there are."""
    declared = model.setup.workloads[workload]
    pods = sum(pod.workload == workload for node in state.nodes for pod in node.pods) + len(state.unbound[workload])
    cpu, memory = (request_milli(declared.template, resource) for resource in (CPU, MEMORY))
    told = f"{pods} of these pods are {declared.name}: {cpu}m of cpu, {memory // 1000} of memory requested"
    yield Fact(told, shape="some of a size" if pods else "none of a size")


def _explain_misrouted(model: IndividualModel, state: State, workload: int) -> Iterator[Fact]:
    """Which pods still get traffic although they have been told to stop, where that is followed."""
    if workload not in model.plan.mechanics.routes:
        return
    for node in state.nodes:
        for pod in (pod for pod in node.pods if pod.workload == workload and is_stopped(pod.kind)):
            if pod.kind.route_s >= 0:
                told = f"proxies may send to it for up to {pod.kind.route_s} s more"
                yield Fact(f"{pod.name} has been told to stop; {told}", shape="proxies have not heard")
            elif pod.kind.route_s == PUBLISHED:
                told = "publishNotReadyAddresses keeps it published until it is gone"
                yield Fact(f"{pod.name} has been told to stop; {told}", shape=told)
            elif pod.kind.route_s == SERVING:
                told = "proxies send to it if no ready pod is left"
                yield Fact(f"{pod.name} has been told to stop; {told}", shape=told)


def _job_facts(model: IndividualModel, state: State, workload: int) -> Iterator[Fact]:
    """How far a Job has come."""
    ref, spec = model.setup.workloads[workload].ref, state.specs[workload]
    condition = CONDITION_NAMES.get(spec.noted)
    if condition is not None:
        yield Fact(f"{ref}: condition {condition}", shape=f"condition {condition}")
    elif spec.noted == REPLACED:
        yield Fact(f"{ref}: deleted to start another before it was complete", shape="replaced")
    elif spec.exists:
        own = (c for c in model.plan.controllers if isinstance(c, JobController) and c.workload == workload)
        yield from (
            Fact(f"{ref}: {line}", shape=line.shape) for loop in own for line in loop.why(model.show_to(loop, state))
        )


def is_unused(model: IndividualModel, state: State, workload: int) -> bool:
    """True for a revision that was never asked for: it has neither a ReplicaSet nor pods; for a Job never started."""
    if model.setup.workloads[workload].rules.counts_completions:
        return not state.specs[workload].exists and state.specs[workload].noted != REPLACED
    has_pods = any(pod.workload == workload for node in state.nodes for pod in node.pods) or state.unbound[workload]
    return state.specs[workload].replicas < 0 and not has_pods and not _count_pinned(state, workload)


def _drain_refusals(model: IndividualModel, state: State, monitor: Monitor) -> list[Fact]:
    """Why evictions of drained nodes are refused."""
    refs = {one.workload: model.setup.workloads[one.workload].ref for one in _drains(model, state, monitor)}
    found = [(one, line) for one in _drains(model, state, monitor) for line in one.refusals(model.show_to(one, state))]
    return [Fact(line, refs[one.workload], shape="eviction refused") for one, line in found]


def refusing_drains(model: IndividualModel, state: State, monitor: Monitor) -> list[DrainEviction]:
    """The controllers of evictions that are refused."""
    return [one for one in _drains(model, state, monitor) if one.refusals(model.show_to(one, state))]


def _drains(model: IndividualModel, state: State, monitor: Monitor) -> Iterator[DrainEviction]:
    """Those that evict pods of the workloads which an intent is about."""
    asked = frozenset(find_concerned(model, monitor))
    running = (one for one in working(model.plan.controllers, state.memories) if isinstance(one, DrainEviction))
    return (one for one in running if one.workload in asked)


def find_concerned(model: IndividualModel, monitor: Monitor) -> list[int]:
    """The workloads an intent is about, with the ReplicaSets of their later revisions once these exist."""
    setup = model.setup
    if monitor.temporal is not None:
        return list(monitor.temporal.workloads)
    target = monitor.intent.target
    chosen = [i for i, workload in enumerate(setup.workloads) if target is None or workload.ref == target]
    return list(dict.fromkeys(member for index in chosen for member in family(setup, index)))


def _counts(model: IndividualModel, state: State, workload: int) -> Fact:
    workloads = model.setup.workloads
    parts_of = [m for m in family(model.setup, workload) if workloads[m].ordinal is not None or workloads[m].resized]
    counted = (workload, *parts_of)  # a StatefulSet with its ordinals, a workload with pods of all sizes
    phases = [pod.phase for node in state.nodes for pod in node.pods if pod.workload in counted]
    ready = phases.count(Phase.READY)
    ending = phases.count(Phase.TERMINATING)
    parts = {
        "desired": max(0, _count_wanted(state, workload, model)),
        "ready": ready,
        "not ready": len(phases) - ready - ending,
        "without a node": sum(len(state.unbound[w]) for w in counted) + _count_pinned(state, workload),
        **({"terminating": ending} if ending else {}),
    }
    told = ", ".join(f"{word} {number}" for word, number in parts.items())
    shape = ", ".join(word for word, number in parts.items() if number)
    return Fact(f"{model.setup.workloads[workload].ref}: {told}", shape=shape)


def _count_pinned(state: State, workload: int) -> int:
    return sum(owner == workload for node in state.nodes for owner, _ in node.pinned)


def _count_wanted(state: State, workload: int, model: IndividualModel) -> int:
    spec = state.specs[workload]
    return spec.replicas if model.setup.workloads[workload].owner else spec.desired
