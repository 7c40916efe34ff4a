"""What is read of a cluster: the kinds that are modelled, and where the API server serves them."""

from __future__ import annotations

from urllib.parse import quote

from kubeproof.cluster.kinds import DECLARED, POD
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


def _cluster(kind: str, version: str, plural: str) -> Resource:
    return Resource(kind, version, plural, namespaced=False)


_TURNS = sorted(DECLARED, key=lambda kind: kind.turn)
_WORKLOADS = tuple(Resource(one.name, one.version, one.plural, is_optional=one.is_custom) for one in _TURNS)
# Owners come before what they own: who reads the list in order knows the names of StatefulSets before their pods'.
# Left out: Secrets and ConfigMaps, which are never read, and EndpointSlices, which the model makes anew from pods.
RESOURCES = (
    _cluster("Namespace", "v1", "namespaces"),
    _cluster("Node", "v1", "nodes"),
    _cluster("PriorityClass", "scheduling.k8s.io/v1", "priorityclasses"),
    _cluster("StorageClass", "storage.k8s.io/v1", "storageclasses"),
    *(resource for resource in _WORKLOADS if resource.kind != POD),
    _cluster("PersistentVolume", "v1", "persistentvolumes"),
    Resource("PersistentVolumeClaim", "v1", "persistentvolumeclaims"),
    Resource("HorizontalPodAutoscaler", "autoscaling/v2", "horizontalpodautoscalers"),
    Resource("VerticalPodAutoscaler", "autoscaling.k8s.io/v1", "verticalpodautoscalers", is_optional=True),
    Resource("PodDisruptionBudget", "policy/v1", "poddisruptionbudgets"),
    Resource("ResourceQuota", "v1", "resourcequotas"),
    Resource("LimitRange", "v1", "limitranges"),
    Resource("Service", "v1", "services"),
    Resource("Ingress", "networking.k8s.io/v1", "ingresses"),
    Resource("NetworkPolicy", "networking.k8s.io/v1", "networkpolicies"),
    Resource("Application", "argoproj.io/v1alpha1", "applications", is_optional=True),
    *(resource for resource in _WORKLOADS if resource.kind == POD),
)
BY_KIND = {resource.kind: resource for resource in RESOURCES}
WATCHED = ("Node", *(kind.name for kind in _TURNS if not kind.starts_jobs))
VERBS = ("get", "list", "watch")
