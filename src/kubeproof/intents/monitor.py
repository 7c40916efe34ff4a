"""From an intent to something that follows a run: a small memory, and the facts a search asks for.

Memory is (latch, bad, matters). The latch is what `when` needs to remember: that the workload has reached its desired
state (always), that the fact has been true (alwaysOnceTrue, eventually).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from kubeproof.cluster.control import AnySeen, Reads, Tag, tag_of
from kubeproof.cluster.footprint import footprint_of
from kubeproof.cluster.kinds import DAEMON_SET, STATEFUL_SET
from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.objects import family
from kubeproof.cluster.places import Layout
from kubeproof.intents.daemon_facts import DaemonRolloutComplete, RunsOnEveryNode
from kubeproof.intents.declarations import (
    ALWAYS,
    ALWAYS_ONCE_TRUE,
    BY_KERNEL_PANIC,
    EVENTUALLY,
    EVENTUALLY_ALWAYS,
    STABLE,
    Amount,
    Intent,
)
from kubeproof.intents.evictors import EVICTION_TAGS
from kubeproof.intents.facts import (
    NodesAtMost,
    NoDrainUnderWay,
    NotColocated,
    NothingMissing,
    NothingPending,
    OnlyOn,
    PodObjectsAtMost,
    ReadyAtLeast,
    ReplicasAtLeast,
    ReplicasAtMost,
    RolloutComplete,
    SkewAtMost,
    SpreadOver,
    matching_workloads,
)
from kubeproof.intents.job_facts import AllComplete
from kubeproof.intents.stateful_facts import StatefulRolloutComplete
from kubeproof.intents.traffic_facts import LoadSkewAtMost, NothingMisrouted
from kubeproof.intents.views import AnyFact
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.intents.predicates import EventMemory
    from kubeproof.intents.temporal import Temporal

Memory = tuple[int, int, int]
NO_EVENTS: Mapping[str, EventMemory] = MappingProxyType({})
FRESH: Memory = (0, 0, 0)

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
UPPER_BOUNDS = ("maxReplicas", "maxSkew", "maxLoadSkew", "noTrafficToTerminating", "maxPodObjects", "maxNodes")
OSCILLATION_TAGS = {
    "any": Tag.STEP,
    "replicas": Tag.REPLICAS,
    "placement": Tag.PLACEMENT,
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

    @property
    def reads(self) -> Reads:
        return self.fact.reads if self.fact else Reads()

    def tells_starts_of(self, workload: int) -> bool:
        """True if it may tell a ready pod of the workload from one that starts."""
        if self.temporal is not None:
            return self.temporal.heeds(workload)
        if self.fact is None or workload not in self.fact.reads.workloads:
            return False
        return workload in footprint_of(self.fact).tells_starts or self._waits_for_starts

    @property
    def _waits_for_starts(self) -> bool:
        """True if it counts only once all pods are ready."""
        return self.intent.when == ALWAYS and self.kind == NEVER and self.intent.key not in UPPER_BOUNDS

    @property
    def tells_ends(self) -> bool:
        """True if it may see terminating pods."""
        if self.temporal is not None:
            return True
        return self.fact is not None and bool(footprint_of(self.fact).tells_ends)

    def sees_object(self, workload: int) -> bool:
        """True if it may see the size of the workload's ReplicaSet, or steps of its loop."""
        if self.temporal is not None:
            return self.temporal.heeds(workload)
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
            latch |= self.intent.key in UPPER_BOUNDS or self.fact.is_settled(seen)
            return int(latch), int(latch and not holds), int(latch and self.fact.matters(seen))
        if when in (ALWAYS_ONCE_TRUE, EVENTUALLY):
            latch = int(latch or holds)
            bad = not latch if when == EVENTUALLY else latch and not holds
            matters = self.fact.matters(seen) if when == EVENTUALLY else latch
            return latch, int(bad), int(matters)
        return 0, int(not holds), int(self.fact.matters(seen))


def make_monitor(intent: Intent, layout: Layout, events: Mapping[str, EventMemory] = NO_EVENTS) -> Monitor:
    """The monitor of an intent with a resolved target; `events` are what predicates may ask for."""
    if intent.key == "ltl":
        from kubeproof.intents.temporal import Temporal

        return Monitor(intent, None, WORD, needs_relevance=False, temporal=Temporal(intent, layout, events))
    number = _number(layout, intent.target)
    if intent.key in ("settles", "noOscillation"):
        tag = int(OSCILLATION_TAGS[intent.of if intent.key == "noOscillation" else "any"])
        if number is not None and tag == Tag.STEP:
            tag = Tag.REPLICAS | Tag.PODS | Tag.PLACEMENT
        return Monitor(intent, None, CYCLE, _tags(layout, number, tag), needs_relevance=False)
    if intent.key == "noCreateFailLoop":
        return Monitor(intent, None, CYCLE, _tags(layout, number, Tag.REJECT), needs_relevance=False)
    if intent.key in ("noEviction", "noEvictionLoop"):
        kind = STEP if intent.key == "noEviction" else CYCLE
        return Monitor(intent, None, kind, _eviction_tags(layout, number, intent.by), needs_relevance=False)
    fact = _fact(intent, layout, number)
    if intent.key == "noPendingForever":
        return Monitor(intent, fact, PERSISTENT, _tags(layout, number, Tag.BIND))
    kind = KIND_OF_KEY.get(intent.key) or KIND_OF_WHEN[intent.when]
    return Monitor(intent, fact, kind)


KIND_OF_KEY = {
    "schedulable": IN_STABLE,
    **dict.fromkeys(("rolloutCompletes", "drainCompletes", "completes"), PERSISTENT),
}


def _eviction_tags(layout: Layout, number: int | None, by: str) -> int:
    """The steps that noEviction and noEvictionLoop forbid; a node's panic concerns no workload in particular."""
    if by == BY_KERNEL_PANIC:
        return int(Tag.PANIC)
    return _tags(layout, number, int(EVICTION_TAGS[by]))


def _tags(layout: Layout, number: int | None, tag: int) -> int:
    """The tag for a workload with all its revisions, or for any workload."""
    if number is None:
        return tag
    tags = 0
    for member in family(layout.setup, number):
        tags |= tag_of(member, tag)
    return tags


def _fact(intent: Intent, layout: Layout, number: int | None) -> AnyFact:
    if intent.key == "drainCompletes":
        return NoDrainUnderWay(layout)
    if intent.key == "maxNodes":
        return NodesAtMost(layout, (intent.count or Amount(1)).number, intent.nodes, intent.node_names)
    if intent.key == "maxPodObjects":
        everyone = tuple(range(len(layout.setup.workloads)))
        counted = everyone if number is None else family(layout.setup, number)
        return PodObjectsAtMost(layout, counted, (intent.count or Amount(1)).number, intent.phases)
    if intent.key == "maxSkew":
        return _skew_fact(intent, layout, number)
    assert number is not None, intent
    members = family(layout.setup, number)
    if intent.key == "spread":
        return SpreadOver(layout, members, intent.topology_key, intent.domains)
    if intent.key == "maxLoadSkew":
        return LoadSkewAtMost(layout, number, intent.skew)
    if intent.key == "noTrafficToTerminating":
        return NothingMisrouted(layout, number)
    if intent.key == "onlyOn":
        return OnlyOn(layout, members, (), intent.nodes, intent.node_names)
    if intent.key == "notColocated":
        namespace = intent.namespace or layout.setup.workloads[number].namespace
        others = matching_workloads(layout.setup.workloads, intent.selector or LabelSelector(), namespace)
        return NotColocated(layout, members, tuple(set(others) - set(members)), intent.topology_key)
    if intent.key == "noPendingForever" and _may_be_refused(layout, members):
        return NothingMissing(layout, number)
    if intent.key in ("schedulable", "noPendingForever"):
        return NothingPending(layout, number)
    if intent.key == "runsOnEveryNode":
        return RunsOnEveryNode(layout, number)
    if intent.key == "completes":
        return AllComplete(layout, number)
    if intent.key == "rolloutCompletes":
        return ROLLOUT_FACTS.get(layout.setup.workloads[number].kind, RolloutComplete)(layout, number)
    return COUNTING_FACTS[intent.key](layout, number, intent.count or Amount(1))


def _may_be_refused(layout: Layout, members: tuple[int, ...]) -> bool:
    """True if the API server may refuse pods of one of the workloads."""
    workloads = [layout.setup.workloads[member] for member in members]
    spaces = {quota.namespace for quota in layout.setup.quotas}
    return any(workload.refused or workload.namespace in spaces for workload in workloads)


ROLLOUT_FACTS: dict[str, Callable[[Layout, int], AnyFact]] = {
    DAEMON_SET: DaemonRolloutComplete,
    STATEFUL_SET: StatefulRolloutComplete,
}
COUNTING_FACTS: dict[str, Callable[[Layout, int, Amount], AnyFact]] = {
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
        counted = family(layout.setup, number) if number is not None else ()
    return SkewAtMost(layout, counted, affine, intent.topology_key, intent.skew, number)
