"""Services, v1: whom they select, and how they share traffic."""

from __future__ import annotations

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.services import Service
from kubeproof.manifests.fields import Fields
from kubeproof.manifests.metadata import read_metadata

_TYPES = ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")
_CLUSTER, _LOCAL = "Cluster", "Local"


def read_service(fields: Fields) -> Service | None:
    """The Service; None if it selects no pods. `externalTrafficPolicy` needs a type that lets traffic in."""
    metadata = read_metadata(fields)
    spec = fields.child("spec")
    if spec is None:
        fields.finish("Object")
        return None
    kind = spec.word("type", _TYPES, _TYPES[0])
    policy = spec.word("externalTrafficPolicy", (_CLUSTER, _LOCAL), _CLUSTER)
    if policy == _LOCAL and kind not in ("NodePort", "LoadBalancer"):
        remedy = "Write type: NodePort or LoadBalancer, or leave it out"
        spec.fail("externalTrafficPolicy", f"is Local, but the type is {kind}", remedy=remedy)
    selector = as_labels(spec.text_map("selector"))
    spec.finish("ServiceSpec")
    fields.finish("Object")
    if not selector or kind == "ExternalName":
        return None
    return Service(metadata.namespace, metadata.name, selector, policy == _LOCAL, fields.source)
