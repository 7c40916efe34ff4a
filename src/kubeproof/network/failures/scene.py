"""A configuration in which links and nodes have failed, and which elements packets use there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kubeproof.network.checking.blocks import Blocks
from kubeproof.network.forwarding import Forwarding
from kubeproof.network.model import Network, Rule, Snapshot
from kubeproof.network.properties.library import no_drop
from kubeproof.network.properties.patterns import NodeSet
from kubeproof.values import dataclass

Link = frozenset[str]
Element = Link | str  # a link, or a node by name
Failed = frozenset[Element]


def links_of(network: Network, failed: Iterable[Element]) -> frozenset[Link]:
    """The links that carry nothing."""
    found: set[Link] = set()
    for one in failed:
        found |= {frozenset((one, other)) for other in network.neighbours[one]} if isinstance(one, str) else {one}
    return frozenset(found)


def fail(network: Network, snapshot: Snapshot, failed: Failed, *, reroutes: bool) -> Snapshot:
    """The configuration without what has failed.

    If nodes reroute, each of them sees which of its own links work and uses the strongest rule that leads over one;
    otherwise what is sent over a link that has failed is lost.
    """
    down = snapshot.down | links_of(network, failed)
    if not reroutes:
        return replace(snapshot, down=down)
    touched = {end for link in down for end in link}
    tables = {
        node: tuple(_working(node, rules, down)) if node in touched else rules
        for node, rules in snapshot.tables.items()
    }
    return replace(snapshot, tables=tables, down=down)


def _working(node: str, rules: Iterable[Rule], down: frozenset[Link]) -> Iterator[Rule]:
    for rule in rules:
        to = tuple(target for target in rule.to if frozenset((node, target)) not in down)
        if to or rule.is_drop:
            yield rule if len(to) == len(rule.to) else replace(rule, to=to)


@dataclass(frozen=True, slots=True)
class Usage:
    """What packets use."""

    links: frozenset[Link]

    def uses(self, element: Element) -> bool:
        """True if some packet may cross the link, or enter or leave the node."""
        if isinstance(element, str):
            return any(element in link for link in self.links)
        return element in self.links


def find_usage(network: Network, snapshot: Snapshot, sets: tuple[NodeSet, ...]) -> Usage:
    """The links that some packet of the traffic may cross, whatever it may choose."""
    found: set[Link] = set()
    anything = no_drop()
    blocks = Blocks(network, anything, anything.reads)
    for number, traffic in enumerate(network.traffic):
        for group in blocks.of(snapshot, traffic.sources):
            forwarding = Forwarding(network, snapshot, traffic, sets[number], group[0])
            found |= set(_cross(forwarding, sets[number], group))
    return Usage(frozenset(found))


def _cross(forwarding: Forwarding, destinations: NodeSet, sources: tuple[str, ...]) -> Iterator[Link]:
    bits = destinations.bit
    reached: dict[tuple[str, str | None], int] = {}
    pending: list[tuple[str, str | None, int]] = [
        (source, None, destinations.everything & ~bits.get(source, 0)) for source in sources
    ]
    while pending:
        node, port, mask = pending.pop()
        new = mask & ~reached.get((node, port), 0)
        reached[node, port] = reached.get((node, port), 0) | new
        for move in forwarding.moves(node, port) if new else ():
            part = new & move.mask
            if part and move.to is not None:
                yield frozenset((node, move.to))
                pending.append((move.to, forwarding.port(move.to, node), part))
