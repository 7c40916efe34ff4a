"""The cluster autoscaler and the machines of its groups as loops of a plan."""

from __future__ import annotations

from functools import partial

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.footprint import Writes, footprint_of
from kubeproof.cluster.loops.memories import MemoryCell, MemoryName
from kubeproof.cluster.nodes.places import Layout
from kubeproof.controllers.cluster_autoscaler.controller import REMEMBERS, ClusterAutoscalerController, first_memory
from kubeproof.controllers.cluster_autoscaler.machines import MachineArrival, MachineDeparture, Memories
from kubeproof.events.declarations import Event
from kubeproof.model.loops.adjusting import AdjustingPart
from kubeproof.model.loops.event_sources import show_to


def machine_loops(layout: Layout, events: tuple[Event, ...], memory: int, claims: tuple[int, ...]) -> AdjustingPart:
    """The loops with the first memory of the autoscaler; groups are backed off only where zones may be lost."""
    flags = layout.setup.cluster_autoscaler
    assert flags is not None
    told = tuple((index, event, footprint_of(event).writes) for index, event in enumerate(events))
    outages = tuple((index, event) for index, event, writes in told if Writes.OUTAGES in writes)
    numbers = tuple(index for index, _ in outages)
    lost = partial(_is_lost, layout, tuple(event for _, event in outages))
    joining = {event.one_node for _, event, writes in told if Writes.ARRIVALS in writes}
    brought = {layout.find_named(name) for name in joining if name is not None}
    reserved = frozenset(place for place in brought if place is not None)
    loops: list[Loop] = [ClusterAutoscalerController(layout.to(ClusterAutoscalerController), memory, claims, reserved)]
    for place, one in enumerate(layout.places):
        if one.sample.group:
            loops += [
                MachineArrival(layout.to(MachineArrival), place, memory, numbers, lost),
                MachineDeparture(layout.to(MachineDeparture), place, memory),
            ]
    first = first_memory(flags.scan_interval_s, len(flags.groups) if outages else 0)
    return AdjustingPart(tuple(loops), (MemoryCell(MemoryName(REMEMBERS), first),))


def _is_lost(layout: Layout, events: tuple[Event, ...], place: int, memories: Memories) -> bool:
    return any(
        event.is_domain_down(show_to(event, layout), place, memory)
        for event, memory in zip(events, memories, strict=True)
    )
