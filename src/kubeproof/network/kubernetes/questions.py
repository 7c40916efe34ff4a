"""Questions about manifests: may A reach B, must A not reach B, must everything from A to B pass W."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from typing import NoReturn

from kubeproof.errors import UsageError
from kubeproof.manifests.yaml.fields import suggestion
from kubeproof.network.kubernetes.objects import Block, Ingress, KubeNetwork, Outside, Party, PodGroup, Service, Sure
from kubeproof.network.kubernetes.ports import ALL_PORTS, NO_PORTS, Ports
from kubeproof.network.kubernetes.routes import KINDS as ROUTE_KINDS
from kubeproof.values import dataclass

CAN, CANNOT, MUST_PASS = "can reach", "cannot reach", "must pass"
WORLD = "world"
_ARROW = re.compile(r"\s*(?P<source>\S+)\s*->\s*(?P<target>\S+?)(?:\s+via\s+(?P<via>\S+))?\s*")
_PORT = re.compile(r"(?P<party>.*[^:])(?::(?:(?P<protocol>TCP|UDP|SCTP)/)?(?P<port>[a-z0-9-]+))", re.ASCII)


@dataclass(frozen=True, slots=True)
class WantedPort:
    """The port that a question is about: a number, or a name at the target."""

    protocol: str
    port: int | str

    def at(self, target: Party) -> Ports:
        """The port at a target; none if it does not have the name."""
        if isinstance(self.port, int):
            return ((self.protocol, self.port, self.port),)
        number = target.port(self.port, self.protocol) if isinstance(target, PodGroup) else None
        return NO_PORTS if number is None else ((self.protocol, number, number),)

    def __str__(self) -> str:
        return f"{self.protocol} {self.port}"


@dataclass(frozen=True, slots=True)
class Question:
    """One question, with everything it names looked up."""

    kind: str
    text: str
    sources: tuple[Party | Ingress, ...]
    targets: tuple[Party, ...]
    service: Service | None  # the targets are reached through it
    port: WantedPort | None
    via: tuple[PodGroup, ...] = ()

    def ports_at(self, target: Party) -> Ports:
        """The ports of a direct connection that count."""
        return ALL_PORTS if self.port is None else self.port.at(target)


def parse_question(kind: str, text: str, network: KubeNetwork) -> Question:
    """The question `A -> B[:PORT]`, or `A -> B[:PORT] via W`."""
    found = _ARROW.fullmatch(text)
    if found is None or (found["via"] is not None) != (kind == MUST_PASS):
        form = "A -> B via W" if kind == MUST_PASS else "A -> B[:PORT]"
        raise UsageError(f"{text!r} is not of the form {form!r}", "Write 'Deployment/shop/web -> shop/app=db:5432'.")
    party, port = _split_port(found["target"])
    service = _service(party, network) if party.startswith("Service/") else None
    targets = _backends(service, network) if service is not None else _parties(party, network)
    via = tuple(one for one in _parties(found["via"], network) if isinstance(one, PodGroup)) if found["via"] else ()
    if found["via"] and not via:
        raise UsageError(f"{text!r}: only pods can be passed", "Name pods after via.")
    question = Question(
        kind=kind,
        text=" ".join(text.split()),
        sources=_sources(found["source"], network),
        targets=targets,
        service=service,
        port=port,
        via=via,
    )
    if {one.ref for one in question.via} & {one.ref for one in targets}:
        raise UsageError(f"{text!r}: the way leads through its own end", "Name other pods after via.")
    return question


def _split_port(text: str) -> tuple[str, WantedPort | None]:
    if _is_block(text):
        return text, None
    found = _PORT.fullmatch(text)
    if found is None:
        return text.removeprefix("[").removesuffix("]"), None
    port = found["port"]
    if port.isdigit() and not 1 <= int(port[:9]) <= 65535:
        raise UsageError(f"{text!r}: {port} is no port", "Ports are numbers from 1 to 65535, or names.")
    party = found["party"].removeprefix("[").removesuffix("]")
    return party, WantedPort(found["protocol"] or "TCP", int(port) if port.isdigit() else port)


def parse_pods(text: str, network: KubeNetwork) -> tuple[PodGroup, ...]:
    """The pods that a text names."""
    return tuple(one for one in _parties(text, network) if isinstance(one, PodGroup))


def parse_block(text: str) -> Block:
    """An address range."""
    if not _is_block(text):
        raise UsageError(f"{text!r} is no address range", "Write one such as 10.0.0.0/8.")
    return ipaddress.ip_network(text, strict=False)


def _is_block(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _sources(text: str, network: KubeNetwork) -> tuple[Party | Ingress, ...]:
    if text.partition("/")[0] not in ("Ingress", *ROUTE_KINDS):
        return _parties(text, network)
    ref = _full(text)
    found = [one for one in network.ingresses if one.ref == ref]
    if not found:
        _fail_unknown(ref, [one.ref for one in network.ingresses])
    return tuple(found)


def _service(text: str, network: KubeNetwork) -> Service:
    ref = _full(text)
    for one in network.services:
        if one.ref == ref:
            return one
    _fail_unknown(ref, [one.ref for one in network.services])


def _parties(text: str, network: KubeNetwork) -> tuple[Party, ...]:
    """The pods or addresses that a text names."""
    if text == WORLD:
        return (Outside(WORLD),)
    if _is_block(text):
        return (Outside(f"address {text}", (ipaddress.ip_network(text, strict=False),)),)
    if "=" in text or text.endswith("*"):
        return _select(text, network)
    ref = _full(text)
    found = tuple(pods for pods in network.pods if pods.ref == ref)
    if not found:
        _fail_unknown(ref, [pods.ref for pods in network.pods])
    return found


def _select(text: str, network: KubeNetwork) -> tuple[Party, ...]:
    """Pods by namespace and labels: `shop/app=web,tier=front`, `shop/*`, `*/app=web`."""
    namespace, _, labels = text.partition("/")
    pairs = [pair.partition("=") for pair in labels.split(",")] if labels != "*" else []
    if not labels or any(not equals for _, equals, _ in pairs):
        raise UsageError(f"{text!r} is no selection of pods", "Write shop/app=web, shop/* or */app=web.")
    found = tuple(
        pods
        for pods in network.pods
        if namespace in ("*", pods.namespace) and all(dict(pods.labels).get(key) == value for key, _, value in pairs)
    )
    if not found:
        raise UsageError(f"no pods match {text!r}", "Correct the namespace or the labels.")
    return found


def _full(text: str) -> str:
    """`Kind/namespace/name`; the namespace `default` may be left out."""
    parts = text.split("/")
    if len(parts) not in (2, 3) or not all(parts):
        raise UsageError(
            f"{text!r} names no pods", "Write Kind/namespace/name, namespace/label=value, an address or world."
        )
    return f"{parts[0]}/default/{parts[1]}" if len(parts) == 2 else text


def _fail_unknown(ref: str, known: Sequence[str]) -> NoReturn:
    raise UsageError(f"no {ref!r} in the input", suggestion(ref, known))


def _backends(service: Service, network: KubeNetwork) -> tuple[Party, ...]:
    """The pods that a service selects."""
    return tuple(pods for pods in network.pods if is_backend(service, pods))


def is_backend(service: Service, pods: PodGroup) -> bool:
    """True if the service selects the pods, or one of them by a label that a controller adds."""
    return pods.namespace == service.namespace and pods.matches(service.selector) is not Sure.NO


def service_ports(service: Service, wanted: WantedPort | str | int | None, pods: PodGroup) -> Ports:
    """Where the ports of a service lead at its pods; all of its ports, or the wanted one."""
    found = []
    for port in service.ports:
        asked = wanted.port if isinstance(wanted, WantedPort) else wanted
        if asked is not None and asked not in (port.port, port.name):
            continue
        if isinstance(wanted, WantedPort) and wanted.protocol != port.protocol:
            continue
        number = port.target if isinstance(port.target, int) else pods.port(port.target, port.protocol)
        found += [(port.protocol, number, number)] if number is not None else []
    return tuple(sorted(set(found)))
