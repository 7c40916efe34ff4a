"""What a stream tells of one object: that it is now so, or gone."""

from __future__ import annotations

from typing import Any

from kubeproof.cluster.kinds import DECLARED
from kubeproof.cluster.loops.tags import Tag
from kubeproof.named_tuples import NamedTuple

Object = dict[str, Any]
Key = tuple[str, str, str]  # kind, namespace ("" where there is none), name

WRITTEN, BOUND, DELETED, REFUSED = "written", "bound", "deleted", "refused"
BLIND, RELISTED, LOST, TIME = "blind", "relisted", "lost", "time"
KINDS = ("Node", *(kind.name for kind in DECLARED))


class Change(NamedTuple):
    """One change. `what` says which part of the rest counts.

    WRITTEN: the object is now `value`, None if it is gone. BOUND: the pod got the node named `value`. DELETED: the pod
    is being deleted. REFUSED: an eviction of the pod was refused. BLIND: the object changed, and nobody told how.
    RELISTED: what comes at the same time is all there is; with `value`, something was missed. LOST: something was
    missed. TIME: nothing but time.
    """

    time_us: int
    what: str
    key: Key = ("", "", "")
    value: Any = None
    is_external: bool = False  # by somebody who is no control loop
    evictor: int = 0  # of DELETED and of a pod that is gone: the tag of who evicted, 0 if nobody did
    who: str = ""


EVICTIONS = {
    "PreemptionByScheduler": Tag.BY_PREEMPTION,
    "DeletionByTaintManager": Tag.BY_TAINT,
    "EvictionByEvictionAPI": Tag.BY_DRAIN,
}


def key_of(value: Object) -> Key:
    """The key of an object."""
    metadata = mapping(value, "metadata")
    return str(value.get("kind", "")), str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def mapping(holder: Object, key: str) -> Object:
    """A child that is an object; an empty one if it is not."""
    value = holder.get(key)
    return value if isinstance(value, dict) else {}


def items(holder: Object, key: str) -> list[Object]:
    """The objects of a list."""
    value = holder.get(key)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def condition(value: Object, name: str) -> str:
    """The status of a condition; empty if it has none."""
    return next(
        (str(c.get("status", "")) for c in items(mapping(value, "status"), "conditions") if c.get("type") == name), ""
    )
