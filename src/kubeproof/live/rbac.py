"""The smallest role that lets Kubeproof read a cluster, or one namespace of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kubeproof.live.resources import RESOURCES, VERBS, Resource
from kubeproof.manifests.yaml.writer import as_yaml

NAME = "kubeproof-reader"
HOME = "kubeproof"  # the namespace of the account
_API = "rbac.authorization.k8s.io"


def manifests(namespace: str | None = None) -> str:
    """An account with its role and binding: for the whole cluster, or for a namespace and what belongs to none."""
    return "---\n".join(as_yaml(one) for one in _objects(namespace))


def _objects(namespace: str | None) -> Iterator[dict[str, Any]]:
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HOME}}
    yield {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": HOME}}
    shared = [one for one in RESOURCES if not one.namespaced]
    yield from _grant("ClusterRole", None, RESOURCES if namespace is None else shared)
    if namespace is not None:
        yield from _grant("Role", namespace, [one for one in RESOURCES if one.namespaced])


def _grant(kind: str, namespace: str | None, resources: Iterable[Resource]) -> Iterator[dict[str, Any]]:
    metadata = {"name": NAME, **({"namespace": namespace} if namespace is not None else {})}
    yield {"apiVersion": f"{_API}/v1", "kind": kind, "metadata": metadata, "rules": rules(resources)}
    yield {
        "apiVersion": f"{_API}/v1",
        "kind": f"{kind}Binding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _API, "kind": kind, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": HOME}],
    }


def rules(resources: Iterable[Resource]) -> list[dict[str, Any]]:
    """One rule per API group: read these kinds, and nothing else."""
    groups: dict[str, list[str]] = {}
    for resource in resources:
        groups.setdefault(resource.group, []).append(resource.plural)
    return [
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": list(VERBS)}
        for group, plurals in sorted(groups.items())
    ]
