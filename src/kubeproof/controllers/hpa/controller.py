"""The autoscaler as a periodic control loop of the model.

Memory is (least, most, known, history...): seconds until the next sync, whether rivals know its selector, and what
earlier syncs left. Syncs that change nothing are not steps: they are caught up on when time passes. When the cluster
comes to rest the phase of the period is forgotten (0 to a whole period), because whatever changes next may come at any
phase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.labels import Labels
from kubeproof.cluster.loops.actions import Remember, SetDesired
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Reads, Role, Stage
from kubeproof.cluster.loops.footprint import NOBODY, Deletes, Footprint, Sizing, some
from kubeproof.cluster.loops.mentions import mention_nothing
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Workload, family
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell
from kubeproof.cluster.steering.counted import find_counted, labels_of
from kubeproof.cluster.steering.policies import SAMPLED_METRICS, HorizontalPodAutoscaler, Metric
from kubeproof.cluster.usage import (
    Pod,
    UsageRule,
    containers_of,
    find_shared_rule,
    memories_read,
    pod_usage,
    rules_about,
    share_of,
    uses,
)
from kubeproof.controllers.hpa.ahead import Asked, LookAhead, Memory, Recall, first_memory, unpack
from kubeproof.controllers.hpa.ambiguity import Rival, is_ambiguous
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.combine import find_forced
from kubeproof.controllers.hpa.decide import Judged, ScaleDecision, judge
from kubeproof.controllers.hpa.history import History
from kubeproof.controllers.hpa.history import later as aged
from kubeproof.controllers.hpa.pods import RUNNING, Counted, Key, PodGroups, Pooled, Sight, Sorts, facts_of
from kubeproof.controllers.hpa.samples import CONTAINER_MISSED_SINCE, Sample, group, has_container, pod_request
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.loops.inaction import Idle

MOST_ASKED = 2**31 - 1  # upstream counts replicas in int32
MOST_SEEN = 200_000  # clusters of which is remembered what they ask for


@dataclass(frozen=True, slots=True)
class HpaController:
    """The loop of one autoscaler."""

    layout: Layout
    autoscaler: HorizontalPodAutoscaler
    target: int
    memory: int
    rules: tuple[UsageRule, ...] = ()
    rivals: tuple[Rival, ...] = ()  # other autoscalers whose selectors may match pods that this one counts
    stage: int = Stage.ALWAYS
    settings: AutoscalerSettings = field(default=AutoscalerSettings())
    recall: Recall = field(default_factory=Recall, compare=False, repr=False)
    _asked_before: dict[object, Asked] = field(default_factory=dict, init=False, compare=False, repr=False)
    # The target and the ReplicaSets of its later revisions, whose size it writes.
    members: tuple[int, ...] = field(init=False, compare=False, repr=False)
    # All whose pods the target's selector matches: the members, then those of other owners.
    counted: tuple[int, ...] = field(init=False, compare=False, repr=False)
    reads: Reads = field(init=False, compare=False, repr=False)
    _ahead: LookAhead = field(init=False, compare=False, repr=False)
    _sorts: Sorts = field(init=False, compare=False, repr=False)

    reads_nodes = mention_nothing

    @property
    def footprint(self) -> Footprint:
        return Footprint(
            deletes=Deletes.NO_PODS,
            sizing=Sizing.TOLD,
            tells_starts=some(self.counted),
            tells_ends=NOBODY if self.counts_own_pods_only else some(self.counted),
            overlooks_ends=some(self.counted) if self.counts_own_pods_only else NOBODY,
            sees_objects=some(self.counted),
            sees_new_pods=some(self.counted),
            takes_young=True,
        )

    def __post_init__(self) -> None:
        setup = self.layout.setup
        counted = find_counted(setup, self.autoscaler)
        object.__setattr__(self, "_ahead", LookAhead(self.autoscaler, self.settings, self.recall))
        object.__setattr__(self, "_sorts", Sorts(setup, counted, self.rules, by_labels=bool(self.rivals)))
        object.__setattr__(self, "members", family(setup, self.target))
        object.__setattr__(self, "counted", counted)
        memories = (self.memory, *memories_read(self.rules), *(rival.memory for rival in self.rivals))
        object.__setattr__(self, "reads", Reads(counted, self.layout.every_place, memories))

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.HPA, self.autoscaler.name)

    @property
    def counts_own_pods_only(self) -> bool:
        """True if the target's selector matches nobody else's pods, and no other autoscaler's matches its own."""
        return self.counted == self.members and not self.rivals

    def sizes_for(self, workload: int) -> tuple[int, ...]:
        """The least and the largest size that it writes."""
        bounds = (self.autoscaler.min_replicas, self.autoscaler.max_replicas)
        return bounds if workload in self.members else ()

    def show_workload(self, workload: int, cell: WorkloadCell) -> Counted:
        """Whether the target exists, its spec.replicas; pods without a node, and those that have ended."""
        return self._sorts.show_workload(workload, cell)

    def show_node(self, place: int, cell: NodeCell) -> PodGroups | None:
        """The counted pods by phase, age and sort."""
        return self._sorts.show_node(cell)

    # -- decisions ------------------------------------------------------------------------------

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """The sync, if it is due or may be, and changes the size or makes the selector known to rivals."""
        memory = unpack(seen.memories[0])
        exists, current, *_ = seen.workloads[0]
        if memory.least_s > 0 or not exists:
            return ()
        outcome = self.sync(seen, memory.history)
        is_news = self._is_news(current, memory)
        if outcome.replicas == current and not is_news:
            return ()
        period_s = self.settings.sync_period_s
        after = Memory(period_s, period_s, outcome.history, memory.is_known or is_news).pack()
        role = Role.URGENT if memory.most_s == 0 else Role.OPTIONAL
        writes = (SetDesired(self.target, outcome.replicas),) if outcome.replicas != current else ()
        return (Decision((*writes, Remember(self.memory, after)), role),)

    def _is_news(self, current: int, memory: Memory) -> bool:
        """True if the next sync is the first to make the selector known: it gets as far as metrics, and rivals ask."""
        if not self.rivals or memory.is_known:
            return False
        return find_forced(current, self.autoscaler.min_replicas, self.autoscaler.max_replicas) is None

    def sync(self, seen: Sight, history: History) -> ScaleDecision:
        """What a sync with this history would do now; looking ahead asks the same again and again.

        Remembered apart: what the metrics ask for, by the pods, and what the history makes of it, by that alone.
        """
        return self._ahead.outcome(self._ask(seen), history)

    def _judge(self, seen: Sight) -> Judged | None:
        """What the metrics ask for; None if they are not looked at."""
        current = seen.workloads[0].desired
        bounds = self.autoscaler.min_replicas, self.autoscaler.max_replicas
        if find_forced(current, *bounds) is not None:
            return None
        pooled = self._sorts.pool(seen)
        if self._is_ambiguous(pooled, seen):
            return None
        key = pooled, self._driving(seen)
        if key not in self.recall.proposals:
            metrics = tuple(self._samples(metric, pooled, seen.memories) for metric in self.autoscaler.metrics)
            self.recall.proposals[key] = judge(self.autoscaler, current, metrics, self.settings)
        return self.recall.proposals[key]

    def _is_ambiguous(self, pooled: Pooled, seen: Sight) -> bool:
        """True if the known selector of a rival matches one of the counted pods, in whatever phase that is."""
        if not self.rivals:
            return False
        workloads = self.layout.setup.workloads
        known = {self.autoscaler.name: workloads[self.target].selector}
        for rival, is_known in zip(self.rivals, self._find_known(seen), strict=True):
            known |= {rival.name: rival.selector} if is_known else {}
        present = {self._sorts.sort_of(key) for key, _ in pooled.groups}
        return is_ambiguous(self.autoscaler.name, [_labels(workloads[sort]) for sort in sorted(present)], known)

    def _find_known(self, seen: Sight) -> tuple[bool, ...]:
        """Which rivals have a known selector."""
        first = len(seen.memories) - len(self.rivals)
        return tuple(unpack(memory).is_known for memory in seen.memories[first:])

    def _driving(self, seen: Sight) -> tuple[tuple[int, ...], ...]:
        """The memories that say how much pods use."""
        return seen.memories[1 : len(seen.memories) - len(self.rivals)]

    def is_fixed(self, current: int, memory: tuple[int, ...]) -> bool:
        """True if no sync can change this size now, whatever the metrics ask for."""
        least_s, _, history, _ = unpack(memory)
        if least_s > 0:
            return True
        if find_forced(current, self.autoscaler.min_replicas, self.autoscaler.max_replicas) is not None:
            return False
        # Windows, rates and bounds never turn a larger proposal into a smaller size: the extremes decide.
        return all(self._ahead.outcome(Asked(current, each), history).replicas == current for each in (0, MOST_ASKED))

    def why(self, seen: Sight) -> tuple[str, ...]:
        """The numbers behind a sync now."""
        judged, outcome = self.consider(seen)
        return outcome.reasons if judged is None else judged.words + outcome.reasons

    def why_not(self, seen: Sight) -> Iterator[Idle]:
        """Why it leaves the size as it is, or when it will not any more."""
        from kubeproof.controllers.hpa.inaction import Sync

        exists, current, *_ = seen.workloads[0]
        if exists:
            judged, outcome = self.consider(seen)
            yield from Sync(
                self.autoscaler,
                self.layout.setup.workloads[self.target],
                current,
                judged,
                outcome,
                self.due(seen),
            ).why()

    def consider(self, seen: Sight) -> tuple[Judged | None, ScaleDecision]:
        """What the metrics ask for in a sync now, None if they are not looked at, and what comes of it."""
        return self._judge(seen), self.sync(seen, unpack(seen.memories[0]).history)

    # -- time -----------------------------------------------------------------------------------

    def due(self, seen: Sight) -> int:
        """Seconds until the first sync that is a step; the deadline where the phase is open."""
        exists, current, *_ = seen.workloads[0]
        memory = unpack(seen.memories[0])
        if not exists:
            return NEVER
        return memory.most_s if self._is_news(current, memory) else self._ahead.due(self._ask(seen), memory)

    def later(self, seen: Sight, seconds: int | None) -> tuple[int, ...]:
        """The memory after syncs that change nothing."""
        exists, current, *_ = seen.workloads[0]
        memory = unpack(seen.memories[0])
        if not exists:
            return first_memory(self.settings.sync_period_s, is_known=memory.is_known)
        if seconds is not None and self._is_news(current, memory):
            history = aged(memory.history, seconds)
            return Memory(max(0, memory.least_s - seconds), memory.most_s - seconds, history).pack()
        return self._ahead.later(self._ask(seen), seen.memories[0], seconds)

    def _ask(self, seen: Sight) -> Asked:
        """What a sync would decide on; its own memory, the first, has no say in that."""
        key = seen.workloads, seen.places, self._driving(seen), self._find_known(seen)
        asked = self._asked_before.get(key)
        if asked is None:
            if len(self._asked_before) >= MOST_SEEN:
                self._asked_before.clear()
            judged = self._judge(seen)
            proposal = None if judged is None else judged.proposal
            asked = self._asked_before[key] = Asked(seen.workloads[0].desired, proposal)
        return asked

    # -- metrics --------------------------------------------------------------------------------

    def _samples(
        self, metric: Metric, pooled: Pooled, numbers: tuple[tuple[int, ...], ...]
    ) -> tuple[Sample, ...] | Failure:
        if metric.type not in SAMPLED_METRICS:
            return Failure(f"{metric.type} metrics are not modelled")
        if self._lacks_container(metric, pooled.groups):
            return Failure(f"container {metric.container} is not in the metrics of some pod")
        memories = dict(zip(self.reads.memories, numbers, strict=True))
        return tuple(self._sample(metric, key, pods, pooled.groups, memories) for key, pods in pooled.groups)

    def _sample(
        self, metric: Metric, key: Key, pods: int, groups: PodGroups, memories: dict[int, tuple[int, ...]]
    ) -> Sample:
        sort = self._sorts.sort_of(key)
        template = self.layout.setup.workloads[sort].template
        facts = facts_of(key, pods)
        if metric.container and not has_container(template, metric.container, self.settings.version):
            facts = facts._replace(has_metric=False)
        usage = self._usage(metric, sort, key.age_s, groups, memories) if key.phase in RUNNING else None
        request = pod_request(template, metric.name, metric.container, self.settings.version)
        return group(facts, usage, request, resource=metric.name, settings=self.settings)

    def _lacks_container(self, metric: Metric, groups: PodGroups) -> bool:
        """True if the metrics of a pod lack the container, which makes them all fail before 1.33."""
        if not metric.container or self.settings.version >= CONTAINER_MISSED_SINCE:
            return False
        running = {self._sorts.sort_of(key) for key, _ in groups if key.phase in RUNNING}
        templates = [self.layout.setup.workloads[sort].template for sort in running]
        return any(not has_container(template, metric.container, self.settings.version) for template in templates)

    def _usage(
        self, metric: Metric, sort: int, age_s: int, groups: PodGroups, memories: dict[int, tuple[int, ...]]
    ) -> int:
        """What one pod uses, or the container that the metric names; the ready pods share a load."""
        rules = rules_about(self.rules, metric.name, sort)
        pod = Pod(containers_of(self.layout.setup.workloads[sort].template, self.settings.version), age_s)
        load = find_shared_rule(rules, memories)
        share = None if load is None else share_of(load, age_s, memories, self._sharing(load, groups))
        if not metric.container:
            return pod_usage(rules, pod, metric.name, memories, share)
        own = zip(pod.containers, uses(rules, pod, metric.name, memories, share), strict=True)
        return sum(used for container, used in own if container.name == metric.container)

    def _sharing(self, rule: UsageRule, groups: PodGroups) -> int:
        """How many ready pods share the rule's total."""
        ready = [(self._sorts.sort_of(key), pods) for key, pods in groups if key.phase == Phase.READY]
        sharers = {other.workload for other in self.rules if other._replace(workload=rule.workload) == rule}
        return sum(pods for sort, pods in ready if sort in sharers)


def _labels(workload: Workload) -> Labels:
    return tuple(sorted(labels_of(workload).items()))


def ages_read(settings: AutoscalerSettings, *, may_be_unready: bool = True) -> tuple[int, ...]:
    """Pod ages at which the trust in its CPU metric may change; a pod that is always ready waits for a sample only."""
    if may_be_unready:
        return (settings.sample_window_s, settings.cpu_initialization_s)
    return (min(settings.sample_window_s, settings.cpu_initialization_s),)
