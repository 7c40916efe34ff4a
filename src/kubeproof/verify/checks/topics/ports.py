"""Ports that containers do not have: of Services and of probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubeproof.cluster.objects import Source
from kubeproof.cluster.wiring import ContainerPort, ServicePort, WiredPods, WiredService
from kubeproof.verify.checks.declaration import ERROR, WARNING, Check, Found
from kubeproof.verify.checks.scene import Scene
from kubeproof.verify.checks.surroundings import belong_together, equal_to, list_selected, may_hold_more

Places = tuple[tuple[str, Source], ...]


def _services(scene: Scene) -> Iterator[Found]:
    """Ports of Services that lead to a port that none of the selected pods has."""
    pods = {one.ref: one for one in scene.wiring.pods}
    for service in scene.wiring.services:
        if not service.selector or service.is_external or may_hold_more(scene, service.namespace, service.source):
            continue
        chosen = list(list_selected(scene, service.namespace, equal_to(service.selector)))
        wired = [pods[one.ref] for one in chosen if one.ref in pods]
        is_whole = all(belong_together(scene, service.source, one.source) for one in chosen)
        if wired and len(wired) == len(chosen) and is_whole:
            yield from _targets(service, wired, tuple((one.ref, one.source) for one in chosen))


def _targets(service: WiredService, wired: Sequence[WiredPods], also: Places) -> Iterator[Found]:
    """Names that no pod has; numbers only if the Service has one port, and its pods declare one, and another."""
    declared = [port for pods in wired for port in pods.ports]
    is_clear = len(service.ports) == 1 and len({one.number for one in declared}) == 1 and not _is_aside(service)
    for port in service.ports:
        is_there = any(_is_meant(port, one) for one in declared)
        if not is_there and (isinstance(port.target, str) or is_clear):
            told = f"port {port.number} leads to {_show(port)}, which no container of {wired[0].ref} declares"
            yield Found(service.ref, f"{told} (declared: {_list_ports(declared)})", port.source, also)


def _is_aside(service: WiredService) -> bool:
    """True for a Service of metrics and the like, whose ports are seldom declared."""
    return "metric" in f"{service.name} {' '.join(port.name for port in service.ports)}"


def _is_meant(port: ServicePort, one: ContainerPort) -> bool:
    return one.protocol == port.protocol and port.target == (one.name if isinstance(port.target, str) else one.number)


def _show(port: ServicePort) -> str:
    protocol = "" if port.protocol == "TCP" else f"/{port.protocol}"
    return f"port {port.target}{protocol}"


def _list_ports(ports: Sequence[ContainerPort]) -> str:
    found = dict.fromkeys(f"{one.name}={one.number}" if one.name else str(one.number) for one in ports)
    return ", ".join(found) or "none"


def _probes(scene: Scene) -> Iterator[Found]:
    """Probes that name a port which their container does not have; numbers need no declaration."""
    sources = {one.ref: one.source for one in scene.wiring.written}
    for pods in scene.wiring.pods:
        for probe in pods.probes:
            own = [port for port in pods.ports if port.container == probe.container]
            if isinstance(probe.port, str) and probe.port not in {port.name for port in own}:
                told = (
                    f"{probe.probe} of container {probe.container} asks at port {probe.port}, "
                    f"which the container does not declare (declared: {_list_ports(own)})"
                )
                yield Found(pods.ref, told, probe.source, ((pods.ref, sources[pods.ref]),))


CHECKS = (
    Check(
        id="K009",
        key="service-port-missing",
        severity=WARNING,
        title="a Service whose targetPort none of its pods declares",
        explanation=(
            "A target by name is looked up in the containers' ports: without one the Service has no endpoint for that "
            "port. A target by number works without any declaration; it is told only if the Service has a single port, "
            "its pods declare a single one, and these differ."
        ),
        remedy="Name a port that the containers declare",
        find=_services,
    ),
    Check(
        id="K010",
        key="probe-port-missing",
        severity=ERROR,
        title="a probe at a named port that its container does not declare",
        explanation=(
            "The kubelet looks the name up in the container's own ports. It does not find it, and the probe fails "
            "every time: the pod never turns ready, or its container is killed again and again."
        ),
        remedy="Declare the port by that name, or write its number",
        find=_probes,
    ),
)
