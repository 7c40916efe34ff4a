"""The descheduler: what one cycle may evict, as pure functions over groups of equal nodes and pods.

Mirrors kubernetes-sigs/descheduler 0.27.1 up to 0.36. It only evicts; where pods go next is the scheduler's matter.
"""

from kubeproof.controllers.descheduler.cycle import evictions, explain, not_modelled
from kubeproof.controllers.descheduler.values import (
    MAX_OUTCOMES,
    Eviction,
    NodeEntry,
    NodeLoss,
    Outcome,
    PodGroup,
    Version,
    evictions_of,
)

__all__ = [
    "MAX_OUTCOMES",
    "Eviction",
    "NodeEntry",
    "NodeLoss",
    "Outcome",
    "PodGroup",
    "Version",
    "evictions",
    "evictions_of",
    "explain",
    "not_modelled",
]
