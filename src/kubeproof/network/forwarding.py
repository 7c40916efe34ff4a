"""Where a node sends packets, for all destinations at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from kubeproof.named_tuples import NamedTuple
from kubeproof.network.model import ANY, Network, Rule, Snapshot, Traffic
from kubeproof.network.properties.patterns import NodeSet, matches
from kubeproof.values import dataclass


class Move(NamedTuple):
    """What becomes of the packets to some destinations."""

    mask: int
    to: str | None  # None: dropped here
    rule: Rule | None  # None: no rule matches
    choice: int = 0
    choices: int = 1


@dataclass(slots=True)
class Table:
    """The rules of a node for one kind of traffic, strongest first, and the moves worked out so far."""

    all_rules: tuple[Rule, ...]
    rules: tuple[Rule, ...]
    asks_port: bool  # some rule asks where the packet came from
    moves: dict[str | None, tuple[Move, ...]] = field(default_factory=dict)  # by port


Known = dict[str, Table]  # by node


class Forwarding:
    """The forwarding graph of one snapshot for one kind of traffic from sources that no rule tells apart."""

    def __init__(
        self,
        network: Network,
        snapshot: Snapshot,
        traffic: Traffic,
        destinations: NodeSet,
        source: str,
        known: Known | None = None,
    ) -> None:
        """`known` remembers moves over snapshots for tables that stay the same, with all links up."""
        self._snapshot = snapshot
        self._traffic = traffic
        self._destinations = destinations
        self._addresses = network.addresses
        self._source = source
        self._here: Known = {}
        self._known: Known = {} if known is None or snapshot.down else known

    def port(self, node: str, neighbour: str) -> str:
        """The neighbour that packets came from if some rule of the node asks for it, otherwise nothing."""
        table = self._here.get(node) or self._table(node)
        return neighbour if table.asks_port else ""

    def moves(self, node: str, port: str | None) -> tuple[Move, ...]:
        """What becomes of packets there; port None for packets that start there. Destinations that are the node are
        left out: their packets have arrived."""
        table = self._here.get(node) or self._table(node)
        found = table.moves.get(port)
        if found is None:
            found = table.moves[port] = tuple(self._moves(node, table, port))
        return found

    def _table(self, node: str) -> Table:
        rules = self._snapshot.tables.get(node, ())
        table = self._known.get(node)
        if table is None or table.all_rules is not rules:
            kept = [rule for rule in rules if self._concerns(rule)]
            if len(kept) > 1:
                kept.sort(key=_rank)
            asks_port = any(rule.match.in_port != ANY for rule in kept)
            table = self._known[node] = Table(rules, tuple(kept), asks_port)
        self._here[node] = table
        return table

    def _concerns(self, rule: Rule) -> bool:
        match = rule.match
        return (
            match.protocol in (ANY, self._traffic.protocol)
            and match.group in (ANY, self._traffic.group)
            and (match.source == ANY or matches(match.source, self._source, self._addresses[self._source]))
        )

    def _moves(self, node: str, table: Table, port: str | None) -> Iterable[Move]:
        rest = self._destinations.everything & ~self._destinations.bit.get(node, 0)
        rules = table.rules
        if table.asks_port:
            rules = tuple(rule for rule in rules if self._enters(rule, port))
        place = 0
        while rest and place < len(rules):
            end = place + 1
            while end < len(rules) and _rank(rules[end]) == _rank(rules[place]):
                end += 1
            for mask, chosen in self._pieces(rules[place:end], rest):
                yield from self._alternatives(node, mask, chosen)
                rest &= ~mask
            place = end
        if rest:
            yield Move(rest, None, None)

    def _enters(self, rule: Rule, port: str | None) -> bool:
        if rule.match.in_port == ANY:
            return True
        return port is not None and matches(rule.match.in_port, port, self._addresses[port])

    def _pieces(self, rules: tuple[Rule, ...], rest: int) -> list[tuple[int, list[Rule]]]:
        """Disjoint sets of destinations with the rules of equal rank that match them."""
        pieces: list[tuple[int, list[Rule]]] = []
        seen = 0
        for rule in rules:
            mask = self._destinations.cover(rule.match.destination) & rest
            if mask & seen:
                split = [(piece & mask, [*chosen, rule]) for piece, chosen in pieces]
                pieces = [(piece & ~mask, chosen) for piece, chosen in pieces] + split
                pieces = [(piece, chosen) for piece, chosen in pieces if piece]
            if mask & ~seen:
                pieces.append((mask & ~seen, [rule]))
            seen |= mask
        return pieces

    def _alternatives(self, node: str, mask: int, rules: list[Rule]) -> Iterable[Move]:
        if len(rules) == 1 and len(rules[0].to) == 1 and not self._snapshot.down:
            yield Move(mask, rules[0].to[0], rules[0])
            return
        found: dict[str | None, Rule] = {}
        for rule in rules:
            for target in rule.to or (None,):
                found.setdefault(self._over_link(node, target), rule)
        for choice, (to, rule) in enumerate(found.items()):
            yield Move(mask, to, rule, choice, len(found))

    def _over_link(self, node: str, target: str | None) -> str | None:
        """The target; None if the link to it is down."""
        return None if target is None or frozenset((node, target)) in self._snapshot.down else target


def _rank(rule: Rule) -> tuple[int, int]:
    return -rule.priority, rule.metric
