"""From a setup and its events to the control loops that take part in a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import (
    Setup,
    family,
    revisions_of,
    workload_number,
)
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.steering.priorities import has_priorities
from kubeproof.cluster.volumes import class_of, open_claims
from kubeproof.controllers.evictions.taint_eviction import TaintEviction
from kubeproof.controllers.guard import Guard, guard_loop
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.controllers.late import (
    DaemonSetController,
    DrainEviction,
    EndpointController,
    RolloutController,
    StatefulSetController,
    VolumeController,
)
from kubeproof.controllers.node_lifecycle import NodeMonitor, NoExecuteTainter
from kubeproof.controllers.workloads.deployment import DeploymentController
from kubeproof.controllers.workloads.replicaset import ReplicaSetController
from kubeproof.errors import UsageError
from kubeproof.events.declarations import Event, is_drain
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import most_failed_asked
from kubeproof.model.loops.adjusting import foreign_counted
from kubeproof.model.loops.shared import share_loops

MOST_BUDGET_CHANGES = 3  # every set of them has loops of its own
NO_GUARD: Guard = ()


def build_controllers(
    layout: Layout,
    events: tuple[Event, ...] = (),
    claims: tuple[int, ...] = (),
    at_once: frozenset[int] = frozenset(),
) -> tuple[Loop, ...]:
    """The control loops for every workload and place; those that only an event calls for come with it.

    `claims` are the memories of the claims whose volume is decided during the run; `at_once` are the workloads whose
    missing pods are created in one step.
    """
    loops: list[Loop] = []
    drains = any(is_drain(event) for event in events)
    evicts = drains or layout.setup.cluster_autoscaler is not None
    variants = _with_budgets(layout, events)
    asked = variants if has_priorities(layout.setup) else ((layout, NO_GUARD),)
    schedulers = [(share_loops(variant), guard) for variant, guard in asked]  # once: finding them reads all workloads
    for index, workload in enumerate(layout.setup.workloads):
        loops += owner_loops(layout, index, at_once)
        for shared, guard in schedulers:
            is_daemon = workload.rules.runs_per_node
            loop = shared.make_pinned_scheduler(index) if is_daemon else shared.scheduler(index, claims)
            loops.append(guard_loop(loop, guard))
        if evicts and not workload.rules.runs_per_node:  # drains leave daemon pods alone
            loops += [guard_loop(DrainEviction(variant.to(DrainEviction), index), guard) for variant, guard in variants]
    per_place = tuple((kind, layout.to(kind)) for kind in (Kubelet, TaintEviction, NodeMonitor))
    for place in layout.every_place:
        loops += [kind(shown, place) for kind, shown in per_place]
        if drains:
            from kubeproof.events.nodes.drain import DrainProgress

            loops.append(DrainProgress(layout.to(DrainProgress), place))
    binders = (
        VolumeController(layout.to(VolumeController), position, claims)
        for position in _find_bound_at_once(layout.setup)
    )
    return (*loops, NoExecuteTainter(layout.to(NoExecuteTainter), takes_several_down(events)), *binders)


def _with_budgets(layout: Layout, events: tuple[Event, ...]) -> tuple[tuple[Layout, Guard], ...]:
    """The layout with the budgets that there are, for every set of changes to them that may have happened."""
    changes = [(index, event) for index, event in enumerate(events) if event.changes_budgets]
    if not changes:
        return ((layout, NO_GUARD),)
    setup = layout.setup
    if setup.descheduler is not None or setup.cluster_autoscaler is not None or setup.verticals:
        problem = "budgets that come, go or change beside a descheduler, a cluster autoscaler or a vertical one"
        raise UsageError(f"{problem} are not modelled", "Leave either out")
    if len(changes) > MOST_BUDGET_CHANGES:
        raise UsageError(f"{len(changes)} budgets come, go or change", f"Allow at most {MOST_BUDGET_CHANGES}")
    found = []
    for happened in product((False, True), repeat=len(changes)):
        budgets = setup.budgets
        for (_, event), done in zip(changes, happened, strict=True):
            budgets = event.write_budgets(budgets, has_happened=done)
        variant = replace(setup, budgets=budgets)
        guard = tuple((index, (0 if done else 1,)) for (index, _), done in zip(changes, happened, strict=True))
        found.append((replace(layout, setup=variant), guard))
    return tuple(found)


def takes_several_down(events: tuple[Event, ...]) -> bool:
    """True if several nodes may be down at once."""
    failing = [event for event in events if footprint_of(event).writes & Writes.FAILURES]
    return sum(2 if e.max is None else e.max for e in failing) > 1 or any(
        footprint_of(event).writes & Writes.OUTAGES for event in failing
    )


def endpoint_loops(layout: Layout, routes: Mapping[int, tuple[int, int]]) -> Iterator[Loop]:
    """Who tells proxies about pods that terminate, where something asks for that."""
    if any(route != (NEVER, NEVER) for route in routes.values()):
        yield from (EndpointController(layout.to(EndpointController), place) for place in layout.every_place)


def _find_bound_at_once(setup: Setup) -> Iterator[int]:
    """The positions of the open claims that do not wait for a pod."""
    for position, number in enumerate(open_claims(setup)):
        found = class_of(setup, setup.claims[number])
        if found is None or not found.waits:
            yield position


def owner_loops(layout: Layout, index: int, at_once: frozenset[int] = frozenset()) -> Iterator[Loop]:
    """The loops that keep up a workload's pods; a bare Pod has none."""
    workload = layout.setup.workloads[index]
    sizes = family(layout.setup, index)
    if workload.rules.runs_per_node:
        if workload.owner is None:
            yield DaemonSetController(layout.to(DaemonSetController), index, at_once=at_once >= {*sizes})
        return
    if workload.rules.has_ordinals:
        if workload.owner is None:
            yield StatefulSetController(layout.to(StatefulSetController), index, at_once=at_once >= {*sizes})
        return
    if workload.rules.runs_to_completion:
        return  # their loops have clocks: `job_loops`
    if workload.rules.owns_replica_sets:
        has_revisions = revisions_of(layout.setup, index) > 1
        yield (
            RolloutController(layout.to(RolloutController), index)
            if has_revisions
            else DeploymentController(layout.to(DeploymentController), index)
        )
    if not workload.rules.is_pod and not any(layout.setup.workloads[one].resized for one in (index, *sizes)):
        yield ReplicaSetController(layout.to(ReplicaSetController), index, at_once=index in at_once)


def most_failed(setup: Setup, intents: tuple[Intent, ...]) -> tuple[int, ...]:
    """Per workload, up to how many failed pods are counted: one more than a property allows.

    An autoscaler asks whether there is one at all: it wants the requests of failed pods, too.
    """
    listed = foreign_counted(setup) if setup.autoscalers else frozenset()
    most = [int(number in listed) for number in range(len(setup.workloads))]
    for intent in intents:
        if intent.key == "maxPodObjects" and intent.count is not None and "Failed" in (intent.phases or ("Failed",)):
            everyone = tuple(range(len(most)))
            counted = everyone if intent.target is None else family(setup, workload_number(setup, intent.target))
            for member in counted:
                most[member] = max(most[member], intent.count.number + 1)
        asked = most_failed_asked(intent)
        most = [max(known, asked) for known in most]
    return tuple(most)
