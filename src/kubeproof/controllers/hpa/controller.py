"""The autoscaler as a periodic control loop of the model.

Memory is (least, most, history...): seconds until the next sync, and what earlier syncs left. Syncs that change nothing
are not steps: they are caught up on when time passes. When the cluster comes to rest the phase of the period is
forgotten (0 to a whole period), because whatever changes next may come at any phase.
"""

from __future__ import annotations

from dataclasses import field
from typing import NamedTuple

from kubeproof.cluster.control import Decision, Reads, Remember, Role, Seen, SetDesired, Stage
from kubeproof.cluster.objects import PodTemplate, family
from kubeproof.cluster.places import Layout
from kubeproof.cluster.policies import SAMPLED_METRICS, HorizontalPodAutoscaler, Metric
from kubeproof.cluster.state import NEVER, NodeCell, Phase, WorkloadCell
from kubeproof.cluster.usage import (
    Pod,
    UsageRule,
    containers_of,
    memories_read,
    pod_usage,
    rules_about,
    share_of,
    shared_by,
    uses,
)
from kubeproof.controllers.hpa.ahead import Asked, LookAhead, Memory, Recall, first_memory, unpacked
from kubeproof.controllers.hpa.calculator import Failure
from kubeproof.controllers.hpa.combine import forced
from kubeproof.controllers.hpa.decide import Judged, Outcome, judge
from kubeproof.controllers.hpa.history import History
from kubeproof.controllers.hpa.samples import PodFacts, Sample, group, pod_request
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from kubeproof.values import dataclass

MOST_ASKED = 2**31 - 1  # upstream counts replicas in int32
MOST_SEEN = 200_000  # clusters of which is remembered what they ask for
Groups = tuple[
    tuple[tuple[int, ...], int], ...
]  # ((phase, age), pods) on one node; then the size where pods have several


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
    _ahead: LookAhead = field(init=False, compare=False, repr=False)
    _is_resized: bool = field(init=False, compare=False, repr=False)  # pods of the target request different amounts

    def __post_init__(self) -> None:
        members = family(self.layout.setup, self.target)
        resized = any(self.layout.setup.workloads[member].resized for member in members)
        object.__setattr__(self, "_is_resized", resized)
        object.__setattr__(self, "_ahead", LookAhead(self.autoscaler, self.settings, self.recall))
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
        return self._ahead.outcome(self._asked(seen), history)

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
        return all(self._ahead.outcome(Asked(current, each), history).replicas == current for each in (0, MOST_ASKED))

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
        return self._ahead.due(self._asked(seen), unpacked(seen.memories[0])) if seen.workloads[0][0] else NEVER

    def later(self, seen: Seen, seconds: int | None) -> tuple[int, ...]:
        """The memory after syncs that change nothing."""
        if not seen.workloads[0][0]:
            return first_memory(self.settings.sync_period_s)
        return self._ahead.later(self._asked(seen), seen.memories[0], seconds)

    def _asked(self, seen: Seen) -> Asked:
        """What a sync would decide on; its own memory, the first, has no say in that."""
        key = seen.workloads, seen.places, seen.memories[1:]
        if key not in self._asked_before:
            if len(self._asked_before) >= MOST_SEEN:
                self._asked_before.clear()
            judged = self._judged(seen)
            proposal = None if judged is None else judged.proposal
            self._asked_before[key] = Asked(seen.workloads[0][1], proposal)
        return self._asked_before[key]

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
                self._usage(metric, template, age_s, ready, memories),
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
        self, metric: Metric, template: PodTemplate, age_s: int, ready: int, memories: dict[int, tuple[int, ...]]
    ) -> int:
        """What one pod uses, or the container that the metric names; the ready pods share a load."""
        rules = rules_about(self.rules, metric.name, self.target)
        pod = Pod(containers_of(template, self.settings.version), age_s)
        load = shared_by(rules, memories)
        share = None if load is None else share_of(load, age_s, memories, ready)
        if not metric.container:
            return pod_usage(rules, pod, metric.name, memories, share)
        own = zip(pod.containers, uses(rules, pod, metric.name, memories, share), strict=True)
        return sum(used for container, used in own if container.name == metric.container)


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
