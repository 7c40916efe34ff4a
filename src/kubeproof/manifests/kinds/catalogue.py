"""The kinds of objects that are read: the one list of them.

A new kind is a reader in a module of its own, and a line here: in which versions it is read, by whom, where a cluster
serves it, and what becomes of it. Reading clusters, the role that this needs, and checks of versions follow from the
line. Readers of what few inputs hold are imported when the first such object is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from kubeproof.cluster.kinds import DECLARED as WORKLOADS
from kubeproof.cluster.kinds import KINDS
from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.objects import Source
from kubeproof.errors import InternalError
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.kinds.nodes import read_node
from kubeproof.manifests.kinds.priorities import read_priority_class
from kubeproof.manifests.kinds.workloads import (
    ReadWorkload,
    read_deployment,
    read_pod,
    read_replica_set,
    read_replication_controller,
)
from kubeproof.manifests.late import (
    read_autoscaler,
    read_budget,
    read_claim,
    read_cron_job,
    read_daemon_set,
    read_descheduler_policy,
    read_ingress,
    read_job,
    read_limit_range,
    read_quota,
    read_scheduler_profiles,
    read_service,
    read_stateful_set,
    read_storage_class,
    read_volume,
)
from kubeproof.manifests.loaded import Omission
from kubeproof.manifests.scenarios.scenario import VERSION
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.values import complete, dataclass

if TYPE_CHECKING:
    from kubeproof.manifests.objects import Document, Objects

ALONE = "kubeproof.dev/other-namespaces-not-read"  # annotation of a Namespace in a snapshot of it alone


def _node(fields: Fields, _: Document, objects: Objects) -> None:
    objects.nodes.append(read_node(fields))


def _namespace(fields: Fields, _: Document, objects: Objects) -> None:
    metadata = read_metadata(fields, namespaced=False)
    objects.namespaces.append((metadata.name, as_labels(metadata.labels)))
    notes = fields.require_child("metadata").child("annotations")
    if notes is not None and notes.has(ALONE):
        why = "a snapshot of one namespace: they take room on the nodes, too; kubeproof snapshot -A reads them"
        objects.omissions.append(Omission("pods of other namespaces", fields.source, why))


def _workload(fields: Fields, document: Document, objects: Objects) -> None:
    objects.workloads.append(WORKLOAD_READERS[document.kind](fields))


def _autoscaler(fields: Fields, document: Document, objects: Objects) -> None:
    version = document.read_as or document.version
    objects.autoscalers.append(read_autoscaler(fields, version=version.rpartition("/")[2]))


def _vertical(fields: Fields, _: Document, objects: Objects) -> None:
    from kubeproof.manifests.kinds.verticals import read_vertical  # few inputs have one

    objects.verticals.append(read_vertical(fields))


def _budget(fields: Fields, _: Document, objects: Objects) -> None:
    objects.budgets.append(read_budget(fields))


def _service(fields: Fields, _: Document, objects: Objects) -> None:
    service = read_service(fields)
    objects.services += [service] if service is not None else []


def _ingress(fields: Fields, _: Document, objects: Objects) -> None:
    objects.reached |= set(read_ingress(fields))


def _endpoint_slice(fields: Fields, document: Document, objects: Objects) -> None:
    """Lists an EndpointSlice: those of pods are made anew from the pods of a run, others lead out of the cluster."""
    labels = read_metadata(fields).labels
    is_made = labels.get("endpointslice.kubernetes.io/managed-by", "").startswith("endpointslice")
    why = "the endpoint controller makes it anew" if is_made else "its addresses are no pods of the input"
    objects.omissions.append(Omission(fields.log.owner, Source(document.file, document.line), why))


def _priority_class(fields: Fields, _: Document, objects: Objects) -> None:
    objects.priority_classes.append(read_priority_class(fields))


def _quota(fields: Fields, _: Document, objects: Objects) -> None:
    quota = read_quota(fields)
    objects.quotas += [quota] if quota is not None else []


def _limit_range(fields: Fields, _: Document, objects: Objects) -> None:
    objects.limit_ranges.append(read_limit_range(fields))


def _volume(fields: Fields, _: Document, objects: Objects) -> None:
    objects.volumes.append(read_volume(fields))


def _claim(fields: Fields, _: Document, objects: Objects) -> None:
    objects.claims.append(read_claim(fields))


def _storage_class(fields: Fields, _: Document, objects: Objects) -> None:
    objects.storage_classes.append(read_storage_class(fields))


def _scheduler(fields: Fields, _: Document, objects: Objects) -> None:
    objects.profiles += read_scheduler_profiles(fields)


def _descheduler(fields: Fields, _: Document, objects: Objects) -> None:
    objects.policies.append(read_descheduler_policy(fields))


def _application(fields: Fields, _: Document, objects: Objects) -> None:
    from kubeproof.manifests.kinds.applications import read_application  # few inputs have one

    objects.applications.append(read_application(fields))


@dataclass(frozen=True, slots=True)
class ReadKind:
    """A kind of object that is read: in which versions, the first of which is advised, by whom, and where it is served.

    What a cluster serves is read with `--live` and by `snapshot`, and the role allows it.
    """

    name: str
    versions: tuple[str, ...]
    read: Callable[[Fields, Document, Objects], None]
    plural: str = ""  # as which the API server serves it; "": it does not, or nobody has to ask for it
    earlier_groups: tuple[str, ...] = ()  # where it was; a kind of that name in any other group is another kind
    is_named: bool = True  # there may be several
    is_cluster_wide: bool = False  # it is in no namespace
    is_custom: bool = False  # many clusters do not serve it
    shapes_others: bool = False  # what other objects are read as depends on it

    @property
    def groups(self) -> frozenset[str]:
        """The API groups that it is, or was, in."""
        return frozenset((*(version.rpartition("/")[0] for version in self.versions), *self.earlier_groups))


def _elsewhere(fields: Fields, document: Document, objects: Objects) -> NoReturn:
    """Scenarios are read after all else, by `kubeproof.manifests.scenarios.scenario`."""
    raise InternalError(f"E700 {fields.log.owner} is read as an object")


_READERS: dict[str, Callable[[Fields], ReadWorkload]] = {
    "Deployment": read_deployment,
    "ReplicaSet": read_replica_set,
    "ReplicationController": read_replication_controller,
    "DaemonSet": read_daemon_set,
    "StatefulSet": read_stateful_set,
    "Job": read_job,
    "CronJob": read_cron_job,
    "Pod": read_pod,
}
WORKLOAD_READERS = complete(KINDS, _READERS)
_WORKLOADS = sorted(WORKLOADS, key=lambda kind: not kind.is_pod)
_EXTENSIONS = ("extensions",)
_DECLARED = (
    ReadKind("Namespace", ("v1",), _namespace, "namespaces", is_cluster_wide=True, shapes_others=True),
    ReadKind("Node", ("v1",), _node, "nodes", is_cluster_wide=True),
    *(
        ReadKind(kind.name, (kind.version,), _workload, kind.plural, kind.earlier_groups, is_custom=kind.is_custom)
        for kind in _WORKLOADS
    ),
    ReadKind(
        "HorizontalPodAutoscaler",
        ("autoscaling/v2", "autoscaling/v1"),
        _autoscaler,
        "horizontalpodautoscalers",
        _EXTENSIONS,
    ),
    ReadKind("VerticalPodAutoscaler", ("autoscaling.k8s.io/v1",), _vertical, "verticalpodautoscalers", is_custom=True),
    ReadKind("PodDisruptionBudget", ("policy/v1",), _budget, "poddisruptionbudgets"),
    ReadKind("Service", ("v1",), _service, "services"),
    ReadKind("Ingress", ("networking.k8s.io/v1",), _ingress, "ingresses", _EXTENSIONS, shapes_others=True),
    ReadKind("EndpointSlice", ("discovery.k8s.io/v1",), _endpoint_slice),  # the model makes them anew from pods
    ReadKind(
        "PriorityClass",
        ("scheduling.k8s.io/v1",),
        _priority_class,
        "priorityclasses",
        is_cluster_wide=True,
        shapes_others=True,
    ),
    ReadKind("ResourceQuota", ("v1",), _quota, "resourcequotas"),
    ReadKind("LimitRange", ("v1",), _limit_range, "limitranges", shapes_others=True),
    ReadKind("PersistentVolume", ("v1",), _volume, "persistentvolumes", is_cluster_wide=True),
    ReadKind("PersistentVolumeClaim", ("v1",), _claim, "persistentvolumeclaims"),
    ReadKind("StorageClass", ("storage.k8s.io/v1",), _storage_class, "storageclasses", is_cluster_wide=True),
    ReadKind(
        "KubeSchedulerConfiguration",
        ("kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3"),
        _scheduler,
        is_named=False,
        is_cluster_wide=True,
        shapes_others=True,
    ),
    ReadKind(
        "DeschedulerPolicy",
        ("descheduler/v1alpha2",),
        _descheduler,
        is_named=False,
        is_cluster_wide=True,
        shapes_others=True,
    ),
    ReadKind(
        "Application", ("argoproj.io/v1alpha1",), _application, "applications", is_custom=True, shapes_others=True
    ),
    ReadKind("Scenario", (VERSION,), _elsewhere),
)
READ_KINDS: dict[str, ReadKind] = {kind.name: kind for kind in _DECLARED}
