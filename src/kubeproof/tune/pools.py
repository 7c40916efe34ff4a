"""Equal nodes, and how many of them there are."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence

from kubeproof.errors import UsageError
from kubeproof.manifests.editing.operations import Plain
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import HOST, ZONE, Around
from kubeproof.verify.fix.edits import CLUSTER, Edit

NODES = "nodes"  # the key, and the kind of edit
OWN_LABELS = (HOST, ZONE)  # in which equal nodes may differ


def pools_of(around: Around, name: str | None) -> list[list[Written]]:
    """The nodes by what they are like; of a name only the pool that it belongs to."""
    pools: dict[str, list[Written]] = {}
    for one in around.of_kind("Node"):
        pools.setdefault(json.dumps(_likeness(one), sort_keys=True, default=str), []).append(one)
    found = [pool for pool in pools.values() if name is None or any(one.name == name for one in pool)]
    if name is not None and not found:
        raise UsageError(f"--set {NODES}.{name}: there is no node {name}", "Name one of the input.")
    return found


def _likeness(one: Written) -> Plain:
    """The node without what every node has of its own."""
    value = copy.deepcopy(one.value)
    metadata = value.get("metadata") or {}
    for key in ("name", "uid", "resourceVersion", "creationTimestamp"):
        metadata.pop(key, None)
    for key in OWN_LABELS:
        (metadata.get("labels") or {}).pop(key, None)
    return value


def resize(pool: Sequence[Written], count: int, taken: set[str]) -> Edit:
    """So many nodes: the last ones go, or copies come, in the zones in turn."""
    first = pool[0]
    more = count - len(pool)
    names = _make_names(first.name, max(0, more), taken)
    zones = list(dict.fromkeys(one.at("metadata", "labels", ZONE) for one in pool))
    added = tuple(_copy(first, name, zones[(len(pool) + at) % len(zones)]) for at, name in enumerate(names))
    return Edit(
        NODES,
        f"{len(pool)} -> {count} nodes like it",
        ((first, ()),),
        CLUSTER,
        added=added,
        removed=tuple(pool[count:]),
        gives_up="" if more > 0 else f"the room of {-more} nodes",
    )


def _make_names(like: str, count: int, taken: set[str]) -> list[str]:
    names: list[str] = []
    number = 1
    while len(names) < count:
        name = f"{like}-{number}"
        number += 1
        if name not in taken:
            names.append(name)
    return names


def _copy(first: Written, name: str, zone: Plain) -> Plain:
    value = copy.deepcopy(first.value)
    value["metadata"]["name"] = name
    labels = value["metadata"].get("labels")
    if isinstance(labels, dict):
        if HOST in labels:
            labels[HOST] = name
        if ZONE in labels and zone is not None:
            labels[ZONE] = zone
    return value
