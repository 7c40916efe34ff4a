"""Proofs without a search: how many pods a workload has, where nobody but its own loops decides about that.

A ReplicaSet creates or deletes its whole difference in one step, so a workload that has reached its size has afterwards
as many pods as one of the sizes that somebody writes. If no eviction, failure or deletion can take pods away, the least
and the largest size written are bounds for ever, whatever the order of steps. `docs/explanation/reductions.md` has the
argument; differential tests compare with the search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubeproof.cluster.objects import POD, family
from kubeproof.cluster.state import ACTIVE
from kubeproof.controllers.deployment import DeploymentController
from kubeproof.controllers.hpa.controller import HpaController
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.controllers.node_lifecycle import NodeMonitor, NoExecuteTainter
from kubeproof.controllers.replicaset import ReplicaSetController
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.controllers.taint_eviction import TaintEviction
from kubeproof.events.operator import ScaleEvent, WriteEvent
from kubeproof.events.usage import LevelEvent
from kubeproof.intents.facts import ReplicasAtLeast, ReplicasAtMost, count_pods
from kubeproof.intents.monitor import NEVER, Monitor
from kubeproof.model.grouped import JointObserver, Slots
from kubeproof.model.plan import Plan
from kubeproof.model.startup import is_evicted_by_taints

TAKE_NOBODY_ELSES = (
    DeploymentController, ReplicaSetController, SchedulerController, Kubelet, HpaController, NodeMonitor,
    NoExecuteTainter, TaintEviction,
)  # fmt: skip
Starts = tuple[tuple[Any, ...], ...]  # vectors of cells
EVENTS = (LevelEvent, ScaleEvent, WriteEvent)


def held_by_bounds(plan: Plan, starts: Starts) -> frozenset[int]:
    """The numbers of the monitors that hold because of the sizes that are ever written, from these first states."""
    if not starts or not _only_sizes_decide(plan):
        return frozenset()
    observer = JointObserver(plan, Slots(plan))
    seen = 0
    for cells in starts:
        views = tuple(observer.view(position, cells[slot]) for position, slot in enumerate(observer.reads))
        seen |= observer.flags(observer.observe(None, views))
    return frozenset(
        number
        for number, monitor in enumerate(plan.monitors)
        if seen >> 2 * number + 1 & 1 and _is_bounded(plan, monitor, starts)
    )


def _only_sizes_decide(plan: Plan) -> bool:
    loops = all(isinstance(controller, TAKE_NOBODY_ELSES) for controller in plan.controllers)
    return loops and all(isinstance(event, EVENTS) for event in plan.events)


def _is_bounded(plan: Plan, monitor: Monitor, starts: Starts) -> bool:
    fact = monitor.fact
    if monitor.kind != NEVER or not isinstance(fact, ReplicasAtLeast | ReplicasAtMost):
        return False
    if not _is_left_alone(plan, fact.workload):
        return False
    sizes = sorted({*_sizes_written(plan, fact.workload), *_sizes_at_start(plan, fact.workload, starts)})
    least, most = sizes[0], sizes[-1]
    if isinstance(fact, ReplicasAtLeast):
        return least >= max(fact.amount.of(least), fact.amount.of(most))
    return most <= min(fact.amount.of(least), fact.amount.of(most))


def _is_left_alone(plan: Plan, number: int) -> bool:
    """True if only the workload's own ReplicaSet deletes its pods, and it has one."""
    workload = plan.setup.workloads[number]
    return (
        workload.kind != POD
        and not workload.paused
        and not workload.template.node_name
        and len(family(plan.setup, number)) == 1
        and not is_evicted_by_taints(plan, number)
    )


def _sizes_written(plan: Plan, number: int) -> Iterator[int]:
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


def _sizes_at_start(plan: Plan, number: int, starts: Starts) -> Iterator[int]:
    """The sizes and the pods of the first states."""
    first_place = Slots(plan).first_place
    for cells in starts:
        workload = cells[1 + number]
        yield from (workload.desired, workload.replicas)
        yield workload.unbound + sum(count_pods(nodes, (number,), ACTIVE) for nodes in cells[first_place:])
