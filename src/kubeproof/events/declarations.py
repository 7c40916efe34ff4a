"""All events of a Scenario: the one list of them.

A new event is a module with its declaration and what makes it happen, and a line here; what it has to say of itself is
in `kubeproof.events.event`. Something it leaves out is an error when this module is imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

from kubeproof.cluster.footprint import NOTHING, Writes, footprint_of
from kubeproof.errors import InternalError
from kubeproof.events.budget_change import APPLIED, CREATED, DELETED, BudgetChange
from kubeproof.events.cordon import Cordon
from kubeproof.events.deletion import Delete
from kubeproof.events.drain import Drain, Maintenance
from kubeproof.events.event import STABLE, Event, Moves, NodeChoice, Usage
from kubeproof.events.manual import Manual
from kubeproof.events.node_failure import NodeFailure
from kubeproof.events.node_join import CreateNode
from kubeproof.events.node_removal import NodeRemoval
from kubeproof.events.operator import Apply, Create, Scale
from kubeproof.events.pod_crash import PodCrash
from kubeproof.events.pod_facts import EVERY_REVISION, INITIAL_REVISION, NEW_REVISION, Completes, NeverReady
from kubeproof.events.rollout import Rollout
from kubeproof.events.usage_declared import CpuLoad, KernelPanic, Unreachable, UsageChange, UsagePattern
from kubeproof.events.zone_failure import ZoneFailure

__all__ = [
    "APPLIED", "CREATED", "DELETED", "EVENTS", "EVERY_REVISION", "INITIAL_REVISION", "NEW_REVISION", "STABLE", "Apply",
    "BudgetChange", "Completes", "Cordon", "CpuLoad", "Create", "CreateNode", "Delete", "Drain", "Event", "KernelPanic",
    "Maintenance", "Moves", "NeverReady", "NodeChoice", "NodeFailure", "NodeRemoval", "PodCrash", "Rollout", "Scale",
    "Unreachable", "Usage", "UsageChange", "UsagePattern", "ZoneFailure", "check_complete", "is_drain", "manuals",
    "marks_nodes", "written_by",
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


def manuals() -> dict[str, tuple[type[Event], Manual]]:
    """Every key of `spec.events`, with the event that it declares."""
    return {manual.key: (kind, manual) for kind in EVENTS for manual in kind.manuals}


def written_by(events: Iterable[Event]) -> Writes:
    """All that the events may change."""
    return reduce(or_, (footprint_of(event).writes for event in events), NOTHING)


def marks_nodes(event: Event) -> bool:
    """True if the event has to know which nodes it has worked on."""
    return event.marks_nodes


def is_drain(event: Event) -> bool:
    """True if the event asks the eviction API for pods of a node."""
    return event.drains


check_complete(EVENTS)
