"""From an intent to something that follows a run: a small memory, and the facts a search asks for.

Memory is (latch, bad, matters). The latch is what `when` needs to remember: that the workload has reached its desired
state (always), that the fact has been true (alwaysOnceTrue, eventually).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubeproof.cluster.control import Reads, Seen, Tag, tag_of
from kubeproof.cluster.places import Layout
from kubeproof.intents.declarations import (
    ALWAYS,
    ALWAYS_ONCE_TRUE,
    EVENTUALLY,
    EVENTUALLY_ALWAYS,
    STABLE,
    Amount,
    Intent,
)
from kubeproof.intents.facts import (
    Fact,
    NoDrainUnderWay,
    NothingPending,
    ReadyAtLeast,
    ReplicasAtLeast,
    ReplicasAtMost,
    RolloutComplete,
    SkewAtMost,
    matching_workloads,
)

Memory = tuple[int, int, int]
FRESH: Memory = (0, 0, 0)

NEVER, IN_STABLE, RECURRENT, PERSISTENT, CYCLE = "never", "stable", "recurrent", "persistent", "cycle"
KIND_OF_WHEN = {
    ALWAYS: NEVER,
    ALWAYS_ONCE_TRUE: NEVER,
    STABLE: IN_STABLE,
    EVENTUALLY: PERSISTENT,
    EVENTUALLY_ALWAYS: RECURRENT,
}
UPPER_BOUNDS = ("maxReplicas", "maxSkew")
LOOP_TAGS = {"noEvictionLoop": Tag.EVICT, "noCreateFailLoop": Tag.REJECT}
OSCILLATION_TAGS = {
    "any": Tag.STEP,
    "replicas": Tag.REPLICAS,
    "placement": Tag.PLACEMENT,
}


@dataclass(frozen=True, slots=True)
class Monitor:
    """An intent made ready for one layout."""

    intent: Intent
    fact: Fact | None  # None for properties of cycles alone
    kind: str
    tags: int = 0  # cycle: steps that make it a violation; persistent: steps that excuse it
    needs_relevance: bool = True

    @property
    def reads(self) -> Reads:
        return self.fact.reads if self.fact else Reads()

    def observe(self, memory: Memory, seen: Seen) -> Memory:
        """The memory after entering a state."""
        if self.fact is None:
            return FRESH
        holds, latch = self.fact.holds(seen), memory[0]
        when = self.intent.when
        if when == ALWAYS and self.kind == NEVER:
            latch |= self.intent.key in UPPER_BOUNDS or self.fact.is_settled(seen)
            return int(latch), int(latch and not holds), int(latch and self.fact.matters(seen))
        if when in (ALWAYS_ONCE_TRUE, EVENTUALLY):
            latch = int(latch or holds)
            bad = not latch if when == EVENTUALLY else latch and not holds
            matters = self.fact.matters(seen) if when == EVENTUALLY else latch
            return latch, int(bad), int(matters)
        return 0, int(not holds), int(self.fact.matters(seen))


def make_monitor(intent: Intent, layout: Layout) -> Monitor:
    """The monitor of an intent with a resolved target."""
    number = _number(layout, intent.target)
    if intent.key in ("settles", "noOscillation"):
        tag = OSCILLATION_TAGS[intent.of if intent.key == "noOscillation" else "any"]
        if number is not None and tag == Tag.STEP:
            tag = Tag.REPLICAS | Tag.PODS | Tag.PLACEMENT
        return Monitor(intent, None, CYCLE, tag_of(number, tag), needs_relevance=False)
    if intent.key in LOOP_TAGS:
        return Monitor(intent, None, CYCLE, tag_of(number, LOOP_TAGS[intent.key]), needs_relevance=False)
    if intent.key == "drainCompletes":
        return Monitor(intent, NoDrainUnderWay(layout), PERSISTENT)
    if intent.key == "maxSkew":
        return Monitor(intent, _skew_fact(intent, layout, number), KIND_OF_WHEN[intent.when])
    assert number is not None, intent
    if intent.key == "schedulable":
        return Monitor(intent, NothingPending(layout, number), IN_STABLE)
    if intent.key == "rolloutCompletes":
        return Monitor(intent, RolloutComplete(layout, number), PERSISTENT)
    if intent.key == "noPendingForever":
        return Monitor(intent, NothingPending(layout, number), PERSISTENT, tag_of(number, Tag.BIND))
    fact = COUNTING_FACTS[intent.key](layout, number, intent.count or Amount(1))
    return Monitor(intent, fact, KIND_OF_WHEN[intent.when])


COUNTING_FACTS: dict[str, Callable[[Layout, int, Amount], Fact]] = {
    "minReady": ReadyAtLeast,
    "minReplicas": ReplicasAtLeast,
    "maxReplicas": ReplicasAtMost,
}


def _number(layout: Layout, target: str | None) -> int | None:
    if target is None:
        return None
    return next(i for i, workload in enumerate(layout.setup.workloads) if workload.ref == target)


def _skew_fact(intent: Intent, layout: Layout, number: int | None) -> SkewAtMost:
    workloads = layout.setup.workloads
    affine = workloads[number].template if number is not None else None
    if intent.selector is not None:
        namespace = intent.namespace or (workloads[number].namespace if number is not None else None)
        counted = matching_workloads(workloads, intent.selector, namespace)
    else:
        counted = (number,) if number is not None else ()
    return SkewAtMost(layout, counted, affine, intent.topology_key, intent.skew, number)
