"""How objects of the input name and select each other: for checks that look at the manifests alone.

Reads what the readers of kinds leave aside, and kinds without a reader. What is not shaped as expected is left out: the
reader of its kind refuses it, and where there is none nobody knows its shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kubeproof.cluster.kinds import KINDS
from kubeproof.cluster.labels import Labels, LabelSelector, Requirement, as_labels
from kubeproof.cluster.objects import Source
from kubeproof.cluster.wiring import (
    PODS,
    SERVICES,
    ContainerPort,
    PodCreator,
    Port,
    ProbePort,
    Reference,
    Selection,
    ServicePort,
    StartDeadline,
    WiredPods,
    WiredService,
    Wiring,
    Written,
)
from kubeproof.manifests.objects import Document, identity_of
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.tree import TRUE_WORDS, Mapping, Scalar, ScalarKind, Sequence, Value
from kubeproof.values import dataclass

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
_PROBES = ("readinessProbe", "livenessProbe", "startupProbe")


@dataclass(frozen=True, slots=True)
class _Object:
    """One object being read."""

    document: Document
    written: Written

    @property
    def root(self) -> Mapping:
        return self.document.mapping

    @property
    def ref(self) -> str:
        return self.written.ref

    @property
    def namespace(self) -> str:
        return self.written.namespace

    def at(self, line: int) -> Source:
        return Source(self.document.file, line)


def read_wiring(documents: Iterable[Document]) -> Wiring:
    """What the documents say of each other; of an object that stands there twice the last one counts."""
    latest = {(o.written.group, o.ref): o for o in map(_object, documents)}
    objects = tuple(latest.values())
    return Wiring(
        written=tuple(one.written for one in objects),
        services=tuple(_service(one) for one in _of_kind(objects, "Service", "")),
        pods=tuple(found for one in objects if (found := _pods(one)) is not None),
        selections=tuple(found for one in objects for found in _selections(one)),
        references=tuple(found for one in objects for found in _references(one)),
        start_deadlines=tuple(found for one in objects for found in _start_deadline(one)),
        pod_creators=tuple(_pod_creators(objects)),
    )


def _object(document: Document) -> _Object:
    namespace, name = identity_of(document)
    place = Source(document.file, document.line)
    kind, version = printable(document.kind), printable(document.version)
    return _Object(document, Written(kind, version, namespace or "default", printable(name), place, bool(namespace)))


def _of_kind(objects: Iterable[_Object], kind: str, group: str) -> Iterator[_Object]:
    return (one for one in objects if one.written.kind == kind and one.written.group == group)


# -- Services and pods --------------------------------------------------------------------------------


def _service(one: _Object) -> WiredService:
    spec, labels = _at(one.root, "spec"), _labels(_at(one.root, "metadata", "labels"))
    selector = _labels(_at(spec, "selector"))
    ports = tuple(found for item in _items(spec, "ports") if (found := _service_port(one, item)) is not None)
    is_external = _text(spec, "type") == "ExternalName"
    return WiredService(one.namespace, one.written.name, labels, selector, ports, one.written.source, is_external)


def _service_port(one: _Object, item: Value) -> ServicePort | None:
    number = _port(item, "port")
    if not isinstance(number, int):
        return None
    target = _port(item, "targetPort")
    return ServicePort(
        name=_text(item, "name"),
        number=number,
        target=number if target in (None, 0) else target,
        protocol=_text(item, "protocol") or "TCP",
        source=one.at(item.line_of("targetPort" if target else "port") if isinstance(item, Mapping) else item.line),
    )


def _pods(one: _Object) -> WiredPods | None:
    kind = KINDS.get(one.written.kind)
    spec = None if kind is None else _at(one.root, *kind.template, "spec")
    if spec is None:
        return None
    containers = _items(spec, "containers")
    sidecars = [item for item in _items(spec, "initContainers") if _text(item, "restartPolicy") == "Always"]
    ports = tuple(found for container in (*containers, *sidecars) for found in _container_ports(container))
    probes = tuple(found for container in (*containers, *sidecars) for found in _probes(one, container))
    return WiredPods(one.ref, ports, probes)


def _container_ports(container: Value) -> Iterator[ContainerPort]:
    for item in _items(container, "ports"):
        number = _port(item, "containerPort")
        if isinstance(number, int):
            protocol = _text(item, "protocol") or "TCP"
            yield ContainerPort(_text(container, "name"), _text(item, "name"), number, protocol)


def _probes(one: _Object, container: Value) -> Iterator[ProbePort]:
    for name in _PROBES:
        for handler in ("httpGet", "tcpSocket"):
            action = _at(container, name, handler)
            port = None if action is None else _port(action, "port")
            if isinstance(action, Mapping) and port is not None:
                yield ProbePort(_text(container, "name"), name, port, one.at(action.line_of("port")))


# -- who selects whom ---------------------------------------------------------------------------------


def _selections(one: _Object) -> Iterator[Selection]:
    chosen = _SELECTING.get((one.written.group, one.written.kind))
    found = None if chosen is None else chosen(one)
    if found is not None:
        yield found


def _network_policy(one: _Object) -> Selection | None:
    selector = _selector(_at(one.root, "spec", "podSelector"))
    if selector is None:
        return None
    return Selection(one.ref, PODS, (one.namespace,), selector, one.written.source)


def _monitor(one: _Object, of: str, endpoints: str) -> Selection | None:
    """A ServiceMonitor or PodMonitor of the Prometheus operator."""
    spec = _at(one.root, "spec")
    selector = _selector(_at(spec, "selector"))
    if selector is None:
        return None
    ports = tuple(
        (_text(item, "port"), one.at(item.line_of("port")))
        for item in _items(spec, endpoints)
        if isinstance(item, Mapping) and _text(item, "port")
    )
    return Selection(one.ref, of, _namespaces(one, spec), selector, one.written.source, ports)


def _namespaces(one: _Object, spec: Value | None) -> tuple[str, ...] | None:
    chosen = _at(spec, "namespaceSelector")
    if _text(chosen, "any").lower() in TRUE_WORDS:
        return None
    names = tuple(item.text for item in _items(chosen, "matchNames") if isinstance(item, Scalar))
    return names or (one.namespace,)


_SELECTING: dict[tuple[str, str], Callable[[_Object], Selection | None]] = {
    ("networking.k8s.io", "NetworkPolicy"): _network_policy,
    ("monitoring.coreos.com", "ServiceMonitor"): lambda one: _monitor(one, SERVICES, "endpoints"),
    ("monitoring.coreos.com", "PodMonitor"): lambda one: _monitor(one, PODS, "podMetricsEndpoints"),
}


# -- who names whom -----------------------------------------------------------------------------------


def _references(one: _Object) -> Iterator[Reference]:
    if one.written.kind == "Ingress" and one.written.group == "networking.k8s.io":
        yield from _ingress(one)
    if one.written.kind == "StatefulSet" and _text(_at(one.root, "spec"), "serviceName"):
        yield _reference(one, "Service", _at(one.root, "spec"), "serviceName", "spec.serviceName")
    if one.written.kind == "ScaledObject" and one.written.group == "keda.sh":
        target = _at(one.root, "spec", "scaleTargetRef")
        yield _reference(one, _text(target, "kind") or "Deployment", target, "name", "spec.scaleTargetRef")
    kind = KINDS.get(one.written.kind)
    if kind is not None:
        yield from _pod_references(one, _at(one.root, *kind.template, "spec"))


def _reference(
    one: _Object, kind: str, value: Value | None, key: str, field: str, port: Port | None = None
) -> Reference:
    line = value.line_of(key) if isinstance(value, Mapping) else one.document.line
    return Reference(one.ref, kind, one.namespace, printable(_text(value, key)), field, one.at(line), port)


def _ingress(one: _Object) -> Iterator[Reference]:
    spec = _at(one.root, "spec")
    backends = [(_at(spec, "defaultBackend", "service"), "spec.defaultBackend")]
    for rule in _items(spec, "rules"):
        paths = _items(_at(rule, "http"), "paths")
        backends += [(_at(path, "backend", "service"), "spec.rules") for path in paths]
    for service, field in backends:
        if _text(service, "name"):
            port = _at(service, "port")
            chosen = _port(port, "number") if _port(port, "number") is not None else _text(port, "name") or None
            yield _reference(one, "Service", service, "name", field, chosen)


def _pod_references(one: _Object, spec: Value | None) -> Iterator[Reference]:
    """The ConfigMaps, Secrets and claims that a pod cannot start without."""
    for volume in _items(spec, "volumes"):
        for key, kind, name in _VOLUMES:
            source = _at(volume, key)
            if _text(source, name) and not _is_optional(source):
                mounted = printable(_text(volume, "name"))
                yield replace(_reference(one, kind, source, name, f"volume {mounted}"), volume=mounted)
    for container in (*_items(spec, "initContainers"), *_items(spec, "containers")):
        yield from _env_references(one, container)


_VOLUMES = (
    ("configMap", "ConfigMap", "name"),
    ("secret", "Secret", "secretName"),
    ("persistentVolumeClaim", "PersistentVolumeClaim", "claimName"),
)


def _env_references(one: _Object, container: Value) -> Iterator[Reference]:
    where = f"container {printable(_text(container, 'name'))}"
    sources = [(_at(item, key), kind) for item in _items(container, "envFrom") for key, kind in _ENV_FROM]
    sources += [(_at(item, "valueFrom", key), kind) for item in _items(container, "env") for key, kind in _ENV]
    for source, kind in sources:
        if _text(source, "name") and not _is_optional(source):
            yield _reference(one, kind, source, "name", where)


_ENV_FROM = (("configMapRef", "ConfigMap"), ("secretRef", "Secret"))
_ENV = (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret"))


def _is_optional(value: Value | None) -> bool:
    return _text(value, "optional").lower() in TRUE_WORDS


def _start_deadline(one: _Object) -> Iterator[StartDeadline]:
    spec = _at(one.root, "spec")
    seconds = _port(spec, "startingDeadlineSeconds") if one.written.kind == "CronJob" else None
    if isinstance(seconds, int) and isinstance(spec, Mapping):
        yield StartDeadline(one.ref, seconds, one.at(spec.line_of("startingDeadlineSeconds")))


def _pod_creators(objects: Iterable[_Object]) -> Iterator[PodCreator]:
    """The Roles that allow to create pods, and the RoleBindings of ClusterRoles that do."""
    found = [one for one in objects if one.written.group == _RBAC]
    cluster_wide = {one.written.name for one in found if one.written.kind == "ClusterRole" and _lets_create_pods(one)}
    for one in found:
        role = _at(one.root, "roleRef")
        binds = one.written.kind == "RoleBinding" and _text(role, "kind") == "ClusterRole"
        is_bound = binds and printable(_text(role, "name")) in cluster_wide
        if is_bound or (one.written.kind == "Role" and _lets_create_pods(one)):
            yield PodCreator(one.ref, one.namespace)


_RBAC = "rbac.authorization.k8s.io"


def _lets_create_pods(role: _Object) -> bool:
    rules = _items(role.root, "rules")
    return any(
        _names(rule, "apiGroups", "") and _names(rule, "resources", "pods") and _names(rule, "verbs", "create")
        for rule in rules
    )


def _names(rule: Value, key: str, wanted: str) -> bool:
    """True if a rule names the word, or all there are."""
    return any(isinstance(item, Scalar) and item.text in (wanted, "*") for item in _items(rule, key))


# -- values as far as they have the shape -------------------------------------------------------------


def _at(value: Value | None, *path: str) -> Value | None:
    """What stands under the keys; None where one is missing."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _items(value: Value | None, key: str) -> tuple[Value, ...]:
    found = _at(value, key)
    return found.items if isinstance(found, Sequence) else ()


def _text(value: Value | None, key: str) -> str:
    found = _at(value, key)
    return found.text if isinstance(found, Scalar) else ""


def _port(value: Value | None, key: str) -> Port | None:
    """A number, or a name; an integer in quotes is a name to nobody but counts as the number."""
    found = _at(value, key)
    if not isinstance(found, Scalar) or not found.text:
        return None
    is_number = found.kind is ScalarKind.INTEGER and len(found.text) < 10
    return int(found.text) if is_number else printable(found.text)


def _labels(value: Value | None) -> Labels:
    entries = value.entries if isinstance(value, Mapping) else {}
    return as_labels({key: entry.value.text for key, entry in entries.items() if isinstance(entry.value, Scalar)})


def _selector(value: Value | None) -> LabelSelector | None:
    """A LabelSelector; None if it is absent or has a form that nobody would accept."""
    if not isinstance(value, Mapping):
        return None
    equal = [Requirement(key, "In", (text,)) for key, text in _labels(value.get("matchLabels"))]
    expressions = []
    for item in _items(value, "matchExpressions"):
        values = tuple(one.text for one in _items(item, "values") if isinstance(one, Scalar))
        if _text(item, "operator") not in _OPERATORS:
            return None
        expressions.append(Requirement(_text(item, "key"), _text(item, "operator"), values))
    return LabelSelector((*equal, *expressions))
