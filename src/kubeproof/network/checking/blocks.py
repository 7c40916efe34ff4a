"""Sources that neither the rules nor the property tell apart travel together."""

from __future__ import annotations

from kubeproof.network.model import ANY, Network, Snapshot
from kubeproof.network.properties.automata import Own, PathProperty
from kubeproof.network.properties.patterns import matches
from kubeproof.network.properties.predicates import OneOf, Same, leaves


class Blocks:
    """How sources are grouped for one property."""

    def __init__(self, network: Network, one: PathProperty, reads: frozenset[str]) -> None:
        self._addresses = network.addresses
        conditions = one.conditions
        own = [condition for condition in conditions if isinstance(condition, Own)]
        found = [leaf for c in conditions if not isinstance(c, Own) for leaf in leaves(c)]
        named = [leaf for leaf in found if isinstance(leaf, OneOf) and leaf.parameter == "SOURCE"]
        self._patterns = {pattern for leaf in named for pattern in leaf.patterns}
        self.one_by_one = "OVERLAP" in reads or any("SOURCE" in condition.reads for condition in own)
        self.knows_source = any(isinstance(leaf, Same) and "SOURCE" in (leaf.left, leaf.right) for leaf in found)
        self._asked: dict[int, tuple[str, ...]] = {}

    def of(self, snapshot: Snapshot, sources: tuple[str, ...]) -> list[tuple[str, ...]]:
        """The groups of sources, in order."""
        if self.one_by_one:
            return [(source,) for source in sources]
        patterns = self._of_snapshot(snapshot)
        if not patterns or len(sources) == 1:
            return [sources]
        groups: dict[tuple[bool, ...], list[str]] = {}
        for source in sources:
            signature = tuple(matches(pattern, source, self._addresses[source]) for pattern in patterns)
            groups.setdefault(signature, []).append(source)
        return [tuple(group) for group in groups.values()]

    def _of_snapshot(self, snapshot: Snapshot) -> tuple[str, ...]:
        """The patterns of sources that rules of the snapshot and the property ask for."""
        known = self._asked.get(id(snapshot))
        if known is None:
            asked = {rule.match.source for table in snapshot.tables.values() for rule in table}
            known = self._asked[id(snapshot)] = tuple(sorted((asked | self._patterns) - {ANY}))
        return known


def without_returned(group: tuple[str, ...], returned: set[str]) -> list[tuple[str, ...]]:
    """The group again, with the sources that packets came back to on their own."""
    rest = tuple(source for source in group if source not in returned)
    return [*([rest] if rest else []), *((source,) for source in group if source in returned)]
