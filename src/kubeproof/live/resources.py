"""What is read of a cluster: the kinds that are modelled, and where the API server serves them."""

from __future__ import annotations

from urllib.parse import quote

from kubeproof.cluster.kinds import KINDS, POD
from kubeproof.manifests.kinds import catalogue
from kubeproof.manifests.kinds.catalogue import ReadKind
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of the API."""

    kind: str
    version: str  # apiVersion
    plural: str
    namespaced: bool = True
    is_optional: bool = False  # a custom resource: many clusters do not serve it

    @property
    def group(self) -> str:
        return self.version.rpartition("/")[0]

    def path(self, namespace: str | None = None) -> str:
        """Where objects of this kind are listed, in one namespace or in all."""
        root = f"/apis/{self.version}" if self.group else f"/api/{self.version}"
        inside = f"/namespaces/{quote(namespace, safe='')}" if namespace is not None and self.namespaced else ""
        return f"{root}{inside}/{self.plural}"


def _resource(kind: ReadKind) -> Resource:
    return Resource(kind.name, kind.versions[0], kind.plural, not kind.is_cluster_wide, kind.is_custom)


def _turn(resource: Resource) -> tuple[bool, bool, bool, int]:
    """Owners come before what they own: who reads in order knows the names of StatefulSets before their pods'."""
    rules = KINDS.get(resource.kind)
    return resource.kind == POD, resource.namespaced, rules is None, 0 if rules is None else rules.turn


def list_resources() -> tuple[Resource, ...]:
    """The kinds that are read of a cluster.

    Left out are Secrets and ConfigMaps, which are never read, and EndpointSlices, which the model makes anew from pods.
    """
    read = (_resource(kind) for kind in catalogue.READ_KINDS.values() if kind.plural)
    return tuple(sorted((*read, *_READ_BY_NETWORKS), key=_turn))


_READ_BY_NETWORKS = (Resource("NetworkPolicy", "networking.k8s.io/v1", "networkpolicies"),)
RESOURCES = list_resources()
BY_KIND = {resource.kind: resource for resource in RESOURCES}
WATCHED = ("Node", *(one.kind for one in RESOURCES if one.kind in KINDS and not KINDS[one.kind].starts_jobs))
VERBS = ("get", "list", "watch")
