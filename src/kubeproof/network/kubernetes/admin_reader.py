"""Reads policies of administrators: AdminNetworkPolicy, BaselineAdminNetworkPolicy (v1alpha1), ClusterNetworkPolicy
(v1alpha2)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from kubeproof.cluster.labels import LabelSelector
from kubeproof.manifests.pods.selectors import selector_of
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.network.kubernetes.objects import (
    ANY_PROTOCOL,
    Action,
    AdminPeer,
    AdminPolicy,
    AdminRule,
    Block,
    PolicyPort,
)
from kubeproof.network.kubernetes.ports import PROTOCOLS

GROUP = "policy.networking.k8s.io"
KINDS = ("AdminNetworkPolicy", "BaselineAdminNetworkPolicy", "ClusterNetworkPolicy")
_ACTIONS = {"Allow": Action.ACCEPT, "Accept": Action.ACCEPT, "Deny": Action.DENY, "Pass": Action.PASS}
_BASELINE = {"BaselineAdminNetworkPolicy": True, "AdminNetworkPolicy": False}
_DIRECTIONS = {"Ingress": ("ingress", "from"), "Egress": ("egress", "to")}
MOST_PRIORITY = 1000


def read_admin_policy(fields: Fields, kind: str) -> AdminPolicy:
    """The policy that an object describes."""
    name = fields.require_child("metadata").require_text("name")
    spec = fields.require_child("spec")
    is_baseline = _BASELINE.get(kind)
    if is_baseline is None:
        is_baseline = spec.word("tier", ("Admin", "Baseline"), "Admin") == "Baseline"
    priority = spec.integer("priority", least=0, most=MOST_PRIORITY)
    if priority is None and kind != "BaselineAdminNetworkPolicy":
        spec.fail("priority", "is required", remedy=f"Give a number from 0 to {MOST_PRIORITY}; lower ones come first")
    namespaces, pods = _subject(spec.require_child("subject"))
    rules = {
        direction: tuple(_rule(rule, peers, number + 1) for number, rule in enumerate(spec.children(key)))
        for direction, (key, peers) in _DIRECTIONS.items()
    }
    return AdminPolicy(f"{kind}/{name}", is_baseline, priority or 0, namespaces, pods, rules, fields.source)


def _subject(fields: Fields) -> tuple[LabelSelector, LabelSelector]:
    namespaces, pods = fields.child("namespaces"), fields.child("pods")
    if (namespaces is None) == (pods is None):
        _fail_choice(fields, "namespaces or pods")
    if namespaces is not None:
        return selector_of(namespaces), LabelSelector()
    assert pods is not None
    return _pods(pods)


def _pods(fields: Fields) -> tuple[LabelSelector, LabelSelector]:
    namespaces, pods = fields.child("namespaceSelector"), fields.child("podSelector")
    return (
        LabelSelector() if namespaces is None else selector_of(namespaces),
        LabelSelector() if pods is None else selector_of(pods),
    )


def _fail_choice(fields: Fields, choice: str) -> None:
    fields.log.fail(f"{fields.path} needs one of {choice}", line=fields.mapping.line, remedy="Give exactly one")


def _rule(fields: Fields, key: str, number: int) -> AdminRule:
    action = _ACTIONS[fields.word("action", tuple(_ACTIONS), "")] if fields.require_text("action") else Action.DENY
    peers = tuple(_peer(peer) for peer in fields.children(key))
    if not peers:
        fields.fail(key, "is empty", remedy="Name at least one peer")
    ports = (
        *(port for child in fields.children("ports") for port in _port(child)),
        *(port for child in fields.children("protocols") for port in _protocol(child)),
    )
    return AdminRule(action, peers, ports, number, fields.source)


def _peer(fields: Fields) -> AdminPeer:
    given = [key for key in ("namespaces", "pods", "nodes", "networks", "domainNames") if fields.has(key)]
    if len(given) != 1:
        _fail_choice(fields, "namespaces, pods, nodes, networks and domainNames")
    if given == ["namespaces"]:
        return AdminPeer(selector_of(fields.require_child("namespaces")), LabelSelector())
    if given == ["pods"]:
        return AdminPeer(*_pods(fields.require_child("pods")))
    if given == ["networks"]:
        return AdminPeer(blocks=tuple(_block(fields, text) for text in fields.texts("networks")))
    return AdminPeer(is_open=True)


def _block(fields: Fields, text: str) -> Block:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        fields.fail("networks", f"has {printable(text)!r}", remedy="Write an address range such as 10.0.0.0/8")


def _port(fields: Fields) -> Iterator[PolicyPort]:
    number, among = fields.child("portNumber"), fields.child("portRange")
    if number is not None:
        yield PolicyPort(number.word("protocol", PROTOCOLS, "TCP"), _number(number, "port"))
    elif among is not None:
        yield PolicyPort(among.word("protocol", PROTOCOLS, "TCP"), _number(among, "start"), _number(among, "end"))
    else:
        yield PolicyPort(ANY_PROTOCOL, fields.require_text("namedPort"))


def _protocol(fields: Fields) -> Iterator[PolicyPort]:
    named = fields.text("destinationNamedPort")
    if named is not None:
        yield PolicyPort(ANY_PROTOCOL, named)
    given = [name for name in PROTOCOLS if fields.has(name.lower())]
    if len(given) != (named is None):
        _fail_choice(fields, "tcp, udp, sctp and destinationNamedPort")
    for protocol in given:
        port = fields.require_child(protocol.lower()).child("destinationPort")
        among = None if port is None else port.child("range")
        if port is None:
            yield PolicyPort(protocol, None)
        elif among is not None:
            yield PolicyPort(protocol, _number(among, "start"), _number(among, "end"))
        else:
            yield PolicyPort(protocol, _number(port, "number"))


def _number(fields: Fields, key: str) -> int:
    number = fields.integer(key, least=1, most=65535)
    if number is None:
        fields.fail(key, "is required", remedy="Give a port from 1 to 65535")
    return number
