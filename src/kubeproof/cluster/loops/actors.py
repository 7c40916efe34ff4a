"""Who acts in a run: the kind of loop or event, and the object it looks after."""

from __future__ import annotations

from enum import StrEnum


class ActorKind(StrEnum):
    """The kinds of actors; the value is the word that traces use."""

    TIME = "time"
    EVENT = "event"  # of the Scenario
    DEPLOYMENT = "deployment"
    REPLICA_SET = "replicaset"
    REPLICATION_CONTROLLER = "replicationcontroller"
    STATEFUL_SET = "statefulset"
    DAEMON_SET = "daemonset"
    JOB = "job"
    CRON_JOB = "cronjob"
    SCHEDULER = "scheduler"
    HPA = "hpa"
    VPA = "vpa"
    CLUSTER_AUTOSCALER = "cluster-autoscaler"
    MACHINES = "machines"  # what a cloud does for the cluster autoscaler
    DESCHEDULER = "descheduler"
    KUBELET = "kubelet"
    NODE_CONTROLLER = "node-controller"
    TAINT_EVICTION = "taint-eviction"
    DRAIN = "drain"
    ENDPOINTS = "endpoints"
    PERSISTENT_VOLUME = "persistentvolume"
    GITOPS = "gitops"
    SIMPLE_AUTOSCALER = "simple"  # of a simulation
    OTHER = "other"  # a controller of the user's, by the name that it gives itself


class Actor(str):
    """An actor as traces name it, `scheduler web`, that knows its parts.

    It is its text, so that steps of equal name share one claim to fairness, whoever compares them.
    """

    kind: ActorKind
    object: str  # what it looks after, as a reader knows it: "web", "shop/web", the name of an event

    def __new__(cls, kind: ActorKind, object: str = "") -> Actor:
        """The actor; the kind of others is not told."""
        text = object if kind == ActorKind.OTHER else f"{kind} {object}" if object else str(kind)
        made = super().__new__(cls, text)
        made.kind, made.object = kind, object
        return made

    def __getnewargs__(self) -> tuple[ActorKind, str]:  # type: ignore[override]
        """Both parts, for copies and checkpoints."""
        return self.kind, self.object


TIME = Actor(ActorKind.TIME)
KUBELET = Actor(ActorKind.KUBELET)
