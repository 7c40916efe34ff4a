"""Services, v1: whom they select, and how they share traffic; Ingresses, as far as they lead to Services."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from kubeproof.cluster.labels import as_labels
from kubeproof.cluster.services import Service
from kubeproof.manifests.kinds.metadata import read_metadata
from kubeproof.manifests.yaml.fields import Fields

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
    publishes = spec.boolean("publishNotReadyAddresses") or False
    spec.finish("ServiceSpec")
    fields.finish("Object")
    if not selector or kind == "ExternalName":
        return None
    return Service(
        metadata.namespace, metadata.name, selector, policy == _LOCAL, publishes_unready=publishes, source=fields.source
    )


def read_ingress(fields: Fields) -> tuple[tuple[str, str], ...]:
    """Namespace and name of every Service that the Ingress leads to."""
    metadata = read_metadata(fields)
    spec = fields.child("spec")
    names: list[str] = []
    if spec is not None:
        names += _backend(spec.child("defaultBackend"))
        for rule in spec.children("rules"):
            http = rule.child("http")
            rule.finish("IngressRule")
            for path in http.children("paths") if http is not None else ():
                names += _backend(path.child("backend"))
                path.finish("IngressPath")
            if http is not None:
                http.finish("IngressHttp")
        spec.finish("IngressSpec")
    fields.finish("Object")
    return tuple(dict.fromkeys((metadata.namespace, name) for name in names))


def _backend(fields: Fields | None) -> list[str]:
    """The Service of a backend, if it is one."""
    if fields is None:
        return []
    service = fields.child("service")
    fields.finish("IngressBackend")
    if service is None:
        return []
    name = service.require_text("name")
    service.finish("IngressServiceBackend")
    return [name]


def with_ingresses(services: Sequence[Service], reached: Collection[tuple[str, str]]) -> tuple[Service, ...]:
    """The Services, those that an Ingress leads to marked."""
    return tuple(replace(one, has_ingress=(one.namespace, one.name) in reached) for one in services)
