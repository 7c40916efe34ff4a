"""Annotations with which an object accepts that a property of it is violated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kubeproof.cluster.objects import Source
from kubeproof.cluster.wiring import ref_of
from kubeproof.manifests.loaded import Ignore
from kubeproof.manifests.yaml.tree import Mapping, Scalar

if TYPE_CHECKING:
    from kubeproof.manifests.objects import Document

PREFIX = "ignore.kubeproof.dev/"


def ignores_of(document: Document) -> Iterator[Ignore]:
    """The annotations `ignore.kubeproof.dev/ID: reason` of an object; malformed metadata is its reader's to refuse."""
    metadata = document.mapping.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if not isinstance(metadata, Mapping) or not isinstance(annotations, Mapping):
        return
    for key in annotations.entries:
        if key.startswith(PREFIX):
            document.reads.marks(document.mapping)["metadata"] = True
            document.reads.marks(metadata)["annotations"] = True
            document.reads.marks(annotations)[key] = True
            value = annotations.get(key)
            reason = value.text.strip() if isinstance(value, Scalar) else ""
            place = Source(document.file, annotations.line_of(key))
            yield Ignore(_ref(document, metadata), key.removeprefix(PREFIX), reason, place)


def _ref(document: Document, metadata: Mapping) -> str:
    """`Kind/namespace/name`, as workloads are named."""
    name, namespace = _text(metadata, "name"), _text(metadata, "namespace") or "default"
    return ref_of(document.kind, namespace, name)


def _text(metadata: Mapping, key: str) -> str:
    value = metadata.get(key)
    return value.text if isinstance(value, Scalar) else ""
