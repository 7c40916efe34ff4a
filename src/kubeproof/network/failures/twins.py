"""Nodes that can be exchanged without changing anything: what fails at one of them is like what fails at the other.

Looked at are pairs of nodes with the same neighbours, hosts at one switch for instance. Exchanging them must map every
rule to a rule of the same rank at the same place, the traffic to itself, and every predicate of the property to itself;
that is checked on the sets of nodes that patterns cover, so that addresses do not matter.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from kubeproof.network.failures.scene import Element, Failed
from kubeproof.network.model import Network, Rule, Snapshot
from kubeproof.network.properties.automata import Own
from kubeproof.network.properties.machine import Prepared
from kubeproof.network.properties.patterns import matches
from kubeproof.network.properties.predicates import OneOf, leaves

Pair = tuple[str, str]
_TELLING = {"PATH_ID", "SKEWED"}  # facts that depend on the order of alternatives, or on all nodes
MOST_IMAGES = 10_000


def find_twins(network: Network, snapshot: Snapshot, prepared: Sequence[Prepared]) -> tuple[Pair, ...]:
    """Pairs of nodes that can be exchanged; one pair for every two neighbours in a group."""
    if any(one.reads & _TELLING or _has_own(one) for one in prepared):
        return ()
    checker = _Exchange(network, snapshot, prepared)
    alike: dict[tuple[str, ...], list[str]] = {}
    for node in network.nodes:
        alike.setdefault(network.neighbours[node.name], []).append(node.name)
    found: list[Pair] = []
    for names in alike.values():
        rest = list(names)
        while len(rest) > 1:
            group = [rest[0], *(other for other in rest[1:] if checker.changes_nothing(rest[0], other))]
            found += itertools.pairwise(group)
            rest = [name for name in rest[1:] if name not in group]
    return tuple(found)


def _has_own(one: Prepared) -> bool:
    return any(isinstance(condition, Own) for condition in one.property.conditions)


class _Exchange:
    """Whether two nodes can be exchanged."""

    def __init__(self, network: Network, snapshot: Snapshot, prepared: Sequence[Prepared]) -> None:
        self._network = network
        self._snapshot = snapshot
        self._covers: dict[str, frozenset[str]] = {}
        self._patterns = {
            pattern
            for one in prepared
            for condition in one.property.conditions
            if not isinstance(condition, Own)
            for leaf in leaves(condition)
            if isinstance(leaf, OneOf) and leaf.parameter != "PROCESS_ID"
            for pattern in leaf.patterns
        }

    def changes_nothing(self, one: str, other: str) -> bool:
        """True if exchanging them maps the network and the properties to themselves."""
        names = {one, other}
        for traffic in self._network.traffic:
            if any(len(names & set(ends)) == 1 for ends in (traffic.sources, traffic.destinations)):
                return False
        if any(len(names & self._cover(pattern)) == 1 for pattern in self._patterns):
            return False
        places = {one, other, *self._network.neighbours[one]}
        return all(self._is_mapped(node, one, other) for node in self._snapshot.tables.keys() | places)

    def _is_mapped(self, node: str, one: str, other: str) -> bool:
        swap = {one: other, other: one}
        here = self._snapshot.tables.get(node, ())
        there = self._snapshot.tables.get(swap.get(node, node), ())
        if node not in swap and not any(self._tells_apart(rule, one, other) for rule in here):
            return True
        return Counter(self._key(rule, swap) for rule in here) == Counter(self._key(rule, {}) for rule in there)

    def _tells_apart(self, rule: Rule, one: str, other: str) -> bool:
        match = rule.match
        patterns = (match.source, match.destination, match.in_port)
        names = {one, other}
        return bool(names & set(rule.to)) or any(len(names & self._cover(pattern)) == 1 for pattern in patterns)

    def _key(self, rule: Rule, swap: dict[str, str]) -> tuple[object, ...]:
        match = rule.match
        covers = (
            frozenset(swap.get(name, name) for name in self._cover(pattern))
            for pattern in (match.source, match.destination, match.in_port)
        )
        to = frozenset(swap.get(name, name) for name in rule.to)
        return (*covers, match.protocol, match.group, to, rule.priority, rule.metric, rule.queue)

    def _cover(self, pattern: str) -> frozenset[str]:
        found = self._covers.get(pattern)
        if found is None:
            addresses = self._network.addresses
            names = (name for name, address in addresses.items() if matches(pattern, name, address))
            found = self._covers[pattern] = frozenset(names)
        return found


def images(failed: Failed, twins: Sequence[Pair]) -> Iterator[Failed]:
    """The sets that some exchange of twins makes of a set, itself first; at most so many."""
    known = {failed}
    pending = [failed]
    for one in pending:
        yield one
        concerned = {end for element in one for end in ((element,) if isinstance(element, str) else element)}
        for pair in twins:
            if not concerned & set(pair) or len(known) >= MOST_IMAGES:
                continue
            image = frozenset(_exchange(element, pair) for element in one)
            if image not in known:
                known.add(image)
                pending.append(image)


def _exchange(element: Element, pair: Pair) -> Element:
    swap = dict((pair, pair[::-1]))
    if isinstance(element, str):
        return swap.get(element, element)
    return frozenset(swap.get(name, name) for name in element)
