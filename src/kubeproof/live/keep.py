"""What is kept of an object of a cluster: what a reader reads of it, and nothing else.

The readers of manifests read every object on its way into a snapshot, and note what they looked at. So a field that
becomes part of the model is kept from then on, and whatever else an object holds never leaves the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kubeproof.errors import ClusterError, ManifestError
from kubeproof.live.answers import REMEDY
from kubeproof.manifests.alone import read_alone
from kubeproof.manifests.objects import Document
from kubeproof.manifests.yaml.reads import Reads
from kubeproof.manifests.yaml.tree import Mapping, ScalarKind, Sequence, Value, tree_of

Object = dict[str, Any]
Reader = Callable[[Document], object]
READERS: tuple[Reader, ...] = (read_alone,)
_FIRST = ("apiVersion", "kind", "metadata")
_PLACE = "<live>"


def keep(item: Object, readers: Iterable[Reader] = READERS, *, hides_unknown: bool = False) -> Object:
    """The object without what none of the readers reads.

    What a reader refuses is kept as far as it was read: whoever reads the snapshot refuses it with the same words. An
    object that is not even shaped as its kind is no object of an API server. Of fields that the API does not have it is
    known that they are there; `hides_unknown` takes their names away, too.
    """
    reads = Reads(hides_unknown=hides_unknown)
    root = tree_of(item)
    assert isinstance(root, Mapping), item
    document = Document(str(item.get("kind", "")), str(item.get("apiVersion", "")), root, _PLACE, reads)
    reads.marks(root).update(apiVersion=True, kind=True)
    for reader in readers:
        try:
            reader(document)
        except ManifestError as problem:
            if problem.is_about_shape:
                raise ClusterError(
                    f"the API server sends what is no {document.kind}: {problem.problem}", REMEDY
                ) from None
    kept: Object = _plain(reads.reduce(root))
    return {key: kept[key] for key in sorted(kept, key=lambda key: _FIRST.index(key) if key in _FIRST else 9)}


def _plain(value: Value) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry.value) for key, entry in value.entries.items()}
    if isinstance(value, Sequence):
        return [_plain(item) for item in value.items]
    if value.kind is ScalarKind.NULL:
        return None
    if value.kind is ScalarKind.BOOLEAN:
        return value.text == "true"
    if value.kind is ScalarKind.INTEGER:
        return int(value.text)
    return float(value.text) if value.kind is ScalarKind.FLOAT else value.text
