"""Objects of API versions that Kubernetes has removed, read as the version that replaced them.

The API server refuses them, and a check says so (K002); what becomes of them in the version that is to be written
instead is worth knowing all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kubeproof.cluster.api.api_versions import REMOVED
from kubeproof.manifests.identities import identify
from kubeproof.manifests.objects import Document, is_modelled_kind
from kubeproof.manifests.validation.moved_fields import upgrade_ingress, upgrade_metrics
from kubeproof.manifests.yaml.tree import Entry, Mapping, Value

_DEFAULTED = ("extensions/v1beta1", "apps/v1beta1")  # where an absent selector is the labels of the template


def replace_outdated(documents: Iterable[Document]) -> list[Document]:
    """The objects, to be read as of the versions that replaced their own ones; not beside one in such a version."""
    listed = list(documents)
    if not any((one.version, one.kind) in REMOVED for one in listed):
        return listed
    current = {identify(one) for one in listed if (one.version, one.kind) not in REMOVED}
    return [one if identify(one) in current else _as_replaced(one) for one in listed]


def _as_replaced(document: Document) -> Document:
    removed = REMOVED.get((document.version, document.kind))
    if removed is None or not removed.instead or not is_modelled_kind(document):
        return document
    spec = document.mapping.get("spec")
    if document.kind == "Ingress" and isinstance(spec, Mapping):
        upgrade_ingress(spec)
    if document.version == "autoscaling/v2beta1" and isinstance(spec, Mapping):
        upgrade_metrics(spec)
    if document.version in _DEFAULTED:
        _default_selector(document.mapping)
    return replace(document, read_as=removed.instead)


def _default_selector(root: Mapping) -> None:
    """Writes the selector that the API server took for granted."""
    spec = root.get("spec")
    labels = _at(spec, "template", "metadata", "labels")
    if isinstance(spec, Mapping) and isinstance(labels, Mapping) and spec.get("selector") is None:
        chosen = Mapping({"matchLabels": Entry(labels, labels.line, labels.column)}, labels.line, labels.column)
        spec.entries["selector"] = Entry(chosen, labels.line, labels.column)


def _at(value: Value | None, *keys: str) -> Value | None:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
