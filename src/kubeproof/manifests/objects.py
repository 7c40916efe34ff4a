"""Documents to objects: kinds, API versions, lists, and who owns whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, NoReturn

from kubeproof.cluster.labels import Labels
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
from kubeproof.errors import ManifestError, ScenarioError
from kubeproof.manifests.kinds.catalogue import READ_KINDS, WORKLOAD_READERS
from kubeproof.manifests.kinds.foreign_scalers import names_target, target_of
from kubeproof.manifests.kinds.workloads import (
    ReadWorkload,
)
from kubeproof.manifests.loaded import Group, Omission, Sort
from kubeproof.manifests.validation.deciding import ALL, NOTHING, find_touched
from kubeproof.manifests.yaml.fields import Fields, Log, suggestion
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reads import Reads, is_list
from kubeproof.manifests.yaml.tree import Mapping, Value
from kubeproof.values import dataclass

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
    others: list[object] = field(default_factory=list)  # values of kinds that have no list of their own
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


OF_COMPONENTS = (*WORKLOAD_READERS, "ConfigMap")


def shaping(documents: Iterable[Document], *, has_components: bool) -> tuple[str, ...]:
    """The objects that decide what others are read as, and where flags are read from, all that may hold some."""
    shaping = tuple(kind.name for kind in READ_KINDS.values() if kind.shapes_others)
    kinds = (*shaping, *OF_COMPONENTS) if has_components else shaping
    found = (document for document in documents if document.kind in kinds)
    return tuple(dict.fromkeys(_short(document) for document in found))


def _short(document: Document) -> str:
    """`Kind/namespace/name`, without a namespace for what is in none."""
    kind = READ_KINDS.get(document.kind)
    if kind is not None and kind.is_cluster_wide:
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
