"""What a step does to which workload, as bits that properties ask for."""

from __future__ import annotations

from enum import IntFlag

TAG_BITS = 16


class Tag(IntFlag):
    """What a step changes, for properties of steps and of endless runs. Bits from 16 on repeat this per workload."""

    STEP = 1  # any step
    REPLICAS = 2  # a replica count in a spec
    PODS = 4  # pods created or deleted
    PLACEMENT = 8  # a pod bound, evicted or deleted from a node
    BIND = 16  # a pod got a node
    EVICT = 32  # a pod deleted by other hands than its own controller's
    REJECT = 64  # a kubelet rejected a pod
    PANIC = 128  # a node failed of overload
    BY_DESCHEDULER = 256  # who evicted
    BY_TAINT = 512
    BY_DRAIN = 1024
    BY_PREEMPTION = 2048
    BY_VPA = 4096


def tag_of(workload: int | None, tag: int) -> int:
    """The tag for one workload, or for any (None)."""
    return tag if workload is None else tag << TAG_BITS * (workload + 1)
