"""Nodes that never fail of overload, because no more pods come to one than it bears."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.events.declarations import KernelPanic
from kubeproof.intents.declarations import BY_KERNEL_PANIC
from kubeproof.intents.monitor import CYCLE, STEP, Monitor
from kubeproof.values import replace
from kubeproof.verify.proofs.any_size.by_sizes import MOST_ON_A_NODE, Ties
from kubeproof.verify.proofs.any_size.evenly import find_ties_of_evenness
from kubeproof.verify.proofs.any_size.family import Family

if TYPE_CHECKING:
    from kubeproof.events.usage import KernelPanicEvent


def may_panic(family: Family) -> bool:
    """True if nodes may fail of overload."""
    return any(isinstance(event, KernelPanic) for event in family.loaded.scenario.events)


def without_panics(family: Family) -> Family:
    """The same input without them: all of its runs, if they never come."""
    scenario = family.loaded.scenario
    kept = tuple(event for event in scenario.events if not isinstance(event, KernelPanic))
    return family.of(replace(family.loaded, scenario=replace(scenario, events=kept)))


def find_ties_of_load(family: Family) -> Ties | None:
    """What sizes must keep to for no node ever to fail of overload; None: it may.

    As long as none has failed pods are spread evenly, so that a node has at most its share, rounded up; and a node with
    so many pods does not fail. So none is the first to fail.
    """
    from kubeproof.events.usage import KernelPanicEvent  # few sweeps have one

    calm = without_panics(family)
    even = find_ties_of_evenness(calm)
    others = [workload for n, workload in enumerate(family.plan.setup.workloads) if n != family.number]
    panics = [event for event in family.plan.events if isinstance(event, KernelPanicEvent)]
    if even is None or others or any(event.awaited for event in calm.loaded.scenario.events):
        return None
    borne = _count_borne(family, panics)
    return (*even, family.term(pods=-1, nodes=borne)) if borne else None


def _count_borne(family: Family, panics: list[KernelPanicEvent]) -> int:
    """How many pods a node bears, whatever they use."""
    places = family.plan.layout.every_place
    for own in range(1, MOST_ON_A_NODE):
        if not all(event.stays_up(place, family.number, own) for event in panics for place in places):
            return own - 1
    return MOST_ON_A_NODE


def is_about_panics(monitor: Monitor) -> bool:
    """True for an intent that forbids them and nothing else."""
    return monitor.kind in (CYCLE, STEP) and monitor.fact is None and monitor.intent.by == BY_KERNEL_PANIC
