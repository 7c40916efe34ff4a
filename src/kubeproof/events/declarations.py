"""All events of a Scenario: the one list of them.

A new event is a module with its declaration and what makes it happen, and its name and keys here; what it has to say of
itself is in `kubeproof.events.event`. The module is imported when such an event is made, and all of them when any event
is read, as their keys have to be known. What one leaves out is an error then, and in tests. Other rooms take the
classes from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.footprint import NOTHING, Writes, footprint_of
from kubeproof.errors import InternalError
from kubeproof.events.event import (
    APPLIED,
    CREATED,
    DELETED,
    EVERY_REVISION,
    INITIAL_REVISION,
    NEW_REVISION,
    STABLE,
    Event,
    Moves,
    NodeChoice,
    Usage,
)
from kubeproof.events.manual import Manual
from kubeproof.late import LateClass, resolve

if TYPE_CHECKING:
    from kubeproof.events.budget_change import BudgetChange
    from kubeproof.events.deletion import Delete
    from kubeproof.events.nodes.cordon import Cordon
    from kubeproof.events.nodes.drain import Drain, Maintenance
    from kubeproof.events.nodes.failure import NodeFailure
    from kubeproof.events.nodes.join import CreateNode
    from kubeproof.events.nodes.removal import NodeRemoval
    from kubeproof.events.nodes.zone_failure import ZoneFailure
    from kubeproof.events.operator import Apply, Create, Scale
    from kubeproof.events.pod_crash import PodCrash
    from kubeproof.events.pod_facts import Completes, NeverReady
    from kubeproof.events.rollout import Rollout
    from kubeproof.events.usage_declared import CpuLoad, KernelPanic, Unreachable, UsageChange, UsagePattern
else:
    BudgetChange = LateClass("kubeproof.events.budget_change", "BudgetChange")
    Cordon = LateClass("kubeproof.events.nodes.cordon", "Cordon")
    Delete = LateClass("kubeproof.events.deletion", "Delete")
    Drain = LateClass("kubeproof.events.nodes.drain", "Drain")
    Maintenance = LateClass("kubeproof.events.nodes.drain", "Maintenance")
    NodeFailure = LateClass("kubeproof.events.nodes.failure", "NodeFailure")
    CreateNode = LateClass("kubeproof.events.nodes.join", "CreateNode")
    NodeRemoval = LateClass("kubeproof.events.nodes.removal", "NodeRemoval")
    Apply = LateClass("kubeproof.events.operator", "Apply")
    Create = LateClass("kubeproof.events.operator", "Create")
    Scale = LateClass("kubeproof.events.operator", "Scale")
    PodCrash = LateClass("kubeproof.events.pod_crash", "PodCrash")
    Completes = LateClass("kubeproof.events.pod_facts", "Completes")
    NeverReady = LateClass("kubeproof.events.pod_facts", "NeverReady")
    Rollout = LateClass("kubeproof.events.rollout", "Rollout")
    CpuLoad = LateClass("kubeproof.events.usage_declared", "CpuLoad")
    KernelPanic = LateClass("kubeproof.events.usage_declared", "KernelPanic")
    Unreachable = LateClass("kubeproof.events.usage_declared", "Unreachable")
    UsageChange = LateClass("kubeproof.events.usage_declared", "UsageChange")
    UsagePattern = LateClass("kubeproof.events.usage_declared", "UsagePattern")
    ZoneFailure = LateClass("kubeproof.events.nodes.zone_failure", "ZoneFailure")

__all__ = [
    "APPLIED",
    "CREATED",
    "DELETED",
    "EVENTS",
    "EVERY_REVISION",
    "INITIAL_REVISION",
    "NEW_REVISION",
    "STABLE",
    "Apply",
    "BudgetChange",
    "Completes",
    "Cordon",
    "CpuLoad",
    "Create",
    "CreateNode",
    "Delete",
    "Drain",
    "Event",
    "KernelPanic",
    "Maintenance",
    "Moves",
    "NeverReady",
    "NodeChoice",
    "NodeFailure",
    "NodeRemoval",
    "PodCrash",
    "Rollout",
    "Scale",
    "Unreachable",
    "Usage",
    "UsageChange",
    "UsagePattern",
    "ZoneFailure",
    "check_complete",
    "find_writes_of",
    "is_drain",
    "kinds",
    "manuals",
    "marks_nodes",
]  # fmt: skip

EVENTS: tuple[type[Event], ...] = (
    NodeFailure, ZoneFailure, Cordon, Drain, Maintenance, NodeRemoval, Scale, Create, CreateNode, BudgetChange, Apply,
    Delete, Rollout, PodCrash, NeverReady, Completes, UsageChange, UsagePattern, CpuLoad, Unreachable, KernelPanic,
)  # fmt: skip


def check_complete(kinds: Iterable[type[Event]]) -> None:
    """Raises InternalError for an event that does not say what it is, reads and does."""
    for kind in kinds:
        missing = [name for name in ("manuals", "footprint", "describe") if name not in vars(kind)]
        if missing:
            raise InternalError(f"E700 event {kind.__name__} has no {', '.join(missing)} of its own")


def kinds() -> tuple[type[Event], ...]:
    """All events, imported and complete."""
    found = tuple(resolve(kind) for kind in EVENTS)
    check_complete(found)
    return found


def manuals() -> dict[str, tuple[type[Event], Manual]]:
    """Every key of `spec.events`, with the event that it declares."""
    return {manual.key: (kind, manual) for kind in kinds() for manual in kind.manuals}


def find_writes_of(events: Iterable[Event]) -> Writes:
    """All that the events may change."""
    return reduce(or_, (footprint_of(event).writes for event in events), NOTHING)


def marks_nodes(event: Event) -> bool:
    """True if the event has to know which nodes it has worked on."""
    return event.marks_nodes


def is_drain(event: Event) -> bool:
    """True if the event asks the eviction API for pods of a node."""
    return event.drains
