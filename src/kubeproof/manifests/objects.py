"""Documents to objects: kinds, API versions, lists, and who owns whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, NoReturn

from kubeproof.cluster.kinds import DECLARED as WORKLOADS
from kubeproof.cluster.kinds import KINDS
from kubeproof.cluster.labels import Labels, as_labels
from kubeproof.cluster.objects import Node, SchedulerProfile, Source, Workload
from kubeproof.cluster.services import Service
from kubeproof.cluster.steering.policies import (
    DeschedulerPolicy,
    HorizontalPodAutoscaler,
    PodDisruptionBudget,
    PriorityClass,
)
from kubeproof.cluster.steering.quotas import LimitRange, ResourceQuota
from kubeproof.cluster.volumes import Claim, StorageClass, Volume
from kubeproof.errors import InternalError, ManifestError, ScenarioError
from kubeproof.manifests.kinds.foreign_scalers import names_target, target_of
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
from kubeproof.manifests.loaded import Group, Omission, Sort
from kubeproof.manifests.scenarios.scenario import VERSION
from kubeproof.manifests.validation.deciding import ALL, NOTHING, find_touched
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reads import Reads, is_list
from kubeproof.manifests.yaml.tree import Mapping, Value
from kubeproof.values import complete, dataclass

if TYPE_CHECKING:
    from kubeproof.cluster.steering.vertical import VerticalPodAutoscaler
    from kubeproof.manifests.kinds.applications import Application
    from kubeproof.manifests.scenarios.running import Owners

_BUILT_IN = frozenset(
    {
        *("", "apps", "batch", "extensions", "autoscaling", "policy"),
        *("networking.k8s.io", "discovery.k8s.io", "storage.k8s.io", "scheduling.k8s.io"),
    }
)  # groups of Kubernetes itself, whose kinds are all known
READ_BY_OTHERS = {
    "NetworkPolicy": "it decides about no pod; kubeproof network verify --from-manifests reads it",
}
ALONE = "kubeproof.dev/other-namespaces-not-read"  # annotation of a Namespace in a snapshot of it alone


@dataclass(frozen=True, slots=True)
class Document:
    """One object of the input, unread."""

    kind: str
    version: str
    mapping: Mapping
    file: str
    reads: Reads = field(default_factory=Reads, compare=False)  # notes what is read of it
    read_as: str = ""  # the version that replaced its own one

    @property
    def line(self) -> int:
        return self.mapping.line

    @property
    def place(self) -> Source:
        return Source(self.file, self.line)


@dataclass(slots=True)
class Objects:
    """Everything read so far."""

    nodes: list[Node] = field(default_factory=list)
    workloads: list[ReadWorkload] = field(default_factory=list)
    autoscalers: list[HorizontalPodAutoscaler] = field(default_factory=list)
    verticals: list[VerticalPodAutoscaler] = field(default_factory=list)
    profiles: list[SchedulerProfile] = field(default_factory=list)
    policies: list[DeschedulerPolicy] = field(default_factory=list)
    budgets: list[PodDisruptionBudget] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    reached: set[tuple[str, str]] = field(default_factory=set)  # Services that an Ingress leads to
    priority_classes: list[PriorityClass] = field(default_factory=list)
    namespaces: list[tuple[str, Labels]] = field(default_factory=list)
    quotas: list[ResourceQuota] = field(default_factory=list)
    limit_ranges: list[LimitRange] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    storage_classes: list[StorageClass] = field(default_factory=list)
    applications: list[Application] = field(default_factory=list)
    omissions: list[Omission] = field(default_factory=list)
    sized: dict[Omission, tuple[str, str]] = field(default_factory=dict)  # of objects without a reader: their targets
    owned: list[tuple[ReadWorkload, str]] = field(default_factory=list)  # pods, each with its workload's reference
    _owners: Owners | None = None

    def owners(self) -> Owners:
        """Who stands behind whom, once everything is read."""
        if self._owners is None:
            from kubeproof.manifests.scenarios.running import Owners  # manifests hardly hold pods of other workloads

            self._owners = Owners(self.workloads)
        return self._owners


def unpack(
    root: Value, file: str, reads: Reads | None = None, refuse: Callable[[Value, ManifestError], None] | None = None
) -> Iterator[Document]:
    """Yields the objects of a document, in order; lists are opened, also lists in lists.

    Objects in a list of one kind, such as `PodList`, need not state it. What is read of them later is noted in `reads`.
    What is no object is told to `refuse`, or raised without one.
    """
    noted = Reads() if reads is None else reads
    pending: list[tuple[Value, str, str]] = [(root, "", "")]
    while pending:
        value, version, kind = pending.pop()
        try:
            document = _document(value, file, noted, version, kind)
            items = _items_of(document)
        except ManifestError as problem:
            if refuse is None:
                raise
            refuse(value, problem)
            continue
        if items is None:
            yield document
        else:
            pending += reversed(items)


def _items_of(document: Document) -> list[tuple[Value, str, str]] | None:
    """What a list holds, with the version and kind that it says its objects have; None for an object."""
    if not is_list(document.mapping):
        return None
    fields = Fields(document.mapping, "", Log(document.file, document.kind, reads=document.reads))
    of_kind = document.kind.removesuffix("List")
    inner = (document.version, of_kind) if of_kind else ("", "")
    return [(item, *inner) for item in fields.items("items")]


def _document(value: Value, file: str, reads: Reads, version: str, kind: str) -> Document:
    """The object with its own version and kind, or those that its list says it has."""
    if not isinstance(value, Mapping):
        raise ManifestError(
            "not a Kubernetes object",
            file=file,
            line=value.line,
            remedy="Write a mapping with apiVersion and kind",
        )
    fields = Fields(value, "", Log(file, "object", reads=reads))
    version = fields.require_text("apiVersion") if fields.has("apiVersion") or not version else version
    kind = fields.require_text("kind") if fields.has("kind") or not kind else kind
    return Document(kind, version, value, file, reads)


def is_modelled_kind(document: Document) -> bool:
    """True if this kind in this API group has a reader."""
    kind = READ_KINDS.get(document.kind)
    return kind is not None and document.version.rpartition("/")[0] in kind.groups


def fields_of(document: Document, *, error: type[ManifestError] = ManifestError) -> Fields:
    """A cursor at the top of the object; messages carry its kind and name."""
    log = Log(document.file, show_name(document), error, reads=document.reads, ref=reference_of(document))
    return Fields(document.mapping, "", log)


def show_name(document: Document) -> str:
    """`Kind/namespace/name` as far as the text has them, made printable."""
    parts = [document.kind, *(text for text in identity_of(document) if text)]
    return printable("/".join(parts))


def identity_of(document: Document) -> tuple[str, str]:
    """Namespace and name as far as the text has them; malformed metadata is its reader's to refuse."""
    metadata = document.mapping.get("metadata")
    if not isinstance(metadata, Mapping):
        return "", ""
    document.reads.marks(document.mapping)["metadata"] = True
    found = []
    for key in ("namespace", "name"):
        document.reads.marks(metadata)[key] = True
        found.append(getattr(metadata.get(key), "text", None) or "")
    return found[0], found[1]


def reference_of(document: Document) -> str:
    """`Kind/namespace/name`, as workloads are named."""
    namespace, name = identity_of(document)
    return f"{document.kind}/{namespace or 'default'}/{name}"


def check_version(document: Document) -> None:
    """Refuses API versions the API server no longer serves, or that we do not read."""
    allowed = READ_KINDS[document.kind].versions
    if (document.read_as or document.version) in allowed:
        return
    error = ScenarioError if document.kind == "Scenario" else ManifestError
    fields_of(document, error=error).fail(
        "apiVersion", f"is {printable(document.version)!r}", remedy=f"Write apiVersion: {allowed[0]}"
    )


def check_served(document: Document) -> None:
    """Refuses an object of a kind that is modelled in a version that no API server serves any more."""
    if is_modelled_kind(document):
        check_version(document)


def read_object(document: Document, objects: Objects) -> None:
    """Adds one object (not a Scenario) to what was read; all or nothing."""
    fields = fields_of(document)
    if not is_modelled_kind(document):
        _omit_kind(document, fields, objects)
        return
    check_version(document)
    READ_KINDS[document.kind].read(fields, document, objects)
    objects.omissions += fields.log.omissions


def _omit_kind(document: Document, fields: Fields, objects: Objects) -> None:
    """Lists an object of a kind without a reader."""
    from difflib import get_close_matches

    kind, _, name = fields.log.owner.partition("/")
    what = f"kind {kind} {name}".rstrip()
    close = get_close_matches(kind[:100], sorted(set(READ_KINDS) - {"Scenario"}), n=1, cutoff=0.85)
    if close and document.version.rpartition("/")[0] in _BUILT_IN:
        _refuse_kind(document, fields, close[0])
    why = f"not modelled; did you mean {close[0]}?" if close else READ_BY_OTHERS.get(kind, "not modelled")
    decided = find_touched(ALL if names_target(fields.mapping) else NOTHING, fields.log.owner)
    group, meant = Group(Sort.KIND, kind), close[0] if close else ""
    found = Omission(what, Source(document.file, document.line), why, touches=decided, group=group, close=meant)
    objects.omissions.append(found)
    if decided and (target := target_of(fields.mapping)) is not None:
        objects.sized[found] = target


def _refuse_kind(document: Document, fields: Fields, meant: str) -> NoReturn:
    """Refuses a kind that Kubernetes itself does not have in this group, where nobody can add one."""
    if document.kind == meant:
        allowed = READ_KINDS[meant].versions[0]
        fields.fail("apiVersion", f"is {printable(document.version)!r}", remedy=f"Write apiVersion: {allowed}")
    known = f"which {printable(document.version)} does not have"
    fields.fail("kind", f"is {printable(document.kind)!r}, {known}", remedy=f"Did you mean {meant}?")


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
    """A kind of object that is read: in which versions, the first of which is advised, and by whom."""

    name: str
    versions: tuple[str, ...]
    read: Callable[[Fields, Document, Objects], None]
    earlier_groups: tuple[str, ...] = ()  # where it was; a kind of that name in any other group is another kind
    is_named: bool = True  # there may be several

    @property
    def groups(self) -> frozenset[str]:
        """The API groups that it is, or was, in."""
        return frozenset((*(version.rpartition("/")[0] for version in self.versions), *self.earlier_groups))


def _elsewhere(fields: Fields, document: Document, objects: Objects) -> NoReturn:
    """Scenarios are read after all else, by `kubeproof.manifests.scenarios.scenario`."""
    raise InternalError(f"E700 {show_name(document)} is read as an object")


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
    ReadKind("Node", ("v1",), _node),
    ReadKind("Namespace", ("v1",), _namespace),
    *(ReadKind(kind.name, (kind.version,), _workload, kind.earlier_groups) for kind in _WORKLOADS),
    ReadKind("HorizontalPodAutoscaler", ("autoscaling/v2", "autoscaling/v1"), _autoscaler, _EXTENSIONS),
    ReadKind("VerticalPodAutoscaler", ("autoscaling.k8s.io/v1",), _vertical),
    ReadKind("PodDisruptionBudget", ("policy/v1",), _budget),
    ReadKind("Service", ("v1",), _service),
    ReadKind("Ingress", ("networking.k8s.io/v1",), _ingress, _EXTENSIONS),
    ReadKind("EndpointSlice", ("discovery.k8s.io/v1",), _endpoint_slice),
    ReadKind("PriorityClass", ("scheduling.k8s.io/v1",), _priority_class),
    ReadKind("ResourceQuota", ("v1",), _quota),
    ReadKind("LimitRange", ("v1",), _limit_range),
    ReadKind("PersistentVolume", ("v1",), _volume),
    ReadKind("PersistentVolumeClaim", ("v1",), _claim),
    ReadKind("StorageClass", ("storage.k8s.io/v1",), _storage_class),
    ReadKind(
        "KubeSchedulerConfiguration",
        ("kubescheduler.config.k8s.io/v1", "kubescheduler.config.k8s.io/v1beta3"),
        _scheduler,
        is_named=False,
    ),
    ReadKind("DeschedulerPolicy", ("descheduler/v1alpha2",), _descheduler, is_named=False),
    ReadKind("Application", ("argoproj.io/v1alpha1",), _application),
    ReadKind("Scenario", (VERSION,), _elsewhere),
)
READ_KINDS: dict[str, ReadKind] = {kind.name: kind for kind in _DECLARED}


SHAPING = (
    *("Namespace", "LimitRange", "Ingress", "PriorityClass", "Application"),
    *("KubeSchedulerConfiguration", "DeschedulerPolicy"),
)
OF_COMPONENTS = (*WORKLOAD_READERS, "ConfigMap")
CLUSTER_WIDE = ("Namespace", "PriorityClass", "KubeSchedulerConfiguration", "DeschedulerPolicy")


def shaping(documents: Iterable[Document], *, has_components: bool) -> tuple[str, ...]:
    """The objects that decide what others are read as, and where flags are read from, all that may hold some."""
    kinds = (*SHAPING, *OF_COMPONENTS) if has_components else SHAPING
    found = (document for document in documents if document.kind in kinds)
    return tuple(dict.fromkeys(_short(document) for document in found))


def _short(document: Document) -> str:
    """`Kind/namespace/name`, without a namespace for what is in none."""
    if document.kind in CLUSTER_WIDE:
        return "/".join(part for part in (document.kind, identity_of(document)[1]) if part)
    return reference_of(document)


def standing_workloads(objects: Objects) -> tuple[Workload, ...]:
    """The workloads a run begins with: finished pods and what another workload creates are left out.

    Pods of workloads of the input are kept in `objects.owned`: a run may begin with them.
    """
    refs = {read.workload.ref for read in objects.workloads}
    kept = []
    for read in objects.workloads:
        workload, owner = read.workload, read.owner
        if read.finished:
            _omit(objects, workload, "it has already finished")
        elif read.pod is not None and (root := objects.owners().root(read)) is not None:
            objects.owned.append((read, root))
        elif owner in refs:
            _omit(objects, workload, f"{printable(owner or '')} creates it anew")
        else:
            if read.pod is not None and read.pod.is_deleted:
                why = "not modelled of a pod without a workload"
                _omit(objects, workload, why, what="deletionTimestamp of ", decides=ALL)
            if owner is not None:
                _omit(objects, workload, f"its owner is not modelled: {printable(owner)}", what="owner of ")
            kept.append(workload)
    return tuple(kept)


def _omit(objects: Objects, workload: Workload, why: str, *, what: str = "", decides: str = NOTHING) -> None:
    found = Omission(f"{what}{workload.ref}", workload.source, why, touches=find_touched(decides, workload.ref))
    objects.omissions.append(found)


def check_bound(workload: Workload, nodes: set[str]) -> None:
    """Refuses a running pod whose node is not there."""
    if workload.bound_to is not None and workload.bound_to not in nodes:
        raise ManifestError(
            f"{workload.ref}: runs on {workload.bound_to!r}, which is not in the input",
            file=workload.source.file,
            line=workload.source.line,
            remedy=f"Add that Node, or remove status. {suggestion(workload.bound_to, nodes)}",
        )
