"""Reads pods, NetworkPolicies, Services and Ingresses from manifests."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Sequence
from dataclasses import field

from kubeproof.cluster.kinds import JOB, JOB_NAMES, KINDS, POD
from kubeproof.cluster.labels import Labels, LabelSelector, Requirement, as_labels
from kubeproof.errors import NothingToCheckError
from kubeproof.manifests.folders import fence
from kubeproof.manifests.folders.collected import collect, raise_all
from kubeproof.manifests.folders.files import read_inputs
from kubeproof.manifests.folders.own_reports import WHAT, WHY
from kubeproof.manifests.folders.variants import leave_out_variants
from kubeproof.manifests.identities import find_repeated, name_objects
from kubeproof.manifests.late import render_recipe
from kubeproof.manifests.notes import notes_of
from kubeproof.manifests.objects import Document, fields_of, show_name
from kubeproof.manifests.pods.selectors import selector_of
from kubeproof.manifests.validation.names import is_dns_label, is_dns_subdomain, read_labels
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import Scalar, ScalarKind
from kubeproof.network.kubernetes.admin_reader import GROUP as ADMIN_GROUP
from kubeproof.network.kubernetes.admin_reader import KINDS as ADMIN_KINDS
from kubeproof.network.kubernetes.admin_reader import read_admin_policy
from kubeproof.network.kubernetes.cilium import GROUP as CILIUM_GROUP
from kubeproof.network.kubernetes.cilium import KINDS as CILIUM_KINDS
from kubeproof.network.kubernetes.cilium import NotUnderstood, read_cilium
from kubeproof.network.kubernetes.objects import (
    AdminPolicy,
    Block,
    Ingress,
    KubeNetwork,
    Peer,
    PodGroup,
    Policy,
    PolicyPort,
    PolicyRule,
    Service,
    ServicePort,
)
from kubeproof.network.kubernetes.ports import PROTOCOLS
from kubeproof.network.kubernetes.routes import GROUP as ROUTE_GROUP
from kubeproof.network.kubernetes.routes import KINDS as ROUTE_KINDS
from kubeproof.network.kubernetes.routes import Grant, drop_ungranted, read_grant, read_route
from kubeproof.values import dataclass

NAME_LABEL = "kubernetes.io/metadata.name"  # every namespace has it
_OTHERS = {
    "Namespace": "", "Service": "", "NetworkPolicy": "networking.k8s.io", "Ingress": "networking.k8s.io",
    **dict.fromkeys(CILIUM_KINDS, CILIUM_GROUP), **dict.fromkeys(ADMIN_KINDS, ADMIN_GROUP),
    **dict.fromkeys((*ROUTE_KINDS, "ReferenceGrant"), ROUTE_GROUP),
}  # fmt: skip
_HARMLESS = (
    "ConfigMap",
    "Secret",
    "ServiceAccount",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "Node",
    "Gateway",
    "GatewayClass",
)


@dataclass(slots=True)
class _Found:
    pods: list[tuple[PodGroup, str | None]] = field(default_factory=list)  # with the owner
    policies: list[Policy] = field(default_factory=list)
    admin_policies: list[AdminPolicy] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    ingresses: list[Ingress] = field(default_factory=list)
    routes: list[Ingress] = field(default_factory=list)
    grants: set[Grant] = field(default_factory=set)
    namespaces: dict[str, Labels] = field(default_factory=dict)
    left_out: dict[str, None] = field(default_factory=dict)


def load_kube_network(
    paths: Sequence[str], *, stdin: Callable[[], bytes] | None = None, bounds: Bounds = Bounds()
) -> KubeNetwork:
    """What the manifests say about the network; other kinds are listed in the notes."""
    found = _Found()
    collected = collect(read_inputs(paths, stdin=stdin, bounds=bounds, render=render_recipe), Budget(bounds))
    raise_all(collected.errors)
    leave_out_variants(collected)
    name_objects(collected.documents)
    repeated = [pair for pair in find_repeated(collected.documents) if pair.first.kind in (*KINDS, *_OTHERS)]
    collected.drop(pair.first for pair in repeated)
    for document in collected.documents:
        _read(document, found)
    reports = [f"a link is {fence.WHY.partition(';')[0]} ({link})" for link in collected.links]
    reports += [f"{WHAT} is {WHY} ({report})" for report in collected.reports]
    reports += [f"{show_name(pair.last)} comes again, the last counts ({pair.last.place})" for pair in repeated]
    reports += [f"{note.what}: {note.why} ({note.source.file})" for note in notes_of(collected)]
    for route in found.routes:
        kept, dropped = drop_ungranted(route, found.grants)
        found.ingresses.append(kept)
        found.left_out.update(dict.fromkeys(dropped))
    refs = {pods.ref for pods, _ in found.pods}
    groups = tuple(pods for pods, owner in found.pods if owner not in refs)
    if not groups:
        raise NothingToCheckError("E301 no pods: the input has no workload and no Pod.")
    notes = (*reports, *(f"{kind} is not modelled here" for kind in found.left_out))
    return KubeNetwork(
        groups, tuple(found.policies), tuple(found.admin_policies), tuple(found.services), tuple(found.ingresses),
        found.namespaces, notes,
    )  # fmt: skip


def read_alone(document: Document) -> None:
    """Reads an object by itself; what was read is noted in the document."""
    _read(document, _Found())


def _read(document: Document, found: _Found) -> None:
    group = document.version.rpartition("/")[0]
    fields = fields_of(document)
    if document.kind in KINDS and group == KINDS[document.kind].group:
        found.pods.append(_pods(fields, document.kind, found))
    elif document.kind in CILIUM_KINDS and group == CILIUM_GROUP:
        _cilium(fields, document.kind, found)
    elif document.kind in ROUTE_KINDS and group == ROUTE_GROUP:
        ref, namespace, _ = _identity(fields, document.kind)
        route, others = read_route(fields, ref, namespace)
        found.routes.append(route)
        found.left_out.update(dict.fromkeys(others))
    elif document.kind == "ReferenceGrant" and group == ROUTE_GROUP:
        found.grants.update(read_grant(fields, _identity(fields, document.kind)[1]))
    elif document.kind in ADMIN_KINDS and group == ADMIN_GROUP:
        found.admin_policies.append(read_admin_policy(fields, document.kind))
    elif _OTHERS.get(document.kind) == group:
        _READERS[document.kind](fields, found)
    elif document.kind not in _HARMLESS:
        found.left_out[f"kind {printable(document.kind)} ({printable(document.version)})"] = None


def _cilium(fields: Fields, kind: str, found: _Found) -> None:
    ref, namespace, _ = _identity(fields, kind)
    is_everywhere = kind == "CiliumClusterwideNetworkPolicy"
    ref = f"{kind}/{ref.rpartition('/')[2]}" if is_everywhere else ref
    try:
        read = read_cilium(fields, ref, "" if is_everywhere else namespace)
    except NotUnderstood as reason:
        found.left_out[f"{ref}, as {reason},"] = None
        return
    found.policies += read.policies
    found.admin_policies += read.denials


def _identity(fields: Fields, kind: str) -> tuple[str, str, Fields]:
    """Reference, namespace and metadata of an object."""
    metadata = fields.require_child("metadata")
    namespace, name = metadata.text("namespace") or "default", metadata.require_text("name")
    if not is_dns_label(namespace):
        metadata.fail("namespace", f"is {printable(namespace)!r}", remedy="Use lower-case letters, digits and dashes")
    if not is_dns_subdomain(name):
        metadata.fail("name", f"is {printable(name)!r}", remedy="Use lower-case letters, digits, dashes and dots")
    return f"{kind}/{namespace}/{name}", namespace, metadata


def _pods(fields: Fields, kind: str, found: _Found) -> tuple[PodGroup, str | None]:
    ref, namespace, metadata = _identity(fields, kind)
    template = fields
    for key in KINDS[kind].template:
        template = template.require_child(key)
    labelled = metadata if kind == POD else template.child("metadata")
    spec = template.require_child("spec")
    labels = read_labels(labelled, "labels") if labelled is not None else {}
    named = dict.fromkeys(JOB_NAMES, metadata.require_text("name")) if kind == JOB else {}
    groups = PodGroup(
        ref=ref,
        namespace=namespace,
        labels=as_labels({**labels, **named}),
        added=KINDS[kind].adds,
        ports=tuple(port for container in _containers(spec) for port in _container_ports(container)),
        host_network=bool(spec.boolean("hostNetwork")),
        source=fields.source,
    )
    return groups, _owner(metadata, namespace)


def _owner(metadata: Fields, namespace: str) -> str | None:
    for reference in metadata.children("ownerReferences"):
        if reference.boolean("controller"):
            return f"{reference.require_text('kind')}/{namespace}/{reference.require_text('name')}"
    return None


def _containers(spec: Fields) -> list[Fields]:
    """Containers that listen while the pod runs: init containers only if they are restarted, as sidecars are."""
    sidecars = [child for child in spec.children("initContainers") if child.text("restartPolicy") == "Always"]
    return [*spec.children("containers"), *sidecars]


def _container_ports(container: Fields) -> list[tuple[str, str, int]]:
    found = []
    for port in container.children("ports"):
        number = port.integer("containerPort", least=1, most=65535)
        if number is None:
            port.fail("containerPort", "is required", remedy="Add it")
        found.append((port.text("name") or "", port.word("protocol", PROTOCOLS, "TCP"), number))
    return found


def _namespace(fields: Fields, found: _Found) -> None:
    metadata = fields.require_child("metadata")
    name = metadata.require_text("name")
    found.namespaces[name] = as_labels({**read_labels(metadata, "labels"), NAME_LABEL: name})


def _service(fields: Fields, found: _Found) -> None:
    ref, namespace, _ = _identity(fields, "Service")
    spec = fields.require_child("spec")
    selector = spec.text_map("selector")
    if spec.word("type", ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"), "ClusterIP") == "ExternalName":
        found.left_out[f"{ref} of type ExternalName"] = None
        return
    if not selector:
        found.left_out[f"{ref}, which has no selector,"] = None
        return
    chosen = LabelSelector(tuple(Requirement(key, "In", (value,)) for key, value in sorted(selector.items())))
    is_headless = spec.equals("clusterIP", "None")
    ports = tuple(_service_port(port, is_headless=is_headless) for port in spec.children("ports"))
    found.services.append(Service(ref, namespace, chosen, ports, fields.source))


def _service_port(fields: Fields, *, is_headless: bool) -> ServicePort:
    """A port of a Service; a headless one has no address of its own, so clients meet the pods, without translation."""
    port = fields.integer("port", least=1, most=65535)
    if port is None:
        fields.fail("port", "is required", remedy="Add it")
    target = _port(fields, "targetPort")
    protocol = fields.word("protocol", PROTOCOLS, "TCP")
    return ServicePort(fields.text("name") or "", protocol, port, port if target is None or is_headless else target)


def _port(fields: Fields, key: str) -> int | str | None:
    """A port given by number or by name."""
    value = fields.value(key)
    if value is None:
        return None
    if isinstance(value, Scalar) and value.kind is ScalarKind.INTEGER:
        return fields.integer(key, least=1, most=65535)
    return fields.text(key)


def _ingress(fields: Fields, found: _Found) -> None:
    ref, namespace, _ = _identity(fields, "Ingress")
    spec = fields.require_child("spec")
    backends = [spec.child("defaultBackend")]
    for rule in spec.children("rules"):
        http = rule.child("http")
        backends += [path.require_child("backend") for path in http.children("paths")] if http is not None else []
    services = [backend.child("service") for backend in backends if backend is not None]
    if None in services:
        found.left_out[f"a backend of {ref} that is no Service"] = None
    leads = [_ingress_backend(service, namespace) for service in services if service is not None]
    found.ingresses.append(Ingress(ref, tuple(dict.fromkeys(leads)), fields.source))


def _ingress_backend(service: Fields, namespace: str) -> tuple[str, str | int]:
    port = service.require_child("port")
    number = port.integer("number", least=1, most=65535)
    return f"Service/{namespace}/{service.require_text('name')}", number or port.require_text("name")


def _policy(fields: Fields, found: _Found) -> None:
    ref, namespace, _ = _identity(fields, "NetworkPolicy")
    spec = fields.require_child("spec")
    chosen = spec.child("podSelector")
    rules = {
        "Ingress": tuple(_rule(rule, "from", place + 1) for place, rule in enumerate(spec.children("ingress"))),
        "Egress": tuple(_rule(rule, "to", place + 1) for place, rule in enumerate(spec.children("egress"))),
    }
    types = spec.texts("policyTypes")
    for word in types:
        if word not in rules:
            spec.fail("policyTypes", f"has {printable(word)!r}", remedy="Write Ingress, Egress or both")
    # Without policyTypes every policy is about ingress, and about egress only if it has such rules.
    types = types or ("Ingress", *(("Egress",) if rules["Egress"] else ()))
    selector = LabelSelector() if chosen is None else selector_of(chosen)
    kept = {direction: rules[direction] for direction in rules if direction in types}
    found.policies.append(Policy(ref, namespace, selector, kept, fields.source))


def _rule(fields: Fields, key: str, number: int) -> PolicyRule:
    peers = tuple(_peer(peer) for peer in fields.children(key))
    return PolicyRule(peers, tuple(_policy_port(port) for port in fields.children("ports")), number, fields.source)


def _peer(fields: Fields) -> Peer:
    block, namespaces, pods = (fields.child(key) for key in ("ipBlock", "namespaceSelector", "podSelector"))
    if (block is not None) == (namespaces is not None or pods is not None):
        fields.log.fail(
            f"{fields.path} needs either ipBlock or selectors", line=fields.mapping.line, remedy="Give one of the two"
        )
    if block is None:
        return Peer(
            None if namespaces is None else selector_of(namespaces), None if pods is None else selector_of(pods)
        )
    cidr = _cidr(block, "cidr", block.require_text("cidr"))
    excepted = tuple(_cidr(block, "except", text) for text in block.texts("except"))
    if any(one.version != cidr.version or not _is_inside(one, cidr) for one in excepted):
        block.fail("except", "is not inside cidr", remedy="Correct one of the two")
    return Peer(block=cidr, excepted=excepted)


def _is_inside(inner: Block, outer: Block) -> bool:
    return outer.network_address <= inner.network_address and inner.broadcast_address <= outer.broadcast_address  # type: ignore[operator]


def _cidr(fields: Fields, key: str, text: str) -> Block:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        fields.fail(key, f"has {printable(text)!r}", remedy="Write an address range such as 10.0.0.0/8")


def _policy_port(fields: Fields) -> PolicyPort:
    protocol = fields.word("protocol", PROTOCOLS, "TCP")
    port, last = _port(fields, "port"), fields.integer("endPort", least=1, most=65535)
    if last is not None and (not isinstance(port, int) or last < port):
        fields.fail("endPort", "needs a smaller or equal port number", remedy="Give port as a number")
    return PolicyPort(protocol, port, last)


_READERS: dict[str, Callable[[Fields, _Found], None]] = {
    "Namespace": _namespace,
    "Service": _service,
    "NetworkPolicy": _policy,
    "Ingress": _ingress,
}
