"""Proofs for workloads that share their nodes with others, one part at a time.

What a part does depends on the others in three ways: they take room, they sway the scheduler's choice among nodes, and
their clocks make time pass in other portions. So the part is searched with a scheduler that may take any node that the
part's own rules admit, and without clocks (`kubeproof.model.asynchronous`), which allows all that the others can bring
about and more, provided that a node with room is always left. That follows from sizes: on the nodes that no
event hits, others and the part itself have at most so many pods, and so many cannot fill every node.
`docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kubeproof.cluster.counted import foreign_to
from kubeproof.cluster.labels import NO_EXECUTE, NO_SCHEDULE, Taint
from kubeproof.cluster.objects import (
    DEPLOYMENT,
    REPLICA_SET,
    Container,
    Node,
    PodTemplate,
    Workload,
)
from kubeproof.cluster.places import UNREACHABLE, UNSCHEDULABLE
from kubeproof.cluster.policies import HorizontalPodAutoscaler, Metric
from kubeproof.cluster.profiles import NODE_AFFINITY, NODE_UNSCHEDULABLE, TAINT_TOLERATION
from kubeproof.cluster.usage import DEFAULT_PERCENT
from kubeproof.controllers.scheduler.controller import SchedulerController
from kubeproof.controllers.scheduler.plugins.node_affinity import required_affinity_matches
from kubeproof.controllers.scheduler.plugins.taint_toleration import keeps_pods_off
from kubeproof.controllers.scheduler.registry import SCORE_ORDER
from kubeproof.controllers.scheduler.requests import pod_requests
from kubeproof.events.declarations import Drain, Event, NodeFailure, UsageChange
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.asynchronous import asynchronous
from kubeproof.model.orders import EVERY_ORDER
from kubeproof.model.plan import Plan
from kubeproof.verify.coarser import proofs
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import Statistics
from kubeproof.verify.searching import Beginning, Watch, one_search, statistics_of
from kubeproof.verify.slicing import Slice

PROVABLE = frozenset(
    {
        *("settles", "noPendingForever", "schedulable", "noOscillation", "noCreateFailLoop", "noEvictionLoop"),
        *("minReady", "minReplicas", "maxReplicas", "drainCompletes"),
    }
)
PODS = "pods"
RULES = frozenset({NODE_AFFINITY, NODE_UNSCHEDULABLE, TAINT_TOLERATION})  # by which `_admits` tells nodes
MARKS = (Taint(UNSCHEDULABLE, "", NO_SCHEDULE), Taint(UNREACHABLE, "", NO_SCHEDULE))  # of nodes that events hit
Planned = Callable[[Loaded], Plan]
Amounts = Mapping[str, int]


def may_be_proved(loaded: Loaded) -> bool:
    """True if all workloads are plain: what deletes pods is a size that falls, a lost node, or a drain."""
    setup, scenario = loaded.setup, loaded.scenario
    return (
        scenario.start.mode == "empty"
        and not setup.quotas
        and not any(profile.added_affinity or profile.disabled & RULES for profile in setup.profiles)
        and not any(taint.effect == NO_EXECUTE for node in setup.nodes for taint in node.taints)
        and all(_is_plain(workload) for workload in setup.workloads)
        and all(_is_plain_event(event) for event in scenario.events)
    )


def _is_plain(workload: Workload) -> bool:
    """True for pods that no node accepts while an event has hit it: they would come back to it again and again."""
    template = workload.template
    containers = (*template.containers, *template.init_containers)
    return (
        workload.kind in (DEPLOYMENT, REPLICA_SET)
        and workload.owner is None
        and not (workload.refused or workload.paused or template.claims or template.node_name)
        and not any(container.host_ports for container in containers)
        and not any(toleration.tolerates(mark) for toleration in template.tolerations for mark in MARKS)
    )


def _is_plain_event(event: Event) -> bool:
    if isinstance(event, Drain):
        return event.max is not None and not event.uncordon  # who is uncordoned when depends on the others' pods
    return isinstance(event, UsageChange) or (isinstance(event, NodeFailure) and event.max is not None)


def freed(part: Slice) -> Loaded | None:
    """The part for a scheduler that may choose any node its own rules admit; None if an autoscaler works on it."""
    setup, scenario = part.loaded.setup, part.loaded.scenario
    if tuple(working(part.loaded)):
        return None
    smaller = replace(
        setup,
        nodes=tuple(replace(node, images=(), pods=_MANY) for node in setup.nodes),
        workloads=tuple(replace(w, template=_weightless(w.template)) for w in setup.workloads),
        profiles=tuple(replace(profile, disabled_score=frozenset(SCORE_ORDER)) for profile in setup.profiles),
        autoscalers=(),
    )
    events = tuple(event for event in scenario.events if not isinstance(event, UsageChange))
    intents = tuple(intent for intent in scenario.intents if intent.key in PROVABLE)
    return replace(part.loaded, setup=smaller, scenario=replace(scenario, events=events, intents=intents))


_MANY = 1_000_000  # pods that a node takes


def working(loaded: Loaded) -> Iterator[HorizontalPodAutoscaler]:
    """The autoscalers that may ever write a size.

    One does not whose target begins at the minimum and whose pods, never above half of their requests, stay below all
    utilizations it aims at: nothing asks for more, and the minimum allows no less. That takes the target's own pods
    alone: with those of others it may want as many as all of them, although none uses much.
    """
    moved = {event.target for event in loaded.scenario.events if isinstance(event, UsageChange)}
    replicas = {workload.ref: workload.replicas for workload in loaded.setup.workloads}
    for autoscaler in loaded.setup.autoscalers:
        rests = autoscaler.target not in moved and replicas.get(autoscaler.target) == autoscaler.min_replicas
        is_alone = autoscaler.target in replicas and not foreign_to(loaded.setup, autoscaler)
        if not (rests and is_alone and all(_is_above_usage(metric) for metric in autoscaler.metrics)):
            yield autoscaler


def _is_above_usage(metric: Metric) -> bool:
    is_share = metric.type == "Resource" and metric.target_type == "Utilization"
    return is_share and metric.value >= DEFAULT_PERCENT


def _weightless(template: PodTemplate) -> PodTemplate:
    def light(container: Container) -> Container:
        return replace(container, cpu_milli=None, memory_bytes=None, others=())

    return replace(
        template,
        containers=tuple(light(container) for container in template.containers),
        init_containers=tuple(light(container) for container in template.init_containers),
        overhead=(),
    )


class Proofs(NamedTuple):
    """The numbers of the whole's intents that hold in a part whatever the others do, and what that took."""

    intents: frozenset[int] = frozenset()
    statistics: Statistics | None = None  # None: nothing was searched


def proofs_of(loaded: Loaded, part: Slice, planned: Planned, options: VerifyOptions, watch: Watch) -> Proofs:
    """What is proved of one part."""
    free = freed(part)
    if free is None or not free.scenario.intents:
        return Proofs()
    plan = planned(free)
    if not always_finds_room(loaded, part, plan):
        return Proofs()
    system, search = one_search(asynchronous(plan), EVERY_ORDER, Beginning(()), options, watch.unsaved)
    numbers = [number for number in part.intents if loaded.scenario.intents[number].key in PROVABLE]
    held = zip(numbers, proofs(system.checks, search, _certain(free)), strict=True)
    return Proofs(frozenset(number for number, holds in held if holds), statistics_of(search, plan))


def _certain(free: Loaded) -> frozenset[int]:
    """The intents about drains, if one may begin at the very start: then there is a state that they speak of."""
    begins = any(
        isinstance(event, Drain) and event.after is None and any(event.nodes.admits(node) for node in free.setup.nodes)
        for event in free.scenario.events
    )
    keys = [intent.key for intent in free.scenario.intents]
    return frozenset(number for number, key in enumerate(keys) if begins and key == "drainCompletes")


# -- room -------------------------------------------------------------------------------------------


def always_finds_room(loaded: Loaded, part: Slice, plan: Plan) -> bool:
    """True if every pod of the part finds a node with room among those that the rules admit, whatever the others do."""
    refs = frozenset(part.workloads)
    schedulers = {
        plan.setup.workloads[c.workload].ref: c for c in plan.controllers if isinstance(c, SchedulerController)
    }
    taken = _most_requested(loaded)
    return all(
        _finds_room(loaded, workload, taken, schedulers[workload.ref])
        for workload in loaded.setup.workloads
        if workload.ref in refs
    )


def _finds_room(loaded: Loaded, workload: Workload, taken: Amounts, scheduler: SchedulerController) -> bool:
    """True if not all admitted nodes can be full at once, or none where rules compare nodes with each other.

    As many nodes as events may hit are left out of account: what is full of pods that end is among them.
    """
    hit = sum(event.max or 0 for event in loaded.scenario.events if not isinstance(event, UsageChange))
    admitted = [node for node in loaded.setup.nodes if _admits(node, workload)]
    full = _most_full(admitted, workload, taken, loaded.setup.settings.kubernetes_version)
    return full == 0 or (full < len(admitted) - hit and not scheduler.kernel.compares_nodes_by)


def _admits(node: Node, workload: Workload) -> bool:
    template = workload.template
    is_open = required_affinity_matches(template, dict(node.labels), node.name) and not node.unschedulable
    return is_open and not keeps_pods_off(node.taints, template.tolerations)


def _most_full(nodes: Sequence[Node], workload: Workload, taken: Amounts, version: tuple[int, int]) -> int:
    """How many of the nodes may have no room for a pod of the workload, at most, if all others took so much."""
    own = {**pod_requests(workload.template, version).true, PODS: 1}
    full = 0
    for resource, amount in own.items():
        least_free = min((dict(_capacity(node)).get(resource, 0) for node in nodes), default=0) - amount
        if amount and least_free < 0:
            return len(nodes)
        full += taken.get(resource, 0) // (least_free + 1) if amount else 0
    return full


def _capacity(node: Node) -> Iterator[tuple[str, int]]:
    yield from (("cpu", node.cpu_milli), ("memory", node.memory_bytes), (PODS, node.pods))
    yield from node.others


def _most_requested(loaded: Loaded) -> Amounts:
    """What all pods of all workloads request together, at their largest, on nodes that no event hits."""
    setup = loaded.setup
    total: dict[str, int] = {}
    for workload in setup.workloads:
        requests = {**pod_requests(workload.template, setup.settings.kubernetes_version).true, PODS: 1}
        count = _most_pods(loaded, workload)
        for resource, amount in requests.items():
            total[resource] = total.get(resource, 0) + count * amount
    return total


def _most_pods(loaded: Loaded, workload: Workload) -> int:
    """Pods of a workload that count as replicas, and those that an autoscaler let end within one grace period."""
    found = [autoscaler for autoscaler in working(loaded) if autoscaler.target == workload.ref]
    if not found:
        return workload.replicas
    most = max(workload.replicas, *(autoscaler.max_replicas for autoscaler in found))
    least = min(workload.replicas, *(autoscaler.min_replicas for autoscaler in found))
    rounds = 1 + workload.template.grace_s // loaded.setup.settings.hpa_period_s
    return most + rounds * (most - least)
