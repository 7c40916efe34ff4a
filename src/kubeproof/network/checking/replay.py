"""Replays a path packet by packet and judges its word with the property's automaton itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kubeproof.logic.automata.automaton import Buchi
from kubeproof.logic.lasso import Lasso
from kubeproof.network.checking.concrete import Choice, Packet, choices
from kubeproof.network.checking.witness import LOOP, Witness
from kubeproof.network.model import Network, Rule, Snapshot
from kubeproof.network.properties.automata import Condition, Own, PathProperty
from kubeproof.network.properties.parameters import Parameters, ask, holds
from kubeproof.values import dataclass

IsMarked = Callable[[Parameters, Rule | None, str | None], Parameters]  # adds overlap, skew and shared queues


@dataclass(frozen=True, slots=True)
class Hop:
    """One position of a replayed path."""

    node: str
    action: str  # forwards to X, drops, delivered
    rule: Rule | None
    letters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Replayed:
    """A path with the rules it follows, and its infinite word."""

    hops: tuple[Hop, ...]
    word: Lasso[int]


class NotAPath(Exception):
    """The nodes are not a path of the packet."""


def replay(
    network: Network,
    snapshot: Snapshot,
    packet: Packet,
    one: PathProperty,
    path: Witness,
    marked: IsMarked,
    last: int = 0,
) -> Replayed:
    """The path as the rules prescribe it; raises NotAPath if they do not.

    Where a path is cut at the node that it is judged at, `last` is the number of the choice taken there.
    """
    reader = PathReader(network, one, marked)
    at = Parameters(path.nodes[0], packet.source, packet.destination, process_id=packet.traffic.process)
    if path.nodes[0] != packet.source:
        raise NotAPath(f"{path.nodes[0]} is not the source")
    hops: list[Hop] = []
    words: list[tuple[int, ...]] = []
    came_from = None
    for place in range(len(path.nodes)):
        taken, number, several = _take(network, snapshot, packet, path, place, came_from, last)
        letters = reader.letters(at, taken)
        words.append(letters)
        hops.append(Hop(at.current_node, _action(taken), taken.rule if taken else None, reader.names(letters)))
        if taken is None or taken.to is None:
            break
        came_from = at.current_node
        branch = number + 1 if several and at.path_id == 0 else at.path_id
        at = replace(at, current_node=taken.to, hop_count=at.hop_count + 1, path_id=branch)
    return Replayed(tuple(hops), reader.word(words, at, path, hops[-1]))


def _take(
    network: Network, snapshot: Snapshot, packet: Packet, path: Witness, place: int, came_from: str | None, last: int
) -> tuple[Choice | None, int, bool]:
    """What the path does at a place; None if the packet has arrived there."""
    node = path.nodes[place]
    if node == packet.destination:
        return None, 0, False
    options = choices(network, snapshot, packet, node, came_from)
    if place + 1 < len(path.nodes):
        wanted: str | None = path.nodes[place + 1]
    elif path.loop_start is not None:
        wanted = path.nodes[path.loop_start]
    else:
        wanted = None if path.how == "dropped" else options[min(last, len(options) - 1)].to
    for number, option in enumerate(options):
        if option.to == wanted:
            return option, number, len(options) > 1
    raise NotAPath(f"{node} does not send it to {wanted}")


def _action(taken: Choice | None) -> str:
    if taken is None:
        return "delivered"
    if taken.to is None:
        return "drops it" if taken.rule is not None else "has no rule for it and drops it"
    return f"forwards to {taken.to}"


class PathReader:
    """From parameters to letters."""

    def __init__(self, network: Network, one: PathProperty, marked: IsMarked) -> None:
        self._addresses = network.addresses
        self._property = one
        self._marked = marked

    def letters(self, at: Parameters, taken: Choice | None) -> tuple[int, ...]:
        """The letters that a position is read as."""
        at = self._marked(at, taken.rule if taken else None, taken.to if taken else None)
        if self._property.cases:
            return next(case.letters for case in self._property.cases if self._holds(case.condition, at))
        true = (self._holds(predicate, at) for predicate in self._property.propositions)
        return (sum(1 << place for place, value in enumerate(true) if value),)

    def names(self, letters: tuple[int, ...]) -> tuple[str, ...]:
        """How letters are shown."""
        return tuple(self._property.automaton.alphabet.name(letter) for letter in letters)

    def _holds(self, condition: Condition, at: Parameters) -> bool:
        if isinstance(condition, Own):
            most = condition.most_hops
            bounded = replace(at, hop_count=min(at.hop_count, most), path_id=min(at.path_id, most))
            return ask(condition.function, bounded, condition.reads)
        return holds(condition, at, self._addresses)

    def word(self, words: list[tuple[int, ...]], at: Parameters, path: Witness, last: Hop) -> Lasso[int]:
        """The infinite word of the path: it goes round, or repeats its last letter."""
        flat = tuple(letter for letters in words for letter in letters)
        if path.how == LOOP and path.loop_start is not None:
            before = sum(len(letters) for letters in words[: path.loop_start])
            return Lasso(flat[:before], flat[before:])
        if last.action == "delivered":
            stutter = flat[-1] if self._property.stutter is None else self._property.stutter
            return Lasso(flat, (stutter,))
        if path.how == "dropped":
            lost = self.letters(replace(at, dropped=True, drop_node=at.current_node), None)
            return Lasso((*flat, *lost), (lost[-1],))
        return Lasso(flat, (flat[-1],))


def falls_out(closed: Buchi, word: Lasso[int], length: int) -> bool:
    """True if no word of a closed language begins with the first letters."""
    states = frozenset(closed.initial)
    place = 0
    for _ in range(length):
        states = closed.step(states, word.letters[place])
        place = word.after(place)
    return not states
