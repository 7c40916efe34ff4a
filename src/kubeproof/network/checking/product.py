"""The product of a forwarding graph with a machine: which packet classes end badly, without enumerating paths.

A product state carries the set of destinations whose packets can be in it, as one integer; packets of all sources that
neither rules nor the property tell apart travel together. Every state is expanded once per new destination set, so the
work grows with nodes and rules, not with pairs of hosts or with paths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field

from kubeproof.network.forwarding import Forwarding, Move
from kubeproof.network.properties.letters import Letters, Place
from kubeproof.network.properties.machine import Ending, Machine
from kubeproof.network.properties.patterns import NodeSet
from kubeproof.values import dataclass

# node, port it came in by, state of the machine, hops, path, whether the node is the source
State = tuple[str, str | None, int, int, int, bool]

HERE, DROPPED, DELIVERED = "here", "dropped", "delivered"


@dataclass(frozen=True, slots=True)
class End:
    """Destinations whose packets end badly in a product state."""

    state: State
    how: str  # read here, dropped or delivered
    mask: int
    ending: Ending


@dataclass(slots=True)
class Graph:
    """The reachable product for one block of sources."""

    initial: dict[State, int]
    machine: Machine
    edges: dict[State, dict[State, int]] = field(default_factory=dict)
    reached: dict[State, int] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)
    returned: set[str] = field(default_factory=set)  # sources that packets of their own may have come back to
    may_loop: bool = False  # False: every arrow leads from one level of the search to the next


@dataclass(frozen=True, slots=True)
class Walk:
    """All that the exploration of one block needs."""

    sources: tuple[str, ...]
    destinations: NodeSet
    forwarding: Forwarding
    letters: Letters
    stutter: int | None
    most_hops: int
    most_paths: int
    knows_source: bool  # the property compares nodes with the source
    is_shared: Callable[[str, Move], bool] | None = None


def explore(walk: Walk, machine: Machine) -> Graph:
    """Everything that packets of the block can do, breadth first."""
    everything, bits = walk.destinations.everything, walk.destinations.bit
    initial: dict[State, int] = {
        (source, None, state, 0, 0, True): everything & ~bits.get(source, 0)
        for source in walk.sources
        for state in machine.initial
    }
    graph = Graph(initial, machine)
    explorer = _Explorer(walk, machine, graph)
    level = {state: mask for state, mask in initial.items() if mask}
    graph.reached.update(level)
    while level:
        level = explorer.expand(level)
    return graph


class _Explorer:
    """Expands product states level by level."""

    def __init__(self, walk: Walk, machine: Machine, graph: Graph) -> None:
        self._walk = walk
        self._machine = machine
        self._graph = graph
        self._fresh: dict[State, int] = {}
        self._owners = frozenset(walk.sources) if walk.knows_source else frozenset()
        # Looked up once: these are asked for every state.
        self._moves, self._port, self._at = walk.forwarding.moves, walk.forwarding.port, walk.letters.at
        self._most_hops, self._most_paths = walk.most_hops, walk.most_paths

    def expand(self, level: dict[State, int]) -> dict[State, int]:
        """The states that are new, or reached by packets to new destinations, after one more hop."""
        self._fresh = {}
        bits = self._walk.destinations.bit
        for state, mask in level.items():
            arrived = mask & bits.get(state[0], 0)
            if arrived:
                self._arrive(state, arrived)
            if mask != arrived:
                self._leave(state, mask & ~arrived)
        return self._fresh

    def _arrive(self, state: State, mask: int) -> None:
        for letters, after, piece in self._read(state, mask, (state[0], state[5], state[3], state[4], False, False)):
            letter = letters[-1] if self._walk.stutter is None else self._walk.stutter
            for target in after:
                self._end(state, DELIVERED, piece, self._machine.endings[target][letter])

    def _leave(self, state: State, mask: int) -> None:
        node, port, _, hop, path, own = state
        moves = self._moves(node, port)
        if self._walk.is_shared is not None:
            for move in moves:
                if move.mask & mask:
                    place = (node, own, hop, path, False, self._walk.is_shared(node, move))
                    self._take(state, (move,), self._read(state, mask & move.mask, place))
            return
        self._take(state, moves, self._read(state, mask, (node, own, hop, path, False, False)))

    def _take(
        self, state: State, moves: Iterable[Move], readings: list[tuple[tuple[int, ...], tuple[int, ...], int]]
    ) -> None:
        for _, after, piece in readings:
            for move in moves:
                part = piece & move.mask
                if not part:
                    continue
                for target in after:
                    if move.to is None:
                        self._drop(state, target, part)
                    else:
                        self._forward(state, target, part, move)

    def _forward(self, state: State, target: int, mask: int, move: Move) -> None:
        node, _, _, hop, path, _ = state
        to = move.to
        assert to is not None
        if hop < self._most_hops:
            hop += 1
        if self._most_paths and path == 0 and move.choices > 1:
            path = min(move.choice + 1, self._most_paths)
        own = to in self._owners and self._is_own(to, mask)
        self._link(state, (to, self._port(to, node), target, hop, path, own), mask)

    def _is_own(self, to: str, mask: int) -> bool:
        """True if the packets are back at their source; several sources are kept apart later if that may be so."""
        if len(self._owners) == 1:
            return True
        if mask & ~self._walk.destinations.bit.get(to, 0):
            self._graph.returned.add(to)
        return False

    def _link(self, state: State, successor: State, mask: int) -> None:
        graph, fresh = self._graph, self._fresh
        out = graph.edges.setdefault(state, {})
        out[successor] = out.get(successor, 0) | mask
        known = graph.reached.get(successor, 0)
        if known and successor not in fresh:
            graph.may_loop = True
        new = mask & ~known
        if new:
            graph.reached[successor] = known | new
            fresh[successor] = fresh.get(successor, 0) | new

    def _drop(self, state: State, target: int, mask: int) -> None:
        place = (state[0], state[5], state[3], state[4], True, False)
        for letters, piece in self._at(place):
            part = piece & mask
            if part:
                after = _after(self._machine, target, letters)
                self._lose(state, DROPPED, part, after)
                for last in after:
                    self._end(state, DROPPED, part, self._machine.endings[last][letters[-1]])

    def _read(self, state: State, mask: int, place: Place) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
        """The letters of a position, the machine's states after them, and for which destinations."""
        found = []
        for letters, piece in self._at(place):
            part = piece & mask
            if part:
                after = _after(self._machine, state[2], letters)
                if after:
                    found.append((letters, after, part))
                else:
                    self._lose(state, HERE, part, after)
        return found

    def _lose(self, state: State, how: str, mask: int, after: tuple[int, ...]) -> None:
        if not after and self._machine.is_deterministic:
            self._graph.ends.append(End(state, how, mask, Ending.OUT))

    def _end(self, state: State, how: str, mask: int, ending: Ending) -> None:
        if ending is not Ending.GOOD:
            self._graph.ends.append(End(state, how, mask, ending))


def _after(machine: Machine, state: int, letters: tuple[int, ...]) -> tuple[int, ...]:
    if len(letters) == 1:
        return machine.moves[state][letters[0]]
    states = {state}
    for letter in letters:
        states = {target for one in states for target in machine.moves[one][letter]}
    return tuple(sorted(states))
