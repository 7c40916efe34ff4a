"""Kubernetes objects as the model uses them: defaulted, exact, frozen.

These values never change during a run; what changes is in `kubeproof.cluster.state`.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from kubeproof.cluster.api import versions
from kubeproof.cluster.kinds import KINDS, REPLICA_SET, Kind
from kubeproof.cluster.labels import (
    Labels,
    LabelSelector,
    NodeTerm,
    PreferredTerm,
    Taint,
    Toleration,
    as_map,
)
from kubeproof.cluster.said import Said
from kubeproof.values import dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.nodes.node_groups import ClusterAutoscaler
    from kubeproof.cluster.services import Service
    from kubeproof.cluster.steering.policies import (
        DeschedulerPolicy,
        HorizontalPodAutoscaler,
        PodDisruptionBudget,
        PriorityClass,
    )
    from kubeproof.cluster.steering.quotas import ResourceQuota
    from kubeproof.cluster.steering.vertical import VerticalPodAutoscaler
    from kubeproof.cluster.volumes import Claim, StorageClass, Volume

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class Source:
    """Where an object or field stands in the input."""

    file: str = "<built-in>"
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port of the node that a container takes; `ip` 0.0.0.0 stands for all addresses."""

    port: int
    protocol: str = "TCP"
    ip: str = "0.0.0.0"  # nothing listens here; it is what the API defaults to


@dataclass(frozen=True, slots=True)
class Container:
    """A container's requests; None means the request is omitted, which scores differ on from 0."""

    name: str
    cpu_milli: int | None = None
    memory_bytes: int | None = None
    others: tuple[tuple[str, int], ...] = ()  # ephemeral-storage and extended resources
    restartable_init: bool = False  # a sidecar (init container with restartPolicy Always)
    image: str = ""  # with its tag
    host_ports: tuple[HostPort, ...] = ()
    limits: tuple[tuple[str, int], ...] = ()  # by resource, CPU in milli, everything else in units
    pre_stop_s: int = 0  # how long its preStop hook sleeps
    has_ports: bool = False  # declares ports, so that it is the one which serves


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """One topologySpreadConstraint."""

    topology_key: str
    max_skew: int = 1
    hard: bool = True  # DoNotSchedule; otherwise ScheduleAnyway
    selector: LabelSelector | None = None  # None: nil selector, matches nothing
    min_domains: int = 1
    honor_affinity: bool = True  # nodeAffinityPolicy: Honor (default)
    honor_taints: bool = False  # nodeTaintsPolicy: Honor (default Ignore)
    match_label_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PodTerm:
    """One podAffinityTerm: which pods, and within which domain of nodes."""

    topology_key: str
    selector: LabelSelector | None = None  # None: nil selector, matches nothing
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None  # None: nil selector, adds no namespace; empty: all
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WeightedPodTerm:
    """A preferred podAffinityTerm with its weight (1 to 100)."""

    weight: int
    term: PodTerm


@dataclass(frozen=True, slots=True)
class PodAffinity:
    """A podAffinity or a podAntiAffinity."""

    required: tuple[PodTerm, ...] = ()
    preferred: tuple[WeightedPodTerm, ...] = ()

    @property
    def topology_keys(self) -> frozenset[str]:
        """The node labels that the terms read."""
        return frozenset(term.topology_key for term in (*self.required, *(p.term for p in self.preferred)))


@dataclass(frozen=True, slots=True)
class Readiness:
    """The readiness probe's delays that decide when a running pod turns ready."""

    initial_delay_s: int = 0
    period_s: int = 10
    success_threshold: int = 1


@dataclass(frozen=True, slots=True)
class PodTemplate:
    """What every pod of a workload looks like."""

    labels: Labels = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: tuple[tuple[str, int], ...] = ()  # "cpu" in milli, "memory" in bytes, others in units
    own_requests: tuple[tuple[str, int], ...] = ()  # likewise; of the pod as a whole, instead of its containers' sum
    node_name: str | None = None
    node_selector: Labels = ()
    required_terms: tuple[NodeTerm, ...] | None = None  # None: no required affinity; (): matches nothing
    preferred_terms: tuple[PreferredTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    grace_s: int = 30
    pre_stop_s: int = 0  # how long a preStop hook keeps its containers serving after the pod was deleted
    readiness: Readiness | None = None
    scheduler_name: str = "default-scheduler"
    deletion_cost: int = 0  # annotation controller.kubernetes.io/pod-deletion-cost
    pod_affinity: PodAffinity = PodAffinity()
    pod_anti_affinity: PodAffinity = PodAffinity()
    priority_class: str = ""  # priorityClassName
    priority: int | None = None  # admission sets it; None counts as 0
    preemption_policy: str = ""  # admission sets it; empty counts as PreemptLowerPriority
    volume_images: tuple[str, ...] = ()  # images mounted as volumes, with their tags
    has_deadline: bool = False  # activeDeadlineSeconds is set
    claims: tuple[str, ...] = ()  # names of the PersistentVolumeClaims that it mounts
    safe_to_evict: bool | None = None  # annotation cluster-autoscaler.kubernetes.io/safe-to-evict
    has_local_storage: bool = False  # an emptyDir on disk or a hostPath that no annotation declares safe to lose
    has_local_volumes: bool = False  # any emptyDir or hostPath
    always_evictable: bool = False  # annotation descheduler.alpha.kubernetes.io/evict
    prefers_to_stay: bool = False  # annotation descheduler.alpha.kubernetes.io/prefer-no-eviction
    ends_for_good: bool = False  # restartPolicy Never, outside of Jobs: what exits is not started again


@dataclass(frozen=True, slots=True)
class Held:
    """What pods that nothing ever moves take of their node; amounts by resource, sorted."""

    pods: int = 0
    requested: tuple[tuple[str, int], ...] = ()
    scored: tuple[tuple[str, int], ...] = ()  # where nodes are scored: with defaults for what containers omit


@dataclass(frozen=True, slots=True)
class Node:
    """A node as the manifests declare it."""

    name: str
    labels: Labels = ()
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    cpu_milli: int = 0  # allocatable
    memory_bytes: int = 0
    pods: int = 110
    others: tuple[tuple[str, int], ...] = ()
    source: Source = field(default=Source(), compare=False)
    images: tuple[tuple[str, int], ...] = ()  # names with sizes in bytes, as its status lists them
    group: str = ""  # the cluster autoscaler's node group that it belongs to
    is_slot: bool = False  # not there at first: a group may grow by it
    keeps: bool = False  # annotation cluster-autoscaler.kubernetes.io/scale-down-disabled
    sizes: tuple[Node, ...] = ()  # of a class of nodes whose sizes differ: see kubeproof.cluster.nodes.near_nodes
    held: Held = Held()  # by pods that no run of the input moves: see kubeproof.verify.proofs.standing

    @property
    def label_map(self) -> dict[str, str]:
        """Its labels by key: how loops, events and facts read them."""
        return as_map(self.labels)

    def rename(self, name: str) -> Node:
        """The same node under another name."""
        return replace(self, name=name)

    def resize(self, size: Node) -> Node:
        """The same node as one of this size."""
        return replace(self, cpu_milli=size.cpu_milli, memory_bytes=size.memory_bytes, others=size.others, sizes=())


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a Deployment or DaemonSet replaces its pods; amounts are pods, or percent of the replicas (nodes)."""

    rolling: bool = True  # RollingUpdate; otherwise Recreate (of a DaemonSet: OnDelete)
    max_surge: int = 25
    surge_percent: bool = True
    max_unavailable: int = 25
    unavailable_percent: bool = True

    def unavailable_of(self, replicas: int) -> int:
        """How many pods may be missing: percent rounded down, at least 1 if there is no surge either."""
        if not self.rolling:
            return 0
        missing = self.max_unavailable * replicas // 100 if self.unavailable_percent else self.max_unavailable
        return min(replicas, missing if missing or self.surge_of(replicas) else 1)

    def surge_of(self, replicas: int) -> int:
        """How many pods there may be beyond the replicas: percent rounded up."""
        if not self.rolling:
            return 0
        return -(-self.max_surge * replicas // 100) if self.surge_percent else self.max_surge


@dataclass(frozen=True, slots=True)
class StatefulRules:
    """How a StatefulSet numbers, orders and updates its pods."""

    start: int = 0  # ordinals.start
    parallel: bool = False  # podManagementPolicy Parallel; otherwise OrderedReady
    rolling: bool = True  # RollingUpdate; otherwise OnDelete
    partition: int = 0  # ordinals below start + partition are not updated
    max_unavailable: tuple[int, bool] = (1, False)  # pods, or percent of the replicas


@dataclass(frozen=True, slots=True)
class JobRules:
    """How many pods of a Job have to succeed, and what ends it; its parallelism is the workload's replicas."""

    completions: int | None = 1  # None: a work queue, done when one pod has succeeded and none runs
    indexed: bool = False  # completionMode Indexed
    backoff_limit: int = 6  # so many failures are forgiven
    deadline_s: int | None = None  # activeDeadlineSeconds
    ttl_s: int | None = None  # ttlSecondsAfterFinished
    suspended: bool = False
    only_failed: bool = False  # podReplacementPolicy Failed: a pod that ends is replaced when it has ended
    restarts: bool = False  # restartPolicy OnFailure; otherwise Never


ALLOW, FORBID, REPLACE = "Allow", "Forbid", "Replace"


@dataclass(frozen=True, slots=True)
class CronRules:
    """When a CronJob starts a Job, and what it does about one that still runs."""

    gaps_s: tuple[int, ...]  # the different times between two runs of the schedule, ascending
    policy: str = ALLOW  # concurrencyPolicy
    suspended: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """A Deployment, a bare ReplicaSet or ReplicationController, a DaemonSet, a StatefulSet, a Job, or a bare Pod.

    A CronJob is one, too: what it says of pods is said by the Jobs that it starts.
    """

    kind: str
    namespace: str
    name: str
    template: PodTemplate
    replicas: int = 1
    selector: LabelSelector = LabelSelector()
    min_ready_s: int = 0
    paused: bool = False
    bound_to: str | None = None  # bare Pod that already runs on this node
    replicas_given: bool = field(default=True, compare=False)  # spec.replicas stands in the manifest
    owner: str | None = None  # ref of the Deployment of which this is a later revision's ReplicaSet
    source: Source = field(default=Source(), compare=False)
    strategy: Strategy = Strategy()
    stateful: StatefulRules = StatefulRules()
    ordinal: int | None = None  # of a StatefulSet: the one pod that this stands for; of a CronJob: which of its Jobs
    refused: tuple[Said, ...] = ()  # why the API server refuses each of its pods, from the first one on
    resized: bool = False  # stands for the owner's pods with other requests, set by a VerticalPodAutoscaler
    job: JobRules = JobRules()
    cron: CronRules | None = None  # of a CronJob and of the Jobs that it starts
    claim_templates: tuple[Claim, ...] = ()  # of a StatefulSet: each ordinal has a claim of its own by each

    @property
    def rules(self) -> Kind:
        """What workloads of its kind are like."""
        return KINDS[self.kind]

    @property
    def ref(self) -> str:
        """`Kind/namespace/name`, the form that targets use."""
        return f"{self.kind}/{self.namespace}/{self.name}"

    @property
    def declared_as(self) -> str:
        """The object that somebody wrote: the Deployment of a revision, the StatefulSet of an ordinal."""
        return self.owner or self.ref

    @property
    def has_template_hash(self) -> bool:
        """True if a Deployment's ReplicaSet keeps its pods, which therefore carry its hash."""
        return self.rules.owns_replica_sets or (self.kind == REPLICA_SET and self.owner is not None)

    @property
    def home(self) -> str | None:
        """The node that a bare Pod names or runs on, None for other workloads."""
        return self.bound_to or (self.template.node_name if self.rules.is_pod else None)


@dataclass(frozen=True, slots=True)
class SchedulerProfile:
    """One kube-scheduler profile: which plugins run, with which weights and arguments."""

    name: str = "default-scheduler"
    disabled: frozenset[str] = frozenset()  # plugins switched off at every extension point
    disabled_score: frozenset[str] = frozenset()  # plugins switched off for scoring only
    weights: tuple[tuple[str, int], ...] = ()  # overrides of the default weights
    fit_strategy: str = "LeastAllocated"  # MostAllocated, RequestedToCapacityRatio
    fit_resources: tuple[tuple[str, int], ...] = (("cpu", 1), ("memory", 1))
    fit_shape: tuple[tuple[int, int], ...] = ()  # (utilization, score 0..10) points
    balanced_resources: tuple[str, ...] = ("cpu", "memory")
    added_affinity: tuple[NodeTerm, ...] | None = None
    default_spread: tuple[SpreadConstraint, ...] | None = None  # defaultingType List; None: System
    hard_pod_affinity_weight: int = 1
    ignore_preferred_of_existing: bool = False  # ignorePreferredTermsOfExistingPods
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """What lives in flags, not in objects."""

    kubernetes_version: tuple[int, int] = versions.NEWEST
    monitor_grace_s: int | None = None  # None: upstream's default for the version
    monitor_period_s: int = 5
    startup_s: tuple[int, int] = (1, 5)  # from binding to running, least and most
    startup_choices: tuple[tuple[int, float], ...] = ()  # seconds with probabilities, drawn when a pod is bound
    maintenance_s: tuple[int, int] = (60, 600)  # how long a node is down for maintenance, least and most
    descheduler_interval_s: int = 300
    descheduler_version: tuple[int, int] = versions.NEWEST_DESCHEDULER
    hpa_period_s: int = 15
    hpa_tolerance_permille: int = 100
    downscale_stabilization_s: int = 300
    vpa_margin_permille: int = 1150  # what is recommended beyond what is used
    vpa_history_s: int = 86_400  # for how long the recommender has watched the pods
    endpoints_lag_s: int = 2  # until endpoints and all proxies have learnt that a pod terminates, at most
    ingress_lag_s: int = 5  # until the controller of an Ingress has, after that, at most
    max_cron_jobs: int | None = None  # Jobs of one CronJob that are followed at once; None: by how long they run
    gitops_interval_s: int | None = None  # how often drift from the manifests is undone; None: never
    gitops_namespaces: tuple[str, ...] = ()  # where it is undone; empty: everywhere
    gitops_ignored: tuple[
        tuple[str, bool], ...
    ] = ()  # workloads of which replicas may drift, even if the rest is undone

    @property
    def grace_s(self) -> int:
        """node-monitor-grace-period: 40 s up to 1.31, 50 s since 1.32."""
        if self.monitor_grace_s is not None:
            return self.monitor_grace_s
        return 50 if versions.GRACE_OF_50_S.holds_in(self.kubernetes_version) else 40


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything about a cluster that never changes during a run."""

    nodes: tuple[Node, ...] = ()
    workloads: tuple[Workload, ...] = ()
    profiles: tuple[SchedulerProfile, ...] = (SchedulerProfile(),)
    settings: Settings = Settings()
    autoscalers: tuple[HorizontalPodAutoscaler, ...] = ()
    descheduler: DeschedulerPolicy | None = None
    budgets: tuple[PodDisruptionBudget, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()  # declared ones, system classes aside
    namespaces: tuple[tuple[str, Labels], ...] = ()  # declared Namespaces with their labels
    quotas: tuple[ResourceQuota, ...] = ()
    volumes: tuple[Volume, ...] = ()
    claims: tuple[Claim, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    services: tuple[Service, ...] = ()
    cluster_autoscaler: ClusterAutoscaler | None = None
    verticals: tuple[VerticalPodAutoscaler, ...] = ()
    others: tuple[object, ...] = ()  # values of kinds that have no field of their own

    def list_others(self, kind: type[Other]) -> tuple[Other, ...]:
        """The objects of such a kind."""
        return tuple(one for one in self.others if isinstance(one, kind))


class _Same:
    """A setup as the key of what is worked out once for it: the very same value, not an equal one, which costs more."""

    __slots__ = ("setup",)

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    def __hash__(self) -> int:
        return id(self.setup)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.setup is other.setup


def family(setup: Setup, workload: int) -> tuple[int, ...]:
    """A workload with the ReplicaSets of its later revisions, oldest first; alone if it has none."""
    return _families(_Same(setup))[workload]


@lru_cache(maxsize=16)
def _families(same: _Same) -> tuple[tuple[int, ...], ...]:
    workloads = same.setup.workloads
    members: dict[str, list[int]] = {}
    for number, one in enumerate(workloads):
        if one.owner is None:
            members.setdefault(one.ref, []).append(number)
    for number, one in enumerate(workloads):
        if one.owner is not None:
            members.setdefault(one.owner, []).append(number)
    return tuple(tuple(members[one.owner or one.ref]) for one in workloads)


def revisions_of(setup: Setup, workload: int) -> int:
    """How many pod templates a workload may ask for, the first one counted."""
    members = [member for member in family(setup, workload) if not setup.workloads[member].resized]
    numbered = [setup.workloads[member].ordinal for member in members[1:]]
    if not numbered or numbered[0] is None:
        return len(members)
    return numbered.count(numbered[0])


def short_name(setup: Setup, workload: int) -> str:
    """The workload's name, with namespace and kind where another workload or its pods could be meant."""
    return _short_name(_Same(setup), workload)


@lru_cache(maxsize=4096)
def _short_name(same: _Same, workload: int) -> str:
    setup = same.setup
    declared = setup.workloads[workload]
    if declared.ordinal is not None:
        return f"{short_name(setup, family(setup, workload)[0])}-{declared.ordinal}"
    others = [other for index, other in enumerate(setup.workloads) if index != workload and other.ordinal is None]
    if not any(_may_be_confused(declared.name, other.name) for other in others):
        return declared.name
    same_place = [o for o in others if o.namespace == declared.namespace]
    if not any(_may_be_confused(declared.name, other.name) for other in same_place):
        return f"{declared.namespace}/{declared.name}"
    return f"{declared.kind}/{declared.namespace}/{declared.name}"


def _may_be_confused(one: str, other: str) -> bool:
    """True for equal names, and for `web` with `web-3`, which may be one of its pods."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    head, _, tail = longer.rpartition("-")
    return head == shorter and tail.isdecimal()


def workload_number(setup: Setup, ref: str) -> int:
    """The index of a workload by its reference."""
    return next(i for i, workload in enumerate(setup.workloads) if workload.ref == ref)
