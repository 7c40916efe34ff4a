"""Which fields that are not modelled may change what happens, and to whom.

What holds in spite of such a field holds only if the field plays no part, so it is no plain HOLDS. Every field that
`kubeproof.manifests.validation.schema` calls not modelled stands in one of these tables: a test sees to that. One that
does not is taken to decide about all pods.
"""

from __future__ import annotations

from collections.abc import Iterable

from kubeproof.cluster.kinds import DECLARED

OWN = "own"  # what becomes of the object's own pods, which are where they would be anyway
RESTARTS = "restarts"  # the same, and only once a container exits
ALL = "all"  # where any pod goes, or how much room is left for it: how large pods are, or more than declared
NUMBER = "number"  # how many of the object's own pods there are, never more than it declares
NOTHING = ""

DEFAULT_NAMESPACE = "default"
EVERYBODY = "*/*/*"  # a pattern of references that every workload answers to

_OWN = {
    "PodSpec": "readinessGates",
}
_RESTARTS = {
    "Container": "restartPolicyRules",  # of an init container that ends by itself: OWN, see `pods/containers.py`
}
_NUMBER = {
    "JobSpec": "backoffLimitPerIndex maxFailedIndexes successPolicy podFailurePolicy managedBy scheduling",
    "PodSpec": "schedulingGates schedulingGroup workloadRef resourceClaims",
    "Volume": "ephemeral awsElasticBlockStore gcePersistentDisk iscsi rbd",  # no two on one node: `pods/disks.py`
    "MetricSource": "selector describedObject metric",
    "MetricIdentifier": "selector",
}
_ALL = {
    "ObjectMeta": "deletionTimestamp",  # of a node, a budget or a pod of somebody, too
    "PodSpec": "runtimeClassName",
    "VerticalPodAutoscalerSpec": "recommenders startupBoost",
    "VerticalUpdatePolicy": "evictionRequirements",
    "VerticalContainerPolicy": "startupBoost",
    "KubeSchedulerConfiguration": "extenders",
    "Plugins": "preEnqueue queueSort reserve permit preBind bind postBind placementScore",
    "NodeResourcesFitArgs": "ignoredResources ignoredResourceGroups",
}
_NOTHING = {
    "ObjectMeta": "finalizers",  # deletions of workload objects wait for nobody
    "StatefulSetSpec": "persistentVolumeClaimRetentionPolicy",  # the API server writes its default, which is as here
    "CronJobSpec": "timeZone",  # a start may come at any time
    "PodSpec": "ephemeralContainers",
    "Container": "startupProbe",  # the time of a start is declared
    "Lifecycle": "postStart stopSignal",  # so is that of hooks
    "LifecycleHandler": "httpGet tcpSocket",
    "Volume": "csi azureDisk azureFile cinder fc glusterfs cephfs "
    "flexVolume flocker quobyte vsphereVolume photonPersistentDisk portworxVolume scaleIO storageos",  # no attaching
    "PodStatus": "nominatedNodeName",
    "VerticalUpdatePolicy": "evictAfterOOMSeconds",  # nothing runs out of memory
    "VerticalContainerPolicy": "oomBumpUpRatio oomMinBumpUp",
    "ServiceSpec": "internalTrafficPolicy sessionAffinity sessionAffinityConfig trafficDistribution",  # equal shares
    "KubeSchedulerConfiguration": "percentageOfNodesToScore podInitialBackoffSeconds podMaxBackoffSeconds "
    "delayCacheUntilActive",  # told in the scope; the queue's order is open
    "SchedulerProfile": "percentageOfNodesToScore",
}
DECIDES: dict[tuple[str, str], str] = {
    (schema, name): decides
    for decides, table in ((OWN, _OWN), (RESTARTS, _RESTARTS), (NUMBER, _NUMBER), (ALL, _ALL), (NOTHING, _NOTHING))
    for schema, names in table.items()
    for name in names.split()
}


def decides(schema: str, field: str) -> str:
    """About whom a field that is not modelled decides: OWN, RESTARTS, NUMBER, ALL or NOTHING."""
    return DECIDES.get((schema, field), ALL)


def find_touched(decided: str, owner: str) -> tuple[str, ...]:
    """The patterns of the workloads that something of an object decides about; other words are patterns themselves."""
    if decided == NOTHING:
        return ()
    own = reference(owner)
    return ({OWN: own, RESTARTS: own, NUMBER: EVERYBODY, ALL: EVERYBODY}.get(decided, decided),)


def reference(owner: str) -> str:
    """`Kind/namespace/name` of an object as it is written: without a namespace it is in `default`."""
    kind, _, name = owner.partition("/")
    return owner if "/" in name else f"{kind}/{DEFAULT_NAMESPACE}/{name}"


# -- bounds of quotas and limits that are not about pods ------------------------------------------


def _one_of(kinds: Iterable[str]) -> str:
    """The kind if it is one; any kind if several create such objects."""
    found = tuple(kinds)
    return found[0] if len(found) == 1 else "*"


_CREATED_BY = {
    "count/replicasets.apps": _one_of(kind.name for kind in DECLARED if kind.owns_replica_sets),
    "count/jobs.batch": _one_of(kind.name for kind in DECLARED if kind.starts_jobs),
    "persistentvolumeclaims": "StatefulSet",
    "count/persistentvolumeclaims": "StatefulSet",
    "requests.storage": "StatefulSet",
    "count/controllerrevisions.apps": "*",
    "PersistentVolumeClaim": "StatefulSet",  # of a LimitRange
}


def find_held_back(bound: str, namespace: str) -> str:
    """The workloads whose loops create what such a bound is about; nobody's objects: NOTHING."""
    of_class = "StatefulSet" if ".storageclass.storage.k8s.io/" in bound else None
    kind = _CREATED_BY.get(bound, of_class)
    return NOTHING if kind is None else f"{kind}/{namespace}/*"
