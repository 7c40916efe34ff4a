"""Reads routes of the Gateway API: which Services what comes in at a gateway is led to."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.manifests.yaml.fields import Fields
from kubeproof.network.kubernetes.objects import Ingress

GROUP = "gateway.networking.k8s.io"
KINDS = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
Grant = tuple[str, str, str, str]  # kind of the route, its namespace; namespace of the Service, its name or ""


def read_route(fields: Fields, ref: str, namespace: str) -> tuple[Ingress, tuple[str, ...]]:
    """A route with its backends, and those that are no Services."""
    backends, others = [], []
    for rule in fields.require_child("spec").children("rules"):
        for backend in rule.children("backendRefs"):
            kind, group = backend.text("kind") or "Service", backend.text("group") or ""
            if (kind, group) != ("Service", ""):
                others.append(f"a backend of {ref} that is no Service")
                continue
            space = backend.text("namespace") or namespace
            port = backend.integer("port", least=1, most=65535)
            if port is None:
                backend.fail("port", "is required", remedy="Give the port of the Service")
            backends.append((f"Service/{space}/{backend.require_text('name')}", port))
    return Ingress(ref, tuple(dict.fromkeys(backends)), fields.source), tuple(others)


def read_grant(fields: Fields, namespace: str) -> Iterator[Grant]:
    """Which routes of other namespaces may lead to Services of this one."""
    spec = fields.require_child("spec")
    names = [to.text("name") or "" for to in spec.children("to") if to.require_text("kind") == "Service"]
    for one in spec.children("from"):
        for name in names:
            yield one.require_text("kind"), one.require_text("namespace"), namespace, name


def drop_ungranted(route: Ingress, grants: set[Grant]) -> tuple[Ingress, tuple[str, ...]]:
    """The route without backends in other namespaces that do not allow it, and what was left out."""
    kind, space, _ = route.ref.split("/")
    kept, dropped = [], []
    for backend in route.backends:
        _, target, name = backend[0].split("/")
        is_granted = target == space or {(kind, space, target, ""), (kind, space, target, name)} & grants
        if is_granted:
            kept.append(backend)
        else:
            dropped.append(f"{route.ref} leads to {backend[0]}, which no ReferenceGrant allows: it")
    return Ingress(route.ref, tuple(kept), route.source), tuple(dropped)
