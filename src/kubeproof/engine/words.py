"""Checks whose violations are words: runs read letter by letter by an automaton of what must not happen.

Every state of a run, with the step that led there, is one letter. A run that comes to a stable state may stay there:
it then reads the letter of that state for ever. The memory of a run so far is deterministic, so (state, memory) pairs
are followed breadth first over the states that the search has stored; the first one in which nothing can go right
any more ends a shortest counterexample. Endless runs are looked for in the cycles of the stored graph, under the
same fairness as other cycles: components of pairs of a state and one way the automaton can be in.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

from kubeproof.engine.components import cyclic_components
from kubeproof.engine.cycles import Edges, Lasso, fair_tour, label_edges
from kubeproof.engine.system import Cell, Effect, Step
from kubeproof.named_tuples import NamedTuple

Memory = Hashable
ActorName = Callable[[int], str]
Way = tuple[tuple[int, Step], ...]  # steps with the states they leave
Pair = tuple[int, int]  # a state, and a way the automaton can be in
Move = tuple[Step, Pair]
MOST_STARTS = 8  # of a cycle that are tried, nearest first: a tour from a lucky start is shorter


class Words(Protocol):
    """The words that a check must not meet."""

    @property
    def start(self) -> Any:
        """The memory before the first letter."""
        ...

    @property
    def reads_stability(self) -> bool:
        """True if letters tell stable states from others."""
        ...

    def letter(self, cells: tuple[Cell, ...], effect: Effect | None, is_stable: bool) -> int:
        """The letter of a state entered by an effect; None for initial states and for staying."""
        ...

    def step(self, memory: Any, letter: int) -> Any: ...

    def is_broken(self, memory: Any) -> bool:
        """True if every continuation is one of the words."""
        ...

    def is_safe(self, memory: Any) -> bool:
        """True if no continuation is one of them."""
        ...

    def breaks_at_rest(self, memory: Any, letter: int) -> bool:
        """True if reading the letter for ever makes one of the words."""
        ...

    def ways(self, memory: Any) -> Sequence[int]:
        """What the automaton of the words may be in after so much of a run."""
        ...

    def after(self, way: int, letter: int) -> Sequence[int]: ...

    def is_accepting(self, way: int) -> bool: ...


class Stored(Protocol):
    """What is asked of an explored state graph."""

    @property
    def expanded(self) -> int: ...

    def __len__(self) -> int: ...

    def parent(self, state: int) -> int: ...

    def is_stable(self, state: int) -> bool: ...

    def flags(self, state: int) -> int: ...

    def cells_of(self, state: int) -> tuple[Cell, ...]: ...

    def steps(self, state: int) -> Sequence[Step]: ...

    def urgent(self, state: int) -> Sequence[int]: ...


class Broken(NamedTuple):
    """A counterexample: the way to a state, and a cycle that begins there unless the way is enough."""

    start: int  # the initial state
    way: Way
    lasso: Lasso | None = None

    @property
    def state(self) -> int:
        return self.way[-1][1].target if self.way else self.start


class Follower:
    """Follows all runs of a store as it grows; nodes are pairs of a state and a memory, in breadth-first order."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.broken: list[int] = []  # nodes in which a word is complete, or will be if the run stays there
        self._numbers: dict[tuple[int, Memory], int] = {}
        self._nodes: list[tuple[int, Memory]] = []
        self._parents = array("q")
        self._done = 0
        self._begun = False

    # -- growing --------------------------------------------------------------------------------

    def advance(self, store: Stored, *, every: bool = False) -> None:
        """Goes on as far as the store was expanded, or to the first counterexample unless `every` is asked for."""
        if not self._begun:
            if not self._begin(store):
                return
            self._begun = True
        while self._done < len(self._nodes) and (every or not self.broken):
            if not self._extend(store, self._done):
                return
            self._done += 1

    def _begin(self, store: Stored) -> bool:
        """Enters the initial states, which come first in the store; False while they are not known well enough."""
        initial = []
        for state in range(len(store)):
            if store.parent(state) >= 0:
                break
            initial.append(state)
        if not all(self._is_readable(store, state) for state in initial):
            return False
        for state in initial:
            self._enter(store, state, self.words.start, None, -1)
        return bool(initial)

    def _is_readable(self, store: Stored, state: int) -> bool:
        return state < store.expanded or not self.words.reads_stability

    def _extend(self, store: Stored, node: int) -> bool:
        """Enters the successors of a node; False if the store does not know all it takes yet."""
        state, memory = self._nodes[node]
        if self.words.is_broken(memory):
            return True
        if state >= store.expanded:
            return False
        steps = store.steps(state)
        if not all(self._is_readable(store, step.target) for step in steps):
            return False
        if store.is_stable(state):
            letter = self.words.letter(store.cells_of(state), None, True)
            if self.words.breaks_at_rest(memory, letter):
                self.broken.append(node)
        for step in steps:
            self._enter(store, step.target, memory, step.effect, node)
        return True

    def _enter(self, store: Stored, state: int, before: Memory, effect: Effect | None, parent: int) -> None:
        memory = self._read(store, state, before, effect)
        if self.words.is_safe(memory) or (state, memory) in self._numbers:
            return
        self._numbers[state, memory] = len(self._nodes)
        self._nodes.append((state, memory))
        self._parents.append(parent)
        if self.words.is_broken(memory):
            self.broken.append(len(self._nodes) - 1)

    def _read(self, store: Stored, state: int, before: Memory, effect: Effect | None) -> Memory:
        is_stable = self.words.reads_stability and store.is_stable(state)
        after: Memory = self.words.step(before, self.words.letter(store.cells_of(state), effect, is_stable))
        return after

    # -- what was found -------------------------------------------------------------------------

    def way_to(self, store: Stored, node: int) -> Broken:
        """A shortest way to a node."""
        chain = [node]
        while (parent := self._parents[chain[-1]]) >= 0:
            chain.append(parent)
        chain.reverse()
        pairs = [self._nodes[number] for number in chain]
        way = tuple((pairs[i][0], self._step(store, pairs[i], pairs[i + 1])) for i in range(len(pairs) - 1))
        return Broken(pairs[0][0], way)

    def _step(self, store: Stored, source: tuple[int, Memory], target: tuple[int, Memory]) -> Step:
        return next(
            step
            for step in store.steps(source[0])
            if step.target == target[0] and self._read(store, target[0], source[1], step.effect) == target[1]
        )

    def lassos(self, store: Stored, cyclic: Sequence[Sequence[int]], actor_name: ActorName) -> Iterator[Broken]:
        """One fair cycle that makes a word for every part of the graph that has one, lower states first."""
        first = self._first_nodes()
        for component in sorted((sorted(component) for component in cyclic), key=lambda states: states[0]):
            ways = {state: first[state] for state in component if state in first}
            if any(self.words.is_accepting(way) for at in ways.values() for way in at):
                yield from self._lassos_in(store, component, ways, actor_name)

    def _first_nodes(self) -> dict[int, dict[int, int]]:
        """By state and way of the automaton, the first node in which it can be so."""
        first: dict[int, dict[int, int]] = {}
        for number, (state, memory) in enumerate(self._nodes):
            for way in self.words.ways(memory):
                first.setdefault(state, {}).setdefault(way, number)
        return first

    def _lassos_in(
        self, store: Stored, component: Sequence[int], ways: dict[int, dict[int, int]], actor_name: ActorName
    ) -> Iterator[Broken]:
        edges = label_edges(store, component, actor_name)
        pairs = [(state, way) for state in component for way in ways.get(state, ())]
        known = frozenset(pairs)
        inside = {pair: self._moves(store, edges, pair, known) for pair in pairs}
        targets = {pair: tuple(target for _, target in moves) for pair, moves in inside.items()}
        parts = cyclic_components(pairs, targets.__getitem__)
        for part in sorted(parts, key=lambda part: min(ways[state][way] for state, way in part)):
            found = self._judge(set(part), inside, edges, ways, actor_name)
            if found is not None:
                node, lasso = found
                yield self.way_to(store, node)._replace(lasso=lasso)

    def _moves(self, store: Stored, edges: Edges, pair: Pair, known: frozenset[Pair]) -> tuple[Move, ...]:
        """The steps from a pair that stay in the component; a state on a cycle is never stable."""
        state, way = pair
        return tuple(
            (step, (step.target, later))
            for step in edges.inside[state]
            for later in self.words.after(way, self.words.letter(store.cells_of(step.target), step.effect, False))
            if (step.target, later) in known
        )

    def _judge(
        self,
        part: set[Pair],
        inside: dict[Pair, tuple[Move, ...]],
        edges: Edges,
        ways: dict[int, dict[int, int]],
        actor_name: ActorName,
    ) -> tuple[int, Lasso] | None:
        """The part's first node and its cycle, if it makes a word and starves nobody."""
        accepting = {pair for pair in part if self.words.is_accepting(pair[1])}
        if not accepting:
            return None
        ordered = sorted(part, key=lambda pair: (ways[pair[0]][pair[1]], pair))
        number = {pair: place for place, pair in enumerate(ordered)}
        kept = _number(inside, number)
        urgent = {place: edges.urgent[state] for place, (state, _) in enumerate(ordered)}
        acting = {actor_name(step.actor) for steps in kept.values() for step in steps}
        if frozenset.intersection(*urgent.values()) - acting:
            return None
        goals = [lambda at, _: ordered[at] in accepting]
        tours = [
            fair_tour(start, Edges(kept, urgent, False), goals, actor_name)
            for start in range(min(MOST_STARTS, len(ordered)))
        ]
        walked, steps = min(tours, key=lambda tour: (len(tour[1]), tour[0][0]))
        lasso = Lasso(
            tuple(ordered[place][0] for place in walked),
            tuple(step._replace(target=ordered[step.target][0]) for step in steps),
            not edges.leaves and _covers(edges, ordered, kept),
        )
        state, way = ordered[walked[0]]
        return ways[state][way], lasso


def _number(inside: dict[Pair, tuple[Move, ...]], number: dict[Pair, int]) -> dict[int, tuple[Step, ...]]:
    """The moves inside a part, its pairs as numbers."""
    return {
        place: tuple(step._replace(target=number[target]) for step, target in inside[pair] if target in number)
        for pair, place in number.items()
    }


def _covers(edges: Edges, ordered: Sequence[Pair], kept: dict[int, tuple[Step, ...]]) -> bool:
    """True if the part lets every step of the component happen: no choice leads out of it."""
    every = {(state, step.target) for state, steps in edges.inside.items() for step in steps}
    return every == {(ordered[place][0], ordered[step.target][0]) for place, steps in kept.items() for step in steps}


def breaks(store: Stored, cyclic: Sequence[Sequence[int]], words: Words, actor_name: ActorName) -> bool:
    """True if some run of a complete store makes one of the words."""
    follower = Follower(words)
    follower.advance(store)
    return bool(follower.broken) or next(follower.lassos(store, cyclic, actor_name), None) is not None
