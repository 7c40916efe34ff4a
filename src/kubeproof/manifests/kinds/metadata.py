"""Metadata of an object: name, namespace, owner."""

from __future__ import annotations

from kubeproof.manifests.validation.names import is_dns_label, is_dns_subdomain, read_labels
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the readers need of an object's metadata."""

    namespace: str
    name: str
    labels: dict[str, str]
    owner: str | None  # "Kind/namespace/name" of the controlling owner
    is_deleted: bool = False  # it has a deletionTimestamp; told of Pods alone


def read_metadata(fields: Fields, *, namespaced: bool = True, may_end: bool = False) -> Metadata:
    """The metadata of an object; an absent namespace is `default`. Who `may_end` is asked whether it is on its way."""
    metadata = fields.require_child("metadata")
    name = metadata.require_text("name")
    if not is_dns_subdomain(name):
        metadata.fail("name", f"is {printable(name)!r}", remedy="Use lower-case letters, digits, dashes and dots")
    namespace = (metadata.text("namespace") or "default") if namespaced else ""
    if namespaced and not is_dns_label(namespace):
        metadata.fail("namespace", f"is {printable(namespace)!r}", remedy="Use lower-case letters, digits and dashes")
    labels = read_labels(metadata, "labels")
    owner = _controller(metadata, namespace)
    is_deleted = may_end and metadata.text("deletionTimestamp") is not None
    metadata.finish("ObjectMeta")
    return Metadata(namespace, name, labels, owner, is_deleted)


def _controller(metadata: Fields, namespace: str) -> str | None:
    for reference in metadata.children("ownerReferences"):
        kind, name = reference.require_text("kind"), reference.require_text("name")
        is_controller = reference.boolean("controller")
        reference.finish("OwnerReference")
        if is_controller:
            return f"{kind}/{namespace}/{name}"
    return None
