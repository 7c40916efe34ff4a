"""Which letters a position is read as, for all destinations at once.

Sets of destinations are integers. What a predicate says depends on the destination only where it names it; so one
evaluation answers for thousands of packet classes. `parameters.holds` answers the same for one packet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubeproof.named_tuples import NamedTuple
from kubeproof.network.properties.automata import Condition, Own, PathProperty
from kubeproof.network.properties.parameters import Parameters, ask
from kubeproof.network.properties.patterns import NodeSet, matches
from kubeproof.network.properties.predicates import (
    Both,
    Constant,
    Either,
    Flag,
    Not,
    OneOf,
    Order,
    Same,
    compares,
)


class Position(NamedTuple):
    """Where packets of one block of sources are."""

    node: str
    own: bool  # this node is the source
    hop: int  # up to the property's bound
    path: int
    dropped: bool = False
    shared: bool = False  # it leaves through a queue that another process uses


Place = tuple[str, bool, int, int, bool, bool]  # a position as a plain tuple: cheaper to build and look up
Reading = tuple[tuple[int, ...], int]  # letters, destinations for which they are read


class Letters:
    """The letters of a property for one block of sources; answers are remembered."""

    def __init__(
        self,
        one: PathProperty,
        destinations: NodeSet,
        addresses: dict[str, str],
        source: str,
        process: str,
        *,
        overlap: dict[str, int] | None = None,
        skewed: frozenset[str] = frozenset(),
    ) -> None:
        self._property = one
        self._destinations = destinations
        self._addresses = addresses
        self._source = source
        self._process = process
        self._overlap = overlap or {}
        self._skewed = skewed
        self._known: dict[Place, tuple[Reading, ...]] = {}

    def at(self, place: Place) -> tuple[Reading, ...]:
        """The letters read there; the sets of destinations are disjoint and make up all."""
        found = self._known.get(place)
        if found is None:
            position = Position(*place)
            read = self._cases if self._property.cases else self._valuations
            found = self._known[place] = read(position)
        return found

    def _cases(self, position: Position) -> tuple[Reading, ...]:
        rest = self._destinations.everything
        found = []
        for case in self._property.cases:
            mask = rest & self._where(case.condition, position)
            if mask:
                found.append((case.letters, mask))
                rest &= ~mask
            if not rest:
                break
        return tuple(found)

    def _valuations(self, position: Position) -> tuple[Reading, ...]:
        pieces = [(0, self._destinations.everything)]
        for place, predicate in enumerate(self._property.propositions):
            mask = self._where(predicate, position)
            split = [(letter | (1 << place), piece & mask) for letter, piece in pieces]
            pieces = [(letter, piece) for letter, piece in (*split, *((n, p & ~mask) for n, p in pieces)) if piece]
        return tuple(((letter,), piece) for letter, piece in pieces)

    def _where(self, condition: Condition, position: Position) -> int:
        """The destinations for which the condition is true there."""
        return _WHERE[type(condition)](self, condition, position)

    def _everywhere(self, is_true: bool) -> int:
        return self._destinations.everything if is_true else 0

    def _where_constant(self, condition: Constant, _: Position) -> int:
        return self._everywhere(condition.value)

    def _where_not(self, condition: Not, position: Position) -> int:
        return self._destinations.everything & ~self._where(condition.part, position)

    def _where_both(self, condition: Both, position: Position) -> int:
        mask = self._destinations.everything
        for part in condition.parts:
            mask &= self._where(part, position)
            if not mask:
                break
        return mask

    def _where_either(self, condition: Either, position: Position) -> int:
        mask = 0
        for part in condition.parts:
            mask |= self._where(part, position)
        return mask

    def _where_flag(self, condition: Flag, position: Position) -> int:
        if condition.parameter == "OVERLAP":
            return 0 if position.dropped else self._overlap.get(position.node, 0)
        return self._everywhere(self._flag(condition.parameter, position))

    def _where_one_of(self, condition: OneOf, position: Position) -> int:
        if condition.parameter != "DESTINATION":
            return self._everywhere(self._is_one_of(condition.parameter, condition.patterns, position))
        mask = 0
        for pattern in condition.patterns:
            mask |= self._destinations.cover(pattern)
        return mask

    def _where_order(self, condition: Order, position: Position) -> int:
        value = position.hop if condition.parameter == "HOP_COUNT" else position.path
        return self._everywhere(compares(condition.operator, value, condition.number))

    def _flag(self, name: str, position: Position) -> bool:
        if name == "DROPPED":
            return position.dropped
        return position.shared if name == "SHARED_QUEUE" else not position.dropped and position.node in self._skewed

    def _is_one_of(self, name: str, patterns: tuple[str, ...], position: Position) -> bool:
        if name == "PROCESS_ID":
            return any(matches(pattern, self._process) for pattern in patterns)
        if name == "DROP_NODE" and not position.dropped:
            return False
        node = self._source if name == "SOURCE" else position.node
        return node in patterns or any(matches(pattern, node, self._addresses.get(node, "")) for pattern in patterns)

    def _where_same(self, condition: Same, position: Position) -> int:
        names = {condition.left, condition.right}
        if len(names) == 1:
            return self._destinations.everything
        if "DROP_NODE" in names and not position.dropped:
            return 0
        names = {"CURRENT_NODE" if name == "DROP_NODE" else name for name in names}
        if names == {"SOURCE", "DESTINATION"}:
            return 0
        if "DESTINATION" in names:
            return self._destinations.bit.get(position.node, 0)
        return self._everywhere("SOURCE" not in names or position.own)

    def _where_own(self, condition: Own, position: Position) -> int:
        if "DESTINATION" not in condition.reads and "DELIVERED" not in condition.reads:
            return self._destinations.everything if self._own_holds(condition, position, "") else 0
        bits = self._destinations.bit.items()
        return sum(bit for name, bit in bits if self._own_holds(condition, position, name))

    def _own_holds(self, condition: Own, position: Position, destination: str) -> bool:
        at = Parameters(
            current_node=position.node,
            source=self._source,
            destination=destination,
            hop_count=min(position.hop, condition.most_hops),
            path_id=min(position.path, condition.most_hops),
            process_id=self._process,
            dropped=position.dropped,
            drop_node=position.node if position.dropped else "",
        )
        return ask(condition.function, at, condition.reads)


_WHERE: dict[type, Callable[[Letters, Any, Position], int]] = {
    Constant: Letters._where_constant,
    Flag: Letters._where_flag,
    OneOf: Letters._where_one_of,
    Same: Letters._where_same,
    Order: Letters._where_order,
    Not: Letters._where_not,
    Both: Letters._where_both,
    Either: Letters._where_either,
    Own: Letters._where_own,
}
