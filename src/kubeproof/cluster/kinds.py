"""The kinds of workloads, and what each of them is like: whoever treats kinds differently asks here.

Every kind answers every question, so that a new one is a declaration here and whatever nobody else has.
"""

from __future__ import annotations

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.values import dataclass

DEPLOYMENT = "Deployment"
REPLICA_SET = "ReplicaSet"
DAEMON_SET = "DaemonSet"
STATEFUL_SET = "StatefulSet"
REPLICATION_CONTROLLER = "ReplicationController"
JOB = "Job"
CRON_JOB = "CronJob"
POD = "Pod"

TEMPLATE_HASH = "pod-template-hash"
REVISION_HASH = "controller-revision-hash"
CONTROLLER_UIDS = ("controller-uid", "batch.kubernetes.io/controller-uid")
JOB_NAMES = ("batch.kubernetes.io/job-name", "job-name")
OF_JOBS = (*reversed(CONTROLLER_UIDS), "batch.kubernetes.io/job-completion-index")
TEMPLATE = ("spec", "template")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What the workloads of one kind are like."""

    name: str
    version: str  # apiVersion
    turn: int  # in which a cluster is read: owners come before what they own
    plural: str  # as its API server calls them
    template: tuple[str, ...]  # where its pod template stands; (): it is one
    adds: tuple[str, ...]  # keys of the labels that pods of it get in a cluster, beside those of the template
    earlier_groups: tuple[str, ...] = ()  # API groups that it was in
    is_pod: bool  # it is its one pod, which nobody replaces
    has_replicas: bool  # spec.replicas is its size, which its scale tells budgets and autoscalers
    has_replica_set: bool  # its pods are all alike: a ReplicaSet or ReplicationController keeps them
    owns_replica_sets: bool  # one for each revision of its pod template
    has_ordinals: bool  # each of its pods has an identity
    runs_per_node: bool  # it has a pod on every node where it should run; drains leave its pods alone
    runs_to_completion: bool  # its pods end by themselves
    counts_completions: bool  # it is a single run to completion
    starts_jobs: bool  # whenever its schedule says so
    rolls_out: bool  # it brings a new pod template to its pods
    is_spread_by_owner: bool  # its selector makes default spread constraints, not its Services alone
    has_controller_revisions: bool  # that keep its earlier pod templates
    replaces_pods: bool  # pods that are lost come again, whenever that is
    sizes_in_sync: bool  # a new size takes effect with its loop's next sync, not with the write itself
    labels: tuple[str, ...]  # that its controller adds to its pods, with values of its own
    loop: ActorKind | None  # who keeps its pods

    @property
    def group(self) -> str:
        """Its API group."""
        return self.version.rpartition("/")[0]

    @property
    def is_custom(self) -> bool:
        """True if it is no kind of Kubernetes itself: many clusters do not serve it."""
        return "." in self.group and not self.group.endswith(".k8s.io")

    @property
    def is_held_through_others(self) -> bool:
        """True if something that it makes, or keeps revisions with, stands between it and its pods."""
        return self.rolls_out or self.starts_jobs


DECLARED = (
    Kind(
        name=DEPLOYMENT,
        version="apps/v1",
        turn=1,
        plural="deployments",
        template=TEMPLATE,
        adds=(TEMPLATE_HASH,),
        earlier_groups=("extensions",),
        is_pod=False,
        has_replicas=True,
        has_replica_set=True,
        owns_replica_sets=True,
        has_ordinals=False,
        runs_per_node=False,
        runs_to_completion=False,
        counts_completions=False,
        starts_jobs=False,
        rolls_out=True,
        is_spread_by_owner=True,
        has_controller_revisions=False,
        replaces_pods=True,
        sizes_in_sync=True,
        labels=(TEMPLATE_HASH,),
        loop=ActorKind.REPLICA_SET,
    ),
    Kind(
        name=REPLICA_SET,
        version="apps/v1",
        turn=4,
        plural="replicasets",
        template=TEMPLATE,
        adds=(),
        earlier_groups=("extensions",),
        is_pod=False,
        has_replicas=True,
        has_replica_set=True,
        owns_replica_sets=False,
        has_ordinals=False,
        runs_per_node=False,
        runs_to_completion=False,
        counts_completions=False,
        starts_jobs=False,
        rolls_out=False,
        is_spread_by_owner=True,
        has_controller_revisions=False,
        replaces_pods=True,
        sizes_in_sync=False,
        labels=(),
        loop=ActorKind.REPLICA_SET,
    ),
    Kind(
        name=REPLICATION_CONTROLLER,
        version="v1",
        turn=5,
        plural="replicationcontrollers",
        template=TEMPLATE,
        adds=(),
        is_pod=False,
        has_replicas=True,
        has_replica_set=True,
        owns_replica_sets=False,
        has_ordinals=False,
        runs_per_node=False,
        runs_to_completion=False,
        counts_completions=False,
        starts_jobs=False,
        rolls_out=False,
        is_spread_by_owner=True,
        has_controller_revisions=False,
        replaces_pods=True,
        sizes_in_sync=False,
        labels=(),
        loop=ActorKind.REPLICATION_CONTROLLER,
    ),
    Kind(
        name=DAEMON_SET,
        version="apps/v1",
        turn=3,
        plural="daemonsets",
        template=TEMPLATE,
        adds=("pod-template-generation", REVISION_HASH),
        earlier_groups=("extensions",),
        is_pod=False,
        has_replicas=False,
        has_replica_set=False,
        owns_replica_sets=False,
        has_ordinals=False,
        runs_per_node=True,
        runs_to_completion=False,
        counts_completions=False,
        starts_jobs=False,
        rolls_out=True,
        is_spread_by_owner=False,
        has_controller_revisions=True,
        replaces_pods=True,
        sizes_in_sync=False,
        labels=(REVISION_HASH,),
        loop=ActorKind.DAEMON_SET,
    ),
    Kind(
        name=STATEFUL_SET,
        version="apps/v1",
        turn=2,
        plural="statefulsets",
        template=TEMPLATE,
        adds=("apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name", REVISION_HASH),
        is_pod=False,
        has_replicas=True,
        has_replica_set=False,
        owns_replica_sets=False,
        has_ordinals=True,
        runs_per_node=False,
        runs_to_completion=False,
        counts_completions=False,
        starts_jobs=False,
        rolls_out=True,
        is_spread_by_owner=True,
        has_controller_revisions=True,
        replaces_pods=True,
        sizes_in_sync=True,
        labels=(REVISION_HASH,),
        loop=ActorKind.STATEFUL_SET,
    ),
    Kind(
        name=JOB,
        version="batch/v1",
        turn=7,
        plural="jobs",
        template=TEMPLATE,
        adds=OF_JOBS,
        is_pod=False,
        has_replicas=False,
        has_replica_set=False,
        owns_replica_sets=False,
        has_ordinals=False,
        runs_per_node=False,
        runs_to_completion=True,
        counts_completions=True,
        starts_jobs=False,
        rolls_out=False,
        is_spread_by_owner=False,
        has_controller_revisions=False,
        replaces_pods=False,
        sizes_in_sync=True,
        labels=CONTROLLER_UIDS,
        loop=ActorKind.JOB,
    ),
    Kind(
        name=CRON_JOB,
        version="batch/v1",
        turn=6,
        plural="cronjobs",
        template=("spec", "jobTemplate", *TEMPLATE),
        adds=(*OF_JOBS, *JOB_NAMES),
        is_pod=False,
        has_replicas=False,
        has_replica_set=False,
        owns_replica_sets=False,
        has_ordinals=False,
        runs_per_node=False,
        runs_to_completion=True,
        counts_completions=False,
        starts_jobs=True,
        rolls_out=False,
        is_spread_by_owner=False,
        has_controller_revisions=False,
        replaces_pods=False,
        sizes_in_sync=True,
        labels=CONTROLLER_UIDS,
        loop=ActorKind.CRON_JOB,
    ),
    Kind(
        name=POD,
        version="v1",
        turn=8,
        plural="pods",
        template=(),
        adds=(),
        is_pod=True,
        has_replicas=False,
        has_replica_set=False,
        owns_replica_sets=False,
        has_ordinals=False,
        runs_per_node=False,
        runs_to_completion=False,
        counts_completions=False,
        starts_jobs=False,
        rolls_out=False,
        is_spread_by_owner=False,
        has_controller_revisions=False,
        replaces_pods=False,
        sizes_in_sync=False,
        labels=(),
        loop=None,
    ),
)

KINDS = {kind.name: kind for kind in DECLARED}
JOBS = tuple(kind.name for kind in DECLARED if kind.runs_to_completion)
ROLLED_OUT = tuple(kind.name for kind in DECLARED if kind.rolls_out)
