"""From a setup, events and intents to the controllers and monitors that take part in a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, product
from typing import TYPE_CHECKING

from kubeproof.cluster.control import Controller
from kubeproof.cluster.objects import (
    CRON_JOB,
    DAEMON_SET,
    DEPLOYMENT,
    JOB,
    JOBS,
    POD,
    REPLICA_SET,
    ROLLED_OUT,
    STATEFUL_SET,
    Setup,
    Workload,
    family,
    revisions_of,
)
from kubeproof.cluster.places import Layout
from kubeproof.cluster.policies import HorizontalPodAutoscaler
from kubeproof.cluster.priorities import has_priorities
from kubeproof.cluster.state import NEVER
from kubeproof.cluster.usage import CPU, DEFAULT_PERCENT, Level, UsageRule
from kubeproof.cluster.volumes import class_of, open_claims
from kubeproof.controllers.deployment import DeploymentController
from kubeproof.controllers.guard import Guard, guarded
from kubeproof.controllers.kubelet import Kubelet
from kubeproof.controllers.late import (
    CronJobController,
    DaemonSetController,
    DrainEviction,
    EndpointController,
    GitOpsController,
    JobController,
    RolloutController,
    StatefulSetController,
    VolumeController,
)
from kubeproof.controllers.node_lifecycle import NodeMonitor, NoExecuteTainter
from kubeproof.controllers.replicaset import ReplicaSetController
from kubeproof.controllers.taint_eviction import TaintEviction
from kubeproof.errors import InternalError, UsageError
from kubeproof.events.budget_change import BudgetEvent, budgets_after
from kubeproof.events.common import EventSource
from kubeproof.events.declarations import (
    EVERY_REVISION,
    INITIAL_REVISION,
    STABLE,
    Apply,
    BudgetChange,
    Completes,
    Cordon,
    CpuLoad,
    Create,
    CreateNode,
    Delete,
    Drain,
    Event,
    KernelPanic,
    Maintenance,
    NeverReady,
    NodeFailure,
    NodeRemoval,
    PodCrash,
    Rollout,
    Scale,
    Unreachable,
    UsageChange,
    UsagePattern,
    ZoneFailure,
    is_drain,
)
from kubeproof.events.late import (
    CordonEvent,
    DeleteEvent,
    DrainEvent,
    DrainProgress,
    KernelPanicEvent,
    LevelEvent,
    NodeFailureEvent,
    NodeJoinEvent,
    NodeRecoveryEvent,
    NodeRemovalEvent,
    PodCrashEvent,
    RolloutEvent,
    ScaleEvent,
    UnreachableEvent,
    WriteEvent,
    ZoneFailureEvent,
    ZoneRecoveryEvent,
)
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates import most_failed_asked
from kubeproof.model.mechanics import Ages
from kubeproof.model.ordinals import revision_templates
from kubeproof.model.shared import recall_of, shared_loops
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.controllers.hpa.settings import AutoscalerSettings

ANY_NUMBER = -1
MOST_BUDGET_CHANGES = 3  # every set of them has loops of its own
NO_GUARD: Guard = ()
MOST_REVISIONS = 20  # each is a workload of its own to every loop


def built_in_controllers(
    layout: Layout, events: tuple[Event, ...] = (), claims: tuple[int, ...] = ()
) -> tuple[Controller, ...]:
    """The control loops for every workload and place; those that only an event calls for come with it.

    `claims` are the memories of the claims whose volume is decided during the run.
    """
    loops: list[Controller] = []
    drains = any(is_drain(event) for event in events)
    evicts = drains or layout.setup.cluster_autoscaler is not None
    variants = _with_budgets(layout, events)
    for index, workload in enumerate(layout.setup.workloads):
        loops += owner_loops(layout, index)
        for variant, guard in variants if has_priorities(layout.setup) else ((layout, NO_GUARD),):
            shared = shared_loops(variant)
            is_daemon = workload.kind == DAEMON_SET
            loop = shared.pinned_scheduler(index) if is_daemon else shared.scheduler(index, claims)
            loops.append(guarded(loop, guard))
        if evicts and workload.kind != DAEMON_SET:  # drains leave daemon pods alone
            loops += [guarded(DrainEviction(variant, index), guard) for variant, guard in variants]
    for place in layout.every_place:
        loops += [Kubelet(layout, place), TaintEviction(layout, place), NodeMonitor(layout, place)]
        if drains:
            loops.append(DrainProgress(layout, place))
    binders = (VolumeController(layout, position, claims) for position in _bound_at_once(layout.setup))
    return (*loops, NoExecuteTainter(layout, takes_several_down(events)), *binders)


def _with_budgets(layout: Layout, events: tuple[Event, ...]) -> tuple[tuple[Layout, Guard], ...]:
    """The layout with the budgets that there are, for every set of changes to them that may have happened."""
    numbered = [(index, event) for index, event in enumerate(events) if isinstance(event, BudgetChange)]
    if not numbered:
        return ((layout, NO_GUARD),)
    setup, changes = layout.setup, [event for _, event in numbered]
    if setup.descheduler is not None or setup.cluster_autoscaler is not None or setup.verticals:
        problem = "budgets that come, go or change beside a descheduler, a cluster autoscaler or a vertical one"
        raise UsageError(f"{problem} are not modelled", "Leave either out")
    if len(changes) > MOST_BUDGET_CHANGES:
        raise UsageError(f"{len(changes)} budgets come, go or change", f"Allow at most {MOST_BUDGET_CHANGES}")
    found = []
    for happened in product((False, True), repeat=len(changes)):
        variant = replace(setup, budgets=budgets_after(setup.budgets, changes, happened))
        guard = tuple((index, (0 if done else 1,)) for (index, _), done in zip(numbered, happened, strict=True))
        found.append((replace(layout, setup=variant), guard))
    return tuple(found)


def takes_several_down(events: tuple[Event, ...]) -> bool:
    """True if several nodes may be down at once."""
    failures = sum(2 if e.max is None else e.max for e in events if isinstance(e, NodeFailure | KernelPanic))
    return failures > 1 or any(isinstance(event, ZoneFailure) for event in events)


def endpoint_loops(layout: Layout, routes: Mapping[int, tuple[int, int]]) -> Iterator[Controller]:
    """Who tells proxies about pods that terminate, where something asks for that."""
    if any(route != (NEVER, NEVER) for route in routes.values()):
        yield from (EndpointController(layout, place) for place in layout.every_place)


def _bound_at_once(setup: Setup) -> Iterator[int]:
    """The positions of the open claims that do not wait for a pod."""
    for position, number in enumerate(open_claims(setup)):
        found = class_of(setup, setup.claims[number])
        if found is None or not found.waits:
            yield position


def owner_loops(layout: Layout, index: int) -> Iterator[Controller]:
    """The loops that keep up a workload's pods; a bare Pod has none."""
    workload = layout.setup.workloads[index]
    sizes = family(layout.setup, index)
    if workload.kind == DAEMON_SET:
        if workload.owner is None:
            yield DaemonSetController(layout, index)
        return
    if workload.kind == STATEFUL_SET:
        if workload.owner is None:
            yield StatefulSetController(layout, index)
        return
    if workload.kind in JOBS:
        return  # their loops have clocks: `job_loops`
    if workload.kind == DEPLOYMENT:
        has_revisions = revisions_of(layout.setup, index) > 1
        yield RolloutController(layout, index) if has_revisions else DeploymentController(layout, index)
    if workload.kind != POD and not any(layout.setup.workloads[one].resized for one in (index, *sizes)):
        yield ReplicaSetController(layout, index)


@dataclass(frozen=True, slots=True)
class EventPart:
    """The events of a scenario as controllers, with the memories they start with."""

    sources: tuple[Controller, ...]
    memories: tuple[tuple[int, ...], ...]
    absent: frozenset[int]  # workloads that an event brings


def event_sources(layout: Layout, events: tuple[Event, ...]) -> EventPart:
    """One source per event (two for failures that recover); memory i belongs to event i."""
    memories = tuple(_first_memory(event) for event in events)
    numbers = {event.name: index for index, event in enumerate(events)}
    rules = usage_rules(layout.setup, events)
    sources: list[Controller] = []
    absent: set[int] = set()
    for index, event in enumerate(events):
        awaited = None if event.after in (None, STABLE) else numbers[str(event.after)]
        full = () if awaited is None else memories[awaited]
        source = EventSource(layout, event, index, awaited, full)
        sources += _sources_of(source, event, rules)
        absent |= set(_brought(layout.setup, event))
    return EventPart(tuple(sources), memories, frozenset(absent))


def _first_memory(event: Event) -> tuple[int, ...]:
    if isinstance(event, Scale):
        return ((1 << len(event.replicas)) - 1,)
    most = ANY_NUMBER if event.max is None else event.max
    if isinstance(event, UsageChange | CpuLoad):
        return (event.initial, most)
    if isinstance(event, Unreachable):
        return (0, most)
    if isinstance(event, ZoneFailure):
        return (most, 0)
    return (most, 0) if isinstance(event, Cordon) else (most,)


def _sources_of(source: EventSource, event: Event, rules: tuple[UsageRule, ...]) -> Iterator[Controller]:
    setup = source.layout.setup
    if isinstance(event, NodeFailure):
        yield NodeFailureEvent(source, event)
        if event.recovers:
            yield NodeRecoveryEvent(source, event)
    elif isinstance(event, ZoneFailure):
        yield ZoneFailureEvent(source, event)
        if event.recovers:
            yield ZoneRecoveryEvent(source, event)
    elif isinstance(event, Cordon):
        yield CordonEvent(source, event)
    elif isinstance(event, Drain | Maintenance):
        yield DrainEvent(source, event)
    elif isinstance(event, NodeRemoval):
        yield NodeRemovalEvent(source, event)
    elif isinstance(event, UsageChange | CpuLoad):
        yield LevelEvent(source, len(event.levels), event.moves)
    elif isinstance(event, Unreachable):
        yield UnreachableEvent(source, event)
        if event.recovers:
            yield UnreachableEvent(source, event, ends=True)
    elif isinstance(event, KernelPanic):
        yield KernelPanicEvent(source, event, rules)
    elif isinstance(event, Scale):
        yield ScaleEvent(source, event, workload_number(setup, event.target))
    elif isinstance(event, Rollout):
        number = workload_number(setup, event.target)
        yield RolloutEvent(source, number, revisions_of(setup, number), event.back)
    elif isinstance(event, PodCrash):
        yield PodCrashEvent(source, family(setup, workload_number(setup, event.target)))
    elif isinstance(event, Delete):
        yield DeleteEvent(source, workload_number(setup, event.target))
    elif isinstance(event, UsagePattern | NeverReady | Completes):
        return  # not moments: they say how pods are
    elif isinstance(event, BudgetChange):
        yield BudgetEvent(source, event)
    elif isinstance(event, CreateNode):
        place = source.layout.named(event.node)
        assert place is not None, event
        yield NodeJoinEvent(source, place)
    elif isinstance(event, Create):
        yield WriteEvent(source, event.name, workload_number(setup, event.target), None)
    elif isinstance(event, Apply):
        number = workload_number(setup, event.workload.ref)
        replicas = _applied_replicas(setup.workloads[number], event)
        yield WriteEvent(source, event.name, number, replicas, _applied_template(setup, number, event))
    else:
        raise InternalError(f"E700 nobody knows what event {event.name} does")


def never_ready(setup: Setup, events: tuple[Event, ...]) -> frozenset[int]:
    """The workloads (or later revisions) whose pods never become ready."""
    found: set[int] = set()
    for event in events:
        if isinstance(event, NeverReady):
            number = workload_number(setup, event.target)
            members = family(setup, number)
            if setup.workloads[number].kind == STATEFUL_SET:
                members = members[1:]  # its pods are those of its ordinals
            initial = len(members) // revisions_of(setup, number)
            first, later = members[:initial], members[initial:]
            found |= set({EVERY_REVISION: members, INITIAL_REVISION: first}.get(event.revision, later))
    return frozenset(found)


def most_failed(setup: Setup, intents: tuple[Intent, ...]) -> tuple[int, ...]:
    """Per workload, up to how many failed pods are counted: one more than a property allows."""
    most = [0] * len(setup.workloads)
    for intent in intents:
        if intent.key == "maxPodObjects" and intent.count is not None and "Failed" in (intent.phases or ("Failed",)):
            everyone = tuple(range(len(most)))
            counted = everyone if intent.target is None else family(setup, workload_number(setup, intent.target))
            for member in counted:
                most[member] = max(most[member], intent.count.number + 1)
        asked = most_failed_asked(intent)
        most = [max(known, asked) for known in most]
    return tuple(most)


@dataclass(frozen=True, slots=True)
class AdjustingPart:
    """The periodic loops that change what others keep up: autoscalers, descheduler, GitOps; with first memories."""

    loops: tuple[Controller, ...]
    memories: tuple[tuple[int, ...], ...]


def adjusting_loops(layout: Layout, events: tuple[Event, ...], past_git: frozenset[int] = frozenset()) -> AdjustingPart:
    """The periodic loops of a setup; their memories follow those of the events."""
    setup = layout.setup
    part = _autoscalers(layout, events)
    if setup.descheduler is not None:
        loop = shared_loops(layout).descheduler(len(events) + len(part.loops))
        memory = (0, setup.settings.descheduler_interval_s)
        part = AdjustingPart((*part.loops, loop), (*part.memories, memory))
    if setup.settings.gitops_interval_s is not None:
        part = _with_gitops(part, layout, events, past_git)
    jobs = _job_loops(layout, len(events) + len(part.memories))
    return AdjustingPart((*part.loops, *jobs.loops), (*part.memories, *jobs.memories))


def _with_gitops(
    part: AdjustingPart, layout: Layout, events: tuple[Event, ...], past_git: frozenset[int]
) -> AdjustingPart:
    """The loops with a reconciler for every workload that one keeps up."""
    from kubeproof.controllers.gitops import reconciled

    numbers = reconciled(layout.setup, past_git)
    first = len(events) + len(part.loops)
    loops = tuple(_reconciler(layout, events, number, first + at) for at, number in enumerate(numbers))
    return AdjustingPart((*part.loops, *loops), (*part.memories, *((0, loop.interval_s) for loop in loops)))


def _job_loops(layout: Layout, first: int) -> AdjustingPart:
    """The loops of Jobs and CronJobs; their memories begin with the number `first`."""
    setup = layout.setup
    jobs = [number for number, workload in enumerate(setup.workloads) if workload.kind == JOB]
    crons = [number for number, workload in enumerate(setup.workloads) if workload.kind == CRON_JOB]
    if not jobs and not crons:
        return AdjustingPart((), ())
    from kubeproof.controllers.cronjob import AT_REST
    from kubeproof.controllers.job import first_memory

    memory_of = {number: first + at for at, number in enumerate((*jobs, *crons))}
    loops: list[Controller] = [JobController(layout, number, memory_of[number]) for number in jobs]
    for number in crons:
        started = family(setup, number)[1:]
        memories = tuple(memory_of[job] for job in started)
        loops.append(CronJobController(layout, number, memory_of[number], started, memories))
    fresh = tuple(first_memory(setup.workloads[number].job) for number in jobs)
    return AdjustingPart(tuple(loops), (*fresh, *(AT_REST for _ in crons)))


def group_loops(layout: Layout, events: tuple[Event, ...], memory: int, claims: tuple[int, ...]) -> AdjustingPart:
    """The cluster autoscaler, whose memory this is, and the machines of its groups; empty without one."""
    flags = layout.setup.cluster_autoscaler
    if flags is None:
        return AdjustingPart((), ())
    from kubeproof.model.machines import machine_loops

    return machine_loops(layout, events, memory, claims)


def vertical_loops(layout: Layout, events: tuple[Event, ...], first: int) -> AdjustingPart:
    """The vertical pod autoscalers, whose memories begin here, and the ReplicaSets that they change the pods of."""
    setup = layout.setup
    if not setup.verticals:
        return AdjustingPart((), ())
    from kubeproof.controllers.resized_replicaset import ResizedReplicaSet
    from kubeproof.controllers.vpa.controller import VpaController
    from kubeproof.model.sizes import rules_of, working

    loops: list[Controller] = []
    memories: list[tuple[int, ...]] = []
    for vpa in working(setup, events):
        target = workload_number(setup, vpa.target)
        if not any(setup.workloads[one].resized for one in family(setup, target)):
            continue  # what it recommends is what stands in the manifest
        own_rules = tuple(rule for rule in usage_rules(setup, events) if rule.workload == target)
        memory = first + len(memories)
        loop = VpaController(layout, vpa, target, memory, own_rules, rules_of(setup))
        loops += [loop, ResizedReplicaSet(layout, target, memory)]
        memories.append((0, loop.period_s, 0))
    return AdjustingPart(tuple(loops), tuple(memories))


def _reconciler(layout: Layout, events: tuple[Event, ...], number: int, memory: int) -> GitOpsController:
    """The reconciler of one workload; what a create event brings is committed by that event."""
    interval_s = layout.setup.settings.gitops_interval_s
    assert interval_s is not None
    commits = tuple(
        (index, _first_memory(event)) for index, event in enumerate(events) if number in _brought(layout.setup, event)
    )
    return GitOpsController(layout, number, memory, interval_s, commits)


def _autoscalers(layout: Layout, events: tuple[Event, ...]) -> AdjustingPart:
    setup = layout.setup
    working = working_autoscalers(setup)
    if not working:
        return AdjustingPart((), ())
    from kubeproof.controllers.hpa.ahead import first_memory
    from kubeproof.controllers.hpa.controller import HpaController

    rules = usage_rules(setup, events)
    settings = autoscaler_settings(setup)
    loops: list[Controller] = []
    for autoscaler in working:
        target = workload_number(setup, autoscaler.target)
        own_rules = tuple(rule for rule in rules if rule.workload == target)
        memory = len(events) + len(loops)
        rivals = _is_ambiguous(setup, autoscaler)
        recall = recall_of(setup, target, autoscaler, own_rules, settings)
        loops.append(
            HpaController(layout, autoscaler, target, memory, own_rules, rivals, settings=settings, recall=recall)
        )
    return AdjustingPart(tuple(loops), (first_memory(settings.sync_period_s),) * len(loops))


def working_autoscalers(setup: Setup) -> tuple[HorizontalPodAutoscaler, ...]:
    """The autoscalers whose target is in the input; others find nothing to scale."""
    known = {workload.ref for workload in setup.workloads if workload.kind not in JOBS}
    return tuple(autoscaler for autoscaler in setup.autoscalers if autoscaler.target in known)


def autoscaler_settings(setup: Setup) -> AutoscalerSettings:
    """The autoscaler's flags."""
    from kubeproof.controllers.hpa.settings import AutoscalerSettings

    flags = setup.settings
    return AutoscalerSettings(
        version=flags.kubernetes_version,
        tolerance=flags.hpa_tolerance_permille / 1000,
        downscale_stabilization_s=flags.downscale_stabilization_s,
        sync_period_s=flags.hpa_period_s,
    )


def _is_ambiguous(setup: Setup, autoscaler: HorizontalPodAutoscaler) -> bool:
    """True if another autoscaler of the namespace selects pods of this one's target."""
    target = setup.workloads[workload_number(setup, autoscaler.target)]
    labels = dict(target.template.labels)
    rivals = [other for other in working_autoscalers(setup) if other is not autoscaler]
    return any(
        other.namespace == autoscaler.namespace
        and setup.workloads[workload_number(setup, other.target)].selector.matches(labels)
        for other in rivals
    )


def usage_rules(setup: Setup, events: tuple[Event, ...]) -> tuple[UsageRule, ...]:
    """What pods use; where they have several sizes in amounts that do not follow their requests."""
    rules = _usage_rules(setup, events)
    if not any(workload.resized for workload in setup.workloads):
        return rules
    from kubeproof.model.sizes import absolute

    return absolute(setup, rules)


def _usage_rules(setup: Setup, events: tuple[Event, ...]) -> tuple[UsageRule, ...]:
    """What the events say about the usage of pods, for all revisions of a workload; memory i belongs to event i."""
    rules: list[UsageRule] = []
    for index, event in enumerate(events):
        if isinstance(event, UsageChange | CpuLoad | UsagePattern):
            rule = _usage_rule(event, index)
            members = family(setup, workload_number(setup, event.target))
            rules += [rule._replace(workload=member) for member in members]
    for index, event in enumerate(events):
        if isinstance(event, Unreachable):
            rules = _cut_off(rules, family(setup, workload_number(setup, event.target)), event, index)
    return tuple(rules)


def _cut_off(rules: list[UsageRule], members: tuple[int, ...], event: Unreachable, memory: int) -> list[UsageRule]:
    """The rules when the CPU use of these workloads also depends on whether they get traffic."""
    idle = Level(event.idle.percent, event.idle.amount_milli)
    told = {rule.workload for rule in rules if rule.resource == CPU}
    usual = [UsageRule(CPU, member, (Level(DEFAULT_PERCENT),)) for member in members if member not in told]
    return [
        rule._replace(cut=memory, idle=idle) if rule.resource == CPU and rule.workload in members else rule
        for rule in (*rules, *usual)
    ]


def _usage_rule(event: UsageChange | CpuLoad | UsagePattern, memory: int) -> UsageRule:
    if isinstance(event, CpuLoad):
        totals = tuple(Level(None, total) for total in event.levels)
        return UsageRule(CPU, -1, totals, memory, is_shared=True)
    if isinstance(event, UsageChange):
        levels = tuple(Level(level.percent, level.amount_milli) for level in event.levels)
        return UsageRule(event.resource, -1, levels, memory)
    levels = tuple(Level(usage.percent, usage.amount_milli) for usage, _ in event.phases)
    ends = tuple(accumulate(seconds for _, seconds in event.phases if seconds is not None))
    return UsageRule(event.resource, -1, levels, until_s=ends)


def may_run_unready(setup: Setup, events: tuple[Event, ...]) -> frozenset[int]:
    """The workloads whose pods may run without being ready: probed, crashed, never ready, or on a silent node."""
    everybody = frozenset(range(len(setup.workloads)))
    if any(isinstance(event, NodeFailure | ZoneFailure | KernelPanic | PodCrash) for event in events):
        return everybody
    probed = {w for w in everybody if setup.workloads[w].template.readiness is not None}
    return never_ready(setup, events) | probed


def ages_that_matter(setup: Setup, rules: tuple[UsageRule, ...], unready: frozenset[int]) -> Ages:
    """Per workload, the pod ages at which its usage or an autoscaler's trust in it changes, ascending.

    The initialization period is about pods that run without being ready; all others are trusted after one sample.
    """
    ages: list[set[int]] = [set() for _ in setup.workloads]
    for rule in rules:
        ages[rule.workload] |= set(rule.until_s)
    for autoscaler in working_autoscalers(setup):
        from kubeproof.controllers.hpa.controller import ages_read

        if any(metric.name == CPU for metric in autoscaler.metrics):
            for member in family(setup, workload_number(setup, autoscaler.target)):
                ages[member] |= set(ages_read(autoscaler_settings(setup), may_be_unready=member in unready))
    return tuple(tuple(sorted(own)) for own in ages)


def _applied_replicas(existing: Workload, event: Apply) -> int | None:
    """What an apply makes of spec.replicas; None leaves the live value.

    A manifest that omits the field leaves it alone only if the manifest applied before omitted it, too; otherwise
    the three-way merge removes it and defaulting sets 1 (semantics section 2.7). A bare Pod has none.
    """
    if event.workload.kind in (POD, DAEMON_SET, CRON_JOB):
        return None
    keeps = not event.replicas_given and not existing.replicas_given
    return None if keeps else event.workload.replicas


def _applied_template(setup: Setup, workload: int, event: Apply) -> int | None:
    """Which revision of the Deployment has the pod template that is applied; None if the Deployment never changes."""
    templates = revision_templates(setup, workload)
    if len(templates) == 1:
        return None
    return templates.index(event.workload.template) if event.workload.template in templates else None


def _brought(setup: Setup, event: Event) -> Iterator[int]:
    if isinstance(event, Create):
        yield workload_number(setup, event.target)


def started_later(setup: Setup) -> frozenset[int]:
    """The Jobs that are not there before their CronJob starts them."""
    return frozenset(number for number, w in enumerate(setup.workloads) if w.kind == JOB and w.owner is not None)


def workload_number(setup: Setup, ref: str) -> int:
    """The index of a workload by its reference."""
    return next(i for i, workload in enumerate(setup.workloads) if workload.ref == ref)


def with_revisions(setup: Setup, events: tuple[Event, ...]) -> Setup:
    """The setup with a ReplicaSet for every later revision that a rollout event may bring."""
    later: list[Workload] = []
    for event in events:
        if isinstance(event, Rollout) and not event.back:
            declared = setup.workloads[workload_number(setup, event.target)]
            known = sum(other.owner == declared.ref for other in later)
            for number in range(known + 2, known + 2 + event.max):
                name = f"{declared.name}-rev{number}"
                kind = _revision_kind(declared)
                later.append(replace(declared, kind=kind, name=name, replicas=0, owner=declared.ref))
        elif isinstance(event, Apply) and event.workload.kind in ROLLED_OUT:
            later += _applied_revision(setup, event, later)
    if len(later) > MOST_REVISIONS:
        raise UsageError(f"events may bring {len(later)} further revisions", f"Allow at most {MOST_REVISIONS} in all")
    return replace(setup, workloads=(*setup.workloads, *later))


def _revision_kind(declared: Workload) -> str:
    """What stands for a later revision: a Deployment's own ReplicaSet, of other kinds pods of the same owner."""
    return REPLICA_SET if declared.kind == DEPLOYMENT else declared.kind


def _applied_revision(setup: Setup, event: Apply, later: list[Workload]) -> list[Workload]:
    """The ReplicaSet for the pod template that is applied, unless a revision with it is known."""
    declared = setup.workloads[workload_number(setup, event.workload.ref)]
    own = [other for other in later if other.owner == declared.ref]
    if any(known.template == event.workload.template for known in (declared, *own)):
        return []
    name = f"{declared.name}-rev{len(own) + 2}"
    template = event.workload.template
    kind = _revision_kind(declared)
    return [replace(declared, kind=kind, name=name, replicas=0, owner=declared.ref, template=template)]


def with_applied(setup: Setup, events: tuple[Event, ...]) -> tuple[Setup, frozenset[int]]:
    """The setup with workloads that only an apply brings, and their indices."""
    known = {workload.ref for workload in setup.workloads}
    extra = []
    for event in events:
        if isinstance(event, Apply) and event.workload.ref not in known:
            known.add(event.workload.ref)
            extra.append(event.workload)
    first = len(setup.workloads)
    whole = replace(setup, workloads=(*setup.workloads, *extra))
    return whole, frozenset(range(first, first + len(extra)))
