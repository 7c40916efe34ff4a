"""From a finding to a counterexample that has been replayed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.errors import InternalError
from kubeproof.logic.automata.operations import closure
from kubeproof.network.checking.concrete import Packet
from kubeproof.network.checking.derived import overlap_of
from kubeproof.network.checking.findings import Found, Pairs, count
from kubeproof.network.checking.product import HERE
from kubeproof.network.checking.replay import IsMarked, NotAPath, Replayed, falls_out, replay
from kubeproof.network.checking.witness import Witness, end_witness, loop_witness
from kubeproof.network.model import Network, Rule
from kubeproof.network.properties.machine import Prepared
from kubeproof.network.properties.parameters import Parameters
from kubeproof.network.properties.patterns import NodeSet
from kubeproof.network.result import Counterexample

MOST_OTHERS = 20  # pairs that are named beside a counterexample
MOST_CHOICES = 64  # at the node where a path is cut


def counterexample(
    network: Network, prepared: Prepared, found: Found, part: str, sets: tuple[NodeSet, ...]
) -> Counterexample:
    """The first affected pair with its shortest path, replayed; raises InternalError if the replay disagrees."""
    pairs = found.unsafe if part == "safety" else found.endless or found.unmet
    wants_loop = part == "liveness" and bool(found.endless)
    named = _name_pairs(network, pairs, sets)
    place, source, destination = next(named)
    packet = Packet(source, destination, network.traffic[place])
    path = _shortest(found, part, place, source, sets[place].bit[destination], wants_loop=wants_loop)
    snapshot = network.snapshots[found.snapshot]
    again = _confirm(network, prepared, found, packet, path, part)
    return Counterexample(
        part=part,
        snapshot=found.snapshot,
        snapshot_name=snapshot.name,
        traffic=packet.traffic,
        source=source,
        destination=destination,
        hops=again.hops,
        how=path.how,
        loop_start=path.loop_start,
        pairs=count(pairs),
        others=tuple((s, d) for (_, s, d), _ in zip(named, range(MOST_OTHERS), strict=False)),
    )


def _name_pairs(network: Network, pairs: Pairs, sets: tuple[NodeSet, ...]) -> Iterator[tuple[int, str, str]]:
    """The pairs one by one: traffic, source and destination, in the order of the input."""
    for place, traffic in enumerate(network.traffic):
        for source in traffic.sources:
            for destination in sets[place].members(pairs.get((place, source), 0)):
                yield place, source, destination


def _shortest(found: Found, part: str, place: int, source: str, bit: int, *, wants_loop: bool) -> Witness:
    ways = []
    for bad in found.bad:
        if bad.part == part and bad.traffic == place and bad.pairs.get((place, source), 0) & bit:
            if wants_loop:
                ways.append(loop_witness(bad.graph, source, bit, bad.loops))
            else:
                ways.append(end_witness(bad.graph, source, bit, bad.ends))
    paths = [way for way in ways if way is not None]
    if not paths:
        raise InternalError(f"E700 no path shows the violation from {source}")
    return min(paths, key=lambda path: len(path.nodes))


def _confirm(network: Network, prepared: Prepared, found: Found, packet: Packet, path: Witness, part: str) -> Replayed:
    """The path, if the rules produce it and the automaton itself rejects it."""
    one, snapshot = prepared.property, network.snapshots[found.snapshot]
    marked = marker(network, found, packet)
    closed = closure(one.automaton)
    for last in range(MOST_CHOICES if path.how == HERE and "SHARED_QUEUE" in one.reads else 1):
        try:
            again = replay(network, snapshot, packet, one, path, marked, last)
        except NotAPath as problem:
            raise InternalError(f"E700 {packet.source} to {packet.destination}: {problem}") from None
        length = len(again.word.stem) + (0 if path.how == HERE else closed.size + len(again.word.loop))
        if part == "safety" and falls_out(closed, again.word, length):
            return again
        if part == "liveness" and not one.automaton.accepts(again.word) and closed.accepts(again.word):
            return again
    raise InternalError(f"E700 the path from {packet.source} to {packet.destination} does not violate {one.name}")


def marker(network: Network, found: Found, packet: Packet) -> IsMarked:
    """Adds the derived facts to the parameters of a position."""
    snapshot = network.snapshots[found.snapshot]
    overlap = overlap_of(network, snapshot, packet)
    queues = found.queues or frozenset()

    def mark(at: Parameters, rule: Rule | None, to: str | None) -> Parameters:
        if at.dropped:
            return at
        shared = rule is not None and to is not None and (at.current_node, to, rule.queue) in queues
        node = at.current_node
        return replace(at, overlap=node in overlap, skewed=node in found.skewed, shared_queue=shared)

    return mark
