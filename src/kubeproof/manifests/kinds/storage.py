"""PersistentVolumes, PersistentVolumeClaims and StorageClasses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.cluster.labels import NodeTerm, as_labels
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.volumes import REACH, Claim, StorageClass, Volume
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.loaded import Group, Omission, Sort
from kubeproof.manifests.pods.resources import read_amounts
from kubeproof.manifests.pods.selectors import read_node_terms, read_selector
from kubeproof.manifests.validation.names import check_label_key
from kubeproof.manifests.yaml.fields import Fields

_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
_BINDING = ("Immediate", "WaitForFirstConsumer")
_DEFAULT = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
_OLD_CLASS = "volume.beta.kubernetes.io/storage-class"
_NEVER_ATTACHED = ("azureFile", "cephfs", "glusterfs", "hostPath", "local", "nfs")  # sources that nodes just mount
NOT_NAMED = "<default>"  # the class of a claim that leaves it to the cluster, until the default class is known


def read_volume(fields: Fields) -> Volume:
    """A PersistentVolume."""
    metadata = read_metadata(fields, namespaced=False)
    spec = fields.require_child("spec")
    named = spec.text("storageClassName") or ""
    volume = Volume(
        name=metadata.name,
        capacity=read_amounts(spec.child("capacity")).get("storage", 0),
        storage_class=_old_class(fields) or named,
        modes=_modes(spec),
        is_block=spec.word("volumeMode", ("Filesystem", "Block"), "Filesystem") == "Block",
        terms=_terms(spec),
        labels=as_labels(metadata.labels),
        claim=_claim_of(spec),
        attaches=not any(spec.has(name) for name in _NEVER_ATTACHED),
        source=fields.source,
    )
    spec.finish("PersistentVolumeSpec")
    fields.finish("Object")
    return volume


def _modes(spec: Fields) -> tuple[str, ...]:
    modes = spec.texts("accessModes")
    for mode in modes:
        if mode not in _MODES:
            spec.fail("accessModes", f"holds {mode!r}", remedy=f"Use {', '.join(_MODES)}")
    return modes


def _terms(spec: Fields) -> tuple[NodeTerm, ...] | None:
    affinity = spec.child("nodeAffinity")
    if affinity is None:
        return None
    terms = read_node_terms(affinity, "required")
    affinity.finish("VolumeNodeAffinity")
    return terms


def _claim_of(spec: Fields) -> str:
    """`namespace/name` of the claim that the volume is kept for."""
    reference = spec.child("claimRef")
    if reference is None:
        return ""
    found = f"{reference.text('namespace') or 'default'}/{reference.require_text('name')}"
    reference.finish("ClaimReference")
    return found


def _old_class(fields: Fields) -> str:
    """The class in the annotation that came before the field."""
    metadata = fields.child("metadata")
    annotations = metadata.child("annotations") if metadata is not None else None
    return (annotations.text(_OLD_CLASS) if annotations is not None else None) or ""


def read_claim(fields: Fields) -> Claim:
    """A PersistentVolumeClaim; without a class it gets the default one, with an empty class none."""
    metadata = read_metadata(fields)
    spec = fields.require_child("spec")
    resources = spec.child("resources")
    named = spec.text("storageClassName")
    claim = Claim(
        namespace=metadata.namespace,
        name=metadata.name,
        request=read_amounts(resources.child("requests") if resources is not None else None).get("storage", 0),
        storage_class=_old_class(fields) or (NOT_NAMED if named is None else named),
        modes=_modes(spec),
        is_block=spec.word("volumeMode", ("Filesystem", "Block"), "Filesystem") == "Block",
        selector=read_selector(spec, "selector"),
        volume=spec.text("volumeName") or "",
        source=fields.source,
    )
    if resources is not None:
        resources.ignore("limits")
        resources.finish("VolumeResources")
    spec.finish("PersistentVolumeClaimSpec")
    fields.finish("Object")
    return claim


def read_storage_class(fields: Fields) -> StorageClass:
    """A StorageClass."""
    metadata = read_metadata(fields, namespaced=False)
    annotations = fields.require_child("metadata").child("annotations")
    is_default = annotations is not None and any(annotations.text(key) == "true" for key in _DEFAULT)
    found = StorageClass(
        name=metadata.name,
        provisioner=fields.require_text("provisioner"),
        waits=fields.word("volumeBindingMode", _BINDING, "Immediate") == "WaitForFirstConsumer",
        topologies=tuple(_topologies(fields)),
        is_default=is_default,
        source=fields.source,
    )
    fields.finish("StorageClass")
    if found.provisions and not found.topologies and found.provisioner not in REACH:
        why = "its volumes are taken as reached from every node; allowedTopologies would say more"
        fields.log.omit(f"topology of provisioner {found.provisioner}", line=fields.line_of("provisioner"), why=why)
    return found


def _topologies(fields: Fields) -> Iterator[tuple[tuple[str, tuple[str, ...]], ...]]:
    for term in fields.children("allowedTopologies"):
        yield tuple(_expression(child) for child in term.children("matchLabelExpressions"))


def _expression(fields: Fields) -> tuple[str, tuple[str, ...]]:
    key = check_label_key(fields, "key", fields.require_text("key"))
    values = fields.texts("values")
    fields.finish("TopologySelectorLabelRequirement")
    return key, values


# -- what the objects mean together -----------------------------------------------------------------


_ITSELF = "claim"
ELSEWHERE = "(not in the input)"  # volume of a claim that the input does not show; no object is named so


def settle_claims(
    claims: Sequence[Claim], volumes: Sequence[Volume], classes: Sequence[StorageClass]
) -> tuple[tuple[Claim, ...], tuple[Omission, ...]]:
    """The claims with their default class and with volumes that are kept for them, and what the input leaves open."""
    default = next((one.name for one in classes if one.is_default), NOT_NAMED)
    known = {one.name for one in classes}
    names = {volume.name for volume in volumes}
    settled, omissions = [], []
    for claim in claims:
        given = replace(claim, storage_class=default) if claim.storage_class == NOT_NAMED else claim
        if claim.volume == ELSEWHERE:
            omissions.append(_omission(given, _ITSELF))
        elif claim.volume and claim.volume not in names:
            omissions.append(_omission(given, f"volume {claim.volume}"))
        if not claim.volume and given.storage_class and given.storage_class not in known:
            omissions.append(_omission(given, "StorageClass"))
        settled.append(given)
    return tuple(settled), tuple(omissions)


def claims_from_elsewhere(workloads: Sequence[Workload], claims: Sequence[Claim]) -> list[Claim]:
    """Claims that pods mount in namespaces of which the input shows none: somebody else creates them.

    Of a running cluster everything is in the input.
    """
    if any(workload.bound_to is not None for workload in workloads):
        return []
    shown = {claim.namespace for claim in claims}
    mounted = {
        (one.namespace, name): Claim(one.namespace, name, volume=ELSEWHERE, source=one.source)
        for one in workloads
        for name in one.template.claims
    }
    return [mounted[key] for key in sorted(mounted) if key[0] not in shown]


def _omission(claim: Claim, what: str) -> Omission:
    why = f"its {what} is not in the input; every node is taken to reach it"
    if what == _ITSELF:
        why = "the claim itself is not in the input; it is taken to be there, and every node to reach it"
    alike = Group(Sort.OTHER, f"storage of claims: {why}")
    return Omission(f"storage of PersistentVolumeClaim/{claim.key}", claim.source, why, group=alike)
