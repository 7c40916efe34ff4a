"""Memories by name: whose each memory cell of a plan is.

Controllers and events know their memories by position. What looks at two plans at once (a part of an input and the
whole of it) finds the same memory in both by its name, wherever it stands.
"""

from __future__ import annotations

from kubeproof.named_tuples import NamedTuple

EVENT = "event"
AUTOSCALER = "autoscaler"
DESCHEDULER = "descheduler"
RECONCILER = "reconciler"  # GitOps
JOB_LOOP = "job"
CRON_JOB_LOOP = "cron job"
CLAIM = "claim"
CLUSTER_AUTOSCALER = "cluster autoscaler"
VERTICAL_AUTOSCALER = "vertical autoscaler"
KINDS = (
    EVENT, AUTOSCALER, DESCHEDULER, RECONCILER, JOB_LOOP, CRON_JOB_LOOP, CLAIM, CLUSTER_AUTOSCALER, VERTICAL_AUTOSCALER,
)  # fmt: skip


class MemoryName(NamedTuple):
    """Whose memory it is; unique in a plan."""

    kind: str  # one of KINDS
    of: tuple[str, ...] = ()  # name of the event, key of the claim, reference of the workload, ...


class MemoryCell(NamedTuple):
    """A memory with what it holds at first."""

    name: MemoryName
    first: tuple[int, ...]
