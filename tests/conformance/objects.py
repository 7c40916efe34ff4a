"""Kubernetes objects given as JSON, read by the product's own readers.

The recorded cases hold objects as the API has them. So a comparison covers our readers and their defaults,
not only the rules behind them.
"""

from __future__ import annotations

from typing import Any

from kubeproof.manifests.objects import Document, Objects, fields_of, read_object
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.tree import Entry, Mapping, Scalar, Sequence, Value


def as_value(json: Any) -> Value:
    """JSON as the tree that the readers take; nothing has a place."""
    if isinstance(json, dict):
        return Mapping({key: Entry(as_value(value), 0, 0) for key, value in json.items()}, 0, 0)
    if isinstance(json, list):
        return Sequence(tuple(as_value(item) for item in json), 0, 0)
    if isinstance(json, str):
        return Scalar(json, plain=False, line=0, column=0)
    text = {None: "null", True: "true", False: "false"}.get(json) if json is None or isinstance(json, bool) else None
    return Scalar(text if text is not None else repr(json), plain=True, line=0, column=0)


def fields(json: dict[str, Any]) -> Fields:
    """A cursor at the top of the object, for one of the `read_…` functions of `kubeproof.manifests`."""
    value = as_value(json)
    assert isinstance(value, Mapping)
    return fields_of(Document(json.get("kind", "Object"), json.get("apiVersion", "v1"), value, "case"))


def read(*objects: dict[str, Any]) -> Objects:
    """Everything that the objects stand for, as `kubeproof verify` would read it."""
    collected = Objects()
    for json in objects:
        value = as_value(json)
        assert isinstance(value, Mapping)
        read_object(Document(json["kind"], json["apiVersion"], value, "case"), collected)
    return collected
