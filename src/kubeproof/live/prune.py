"""What is kept of an object: all that placement and control loops depend on, nothing that could be confidential."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
_METADATA = ("name", "namespace", "labels", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_OWNER = ("apiVersion", "kind", "name", "controller")
_DOMAINS = ("kubernetes.io", "k8s.io", "kubeproof.dev")  # of annotations that control loops read
_STATUS = {
    "Pod": ("phase", "conditions"),
    "Node": ("capacity", "allocatable", "conditions", "images"),
    "Job": ("conditions",),
    "PersistentVolume": ("phase",),
    "PersistentVolumeClaim": ("phase",),
}
_SPECS = {
    "Node": ("taints", "unschedulable"),
    "Application": (
        "syncPolicy",
        "ignoreDifferences",
        "destination",
    ),  # not where it is stored, which may hold a password
}
_CONDITION = ("type", "status", "reason")
# Environments and command lines hold passwords more often than not, and no loop looks at them.
_CONTAINER = ("env", "envFrom", "command", "args", "terminationMessagePath", "terminationMessagePolicy")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("httpGet", "tcpSocket", "grpc", "exec")


def pruned(item: Object) -> Object:
    """The object without what is of no use."""
    kept = {
        key: value for key, value in item.items() if key not in ("metadata", "status", "managedFields", "operation")
    }
    metadata = item.get("metadata")
    found: Object = {"apiVersion": kept.pop("apiVersion", ""), "kind": kept.pop("kind", "")}
    found["metadata"] = _metadata(metadata if isinstance(metadata, dict) else {})
    wanted = _SPECS.get(str(found["kind"]))
    if wanted is not None and isinstance(kept.get("spec"), dict):
        kept["spec"] = {key: kept["spec"][key] for key in wanted if key in kept["spec"]}
    found |= {key: _inside(value) for key, value in kept.items()}
    status = _status(item)
    return found | ({"status": status} if status else {})


def _metadata(metadata: Object) -> Object:
    found = {key: metadata[key] for key in _METADATA if metadata.get(key)}
    annotations = {key: value for key, value in _mapping(metadata, "annotations").items() if _is_read(key)}
    owners = [
        {key: owner[key] for key in _OWNER if key in owner}
        for owner in metadata.get("ownerReferences") or ()
        if isinstance(owner, dict)
    ]
    return (
        found | ({"annotations": annotations} if annotations else {}) | ({"ownerReferences": owners} if owners else {})
    )


def _is_read(annotation: str) -> bool:
    domain = annotation.partition("/")[0]
    if domain in ("kubectl.kubernetes.io", "kubernetes.io"):
        return False  # last-applied-configuration is the whole object again
    return any(domain == known or domain.endswith(f".{known}") for known in _DOMAINS)


def _status(item: Object) -> Object:
    wanted, status = _STATUS.get(str(item.get("kind")), ()), _mapping(item, "status")
    found = {key: status[key] for key in wanted if status.get(key)}
    if "conditions" in found:
        found["conditions"] = [
            {key: one[key] for key in _CONDITION if key in one} for one in found["conditions"] if isinstance(one, dict)
        ]
    return found


def _inside(value: Any) -> Any:
    """The value with its containers pruned, wherever they are."""
    if isinstance(value, list):
        return [_inside(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    return {key: _containers(inner) if key in _CONTAINERS else _inside(inner) for key, inner in value.items()}


def _containers(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [_container(one) if isinstance(one, dict) else one for one in value]


def _container(container: Object) -> Object:
    kept = {key: value for key, value in container.items() if key not in _CONTAINER}
    for probe in _PROBES:
        if isinstance(kept.get(probe), dict):
            kept[probe] = {key: value for key, value in kept[probe].items() if key not in _HANDLERS}
    return kept


def _mapping(holder: Object, key: str) -> Object:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}
