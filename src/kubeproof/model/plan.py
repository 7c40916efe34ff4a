"""Everything that defines one run of the model, before it is given a representation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import field, replace
from functools import partial
from typing import NamedTuple

from kubeproof.cluster.control import ANY, Arrive, Loop, NodeRef, PeriodicLoop, as_periodic
from kubeproof.cluster.footprint import ON_NODES, Footprint, Writes, awake, footprint_of
from kubeproof.cluster.near_nodes import Tells
from kubeproof.cluster.objects import DAEMON_SET, JOBS, POD, STATEFUL_SET, Setup, family, workload_number
from kubeproof.cluster.places import Layout
from kubeproof.cluster.running import RunningPods
from kubeproof.cluster.services import route_after_deletion
from kubeproof.cluster.state import Health, NodeCell, WorkloadCell
from kubeproof.cluster.volumes import open_claims
from kubeproof.events.declarations import Event, NodeChoice, written_by
from kubeproof.intents.declarations import Intent
from kubeproof.intents.monitor import Monitor, make_monitor
from kubeproof.intents.predicates import (
    EventMemory,
    events_asked,
    followed_targets,
    most_terminating_asked,
    targeted,
    targets_of,
)
from kubeproof.model.expansion.cron import run_times, with_cron_jobs
from kubeproof.model.expansion.ordinals import with_ordinals
from kubeproof.model.expansion.revisions import never_ready, started_later, with_applied, with_revisions
from kubeproof.model.expansion.running import with_running, with_waiting
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.layout import (
    MOST_SPLIT,
    MOST_SPLIT_AT_WORK,
    alike,
    arrived_for_good,
    make_layout,
    mentions,
    split_small,
    symmetric_domains,
    unread,
)
from kubeproof.model.loops.adjusting import (
    adjusting_loops,
    ages_that_matter,
    group_loops,
    jobs_counted,
    lives_that_matter,
    may_run_unready,
    vertical_loops,
)
from kubeproof.model.loops.assembly import built_in_controllers, endpoint_loops, most_failed
from kubeproof.model.loops.event_sources import event_sources
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.memories import CLAIM, MemoryCell, MemoryName
from kubeproof.values import dataclass

RESIZING = Writes.SIZES | Writes.TEMPLATES | Writes.REMOVALS  # after which a ReplicaSet may have to choose victims
Placement = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


class OwnLoop(NamedTuple):
    """A user's own controller: how to make it for a layout, and the node labels it reads."""

    make: Callable[[Layout], Loop]
    labels: tuple[str, ...] = ()


class Near(NamedTuple):
    """The same run with nodes of nearly the same size as one class, as far as nothing tells them apart."""

    classes: int
    plan: Callable[[tuple[Tells, ...]], Plan]  # may raise NodeSizeMatters with one more answer that tells them apart


@dataclass(frozen=True, slots=True)
class Plan:
    """A layout with its controllers, events and monitors, and the cells a run starts from."""

    layout: Layout
    controllers: tuple[Loop, ...]
    events: tuple[Loop, ...]
    monitors: tuple[Monitor, ...]
    mechanics: Mechanics
    workloads: tuple[WorkloadCell, ...]
    memories: tuple[tuple[int, ...], ...]  # what each holds at first
    nodes: tuple[NodeCell, ...]  # one per node of the setup
    domains: tuple[tuple[tuple[int, ...], ...], ...]  # families of interchangeable blocks of places
    classes: int = 0  # kinds of nodes that something tells apart
    kin: tuple[int, ...] = ()  # per workload the one as which its pods count: another one for equal bare Pods
    unread: tuple[str, ...] = ()  # labels and resources of nodes that nothing reads
    claims: tuple[int, ...] = ()  # memories that hold the volumes of claims; a new run keeps them
    declared: tuple[Event, ...] = ()  # the events as the Scenario has them
    memory_names: tuple[MemoryName, ...] = ()  # whose each of the memories is
    near: Near | None = field(default=None, compare=False)  # None: no nodes nearly equal each other
    by_size: Plan | None = field(default=None, compare=False)  # of a plan that joins such nodes: the one that does not

    @property
    def setup(self) -> Setup:
        return self.layout.setup

    def deploying(self) -> Plan:
        """The same cluster while it is being deployed: no events, no properties, no periodic loop."""
        placing = tuple(controller for controller in self.controllers if as_periodic(controller) is None)
        return replace(self, controllers=placing, events=(), monitors=())

    @property
    def periodic(self) -> tuple[PeriodicLoop, ...]:
        """The controllers with a clock."""
        return tuple(p for controller in self.controllers if (p := as_periodic(controller)) is not None)

    @property
    def footprints(self) -> tuple[Footprint, ...]:
        """What those of the actors that may ever do something say of themselves; none is at work on a node yet."""
        every = tuple(map(footprint_of, self.actors))
        return every if any(cell.work for cell in self.nodes) else awake(every)

    @property
    def actors(self) -> tuple[Loop, ...]:
        """Controllers, then events, in the order in which the search asks them."""
        return (*self.controllers, *self.events)


def make_plan(
    setup: Setup,
    events: tuple[Event, ...] = (),
    intents: tuple[Intent, ...] = (),
    *,
    placement: Placement = (),
    running: tuple[RunningPods, ...] = (),
    own: tuple[OwnLoop, ...] = (),
    merge: bool = True,
    told_apart: tuple[NodeChoice, ...] = (),
    told_by: tuple[Tells, ...] | None = None,
) -> Plan:
    """The plan for a setup; with `merge` off no two nodes are taken as equal.

    Nodes that a choice of `told_apart` admits are never taken as equal to others. With `told_by`, nodes of nearly the
    same size are, unless one of its answers tells them apart: the loops raise NodeSizeMatters where another one does.
    """
    again = partial(
        make_plan, setup, events, intents, placement=placement, running=running, merge=merge, told_apart=told_apart
    )
    targets = _named(setup, events, intents, placement) | {one.ref for one in running}
    setup = arrived_for_good(setup, targets) if merge and not own else setup
    setup, applied = with_applied(setup, events)
    setup = with_cron_jobs(with_ordinals(with_revisions(setup, events), events), events)
    if setup.verticals:
        from kubeproof.model.expansion.sizes import with_sizes

        setup = with_sizes(setup, events, usage_rules(setup, events))
    names = [*(node for _, spots in placement for node, _ in spots), *(one.node for one in running if one.node)]
    found = mentions(setup, events, intents, names, told_apart)
    found.numeric_keys |= {key for loop in own for key in loop.labels}
    layout = make_layout(setup, found, merge=merge, told_by=told_by)
    classes = len(layout.places)
    may_join = merge and told_by is None and not own and _may_join(setup)
    joined = len(make_layout(setup, found, told_by=()).places) if may_join else classes
    most = MOST_SPLIT_AT_WORK if _works_on_nodes(setup, events) else MOST_SPLIT
    layout, domains = split_small(layout, symmetric_domains(layout, found), most) if merge else (layout, ())
    part = event_sources(layout, events, frozenset(name for intent in intents for name in events_asked(intent)))
    known = {e.name: EventMemory(i, cell.first) for i, (e, cell) in enumerate(zip(events, part.memories, strict=True))}
    everybody = frozenset(range(len(setup.workloads)))
    at_once = everybody if not setup.quotas else frozenset() if own else _at_once(setup, events, placement, running)
    adjusting = adjusting_loops(layout, events, applied, at_once)
    kin = alike(setup, targets) if merge and not own else tuple(range(len(setup.workloads)))
    unready = may_run_unready(setup, events) if merge and not own and not running else everybody
    mechanics = Mechanics(
        setup,
        ages_that_matter(setup, usage_rules(setup, events), unready),
        most_failed=most_failed(setup, intents),
        kept=jobs_counted(setup),
        never_ready=never_ready(setup, events),
        most_asked=max((most_terminating_asked(intent) for intent in intents), default=0),
        runs_s=run_times(setup, events),
        routes=_routes(setup, intents),
        lives=lives_that_matter(setup, events, usage_rules(setup, events)),
        spare_ages=_spare_ages(setup, events),
    )
    absent = part.absent | applied | started_later(setup)
    earlier = len(part.memories) + len(adjusting.memories)
    volumes = tuple(MemoryCell(MemoryName(CLAIM, (setup.claims[n].key,)), (0,)) for n in open_claims(setup))
    claims = tuple(range(earlier, earlier + len(volumes)))
    grouping = group_loops(layout, events, earlier + len(claims), claims)
    vertical = vertical_loops(layout, events, earlier + len(claims) + len(grouping.memories))
    memories = (*part.memories, *adjusting.memories, *volumes, *grouping.memories, *vertical.memories)
    workloads = tuple(
        WorkloadCell(exists=0) if index in absent else mechanics.created(index) for index in range(len(setup.workloads))
    )
    return Plan(
        layout=layout,
        controllers=(
            *built_in_controllers(layout, events, claims, at_once),
            *endpoint_loops(layout, mechanics.routes),
            *adjusting.loops,
            *grouping.loops,
            *vertical.loops,
            *(loop.make(layout) for loop in own),
        ),
        events=part.sources,
        monitors=tuple(make_monitor(intent, layout, known) for intent in intents),
        mechanics=mechanics,
        workloads=with_waiting(setup, _placed_workloads(setup, workloads, placement, running), running),
        memories=tuple(memory.first for memory in memories),
        memory_names=tuple(memory.name for memory in memories),
        nodes=with_running(
            mechanics,
            _first_nodes(
                mechanics,
                absent | _placed(setup, placement, running),
                placement,
                kin,
                {str(e.one_node) for e in events if footprint_of(e).writes & Writes.ARRIVALS},
            ),
            running,
        ),
        kin=kin,
        domains=domains,
        classes=classes,
        unread=unread(setup, found),
        claims=claims,
        declared=events,
        near=Near(joined, lambda answers: again(told_by=answers)) if joined < classes else None,
    )


def _may_join(setup: Setup) -> bool:
    """True if nodes differ in size and everybody who reads sizes asks for all that a class has."""
    sizes = {(node.cpu_milli, node.memory_bytes, node.others) for node in setup.nodes}
    return len(sizes) > 1 and setup.cluster_autoscaler is None


def _at_once(
    setup: Setup, events: tuple[Event, ...], placement: Placement, running: tuple[RunningPods, ...]
) -> frozenset[int]:
    """The workloads whose missing pods are created in one step, although there are quotas."""
    from kubeproof.model.reductions.bursts import created_at_once

    present = Counter({ref: sum(count for _, count in spots) for ref, spots in placement})
    for one in running:
        present[one.ref] += one.number
    return created_at_once(setup, events, present)


def _routes(setup: Setup, intents: tuple[Intent, ...]) -> dict[int, tuple[int, int]]:
    """How long deleted pods go on getting traffic, for the workloads of which a property asks that."""
    targets = {target for intent in intents for target in followed_targets(intent)}
    followed = {number for target in targets for number in targeted(setup.workloads, target)}
    members = sorted({member for number in followed for member in family(setup, number)})
    return {member: route_after_deletion(setup, member) for member in members}


def _named(
    setup: Setup, events: tuple[Event, ...], intents: tuple[Intent, ...], placement: Placement
) -> frozenset[str]:
    """The references of the workloads that an event, a property, a predicate of one, or the placement names."""
    named = {str(ref) for ref in (*(e.subject for e in events), *(i.target for i in intents))}
    named |= {ref for ref, _ in placement}
    for target in (target for intent in intents for target in targets_of(intent)):
        named |= {setup.workloads[index].ref for index in targeted(setup.workloads, target)}
    return frozenset(named)


def _spare_ages(setup: Setup, events: tuple[Event, ...]) -> tuple[int, ...]:
    """For how long a node has to be unneeded until the cluster autoscaler may delete it; longer if it is not ready."""
    flags = setup.cluster_autoscaler
    if flags is None:
        return ()
    may_fail = bool(written_by(events) & Writes.FAILURES)
    return tuple(sorted({flags.unneeded_s, *((flags.unready_s,) if may_fail and flags.removes_unready else ())}))


def _works_on_nodes(setup: Setup, events: tuple[Event, ...]) -> bool:
    """True if something happens to single nodes, and no size falls: victims are chosen place by place."""
    written = written_by(events)
    return not setup.autoscalers and not written & RESIZING and bool(written & ON_NODES & ~Writes.ARRIVALS)


def _placed_workloads(
    setup: Setup, workloads: tuple[WorkloadCell, ...], placement: Placement, running: tuple[RunningPods, ...]
) -> tuple[WorkloadCell, ...]:
    """Placed workloads have their ReplicaSet already."""
    placed = _placed(setup, placement, running)
    return tuple(
        cell._replace(replicas=_size(setup, index, cell), unbound=0) if index in placed else cell
        for index, cell in enumerate(workloads)
    )


def _placed(setup: Setup, placement: Placement, running: tuple[RunningPods, ...]) -> frozenset[int]:
    """The workloads that the placement speaks of; a bare Pod that it puts nowhere begins as without it."""
    numbered = ((workload_number(setup, ref), sum(count for _, count in spots)) for ref, spots in placement)
    placed = frozenset(number for number, pods in numbered if pods or setup.workloads[number].kind != POD)
    return placed | {workload_number(setup, one.ref) for one in running}


def _size(setup: Setup, workload: int, cell: WorkloadCell) -> int:
    """The size of a placed workload's ReplicaSet; a bare Pod has none."""
    is_sized = setup.workloads[workload].kind not in (POD, DAEMON_SET, STATEFUL_SET, *JOBS)
    return cell.desired if is_sized else cell.replicas


def _first_nodes(
    mechanics: Mechanics, elsewhere: frozenset[int], placement: Placement, kin: tuple[int, ...], later: set[str]
) -> tuple[NodeCell, ...]:
    """The nodes with the pods that are there already; a pod that names its node never meets the scheduler.

    Workloads `elsewhere` are absent or placed. Nodes that an event brings `later` are not there.
    """
    setup = mechanics.setup
    numbers = {node.name: index for index, node in enumerate(setup.nodes)}
    cells = [
        NodeCell(
            health=Health.ABSENT if node.is_slot or node.name in later else Health.UP, cordoned=int(node.unschedulable)
        )
        for node in setup.nodes
    ]

    def put(name: str, workload: int, count: int, *, runs: bool) -> None:
        node = numbers[name]
        if runs:
            cells[node] = mechanics.running(setup.nodes[node], cells[node], workload, count)
        else:
            arrival = Arrive(NodeRef(node, ANY), workload, count)
            (cells[node],) = mechanics.on_node(setup.nodes[node], cells[node], arrival)

    for index, workload in enumerate(setup.workloads):
        if index not in elsewhere and workload.home in numbers:
            put(str(workload.home), kin[index], 1, runs=workload.bound_to is not None)
    for ref, spots in placement:
        number = workload_number(setup, ref)
        ordinals = iter(family(setup, number)[1:])  # of a StatefulSet, the lowest first
        for name, count in spots:
            if setup.workloads[number].kind == STATEFUL_SET:
                for _ in range(count):
                    put(name, next(ordinals), 1, runs=True)
            elif count:
                put(name, number, count, runs=True)
    return tuple(cells)
