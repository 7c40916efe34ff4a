"""Nodes."""

from __future__ import annotations

from kubeproof.cluster.labels import Taint, as_labels
from kubeproof.cluster.objects import Node
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.pods.resources import CPU, MEMORY, PODS, others_of, read_amounts
from kubeproof.manifests.pods.templates import EFFECTS
from kubeproof.manifests.validation.deciding import ALL
from kubeproof.manifests.validation.names import check_label_key, is_label_value
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_NO_SCALE_DOWN = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
_TROUBLES = ("MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable")
_LARGEST_INT64 = 2**63 - 1
DEFAULT_PODS = 110  # the kubelet's default


def read_node(fields: Fields) -> Node:
    """The node; allocatable resources fall back to capacity, one by one."""
    metadata = read_metadata(fields, namespaced=False)
    spec = fields.child("spec")
    amounts, images = _status(fields)
    keeps = _keeps(fields)
    fields.finish("Object")
    return Node(
        name=metadata.name,
        labels=as_labels(metadata.labels),
        taints=read_taints(spec),
        unschedulable=_unschedulable(spec),
        cpu_milli=amounts.get(CPU, 0),
        memory_bytes=amounts.get(MEMORY, 0),
        pods=amounts.get(PODS, DEFAULT_PODS),
        others=others_of(amounts),
        source=fields.source,
        images=images,
        keeps=keeps,
    )


def _keeps(fields: Fields) -> bool:
    """True if the cluster autoscaler is told not to delete the node."""
    annotations = fields.require_child("metadata").child("annotations")
    return annotations is not None and annotations.text(_NO_SCALE_DOWN) == "true"


def _unschedulable(spec: Fields | None) -> bool:
    if spec is None:
        return False
    value = spec.boolean("unschedulable") or False
    spec.finish("NodeSpec")
    return value


def read_taints(spec: Fields | None) -> tuple[Taint, ...]:
    """The taints of a node; key and effect together are unique."""
    found: dict[tuple[str, str], Taint] = {}
    for child in [] if spec is None else spec.children("taints"):
        taint = _taint(child)
        if (taint.key, taint.effect) in found:
            child.fail("key", f"is {taint.key!r} with effect {taint.effect} again", remedy="Remove one of the two")
        found[taint.key, taint.effect] = taint
    return tuple(found.values())


def _taint(fields: Fields) -> Taint:
    key = check_label_key(fields, "key", fields.require_text("key"))
    value = fields.text("value") or ""
    if not is_label_value(value):
        fields.fail("value", f"is {printable(value)!r}", remedy="At most 63 letters, digits, - _ .")
    fields.require_text("effect")
    effect = fields.word("effect", EFFECTS, "")
    fields.finish("Taint")
    return Taint(key, value, effect)


def _status(fields: Fields) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
    """What pods can use of the node, and the images that it has."""
    status = fields.child("status")
    if status is None or not (status.has("allocatable") or status.has("capacity")):
        fields.fail(
            "status",
            "has neither allocatable nor capacity",
            remedy="Add status.allocatable with cpu, memory and pods; nothing could run here without",
        )
    amounts = {**read_amounts(status.child("capacity")), **read_amounts(status.child("allocatable"))}
    images = _images(status)
    _conditions(status)
    status.finish("NodeStatus")
    return amounts, images


def _images(status: Fields) -> tuple[tuple[str, int], ...]:
    """Every name of every image with the size in bytes; of a name that stands twice the last size counts."""
    found: dict[str, int] = {}
    for child in status.children("images"):
        size = child.integer("sizeBytes", most=_LARGEST_INT64) or 0
        found |= dict.fromkeys(child.texts("names"), size)
        child.finish("ContainerImage")
    return tuple(sorted(found.items()))


def _conditions(status: Fields) -> None:
    """Notes conditions that the run does not start with: every node begins Ready and without pressure."""
    for condition in status.children("conditions"):
        name, value = condition.require_text("type"), condition.text("status")
        differs = value != "True" if name == "Ready" else value == "True" and name in _TROUBLES
        if differs:
            what = f"initial condition {printable(name)}={printable(value or '')}"
            why = "every node starts Ready and without pressure"
            condition.log.omit(what, line=condition.mapping.line, why=why, decides=ALL)
