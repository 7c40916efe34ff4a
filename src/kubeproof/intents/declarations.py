"""Intents as a Scenario declares them; what each means is in the module named after it."""

from __future__ import annotations

from dataclasses import dataclass, field

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import Source

ALWAYS = "always"
ALWAYS_ONCE_TRUE = "alwaysOnceTrue"
STABLE = "stable"
EVENTUALLY = "eventually"
EVENTUALLY_ALWAYS = "eventuallyAlways"
WHENS = (ALWAYS, ALWAYS_ONCE_TRUE, STABLE, EVENTUALLY, EVENTUALLY_ALWAYS)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of pods, or a percentage of the desired replicas (rounded up)."""

    number: int
    percent: bool = False

    def of(self, desired: int) -> int:
        """The number of pods this amounts to."""
        return -(-self.number * desired // 100) if self.percent else self.number

    def __str__(self) -> str:
        return f"{self.number}%" if self.percent else str(self.number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """One property to check; fields that its key does not use stay at their defaults."""

    key: str  # minReady, minReplicas, maxReplicas, maxSkew, schedulable, ...
    name: str  # unique in the Scenario; given, or made from key and target
    target: str | None = None  # Workload.ref; None: every workload
    when: str = ALWAYS
    severity: str = "error"
    count: Amount | None = None
    topology_key: str = ""
    skew: int = 1
    selector: LabelSelector | None = None  # maxSkew: pods by label instead of by target
    namespace: str | None = None
    of: str = "any"  # noOscillation: replicas, placement, any
    source: Source = field(default=Source(), compare=False)
