"""What happens to one packet: rules matched one by one, without sets. Counterexamples are replayed with this."""

from __future__ import annotations

from kubeproof.network.model import ANY, Match, Network, Rule, Snapshot, Traffic
from kubeproof.network.properties.patterns import matches
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet of a kind of traffic."""

    source: str
    destination: str
    traffic: Traffic


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing that can happen to a packet at a node."""

    to: str | None  # None: dropped
    rule: Rule | None  # None: no rule matches


def choices(network: Network, snapshot: Snapshot, packet: Packet, node: str, came_from: str | None) -> list[Choice]:
    """What can happen to the packet at a node that is not its destination."""
    fitting = [
        rule for rule in snapshot.tables.get(node, ()) if _fits(rule.match, packet, came_from, network.addresses)
    ]
    if not fitting:
        return [Choice(None, None)]
    best = min((-rule.priority, rule.metric) for rule in fitting)
    found: dict[str | None, Choice] = {}
    for rule in fitting:
        if (-rule.priority, rule.metric) == best:
            for target in rule.to or (None,):
                to = None if target is None or frozenset((node, target)) in snapshot.down else target
                found.setdefault(to, Choice(to, rule))
    return list(found.values())


def _fits(match: Match, packet: Packet, came_from: str | None, addresses: dict[str, str]) -> bool:
    traffic = packet.traffic
    if match.protocol not in (ANY, traffic.protocol) or match.group not in (ANY, traffic.group):
        return False
    if match.in_port != ANY and (came_from is None or not matches(match.in_port, came_from, addresses[came_from])):
        return False
    return matches(match.source, packet.source, addresses[packet.source]) and matches(
        match.destination, packet.destination, addresses[packet.destination]
    )
