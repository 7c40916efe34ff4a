"""Who evicts, as the words of a Scenario and as the tags of steps."""

from __future__ import annotations

from kubeproof.cluster.loops.tags import Tag
from kubeproof.intents.declarations import ANY_EVICTOR, BY_DESCHEDULER, BY_DRAIN, BY_PREEMPTION, BY_TAINT, BY_VPA

EVICTION_TAGS = {
    ANY_EVICTOR: Tag.EVICT,
    BY_DESCHEDULER: Tag.BY_DESCHEDULER,
    BY_DRAIN: Tag.BY_DRAIN,
    BY_TAINT: Tag.BY_TAINT,
    BY_PREEMPTION: Tag.BY_PREEMPTION,
    BY_VPA: Tag.BY_VPA,
}
