"""Reads CiliumNetworkPolicy and CiliumClusterwideNetworkPolicy, as far as they are about pods, addresses and ports.

What a policy with rules in a direction selects is closed in that direction but for what some rule admits, as with
NetworkPolicies; what it denies comes before all that is admitted. A rule without peers admits everybody on its ports;
an empty rule admits nobody. A policy that uses more than is understood is left out as a whole, with a note.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Container, Iterator
from dataclasses import replace

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.manifests.yaml.fields import Fields
from kubeproof.manifests.yaml.printable import printable
from kubeproof.network.kubernetes.objects import (
    Action,
    AdminPeer,
    AdminPolicy,
    AdminRule,
    Peer,
    Policy,
    PolicyPort,
    PolicyRule,
)
from kubeproof.network.kubernetes.ports import PROTOCOLS
from kubeproof.values import dataclass

GROUP = "cilium.io"
KINDS = ("CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy")
_NAMESPACE = "io.kubernetes.pod.namespace"
_NAMESPACE_LABELS = "io.cilium.k8s.namespace.labels."
_NAME_LABEL = "kubernetes.io/metadata.name"
_DIRECTIONS = {"Ingress": ("ingress", "ingressDeny", "from"), "Egress": ("egress", "egressDeny", "to")}
_PEERS = ("Endpoints", "Entities", "CIDR", "CIDRSet")
_FIELDS = ("endpointSelector", "ingress", "egress", "ingressDeny", "egressDeny", "description", "labels")
_PRIORITY = -1  # before those of administrators
_WORLD = tuple(ipaddress.ip_network(text) for text in ("0.0.0.0/0", "::/0"))
_NOBODY = Peer(LabelSelector(), LabelSelector((Requirement("", "Exists", ()),)))


class NotUnderstood(Exception):
    """A policy uses something that is not modelled."""


@dataclass(frozen=True, slots=True)
class CiliumPolicies:
    """What one object amounts to."""

    policies: tuple[Policy, ...]  # one for each namespace that a selection of a whole cluster names; "" for all
    denials: tuple[AdminPolicy, ...]


def read_cilium(fields: Fields, ref: str, namespace: str) -> CiliumPolicies:
    """The policy; raises NotUnderstood if it cannot be read as a whole. `namespace` is empty for all of the cluster."""
    specs = [fields.child("spec")] if fields.has("spec") else fields.children("specs")
    policies, denials = [], []
    for spec in specs:
        if spec is None or not spec.has("endpointSelector"):
            raise NotUnderstood("what it selects is no pods")
        _refuse_others(spec, _FIELDS)
        spaces, pods = _endpoints(spec.require_child("endpointSelector"), namespace)
        rules: dict[str, tuple[PolicyRule, ...]] = {}
        for direction, (allow, deny, word) in _DIRECTIONS.items():
            allowed, denied = spec.children(allow), spec.children(deny)
            if allowed or denied:
                rules[direction] = tuple(_rule(rule, word, number, namespace) for number, rule in enumerate(allowed, 1))
            if denied:
                listed = tuple(_denial(rule, word, number, namespace) for number, rule in enumerate(denied, 1))
                policy = AdminPolicy(ref, False, _PRIORITY, spaces, pods, {direction: listed}, fields.source)
                denials.append(policy)
        policies.append(Policy(ref, namespace, pods, rules, fields.source, spaces))
    return CiliumPolicies(tuple(policies), tuple(denials))


def _refuse_others(fields: Fields, known: Container[str]) -> None:
    others = [key for key in fields.keys() if key not in known]  # noqa: SIM118 (no mapping)
    if others:
        raise NotUnderstood(f"it uses {printable(others[0])}")


def _endpoints(fields: Fields, namespace: str) -> tuple[LabelSelector, LabelSelector]:
    """Namespaces and pods of a selection; in the policy's own namespace unless it names others."""
    spaces, pods = [], []
    for one in _requirements(fields):
        key = one.key.removeprefix("k8s:").removeprefix("k8s.").removeprefix("any:")
        if key.startswith("reserved:") or key == "io.cilium.k8s.policy.serviceaccount":
            raise NotUnderstood(f"it selects by {printable(one.key)}")
        if key == _NAMESPACE:
            spaces.append(replace(one, key=_NAME_LABEL))
        elif key.startswith(_NAMESPACE_LABELS):
            spaces.append(replace(one, key=key.removeprefix(_NAMESPACE_LABELS)))
        else:
            pods.append(replace(one, key=key))
    if not spaces and namespace:
        spaces = [Requirement(_NAME_LABEL, "In", (namespace,))]
    return LabelSelector(tuple(spaces)), LabelSelector(tuple(pods))


def _requirements(fields: Fields) -> Iterator[Requirement]:
    """What a selector asks for; its keys tell where labels are from, which those of Kubernetes cannot."""
    for key, value in sorted(fields.text_map("matchLabels").items()):
        yield Requirement(key, "In", (value,))
    for one in fields.children("matchExpressions"):
        operator = one.word("operator", ("In", "NotIn", "Exists", "DoesNotExist"), "In")
        yield Requirement(one.require_text("key"), operator, tuple(one.texts("values")))


def _rule(fields: Fields, word: str, number: int, namespace: str) -> PolicyRule:
    peers, has_peers = _peers(fields, word, namespace)
    ports = tuple(_ports(fields))
    if not has_peers and not ports:
        peers = (_NOBODY,)
    return PolicyRule(peers, ports, number, fields.source)


def _denial(fields: Fields, word: str, number: int, namespace: str) -> AdminRule:
    peers, has_peers = _peers(fields, word, namespace)
    found = tuple(_as_admin(peer) for peer in peers)
    if not has_peers:
        found = (AdminPeer(LabelSelector(), LabelSelector()), AdminPeer(blocks=_WORLD))
    return AdminRule(Action.DENY, found, tuple(_ports(fields)), number, fields.source)


def _as_admin(peer: Peer) -> AdminPeer:
    if peer.block is None:
        return AdminPeer(peer.namespaces, peer.pods)
    if peer.excepted:
        raise NotUnderstood("it denies addresses with exceptions")
    return AdminPeer(blocks=(peer.block,))


def _peers(fields: Fields, word: str, namespace: str) -> tuple[tuple[Peer, ...], bool]:
    """The peers of a rule, and whether it names any: lists that are given and empty admit nobody."""
    known = {f"{word}{kind}" for kind in _PEERS} | {"toPorts"}
    _refuse_others(fields, known)
    found: list[Peer] = []
    for selector in fields.children(f"{word}Endpoints"):
        found.append(Peer(*_endpoints(selector, namespace)))
    for entity in fields.texts(f"{word}Entities"):
        found += _entity(entity)
    found += [Peer(block=_block(fields, f"{word}CIDR", text)) for text in fields.texts(f"{word}CIDR")]
    for one in fields.children(f"{word}CIDRSet"):
        excepted = tuple(_block(one, "except", text) for text in one.texts("except"))
        found.append(Peer(block=_block(one, "cidr", one.require_text("cidr")), excepted=excepted))
    has_peers = any(fields.has(f"{word}{kind}") for kind in _PEERS)
    return tuple(found) or ((_NOBODY,) if has_peers else ()), has_peers


def _entity(name: str) -> Iterator[Peer]:
    if name not in ("all", "cluster", "world"):
        raise NotUnderstood(f"it is about {printable(name)}")
    if name != "world":
        yield Peer(LabelSelector(), LabelSelector())
    if name != "cluster":
        yield from (Peer(block=block) for block in _WORLD)


def _block(fields: Fields, key: str, text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        fields.fail(key, f"has {printable(text)!r}", remedy="Write an address range such as 10.0.0.0/8")


def _ports(fields: Fields) -> Iterator[PolicyPort]:
    for group in fields.children("toPorts"):
        if group.has("rules") or group.has("terminatingTLS") or group.has("originatingTLS"):
            raise NotUnderstood("it looks into requests")
        for one in group.children("ports"):
            text, last = one.number("port") or one.require_text("port"), one.integer("endPort", least=1, most=65535)
            port = int(text) if text.isdecimal() else text
            if isinstance(port, int) and port > 65535:
                one.fail("port", f"is {port}", remedy="Give a port from 0 to 65535; 0 stands for all")
            protocol = one.word("protocol", ("ANY", *PROTOCOLS), "ANY")
            for each in PROTOCOLS if protocol == "ANY" else (protocol,):
                yield PolicyPort(each, port or None, last)
