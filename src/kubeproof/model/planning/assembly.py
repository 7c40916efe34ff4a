"""The loops and events of a plan, each with the memories it keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.making import Before, Making, Memories
from kubeproof.cluster.loops.memories import MemoryCell, MemoryName
from kubeproof.cluster.loops.mentions import Mentions
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.volumes import CHOSEN, open_claims
from kubeproof.controllers.loops import LOOPS
from kubeproof.events.declarations import Event
from kubeproof.intents.declarations import Intent
from kubeproof.intents.monitor import Monitor, make_monitor
from kubeproof.intents.predicates.asked import EventMemory, events_asked, mention_nodes
from kubeproof.model.expansion.revisions import find_brought
from kubeproof.model.loops.adjusting import adjusting_loops, group_loops, vertical_loops
from kubeproof.model.loops.assembly import build_controllers, endpoint_loops
from kubeproof.model.loops.event_sources import event_memory, event_sources
from kubeproof.model.planning.given import Given, OwnLoop
from kubeproof.named_tuples import NamedTuple


class Assembly(NamedTuple):
    """Who acts, who watches, and what they remember."""

    controllers: tuple[Loop, ...]
    events: tuple[Loop, ...]
    monitors: tuple[Monitor, ...]
    memories: tuple[MemoryCell, ...]
    claims: tuple[int, ...]  # memories that hold the volumes of claims
    absent: frozenset[int]  # workloads that an event brings


def show_to(loop: OwnLoop, layout: Layout) -> Layout:
    """The layout of which a user's loop reads the labels that it names, and no others."""

    def mention(found: Mentions) -> None:
        found.numeric_keys |= set(loop.labels)

    return layout.show_to("an own controller", mention)


def show_to_intent(intent: Intent, layout: Layout) -> Layout:
    """The layout of which an intent's facts read what it mentions."""
    return layout.show_to(f"intent {intent.name}", lambda found: mention_nodes(found, intent, layout.setup))


def assemble(given: Given, layout: Layout, routes: Mapping[int, tuple[int, int]]) -> Assembly:
    """The loops, events and monitors; memories of events come first, then those of loops, of claims, of autoscalers."""
    setup, events, memories = given.setup, given.events, Memories()
    asked = frozenset(name for intent in given.intents for name in events_asked(intent))
    sources = event_sources(layout, events, asked)
    numbers = memories.add(sources.memories)
    at_once = _find_created_at_once(given)
    adjusting = adjusting_loops(layout, events)
    memories.add(adjusting.memories)
    making = Making(layout, memories, at_once, given.applied, partial(_find_brought, setup, events))
    listed = [loop for kind in LOOPS if kind.exists_in(setup) for loop in kind.make(making)]
    claims = memories.add([MemoryCell(MemoryName(CHOSEN, (setup.claims[n].key,)), (0,)) for n in open_claims(setup)])
    grouping = group_loops(layout, events, memories.next, claims)
    memories.add(grouping.memories)
    vertical = vertical_loops(layout, events, memories.next)
    memories.add(vertical.memories)
    known = {
        e.name: EventMemory(number, memories.cells[number].first) for e, number in zip(events, numbers, strict=True)
    }
    return Assembly(
        controllers=(
            *build_controllers(layout, events, claims, at_once),
            *endpoint_loops(layout, routes),
            *adjusting.loops,
            *listed,
            *grouping.loops,
            *vertical.loops,
            *(loop.make(show_to(loop, layout)) for loop in given.own),
        ),
        events=sources.sources,
        monitors=tuple(make_monitor(intent, show_to_intent(intent, layout), known) for intent in given.intents),
        memories=tuple(memories.cells),
        claims=claims,
        absent=sources.absent,
    )


def _find_brought(setup: Setup, events: tuple[Event, ...], workload: int) -> tuple[Before, ...]:
    """The events that bring a workload: each with its memory before it."""
    numbered = ((index, event) for index, event in enumerate(events) if workload in find_brought(setup, event))
    return tuple((index, event_memory(event)) for index, event in numbered)


def _find_created_at_once(given: Given) -> frozenset[int]:
    """The workloads whose missing pods are created in one step: all without quotas."""
    if not given.setup.quotas:
        return given.everybody
    if given.own:
        return frozenset()
    from kubeproof.model.reductions.bursts import find_created_at_once

    present = Counter({ref: sum(count for _, count in spots) for ref, spots in given.placement})
    for one in given.running:
        present[one.ref] += one.number
    return find_created_at_once(given.setup, given.events, present)
