"""How large workloads get: every size that somebody writes, where only their own loops decide about their pods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from kubeproof.cluster.objects import DEPLOYMENT, POD, REPLICA_SET, family
from kubeproof.cluster.priorities import has_priorities
from kubeproof.cluster.state import ACTIVE
from kubeproof.controllers.deployment import DeploymentController
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.controllers.late import HpaController
from kubeproof.controllers.node_lifecycle import NodeMonitor, NoExecuteTainter
from kubeproof.controllers.replicaset import ReplicaSetController
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.controllers.taint_eviction import TaintEviction
from kubeproof.events.late import LevelEvent, ScaleEvent, UnreachableEvent, WriteEvent
from kubeproof.intents.facts import count_pods
from kubeproof.model.loops.actors import Slots
from kubeproof.model.plan import Plan
from kubeproof.model.reductions.starts_in_unison import is_evicted_by_taints

TAKE_NOBODY_ELSES = (
    DeploymentController, ReplicaSetController, SchedulerController, Kubelet, HpaController, NodeMonitor,
    NoExecuteTainter, TaintEviction,
)  # fmt: skip
EVENTS = (LevelEvent, UnreachableEvent, ScaleEvent, WriteEvent)
Starts = tuple[tuple[Any, ...], ...]  # vectors of cells


class Sizes(NamedTuple):
    """The least and the largest number of pods that a workload may ask for or have."""

    least: int
    most: int


def only_sizes_decide(plan: Plan) -> bool:
    """True if nothing happens to nodes, and nobody takes pods away but the ReplicaSet that owns them."""
    loops = all(isinstance(controller, TAKE_NOBODY_ELSES) for controller in plan.controllers)
    return loops and all(isinstance(event, EVENTS) for event in plan.events) and nobody_preempts(plan)


def nobody_preempts(plan: Plan) -> bool:
    """True if all pods have the same priority."""
    return not has_priorities(plan.setup)


def is_left_alone(plan: Plan, number: int) -> bool:
    """True if a workload has one ReplicaSet, whose pods no taint evicts and no kubelet rejects."""
    workload = plan.setup.workloads[number]
    return (
        workload.kind in (DEPLOYMENT, REPLICA_SET)
        and not workload.paused
        and not workload.template.node_name
        and len(family(plan.setup, number)) == 1
        and not is_evicted_by_taints(plan, number)
    )


def sizes_of(plan: Plan, number: int, starts: Starts) -> Sizes:
    """The sizes of a workload that is left alone, or the one of a bare Pod, from these first states on."""
    if plan.setup.workloads[number].kind == POD:
        return Sizes(0, 1)
    sizes = sorted({*_written(plan, number), *_at_start(plan, number, starts)})
    return Sizes(sizes[0], sizes[-1])


def _written(plan: Plan, number: int) -> Iterator[int]:
    """Every spec.replicas that somebody may write."""
    yield plan.setup.workloads[number].replicas
    for controller in plan.controllers:
        if isinstance(controller, HpaController) and number in controller.members:
            yield from (controller.autoscaler.min_replicas, controller.autoscaler.max_replicas)
    for event in plan.events:
        if isinstance(event, ScaleEvent) and event.workload == number:
            yield from event.event.replicas
        if isinstance(event, WriteEvent) and event.workload == number and event.replicas is not None:
            yield event.replicas


def _at_start(plan: Plan, number: int, starts: Starts) -> Iterator[int]:
    """The sizes and the pods of the first states."""
    for cells in starts:
        yield from (cells[1 + number].desired, cells[1 + number].replicas)
    yield from pods_at_start(plan, number, starts)


def pods_at_start(plan: Plan, number: int, starts: Starts) -> Iterator[int]:
    """How many pods of a workload there are in each of the first states."""
    first_place = Slots(plan).first_place
    for cells in starts:
        placed = sum(count_pods(nodes, (number,), ACTIVE) for nodes in cells[first_place:])
        yield cells[1 + number].unbound + placed
