"""Metadata of an object: name, namespace, owner."""

from __future__ import annotations

from kubeproof.manifests.fields import Fields
from kubeproof.manifests.names import is_dns_label, is_dns_subdomain, read_labels
from kubeproof.manifests.printable import printable
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the readers need of an object's metadata."""

    namespace: str
    name: str
    labels: dict[str, str]
    owner: str | None  # "Kind/namespace/name" of the controlling owner


def read_metadata(fields: Fields, *, namespaced: bool = True) -> Metadata:
    """The metadata of an object; an absent namespace is `default`."""
    metadata = fields.required_child("metadata")
    name = metadata.required_text("name")
    if not is_dns_subdomain(name):
        metadata.fail("name", f"is {printable(name)!r}", remedy="Use lower-case letters, digits, dashes and dots")
    namespace = (metadata.text("namespace") or "default") if namespaced else ""
    if namespaced and not is_dns_label(namespace):
        metadata.fail("namespace", f"is {printable(namespace)!r}", remedy="Use lower-case letters, digits and dashes")
    labels = read_labels(metadata, "labels")
    owner = _controller(metadata, namespace)
    metadata.finish("ObjectMeta")
    return Metadata(namespace, name, labels, owner)


def _controller(metadata: Fields, namespace: str) -> str | None:
    for reference in metadata.children("ownerReferences"):
        kind, name = reference.required_text("kind"), reference.required_text("name")
        is_controller = reference.boolean("controller")
        reference.finish("OwnerReference")
        if is_controller:
            return f"{kind}/{namespace}/{name}"
    return None
