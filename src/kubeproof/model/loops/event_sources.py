"""The events of a scenario as controllers."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.control import Loop
from kubeproof.cluster.objects import POD, family, revisions_of, workload_number
from kubeproof.cluster.places import Layout
from kubeproof.cluster.usage import UsageRule
from kubeproof.errors import InternalError
from kubeproof.events.budget_change import BudgetEvent
from kubeproof.events.common import ANY_NUMBER, ANY_NUMBER_BUT_NONE_YET, EventSource
from kubeproof.events.cordon import CordonEvent
from kubeproof.events.declarations import (
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
    marks_nodes,
)
from kubeproof.events.drain import DrainEvent
from kubeproof.events.node_failure import NodeFailureEvent, NodeRecoveryEvent
from kubeproof.events.node_join import NodeJoinEvent
from kubeproof.events.node_removal import NodeRemovalEvent
from kubeproof.events.operator import DeleteEvent, RolloutEvent, ScaleEvent, WriteEvent
from kubeproof.events.pod_crash import PodCrashEvent
from kubeproof.events.usage import KernelPanicEvent, LevelEvent, UnreachableEvent
from kubeproof.events.zone_failure import ZoneFailureEvent, ZoneRecoveryEvent
from kubeproof.model.expansion.revisions import applied_replicas, applied_template, brought
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.memories import EVENT, MemoryCell, MemoryName
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class EventPart:
    """The events of a scenario as controllers, with the memories they start with."""

    sources: tuple[Loop, ...]
    memories: tuple[MemoryCell, ...]
    absent: frozenset[int]  # workloads that an event brings


def event_sources(layout: Layout, events: tuple[Event, ...], asked: frozenset[str] = frozenset()) -> EventPart:
    """One source per event (two for failures that recover); memory i belongs to event i.

    Of events that are `asked` for by name somebody wants to know whether they have happened.
    """
    followed = {name for event in events for name in event.awaited} | {e.name for e in events if e.must} | asked
    memories = tuple(
        MemoryCell(MemoryName(EVENT, (event.name,)), event_memory(event, is_followed=event.name in followed))
        for event in events
    )
    numbers = {event.name: index for index, event in enumerate(events)}
    rules = usage_rules(layout.setup, events)
    sources: list[Loop] = []
    absent: set[int] = set()
    marks: dict[str, int] = {}
    for index, event in enumerate(events):
        awaited = tuple(numbers[name] for name in event.awaited)
        full = tuple(memories[number].first for number in awaited)
        if marks_nodes(event):
            marks[event.name] = 1 << len(marks)
        source = EventSource(layout, event, index, awaited, full, marks.get(event.name, 0))
        made = [_admitted(layout, one) for one in _sources_of(source, event, rules)]
        sources += _promised(made, memories[index].first) if event.must else made
        absent |= set(brought(layout.setup, event))
    return EventPart(tuple(sources), memories, frozenset(absent))


def _promised(sources: list[Loop], first: tuple[int, ...]) -> list[Loop]:
    """The sources of an event that must happen: the first one begins it, what follows ends what has begun."""
    begins, *ends = sources
    if isinstance(begins, NodeJoinEvent) and begins.source.event.after is None:
        return sources  # a node of the input joins in any case
    from kubeproof.events.promise import promised

    return [*promised(begins, first), *ends]


def event_memory(event: Event, *, is_followed: bool = False) -> tuple[int, ...]:
    """What an event remembers before it has ever happened.

    If it `is_followed`, somebody asks whether it has: then it never remembers the same again.
    """
    if isinstance(event, Scale):
        return ((1 << len(event.replicas)) - 1,)
    endless = ANY_NUMBER_BUT_NONE_YET if is_followed else ANY_NUMBER
    most = endless if event.max is None else event.max
    if isinstance(event, UsageChange | CpuLoad):
        return (event.initial, most)
    if isinstance(event, Unreachable):
        return (0, most)
    if isinstance(event, ZoneFailure):
        return (most, 0)
    return (most, 0) if isinstance(event, Cordon) else (most,)


def _admitted(layout: Layout, event: Loop) -> Loop:
    """The event; where it brings a bare Pod that quotas mean, only as far as these have room."""
    setup = layout.setup
    if not setup.quotas or not isinstance(event, WriteEvent) or setup.workloads[event.workload].kind != POD:
        return event
    from kubeproof.controllers.quota import ration_of
    from kubeproof.model.expansion.admission import AdmittedPod

    ration = ration_of(setup, event.workload)
    return event if ration is None else AdmittedPod(event, ration)


def _sources_of(source: EventSource, event: Event, rules: tuple[UsageRule, ...]) -> Iterator[Loop]:
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
        replicas = applied_replicas(setup.workloads[number], event)
        yield WriteEvent(source, event.name, number, replicas, applied_template(setup, number, event))
    else:
        raise InternalError(f"E700 nobody knows what event {event.name} does")
