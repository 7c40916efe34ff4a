"""The events of a scenario as controllers."""

from __future__ import annotations

from functools import partial

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.memories import MemoryCell, MemoryName
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.events.common import ANY_NUMBER, ANY_NUMBER_BUT_NONE_YET, REMEMBERS, Around, EventSource
from kubeproof.events.declarations import Apply, Event, marks_nodes
from kubeproof.model.expansion.revisions import apply_replicas, apply_template, find_brought
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.layout import mention_event
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
        MemoryCell(MemoryName(REMEMBERS, (event.name,)), event_memory(event, is_followed=event.name in followed))
        for event in events
    )
    numbers = {event.name: index for index, event in enumerate(events)}
    around = Around(usage_rules(layout.setup, events), partial(_apply, layout.setup))
    sources: list[Loop] = []
    absent: set[int] = set()
    marks: dict[str, int] = {}
    for index, event in enumerate(events):
        awaited = tuple(numbers[name] for name in event.awaited)
        full = tuple(memories[number].first for number in awaited)
        if marks_nodes(event):
            marks[event.name] = 1 << len(marks)
        source = EventSource(show_to(event, layout), event, index, awaited, full, marks.get(event.name, 0))
        made = [_admit(layout, one) for one in event.sources(source, around)]
        sources += _promise(made, memories[index].first) if event.must and not event.happens_anyway else made
        absent |= set(find_brought(layout.setup, event))
    return EventPart(tuple(sources), memories, frozenset(absent))


def show_to(event: Event, layout: Layout) -> Layout:
    """The layout of which an event reads what it mentions."""
    return layout.show_to(f"event {event.name}", lambda found: mention_event(found, layout.setup, event))


def _promise(sources: list[Loop], first: tuple[int, ...]) -> list[Loop]:
    """The sources of an event that must happen: the first one begins it, what follows ends what has begun."""
    from kubeproof.events.promise import promise

    begins, *ends = sources
    return [*promise(begins, first), *ends]


def event_memory(event: Event, *, is_followed: bool = False) -> tuple[int, ...]:
    """What an event remembers before it has ever happened.

    If it `is_followed`, somebody asks whether it has: then it never remembers the same again.
    """
    endless = ANY_NUMBER_BUT_NONE_YET if is_followed else ANY_NUMBER
    most: int | None = event.max
    return event.first_memory(endless if most is None else most)


def _apply(setup: Setup, number: int, event: Apply) -> tuple[int | None, int | None]:
    """The replicas and the revision that an apply writes; None leaves what is there."""
    return apply_replicas(setup.workloads[number], event), apply_template(setup, number, event)


def _admit(layout: Layout, event: Loop) -> Loop:
    """The event; where it brings a bare Pod that quotas mean, only as far as these have room."""
    setup = layout.setup
    if not setup.quotas:
        return event
    from kubeproof.events.operator import WriteEvent

    if not isinstance(event, WriteEvent) or not setup.workloads[event.workload].rules.is_pod:
        return event
    from kubeproof.controllers.admission.quota import ration_of
    from kubeproof.model.expansion.admission import AdmittedPod

    ration = ration_of(setup, event.workload)
    return event if ration is None else AdmittedPod(event, ration)
