"""What NetworkPolicies allow, with two answers where manifests do not decide: at least this, and at most that.

Semantics of networking.k8s.io/v1: pods that no policy selects in a direction are free in it; otherwise what some rule
of some selecting policy admits is allowed; a connection needs the egress of its source and the ingress of its target.
Not decided by manifests are: whether an ipBlock covers the address of a pod, labels of namespaces that are not in the
input, values of labels that controllers add to pods (the name of a StatefulSet's pod, say), and what a network plug-in
does with pods on the host's network.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.cluster.objects import Source
from kubeproof.network.kubernetes.objects import (
    ANY_PROTOCOL,
    AdminPeer,
    AdminPolicy,
    AdminRule,
    Block,
    KubeNetwork,
    Outside,
    Party,
    Peer,
    PodGroup,
    Policy,
    PolicyPort,
    PolicyRule,
    Sure,
)
from kubeproof.network.kubernetes.ports import ALL_PORTS, NO_PORTS, Ports, intersection, normal, show, union
from kubeproof.network.kubernetes.reader import NAME_LABEL
from kubeproof.network.kubernetes.tiers import Tiers
from kubeproof.values import dataclass

INGRESS, EGRESS = "Ingress", "Egress"
_EVERYWHERE: tuple[Block, ...] = (ip_network("0.0.0.0/0"), ip_network("::/0"))


@dataclass(frozen=True, slots=True)
class Allowed:
    """Ports of a connection that are allowed for certain, and those that may be; and who decided."""

    least: Ports
    most: Ports
    why: str
    source: Source


@dataclass(frozen=True, slots=True)
class _OneWay:
    least: Ports
    most: Ports
    policies: tuple[Policy | AdminPolicy, ...]  # that restrict this direction
    rules: tuple[tuple[Policy | AdminPolicy, PolicyRule | AdminRule, Ports], ...]  # that admit something


class Policies:
    """Decides connections between the pods of a network and the outside."""

    def __init__(self, network: KubeNetwork, pod_ranges: tuple[Block, ...] = ()) -> None:
        self._network = network
        self._pod_ranges = pod_ranges
        self._known: dict[tuple[str, str], Allowed] = {}

    def find_allowed(self, source: Party, target: Party) -> Allowed:
        """What the source may open to the target; remembered, as references are unique."""
        key = (source.ref, target.ref)
        if key not in self._known:
            self._known[key] = self._decide(source, target)
        return self._known[key]

    def _decide(self, source: Party, target: Party) -> Allowed:
        leaving = self._one_way(source, target, EGRESS)
        entering = self._one_way(target, source, INGRESS)
        least, most = intersection(leaving.least, entering.least), intersection(leaving.most, entering.most)
        why = f"{_reason(leaving, most, EGRESS)}; {_reason(entering, most, INGRESS)}"
        return Allowed(least, most, f"{show(most)}: {why}", _place(leaving, entering, most, target))

    def _one_way(self, party: Party, other: Party, direction: str) -> _OneWay:
        """What the policies of one party allow to or from the other."""
        if isinstance(party, Outside):
            return _OneWay(ALL_PORTS, ALL_PORTS, (), ())
        parts = [
            (self._part(policy, party, other, direction), sure)
            for policy in self._network.policies
            if direction in policy.rules and (sure := self._selects(policy, party))
        ]
        admins = self._find_admins(party, direction)
        if not parts and not admins:
            return _OneWay(ALL_PORTS, ALL_PORTS, (), ())
        tiers = Tiers(lambda rule: self._admin_match(rule, party, other, direction))
        tiers.judge([(policy, sure) for policy, sure in admins if not policy.is_baseline], direction)
        tiers.hand_over([(part.least, part.most, sure) for part, sure in parts])
        tiers.judge([(policy, sure) for policy, sure in admins if policy.is_baseline], direction)
        least, most = tiers.finish()
        if party.host_network or (isinstance(other, PodGroup) and other.host_network and direction == INGRESS):
            most = ALL_PORTS  # many plug-ins leave the host's network alone, and a node always reaches its pods
        policies = (*(policy for policy, _ in admins), *(policy for part, _ in parts for policy in part.policies))
        return _OneWay(least, most, policies, (*tiers.accepting, *(rule for part, _ in parts for rule in part.rules)))

    def _find_admins(self, party: PodGroup, direction: str) -> list[tuple[AdminPolicy, Sure]]:
        """The policies of administrators that are about the pods, in the order in which they decide."""
        if party.host_network:
            return []  # they are about pods with addresses of their own
        found = []
        for policy in sorted(self._network.admin_policies, key=lambda one: (one.is_baseline, one.priority)):
            sure = min(self._namespace_matches(policy.namespaces, party.namespace), party.matches(policy.pods))
            if sure and policy.rules.get(direction):
                found.append((policy, sure))
        return [(policy, self._in_order(policy, sure, found)) for policy, sure in found]

    @staticmethod
    def _in_order(policy: AdminPolicy, sure: Sure, found: list[tuple[AdminPolicy, Sure]]) -> Sure:
        """Which of two policies of one priority comes first is not defined."""
        rank = (policy.is_baseline, policy.priority)
        same = [other for other, _ in found if (other.is_baseline, other.priority) == rank]
        actions = {rule.action for other in same for rules in other.rules.values() for rule in rules}
        return sure if len(same) == 1 or len(actions) == 1 else Sure.MAYBE

    def _admin_match(self, rule: AdminRule, party: PodGroup, other: Party, direction: str) -> tuple[Sure, Ports]:
        """Whether a rule is about the other end, and its ports at the target."""
        sure = max((self._admin_peer(peer, other) for peer in rule.peers), default=Sure.NO)
        return sure, _rule_ports(rule, party if direction == INGRESS else other)

    def _admin_peer(self, peer: AdminPeer, other: Party) -> Sure:
        if isinstance(other, Outside):
            found = _covers_all(peer.blocks, other)
            return max(found, Sure.MAYBE) if peer.is_open else found
        if peer.namespaces is None:
            return self._may_be(peer, other)
        found = self._namespace_matches(peer.namespaces, other.namespace)
        found = min(found, Sure.YES if peer.pods is None else other.matches(peer.pods))
        return Sure.NO if other.host_network else found

    def _may_be(self, peer: AdminPeer, other: PodGroup) -> Sure:
        """Whether addresses or nodes may be those of pods."""
        if peer.is_open:
            return Sure.MAYBE if other.host_network else Sure.NO
        if other.host_network or not self._pod_ranges:
            return Sure.MAYBE
        overlaps = any(_overlap(one, block) for one in self._pod_ranges for block in peer.blocks)
        return Sure.MAYBE if overlaps else Sure.NO

    def _selects(self, policy: Policy, pods: PodGroup) -> Sure:
        """Whether the policy is about these pods."""
        if policy.namespaces is not None:
            return min(self._namespace_matches(policy.namespaces, pods.namespace), pods.matches(policy.selector))
        return pods.matches(policy.selector) if pods.namespace == policy.namespace else Sure.NO

    def _part(self, policy: Policy, party: Party, other: Party, direction: str) -> _OneWay:
        """What one policy admits."""
        least, most = NO_PORTS, NO_PORTS
        admitting = []
        for rule in policy.rules[direction]:
            sure = self._admits(rule, policy.namespace, other)
            ports = _rule_ports(rule, party if direction == INGRESS else other)
            if sure and ports:
                admitting.append((policy, rule, ports))
                most = union(most, ports)
                least = union(least, ports) if sure is Sure.YES else least
        return _OneWay(least, most, (policy,), tuple(admitting))

    def _admits(self, rule: PolicyRule, namespace: str, other: Party) -> Sure:
        if not rule.peers:
            return Sure.YES
        return max(self._matches(peer, namespace, other) for peer in rule.peers)

    def _matches(self, peer: Peer, namespace: str, other: Party) -> Sure:
        if isinstance(other, Outside):
            return Sure.YES if peer.block is not None and _covers_some(peer, other) else Sure.NO
        if peer.block is not None:
            return self._may_cover_pods(peer, other)
        found = Sure.YES if peer.pods is None else other.matches(peer.pods)
        if peer.namespaces is None:
            found = min(found, Sure.YES if other.namespace == namespace else Sure.NO)
        else:
            found = min(found, self._namespace_matches(peer.namespaces, other.namespace))
        return min(found, Sure.MAYBE) if other.host_network else found

    def _may_cover_pods(self, peer: Peer, other: PodGroup) -> Sure:
        """Pods have addresses, but manifests do not say which, and plug-ins differ in whether blocks cover pods."""
        if other.host_network or not self._pod_ranges:
            return Sure.MAYBE
        return Sure.MAYBE if _covers_some(peer, Outside("pods", self._pod_ranges)) else Sure.NO

    def _namespace_matches(self, selector: LabelSelector, namespace: str) -> Sure:
        labels = self._network.namespaces.get(namespace)
        if labels is not None:
            return Sure.YES if selector.matches(dict(labels)) else Sure.NO
        known = {NAME_LABEL: namespace}
        return min((_of_unknown(one, known) for one in selector.requirements), default=Sure.YES)


def _covers_all(blocks: tuple[Block, ...], other: Outside) -> Sure:
    """Whether addresses outside are within blocks: all of them, some, or none."""
    wanted = other.blocks or _EVERYWHERE
    if all(any(_overlap(block, one) and _smaller(block, one) == one for block in blocks) for one in wanted):
        return Sure.YES
    return Sure.MAYBE if any(_overlap(block, one) for block in blocks for one in wanted) else Sure.NO


def _of_unknown(requirement: Requirement, known: dict[str, str]) -> Sure:
    """What a requirement says of a namespace of which only the name is known."""
    if requirement.key not in known:
        return Sure.MAYBE
    return Sure.YES if requirement.matches(known) else Sure.NO


def _covers_some(peer: Peer, other: Outside) -> bool:
    """True if some address of the other party is in the block and not excepted."""
    assert peer.block is not None
    return any(True for _ in _subtract(peer, other))


def _subtract(peer: Peer, other: Outside) -> Iterator[Block]:
    block = peer.block
    assert block is not None
    candidates = [block] if not other.blocks else [_smaller(block, one) for one in other.blocks if _overlap(block, one)]
    for candidate in candidates:
        yield from _without(candidate, peer.excepted)


def _overlap(one: Block, other: Block) -> bool:
    return one.version == other.version and one.overlaps(other)


def _smaller(one: Block, other: Block) -> Block:
    """The common addresses of two overlapping blocks: one of them contains the other."""
    return one if one.prefixlen >= other.prefixlen else other


def _without(block: Block, excepted: tuple[Block, ...]) -> list[Block]:
    rest = [block]
    for one in excepted:
        kept: list[Block] = []
        for piece in rest:
            if not _overlap(piece, one):
                kept.append(piece)
            elif one.prefixlen > piece.prefixlen:
                kept += piece.address_exclude(one)  # type: ignore[arg-type]
        rest = kept
    return rest


def _rule_ports(rule: PolicyRule | AdminRule, target: Party) -> Ports:
    """The ports that a rule admits at the target, whose names count."""
    if not rule.ports:
        return ALL_PORTS
    return normal(found for port in rule.ports for found in _port_ranges(port, target))


def _port_ranges(port: PolicyPort, target: Party) -> list[tuple[str, int, int]]:
    if port.port is None:
        return [(port.protocol, 1, 65535)]
    if port.protocol == ANY_PROTOCOL:
        named = target.ports if isinstance(target, PodGroup) else ()
        return [(protocol, number, number) for name, protocol, number in named if name == port.port]
    if isinstance(port.port, int):
        return [(port.protocol, port.port, port.last or port.port)]
    number = target.port(port.port, port.protocol) if isinstance(target, PodGroup) else None
    return [] if number is None else [(port.protocol, number, number)]


def _reason(way: _OneWay, ports: Ports, direction: str) -> str:
    """Who decided one direction."""
    word = direction.lower()
    if not way.policies:
        return f"no policy restricts {word}"
    used = [(policy, rule) for policy, rule, admitted in way.rules if intersection(admitted, ports)]
    if used:
        policy, rule = used[0]
        return f"{word} admitted by {policy.ref}, rule {rule.number}"
    names = ", ".join(policy.ref for policy in way.policies)
    if not ports:
        return f"no rule of {names} admits {word}"
    return f"{word} not decided by {names}: host's network, or labels that manifests do not tell"


def _place(leaving: _OneWay, entering: _OneWay, ports: Ports, target: Party) -> Source:
    """The line that decides: the admitting rule, or a policy that admits nothing, or the target itself."""
    for way in (entering, leaving):
        for _, rule, admitted in way.rules:
            if intersection(admitted, ports):
                return rule.source
    for way in (entering, leaving):
        if way.policies and not ports:
            return way.policies[0].source
    return target.source
