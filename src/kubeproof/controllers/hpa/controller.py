"""The autoscaler as a periodic control loop of the model.

Memory is (least, most, history...): seconds until the next sync, and what earlier syncs left. Syncs that change nothing
are not steps: they are caught up on when time passes. When the cluster comes to rest the phase of the period is
forgotten (0 to a whole period), because whatever changes next may come at any phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from functools import lru_cache
from typing import NamedTuple

from kubeproof.cluster.control import Decision, Reads, Remember, Role, Seen, SetDesired, Stage
from kubeproof.cluster.objects import PodTemplate, family
from kubeproof.cluster.places import Layout
from kubeproof.cluster.policies import SAMPLED_METRICS, HorizontalPodAutoscaler, Metric
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell
from kubeproof.cluster.usage import UsageRule, is_cut, level_number, memories_read, pod_usage
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.combine import forced
from kubeproof.controllers.hpa.decide import Judged, Outcome, concluded, judge, never_acts
from kubeproof.controllers.hpa.history import History, Recommendation, ScaleEvent
from kubeproof.controllers.hpa.history import later as aged
from kubeproof.controllers.hpa.samples import PodFacts, Sample, group, pod_request
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from kubeproof.values import dataclass

NO_HISTORY = -1
MOST_SYNCS = 10_000  # syncs looked ahead; windows of an hour and periods of a second stay far below
MOST_ASKED = 2**31 - 1  # upstream counts replicas in int32
Groups = tuple[
    tuple[tuple[int, ...], int], ...
]  # ((phase, age), pods) on one node; then the size where pods have several


class Memory(NamedTuple):
    """The loop's memory, unpacked."""

    least_s: int
    most_s: int
    history: History

    def packed(self) -> tuple[int, ...]:
        """As plain numbers."""
        recommendations = self.history.recommendations
        count = NO_HISTORY if recommendations is None else len(recommendations)
        entries = (*(recommendations or ()), *self.history.scale_events)
        return (self.least_s, self.most_s, count, *(number for entry in entries for number in entry))


@lru_cache(maxsize=10_000)
def unpacked(numbers: tuple[int, ...]) -> Memory:
    """The memory from plain numbers."""
    least_s, most_s, count, *rest = numbers
    pairs = list(zip(rest[::2], rest[1::2], strict=True))
    split = max(count, 0)
    recommendations = None if count == NO_HISTORY else tuple(Recommendation(*pair) for pair in pairs[:split])
    return Memory(least_s, most_s, History(recommendations, tuple(ScaleEvent(*pair) for pair in pairs[split:])))


def first_memory(period_s: int) -> tuple[int, ...]:
    """Before the first sync, which comes within a period."""
    return Memory(0, period_s, History()).packed()


@dataclass(frozen=True, slots=True)
class Recall:
    """What an autoscaler has worked out; holds for every cluster that `model.shared.recall_of` gives it to."""

    proposals: dict[object, Judged] = field(default_factory=dict)
    outcomes: dict[object, Outcome] = field(default_factory=dict)
    acting: dict[object, int] = field(default_factory=dict)
    memories: dict[object, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HpaController:
    """The loop of one autoscaler."""

    layout: Layout
    autoscaler: HorizontalPodAutoscaler
    target: int
    memory: int
    rules: tuple[UsageRule, ...] = ()
    is_ambiguous: bool = False
    stage: int = Stage.ALWAYS
    settings: AutoscalerSettings = field(default=AutoscalerSettings())
    recall: Recall = field(default_factory=Recall, compare=False, repr=False)
    _asked_before: dict[object, Asked] = field(default_factory=dict, init=False, compare=False, repr=False)
    # The target and the ReplicaSets of its later revisions: the selector matches the pods of all.
    members: tuple[int, ...] = field(init=False, compare=False, repr=False)
    reads: Reads = field(init=False, compare=False, repr=False)
    _is_resized: bool = field(init=False, compare=False, repr=False)  # pods of the target request different amounts

    def __post_init__(self) -> None:
        members = family(self.layout.setup, self.target)
        resized = any(self.layout.setup.workloads[member].resized for member in members)
        object.__setattr__(self, "_is_resized", resized)
        driven = memories_read(self.rules)
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "reads", Reads(members, self.layout.every_place, (self.memory, *driven)))

    @property
    def name(self) -> str:
        return f"hpa {self.autoscaler.name}"

    def show_workload(self, workload: int, cell: WorkloadCell) -> tuple[int, int, int]:
        """Whether it exists, spec.replicas, pods without a node."""
        return cell.exists, cell.desired, cell.unbound

    def show_node(self, place: int, cell: NodeCell) -> Groups | None:
        """The target's pods by phase and age."""
        amounts: dict[tuple[int, ...], int] = {}
        for kind, count in cell.pods:
            if kind.workload in self.members:
                key = (kind.phase, kind.age_s, *((kind.workload,) if self._is_resized else ()))
                amounts[key] = amounts.get(key, 0) + count
        return tuple(sorted(amounts.items())) or None

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Seen) -> tuple[Decision, ...]:
        """The sync, if it is due or may be, and changes the size."""
        memory = unpacked(seen.memories[0])
        if memory.least_s > 0 or not seen.workloads[0][0]:
            return ()
        outcome = self.sync(seen, memory.history)
        if outcome.replicas == seen.workloads[0][1]:
            return ()
        period_s = self.settings.sync_period_s
        after = Memory(period_s, period_s, outcome.history).packed()
        role = Role.URGENT if memory.most_s == 0 else Role.OPTIONAL
        return (Decision((SetDesired(self.target, outcome.replicas), Remember(self.memory, after)), role),)

    def sync(self, seen: Seen, history: History) -> Outcome:
        """What a sync with this history would do now; looking ahead asks the same again and again.

        Remembered apart: what the metrics ask for, by the pods, and what the history makes of it, by that alone.
        """
        return self._outcome(self._asked(seen), history)

    def _outcome(self, asked: Asked, history: History) -> Outcome:
        key = asked, history
        if key not in self.recall.outcomes:
            self.recall.outcomes[key] = concluded(self.autoscaler, *asked, history, self.settings)
        return self.recall.outcomes[key]

    def _judged(self, seen: Seen) -> Judged | None:
        """What the metrics ask for; None if they are not looked at."""
        current = seen.workloads[0][1]
        bounds = self.autoscaler.min_replicas, self.autoscaler.max_replicas
        if self.is_ambiguous or forced(current, *bounds) is not None:
            return None
        pooled = _pooled(seen, self.members if self._is_resized else ())
        key = pooled, seen.memories[1:]
        if key not in self.recall.proposals:
            metrics = tuple(self._samples(metric, pooled, seen.memories) for metric in self.autoscaler.metrics)
            self.recall.proposals[key] = judge(self.autoscaler, current, metrics, self.settings)
        return self.recall.proposals[key]

    def is_fixed(self, current: int, memory: tuple[int, ...]) -> bool:
        """True if no sync can change this size now, whatever the metrics ask for."""
        least_s, _, history = unpacked(memory)
        if least_s > 0:
            return True
        if forced(current, self.autoscaler.min_replicas, self.autoscaler.max_replicas) is not None:
            return False
        # Windows, rates and bounds never turn a larger proposal into a smaller size: the extremes decide.
        return all(self._outcome(Asked(current, each), history).replicas == current for each in (0, MOST_ASKED))

    def why(self, seen: Seen) -> tuple[str, ...]:
        """The numbers behind a sync now."""
        judged, outcome = self.considered(seen)
        return outcome.reasons if judged is None else judged.words + outcome.reasons

    def considered(self, seen: Seen) -> tuple[Judged | None, Outcome]:
        """What the metrics ask for in a sync now, None if they are not looked at, and what comes of it."""
        return self._judged(seen), self.sync(seen, unpacked(seen.memories[0]).history)

    # -- time -----------------------------------------------------------------------------------

    def due(self, seen: Seen) -> int:
        """Seconds until the first sync that changes the size; the deadline where the phase is open."""
        if not seen.workloads[0][0]:
            return NEVER
        asked, memory = self._asked(seen), unpacked(seen.memories[0])
        return memory.most_s if self._may_act_now(asked, memory) else self._first_acting(asked, memory)

    def later(self, seen: Seen, seconds: int | None) -> tuple[int, ...]:
        """The memory after syncs that change nothing; many clusters ask for the same."""
        if not seen.workloads[0][0]:
            return first_memory(self.settings.sync_period_s)
        asked = self._asked(seen)
        key = asked, seen.memories[0], seconds
        if key not in self.recall.memories:
            self.recall.memories[key] = self._aged(asked, unpacked(seen.memories[0]), seconds).packed()
        return self.recall.memories[key]

    def _aged(self, asked: Asked, memory: Memory, seconds: int | None) -> Memory:
        if seconds is not None and self._may_act_now(asked, memory):
            return Memory(0, memory.most_s - seconds, aged(memory.history, seconds))
        is_open = memory.least_s < memory.most_s
        if seconds is None or (is_open and self._first_acting(asked, memory) == NEVER):
            return Memory(0, self.settings.sync_period_s, self._rested(asked, memory, seconds))
        next_s, history = self._caught_up(asked, memory, seconds)
        return Memory(next_s - seconds, next_s - seconds, history)

    def _may_act_now(self, asked: Asked, memory: Memory) -> bool:
        is_open = memory.least_s == 0 < memory.most_s
        return is_open and self._outcome(asked, memory.history).replicas != asked.current

    def _asked(self, seen: Seen) -> Asked:
        """What a sync would decide on; its own memory, the first, has no say in that."""
        key = seen.workloads, seen.places, seen.memories[1:]
        if key not in self._asked_before:
            judged = self._judged(seen)
            proposal = None if judged is None else judged.proposal
            self._asked_before[key] = Asked(seen.workloads[0][1], proposal)
        return self._asked_before[key]

    def _syncs(self, asked: Asked, memory: Memory) -> Iterator[tuple[int, Outcome]]:
        """The syncs to come while nothing else changes: when, and with which outcome."""
        time_s = 0 if memory.least_s < memory.most_s else memory.most_s
        history = aged(memory.history, time_s)
        for _ in range(MOST_SYNCS):
            outcome = self._outcome(asked, history)
            yield time_s, outcome
            time_s += self.settings.sync_period_s
            history = aged(outcome.history, self.settings.sync_period_s)

    def _first_acting(self, asked: Asked, memory: Memory) -> int:
        """Seconds until the first sync that changes the size; remembered, since many clusters ask for the same."""
        if never_acts(self.autoscaler, asked.current, asked.proposal):
            return NEVER
        key = asked, memory
        if key not in self.recall.acting:
            self.recall.acting[key] = self._looked_ahead(asked, memory)
        return self.recall.acting[key]

    def _looked_ahead(self, asked: Asked, memory: Memory) -> int:
        before: History | None = None
        for time_s, outcome in self._syncs(asked, memory):
            if outcome.replicas != asked.current:
                return time_s
            if outcome.history == before:
                return NEVER
            before = outcome.history
        return NEVER

    def _rested(self, asked: Asked, memory: Memory, seconds: int | None) -> History:
        """The history after idle syncs: those within `seconds`, or as many as still change it."""
        history = memory.history
        for time_s, outcome in self._syncs(asked, memory):
            if seconds is not None and time_s > seconds:
                return history
            if outcome.history == history:
                return history
            history = outcome.history
        return history

    def _caught_up(self, asked: Asked, memory: Memory, seconds: int) -> tuple[int, History]:
        """When the first sync after `seconds` is (or the acting one at that moment), and the history by then."""
        history = aged(memory.history, seconds)
        for time_s, outcome in self._syncs(asked, memory):
            acts = outcome.replicas != asked.current
            if time_s > seconds or (time_s == seconds and acts):
                return time_s, history
            history = aged(outcome.history, seconds - time_s)
        raise AssertionError("an acting sync lies ahead")

    # -- metrics --------------------------------------------------------------------------------

    def _samples(
        self, metric: Metric, pooled: Pooled, numbers: tuple[tuple[int, ...], ...]
    ) -> tuple[Sample, ...] | Failure:
        if metric.type not in SAMPLED_METRICS:
            return Failure(f"{metric.type} metrics are not modelled")
        template = self.layout.setup.workloads[self.target].template
        memories = dict(zip(self.reads.memories, numbers, strict=True))
        ready = sum(pods for (phase, *_), pods in pooled.groups if phase == Phase.READY)
        samples = [
            group(
                _facts(phase, age_s, pods),
                self._usage(metric.name, template, age_s, ready, memories),
                self._request(metric, *size),
                resource=metric.name,
                settings=self.settings,
            )
            for (phase, age_s, *size), pods in pooled.groups
        ]
        for waiting, *size in pooled.waiting:
            facts = PodFacts(waiting, is_pending=True)
            samples.append(
                group(facts, None, self._request(metric, *size), resource=metric.name, settings=self.settings)
            )
        return tuple(samples)

    def _request(self, metric: Metric, size: int | None = None) -> int | None:
        """What a pod requests: of the size that it has, or as the target's template says."""
        template = self.layout.setup.workloads[self.target if size is None else size].template
        return pod_request(template, metric.name, metric.container, self.settings.version)

    def _usage(
        self, resource: str, template: PodTemplate, age_s: int, ready: int, memories: dict[int, tuple[int, ...]]
    ) -> int:
        rule = next((r for r in self.rules if r.resource == resource and r.workload == self.target), None)
        if rule is not None and rule.is_shared and not is_cut(rule, memories):
            total = rule.levels[level_number(rule, age_s, memories)].amount_milli or 0
            return total // max(ready, 1)
        return pod_usage(rule, template, resource, age_s, memories)


class Asked(NamedTuple):
    """What a sync decides on, its history aside: spec.replicas, and the metrics' proposal if they are looked at."""

    current: int
    proposal: int | Failure | None


class Pooled(NamedTuple):
    """What a sync depends on: an autoscaler does not look at where pods are, so all nodes are taken together."""

    current: int  # spec.replicas
    groups: Groups
    waiting: tuple[tuple[int, ...], ...]  # pods without a node, then their size where pods have several


def _pooled(seen: Seen, sizes: tuple[int, ...] = ()) -> Pooled:
    groups: dict[tuple[int, ...], int] = {}
    for place in seen.places:
        for view, count in place:
            for key, pods in view:
                groups[key] = groups.get(key, 0) + pods * count
    unbound = [count for _, _, count in seen.workloads]
    told = zip(unbound, sizes, strict=True) if sizes else ((sum(unbound),),)
    waiting = tuple(one for one in told if one[0])
    return Pooled(seen.workloads[0][1], tuple(sorted((key, pods) for key, pods in groups.items() if pods)), waiting)


def _facts(phase: int, age_s: int, pods: int) -> PodFacts:
    """What upstream looks at, from phase and age; readiness is as old as the pod, or new where it was lost."""
    age = max(age_s, 0)
    if phase == Phase.TERMINATING:
        return PodFacts(pods, is_deleted=True)
    if phase == Phase.STARTING:
        return PodFacts(pods, is_pending=True)
    is_ready = phase == Phase.READY
    changed_s = 0 if phase == Phase.UNREADY else age
    return PodFacts(pods, is_ready=is_ready, age_s=age, ready_changed_s=changed_s)


def ages_read(settings: AutoscalerSettings, *, may_be_unready: bool = True) -> tuple[int, ...]:
    """Pod ages at which the trust in its CPU metric may change; a pod that is always ready waits for a sample only."""
    if may_be_unready:
        return (settings.sample_window_s, settings.cpu_initialization_s)
    return (min(settings.sample_window_s, settings.cpu_initialization_s),)
