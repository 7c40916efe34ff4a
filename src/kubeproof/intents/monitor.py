"""From an intent to something that follows a run: a small memory, and the facts a search asks for.

Memory is (latch, bad, matters). The latch is what `when` needs to remember: that the workload has reached its desired
state (always), that the fact has been true (alwaysOnceTrue, eventually).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.control import AnySeen, Reads
from kubeproof.cluster.loops.footprint import footprint_of
from kubeproof.cluster.loops.tags import Tag, tag_of
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import family
from kubeproof.intents.declarations import (
    ALWAYS,
    ALWAYS_ONCE_TRUE,
    BY_KERNEL_PANIC,
    EVENTUALLY,
    EVENTUALLY_ALWAYS,
    STABLE,
    Intent,
)
from kubeproof.intents.facts.evictors import EVICTION_TAGS
from kubeproof.intents.kind import AskedIntent
from kubeproof.intents.views import AnyFact, spare_of
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.intents.predicates.asked import EventMemory
    from kubeproof.intents.predicates.temporal import Temporal

Memory = tuple[int, int, int]
NO_EVENTS: Mapping[str, EventMemory] = MappingProxyType({})
FRESH: Memory = (0, 0, 0)
FAR = 1_000  # pods; more than any fact has to spare

NEVER, IN_STABLE, RECURRENT, PERSISTENT, CYCLE = "never", "stable", "recurrent", "persistent", "cycle"
WORD = "word"  # no run reads as the formula's negation says
STEP = "step"  # no step of this kind ever happens
KIND_OF_WHEN = {
    ALWAYS: NEVER,
    ALWAYS_ONCE_TRUE: NEVER,
    STABLE: IN_STABLE,
    EVENTUALLY: PERSISTENT,
    EVENTUALLY_ALWAYS: RECURRENT,
}


@dataclass(frozen=True, slots=True)
class Monitor:
    """An intent made ready for one layout."""

    intent: Intent
    fact: AnyFact | None  # None for properties of cycles alone
    kind: str
    tags: int = 0  # cycle: steps that make it a violation; persistent: steps that excuse it
    needs_relevance: bool = True
    temporal: Temporal | None = None  # of `ltl` intents
    is_bound: bool = False  # `always` holds from the first state on

    @property
    def reads(self) -> Reads:
        return self.fact.reads if self.fact else Reads()

    def tells_starts_of(self, workload: int) -> bool:
        """True if it may tell a ready pod of the workload from one that starts."""
        if self.temporal is not None:
            return self.temporal.watches_workload(workload)
        if self.fact is None or workload not in self.fact.reads.workloads:
            return False
        return workload in footprint_of(self.fact).tells_starts or self._waits_for_starts

    @property
    def _waits_for_starts(self) -> bool:
        """True if it counts only once all pods are ready."""
        return self.intent.when == ALWAYS and self.kind == NEVER and not self.is_bound

    @property
    def tells_ends(self) -> bool:
        """True if it may see terminating pods."""
        if self.temporal is not None:
            return True
        return self.fact is not None and bool(footprint_of(self.fact).tells_ends)

    def sees_object(self, workload: int) -> bool:
        """True if it may see the size of the workload's ReplicaSet, or steps of its loop."""
        if self.temporal is not None:
            return self.temporal.watches_workload(workload)
        if self.fact is None or workload not in self.fact.reads.workloads:
            return False
        return workload in footprint_of(self.fact).sees_objects

    def observe(self, memory: Memory, seen: AnySeen) -> Memory:
        """The memory after entering a state."""
        if self.fact is None:
            return FRESH
        holds, latch = self.fact.holds(seen), memory[0]
        when = self.intent.when
        if when == ALWAYS and self.kind == NEVER:
            latch |= self.is_bound or self.fact.is_settled(seen)
            return int(latch), int(latch and not holds), int(latch and self.fact.matters(seen))
        if when in (ALWAYS_ONCE_TRUE, EVENTUALLY):
            latch = int(latch or holds)
            bad = not latch if when == EVENTUALLY else latch and not holds
            matters = self.fact.matters(seen) if when == EVENTUALLY else latch
            return latch, int(bad), int(matters)
        return 0, int(not holds), int(self.fact.matters(seen))


def estimate(monitor: Monitor, memory: Memory, seen: AnySeen) -> int:
    """How far a state is from breaking the intent; at least 0, and only for choosing where to look next."""
    latch, bad, _ = memory
    fact = monitor.fact
    if bad or fact is None:
        return 0
    if not latch and monitor.intent.when == ALWAYS and monitor.kind == NEVER:
        return FAR  # nothing is broken before all was well
    return 1 + max(0, spare_of(fact, seen))


def make_monitor(intent: Intent, layout: Layout, events: Mapping[str, EventMemory] = NO_EVENTS) -> Monitor:
    """The monitor of an intent with a resolved target; `events` are what predicates may ask for."""
    from kubeproof.intents.catalogue import entry

    return entry(intent.key).watch(AskedIntent(intent, layout, _number(layout, intent.target), events))


def monitor_fact(
    asked: AskedIntent, fact: AnyFact, *, kind: str = "", tags: int = 0, is_bound: bool = False
) -> Monitor:
    """A monitor of single states; without a `kind` the intent's `when` says in which of them the fact must hold."""
    return Monitor(asked.intent, fact, kind or KIND_OF_WHEN[asked.intent.when], tags, is_bound=is_bound)


def monitor_steps(asked: AskedIntent, kind: str, tags: int) -> Monitor:
    """A monitor of steps: of each of them, or of those that are taken again and again."""
    return Monitor(asked.intent, None, kind, tags, needs_relevance=False)


def eviction_tags(asked: AskedIntent) -> int:
    """The evictions that an intent forbids; a node's panic concerns no workload in particular."""
    if asked.intent.by == BY_KERNEL_PANIC:
        return int(Tag.PANIC)
    return tags_of_family(asked.layout, asked.number, int(EVICTION_TAGS[asked.intent.by]))


def tags_of_family(layout: Layout, number: int | None, tag: int) -> int:
    """The tag for a workload with all its revisions, or for any workload."""
    if number is None:
        return tag
    tags = 0
    for member in family(layout.setup, number):
        tags |= tag_of(member, tag)
    return tags


def _number(layout: Layout, target: str | None) -> int | None:
    if target is None:
        return None
    return next(i for i, workload in enumerate(layout.setup.workloads) if workload.ref == target)
