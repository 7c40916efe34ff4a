"""Containers and their readiness probes."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.objects import Container, HostPort, Readiness
from kubeproof.manifests.late import read_pre_stop
from kubeproof.manifests.pods.resources import CPU, MEMORY, is_extended, others_of, read_container_amounts
from kubeproof.manifests.validation.deciding import NOTHING, NUMBER, OWN, RESTARTS
from kubeproof.manifests.validation.names import is_dns_label
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable

_PROTOCOLS = ("TCP", "UDP", "SCTP")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")


def read_containers(
    fields: Fields, key: str, *, init: bool, host_network: bool = False
) -> tuple[tuple[Container, Readiness | None], ...]:
    """The containers under a key, each with its readiness probe; names must be unique.

    With `host_network` every port is one of the node.
    """
    found: dict[str, tuple[Container, Readiness | None]] = {}
    for child in fields.children(key):
        container, readiness = _container(child, init=init, host_network=host_network)
        if container.name in found:
            child.fail("name", f"is {container.name!r} again", remedy="Container names are unique in a pod")
        if any(port in other.host_ports for port in container.host_ports for other, _ in found.values()):
            child.fail("ports", "take a host port again", remedy="Give each container of a pod its own host port")
        found[container.name] = (container, readiness)
    return tuple(found.values())


def _container(fields: Fields, *, init: bool, host_network: bool) -> tuple[Container, Readiness | None]:
    name = fields.require_text("name")
    if not is_dns_label(name):
        fields.fail("name", f"is {printable(name)!r}", remedy="At most 63 lower-case letters, digits and dashes")
    requests, limits = _resources(fields)
    sidecar = _is_sidecar(fields, init=init)
    readiness = _readiness(fields)
    pre_stop_s = read_pre_stop(fields) if fields.has("lifecycle") else 0
    image, ports = read_image(fields, "image"), _host_ports(fields, host_network=host_network)
    has_ports = bool(fields.items("ports"))
    if fields.items("resizePolicy"):
        fields.ignore("resizePolicy")
    if init and not sidecar and fields.has("restartPolicyRules"):
        fields.omit("restartPolicyRules", decides=OWN)  # it exits whatever happens, perhaps to run again
    fields.finish("Container")
    amounts = requests.get(CPU), requests.get(MEMORY), others_of(requests)
    found = Container(name, *amounts, sidecar, image, ports, tuple(sorted(limits.items())), pre_stop_s, has_ports)
    return found, readiness


def _is_sidecar(fields: Fields, *, init: bool) -> bool:
    """True for an init container with restartPolicy Always; elsewhere the field is only noted."""
    policy = fields.text("restartPolicy")
    if policy is None:
        return False
    if not init:
        fields.omit("restartPolicy", decides=RESTARTS if policy == "Never" else NOTHING)
        return False
    if policy != "Always":
        fields.fail("restartPolicy", f"is {printable(policy)!r}", remedy="Init containers take Always or nothing")
    fields.note_gate("InitContainer", "restartPolicy")
    return True


def _resources(fields: Fields) -> tuple[dict[str, int], dict[str, int]]:
    """Requests after defaulting (an omitted request takes the value of its limit), and limits."""
    resources = fields.child("resources")
    if resources is None:
        return {}, {}
    limits = read_container_amounts(resources.child("limits"))
    requests = read_container_amounts(resources.child("requests"))
    if resources.items("claims"):
        resources.omit("claims", decides=NUMBER)  # entries of the pod's resourceClaims
    resources.finish("Resources")
    for name, amount in requests.items():
        _check_limit(resources, name, amount, limits.get(name))
    return {**limits, **requests}, limits


def _check_limit(resources: Fields, name: str, request: int, limit: int | None) -> None:
    """A request is at most its limit; extended resources need a limit that equals the request."""
    if limit is not None and request > limit:
        resources.fail("requests", f"asks for more {name} than the limit allows", remedy="Lower it or raise the limit")
    if (is_extended(name) or name.startswith("hugepages-")) and request != limit:
        resources.fail("requests", f"and limits differ for {name}", remedy="Set both to the same value")


def read_image(fields: Fields, key: str) -> str:
    """The image under a key as nodes list it: without a tag it is the one called latest."""
    name = fields.text(key) or ""
    has_tag = name.rfind(":") > name.rfind("/")
    return name if has_tag or not name else f"{name}:latest"


def _host_ports(fields: Fields, *, host_network: bool) -> tuple[HostPort, ...]:
    """The ports that the container takes from its node; on the host's network these are all its ports."""
    found = []
    for child in fields.children("ports"):
        port, inside = child.integer("hostPort", most=65535), child.integer("containerPort", most=65535)
        if host_network and port and inside and port != inside:
            child.fail("hostPort", "differs from containerPort", remedy="With hostNetwork both are the same; drop it")
        protocol = child.word("protocol", _PROTOCOLS, "TCP")
        address = child.text("hostIP") or HostPort(0).ip
        child.finish("ContainerPort")
        taken = port or (inside if host_network else 0)
        if taken:
            found.append(HostPort(taken, protocol, address))
    return tuple(found)


def _readiness(fields: Fields) -> Readiness | None:
    """The readiness probe after defaulting (period 10 s, one success)."""
    probe = fields.child("readinessProbe")
    if probe is None:
        return None
    if not any(probe.has(handler) for handler in _HANDLERS):
        fields.fail("readinessProbe", "has no handler", remedy="Add exec, httpGet, tcpSocket or grpc")
    readiness = Readiness(
        initial_delay_s=probe.integer("initialDelaySeconds") or 0,
        period_s=probe.integer("periodSeconds") or 10,
        success_threshold=probe.integer("successThreshold") or 1,
    )
    probe.finish("Probe")
    return readiness


def slowest(probes: list[Readiness]) -> Readiness | None:
    """The probe that lets a pod wait longest; a pod is ready when all its containers are."""
    if not probes:
        return None
    return max(probes, key=lambda p: (p.initial_delay_s + p.period_s * p.success_threshold, p.initial_delay_s))


def serving_s(containers: Sequence[Container]) -> int:
    """How long a deleted pod serves on: until the first of its containers with ports (or of all) is told to stop."""
    serving = [container for container in containers if container.has_ports] or list(containers)
    return min((container.pre_stop_s for container in serving), default=0)
