"""Where a field of an object is written: file and line, for reports that cite it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from kubeproof.cluster.objects import Source
from kubeproof.errors import KubeproofError
from kubeproof.manifests.editing.operations import Path
from kubeproof.manifests.editing.written import Texts, name_object
from kubeproof.manifests.yaml import tree
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.reader import read_documents

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def find_place(texts: Texts, ref: str, field: str) -> Source | None:
    """The line of a field, of what would hold it if it is not there, or of its object; None if no file has that.

    A kind alone stands for its first object, or without a field for one that is to be made: it has no place.
    """
    name = ref.rpartition("/")[2]
    for file, text in texts:
        for one in _objects(file, text) if name in text else ():
            found = name_object(tree.plain(one))
            if (found == ref and (field or "/" in ref)) or ("/" not in ref and field and found.startswith(f"{ref}/")):
                return Source(file, _line_of(one, _parse(field)))
    return None


@lru_cache(maxsize=64)
def _objects(file: str, text: str) -> tuple[tree.Mapping, ...]:
    try:
        roots = tuple(read_documents(text.encode(), file=file, budget=Budget(Bounds()), repeated=[]))
    except KubeproofError:
        return ()
    return tuple(one for root in roots for one in _unpack(root))


def _unpack(root: tree.Value) -> Iterator[tree.Mapping]:
    if not isinstance(root, tree.Mapping):
        return
    items = root.get("items")
    if isinstance(items, tree.Sequence):
        for item in items.items:
            yield from _unpack(item)
    else:
        yield root


def _parse(field: str) -> Path:
    return tuple(name or int(number) for name, number in _PART.findall(field))


def _line_of(root: tree.Value, path: Path) -> int:
    line, node = root.line, root
    for part in path:
        if isinstance(node, tree.Mapping) and part in node.entries:
            entry = node.entries[str(part)]
            line, node = entry.line, entry.value
        elif isinstance(node, tree.Sequence) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            line = node.line
        else:
            break
    return line
