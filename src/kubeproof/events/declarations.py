"""All events of a Scenario: the one list of them.

A new event is a module with its declaration and what makes it happen, and its name and keys here; what it has to say of
itself is in `kubeproof.events.event`. The module is imported when such an event is read or made. What one leaves out is
an error then, and in tests. Other rooms take the classes from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.footprint import NOTHING, Writes, footprint_of
from kubeproof.errors import InternalError
from kubeproof.events.event import (
    APPLIED as APPLIED,
)
from kubeproof.events.event import (
    CREATED as CREATED,
)
from kubeproof.events.event import (
    DELETED as DELETED,
)
from kubeproof.events.event import (
    EVERY_REVISION as EVERY_REVISION,
)
from kubeproof.events.event import (
    INITIAL_REVISION as INITIAL_REVISION,
)
from kubeproof.events.event import (
    NEW_REVISION as NEW_REVISION,
)
from kubeproof.events.event import (
    STABLE as STABLE,
)
from kubeproof.events.event import (
    Event as Event,
)
from kubeproof.events.event import (
    Moves as Moves,
)
from kubeproof.events.event import (
    NodeChoice as NodeChoice,
)
from kubeproof.events.event import (
    Usage as Usage,
)
from kubeproof.events.manual import Manual
from kubeproof.late import LateClass, resolve

if TYPE_CHECKING:
    from kubeproof.events.budget_change import BudgetChange as BudgetChange
    from kubeproof.events.deletion import Delete as Delete
    from kubeproof.events.nodes.cordon import Cordon as Cordon
    from kubeproof.events.nodes.drain import Drain as Drain
    from kubeproof.events.nodes.drain import Maintenance as Maintenance
    from kubeproof.events.nodes.failure import NodeFailure as NodeFailure
    from kubeproof.events.nodes.join import CreateNode as CreateNode
    from kubeproof.events.nodes.removal import NodeRemoval as NodeRemoval
    from kubeproof.events.nodes.zone_failure import ZoneFailure as ZoneFailure
    from kubeproof.events.operator import Apply as Apply
    from kubeproof.events.operator import Create as Create
    from kubeproof.events.operator import Scale as Scale
    from kubeproof.events.pod_crash import PodCrash as PodCrash
    from kubeproof.events.pod_facts import Completes as Completes
    from kubeproof.events.pod_facts import NeverReady as NeverReady
    from kubeproof.events.rollout import Rollout as Rollout
    from kubeproof.events.usage_declared import CpuLoad as CpuLoad
    from kubeproof.events.usage_declared import KernelPanic as KernelPanic
    from kubeproof.events.usage_declared import Unreachable as Unreachable
    from kubeproof.events.usage_declared import UsageChange as UsageChange
    from kubeproof.events.usage_declared import UsagePattern as UsagePattern
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

# Each with the keys of `spec.events` that it is written with; none where another event's key may mean it.
EVENTS: dict[type[Event], tuple[str, ...]] = {
    NodeFailure: ("nodeFailure",),
    ZoneFailure: ("zoneFailure",),
    Cordon: ("cordon",),
    Drain: ("drain",),
    Maintenance: ("maintenance",),
    NodeRemoval: ("nodeRemoval",),
    Scale: ("scale",),
    Create: ("create",),
    CreateNode: (),
    BudgetChange: (),
    Apply: ("apply",),
    Delete: ("delete",),
    Rollout: ("rollout", "rollback"),
    PodCrash: ("podCrash",),
    NeverReady: ("neverReady",),
    Completes: ("completes",),
    UsageChange: ("cpuChange", "memoryChange"),
    UsagePattern: ("cpuPattern", "memoryPattern"),
    CpuLoad: ("cpuLoad", "requests"),
    Unreachable: ("unreachable",),
    KernelPanic: ("kernelPanic",),
}


def check_complete(kind: type[Event], keys: Iterable[str]) -> None:
    """Raises InternalError for an event that does not say what it is, reads and does, or has other keys than these."""
    missing = [name for name in ("manuals", "footprint", "describe") if name not in vars(kind)]
    if missing:
        raise InternalError(f"E700 event {kind.__name__} has no {', '.join(missing)} of its own")
    written = [manual.key for manual in kind.manuals]
    if written != list(keys):
        raise InternalError(f"E700 event {kind.__name__} is written as {written}, and listed as {list(keys)}")


def kinds() -> tuple[type[Event], ...]:
    """All events, imported and complete."""
    for kind, keys in EVENTS.items():
        check_complete(resolve(kind), keys)
    return tuple(resolve(kind) for kind in EVENTS)


def list_keys() -> frozenset[str]:
    """Every key of `spec.events`."""
    return frozenset(key for own in EVENTS.values() for key in own)


def manuals() -> dict[str, tuple[type[Event], Manual]]:
    """Every key of `spec.events`, with the event that it declares."""
    return {manual.key: (kind, manual) for kind in kinds() for manual in kind.manuals}


def find_manual(key: str) -> tuple[type[Event], Manual]:
    """The event that a key declares; no other event is imported."""
    late, own = next((late, own) for late, own in EVENTS.items() if key in own)
    kind = resolve(late)
    check_complete(kind, own)
    return kind, kind.manuals[own.index(key)]


def find_writes_of(events: Iterable[Event]) -> Writes:
    """All that the events may change."""
    return reduce(or_, (footprint_of(event).writes for event in events), NOTHING)


def marks_nodes(event: Event) -> bool:
    """True if the event has to know which nodes it has worked on."""
    return event.marks_nodes


def is_drain(event: Event) -> bool:
    """True if the event asks the eviction API for pods of a node."""
    return event.drains
