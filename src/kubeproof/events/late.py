"""The sources of events, by name: their modules are imported when the first one is made.

Other rooms take these classes from here, to make one or to ask for it with `isinstance`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubeproof.late import LateClass

if TYPE_CHECKING:
    from kubeproof.events.cordon import CordonEvent
    from kubeproof.events.drain import DrainEvent, DrainProgress
    from kubeproof.events.node_failure import NodeFailureEvent, NodeRecoveryEvent
    from kubeproof.events.node_join import NodeJoinEvent
    from kubeproof.events.node_removal import NodeRemovalEvent
    from kubeproof.events.operator import DeleteEvent, RolloutEvent, ScaleEvent, WriteEvent
    from kubeproof.events.pod_crash import PodCrashEvent
    from kubeproof.events.usage import KernelPanicEvent, LevelEvent, UnreachableEvent
    from kubeproof.events.zone_failure import ZoneFailureEvent, ZoneRecoveryEvent
else:
    CordonEvent = LateClass("kubeproof.events.cordon", "CordonEvent")
    DrainEvent = LateClass("kubeproof.events.drain", "DrainEvent")
    DrainProgress = LateClass("kubeproof.events.drain", "DrainProgress")
    NodeFailureEvent = LateClass("kubeproof.events.node_failure", "NodeFailureEvent")
    NodeRecoveryEvent = LateClass("kubeproof.events.node_failure", "NodeRecoveryEvent")
    NodeJoinEvent = LateClass("kubeproof.events.node_join", "NodeJoinEvent")
    NodeRemovalEvent = LateClass("kubeproof.events.node_removal", "NodeRemovalEvent")
    DeleteEvent = LateClass("kubeproof.events.operator", "DeleteEvent")
    RolloutEvent = LateClass("kubeproof.events.operator", "RolloutEvent")
    ScaleEvent = LateClass("kubeproof.events.operator", "ScaleEvent")
    WriteEvent = LateClass("kubeproof.events.operator", "WriteEvent")
    PodCrashEvent = LateClass("kubeproof.events.pod_crash", "PodCrashEvent")
    KernelPanicEvent = LateClass("kubeproof.events.usage", "KernelPanicEvent")
    LevelEvent = LateClass("kubeproof.events.usage", "LevelEvent")
    UnreachableEvent = LateClass("kubeproof.events.usage", "UnreachableEvent")
    ZoneFailureEvent = LateClass("kubeproof.events.zone_failure", "ZoneFailureEvent")
    ZoneRecoveryEvent = LateClass("kubeproof.events.zone_failure", "ZoneRecoveryEvent")

__all__ = [
    "CordonEvent",
    "DeleteEvent",
    "DrainEvent",
    "DrainProgress",
    "KernelPanicEvent",
    "LevelEvent",
    "NodeFailureEvent",
    "NodeJoinEvent",
    "NodeRecoveryEvent",
    "NodeRemovalEvent",
    "PodCrashEvent",
    "RolloutEvent",
    "ScaleEvent",
    "UnreachableEvent",
    "WriteEvent",
    "ZoneFailureEvent",
    "ZoneRecoveryEvent",
]
