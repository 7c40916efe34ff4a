"""Checks path properties on every snapshot of a network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from kubeproof.network.checking.blocks import Blocks, without_returned
from kubeproof.network.checking.counterexamples import counterexample
from kubeproof.network.checking.cycles import bad_loops
from kubeproof.network.checking.derived import Queue, find_shared_queues, find_skewed_nodes, overlapping
from kubeproof.network.checking.findings import Bad, Found, Pairs, count
from kubeproof.network.checking.product import Graph, State, Walk, explore
from kubeproof.network.checking.witness import find_affected
from kubeproof.network.forwarding import Forwarding, Known, Move
from kubeproof.network.model import Network, Snapshot, Traffic
from kubeproof.network.properties.letters import Letters
from kubeproof.network.properties.machine import Ending, Machine, Prepared
from kubeproof.network.properties.patterns import NodeSet
from kubeproof.network.result import Liveness, PropertyResult, SnapshotOutcome
from kubeproof.verdicts import Verdict


def check(network: Network, prepared: Prepared, *, final: bool = False) -> PropertyResult:
    """The property's answer on a sequence of snapshots.

    The safety part must hold in every snapshot. The liveness part is met if from some snapshot on, up to
    the last, every packet meets it. Packets lost in the last snapshot leave the answer open, unless the last snapshot
    is final; packets that go round for ever violate it.
    """
    checker = Checker(network, prepared)
    found = [checker.snapshot(number) for number in range(len(network.snapshots))]
    liveness = _liveness(prepared, found[-1]) if found else Liveness.NONE
    unsafe = next((one for one in found if any(bad.part == "safety" for bad in one.bad)), None)
    shown = [counterexample(network, prepared, unsafe, "safety", checker.sets)] if unsafe else []
    if liveness in (Liveness.NOT_VERIFIED, Liveness.VIOLATED):
        shown.append(counterexample(network, prepared, found[-1], "liveness", checker.sets))
    outcomes = tuple(_outcome(network, one) for one in found)
    return PropertyResult(
        name=prepared.property.name,
        verdict=_verdict(unsafe is None, liveness, final=final, pairs=checker.pairs),
        is_safe=unsafe is None,
        liveness=liveness,
        pairs=checker.pairs,
        states=sum(one.states for one in found),
        snapshots=outcomes,
        counterexamples=tuple(shown),
        since=_since(outcomes),
    )


class Checker:
    """One property on one network."""

    def __init__(self, network: Network, prepared: Prepared) -> None:
        self._network = network
        self._prepared = prepared
        self._property = prepared.property
        self._blocks = Blocks(network, prepared.property, prepared.reads)
        self._letters: dict[tuple[int, str], Letters] = {}
        self._reads = prepared.reads
        self._moves: dict[tuple[int, str], Known] = {}
        self._last = Found(0)
        self.sets = tuple(NodeSet(traffic.destinations, network.addresses) for traffic in network.traffic)
        self.pairs = sum(
            len(traffic.sources) * len(traffic.destinations) - len({*traffic.sources} & {*traffic.destinations})
            for traffic in network.traffic
        )

    def snapshot(self, number: int) -> Found:
        """All bad endings in one snapshot."""
        snapshot = self._network.snapshots[number]
        if number and _is_same(snapshot, self._network.snapshots[number - 1]):
            return replace(self._last, snapshot=number)
        found = self._last = Found(number)
        if "SKEWED" in self._reads:
            found.skewed = find_skewed_nodes(self._network, snapshot, self._property.over, self._property.tolerance)
        if "SHARED_QUEUE" in self._reads:
            found.queues = find_shared_queues(self._network, snapshot)
        for place, traffic in enumerate(self._network.traffic):
            for group in self._blocks.of(snapshot, traffic.sources):
                self._block(found, snapshot, place, traffic, group)
        return found

    def _block(self, found: Found, snapshot: Snapshot, place: int, traffic: Traffic, group: tuple[str, ...]) -> None:
        walk = self._walk(found, snapshot, place, traffic, group)
        graphs = [explore(walk, machine) for machine in self._machines()]
        returned = set().union(*(graph.returned for graph in graphs))
        if returned and len(group) > 1:
            for part in without_returned(group, returned):
                self._block(found, snapshot, place, traffic, part)
            return
        for graph in graphs:
            found.states += len(graph.reached)
            found.bad += self._bad(graph, place)

    def _machines(self) -> list[Machine]:
        return [one for one in (self._prepared.safety, self._prepared.liveness) if one is not None]

    def _bad(self, graph: Graph, place: int) -> Iterator[Bad]:
        out = tuple(end for end in graph.ends if end.ending is Ending.OUT)
        if out:
            yield Bad("safety", place, graph, out, (), _pairs(graph, place, ((e.state, e.mask) for e in out)))
        if not self._prepared.has_liveness or (graph.machine is self._prepared.safety and self._prepared.liveness):
            return
        late = tuple(end for end in graph.ends if end.ending is Ending.BAD)
        if late:
            yield Bad("liveness", place, graph, late, (), _pairs(graph, place, ((e.state, e.mask) for e in late)))
        loops = tuple(bad_loops(graph))
        if loops:
            spots = ((state, loop.mask) for loop in loops for state in loop.states)
            yield Bad("liveness", place, graph, (), loops, _pairs(graph, place, spots))

    def _walk(self, found: Found, snapshot: Snapshot, place: int, traffic: Traffic, group: tuple[str, ...]) -> Walk:
        destinations = self.sets[place]
        known = self._moves.setdefault((place, group[0]), {})
        forwarding = Forwarding(self._network, snapshot, traffic, destinations, group[0], known)
        one = self._property
        return Walk(
            sources=group,
            destinations=destinations,
            forwarding=forwarding,
            letters=self._letters_of(found, place, traffic, group[0], forwarding),
            stutter=one.stutter,
            most_hops=self._prepared.most_hops,
            most_paths=self._prepared.most_paths,
            knows_source=self._blocks.knows_source,
            is_shared=None if found.queues is None else _is_shared(found.queues),
        )

    def _letters_of(self, found: Found, place: int, traffic: Traffic, source: str, forwarding: Forwarding) -> Letters:
        """Letters depend on the snapshot only where they ask for derived facts."""
        destinations, addresses = self.sets[place], self._network.addresses
        if not self._reads & {"OVERLAP", "SKEWED"}:
            if (place, source) not in self._letters:
                self._letters[place, source] = Letters(self._property, destinations, addresses, source, traffic.process)
            return self._letters[place, source]
        overlap = overlapping(self._network, forwarding, destinations, source) if "OVERLAP" in self._reads else {}
        return Letters(
            self._property, destinations, addresses, source, traffic.process, overlap=overlap, skewed=found.skewed
        )


def _is_shared(queues: frozenset[Queue]) -> Callable[[str, Move], bool]:
    def is_shared(node: str, move: Move) -> bool:
        return move.to is not None and move.rule is not None and (node, move.to, move.rule.queue) in queues

    return is_shared


def _is_same(snapshot: Snapshot, before: Snapshot) -> bool:
    return snapshot.down == before.down and snapshot.tables == before.tables


def _pairs(graph: Graph, place: int, spots: Iterable[tuple[State, int]]) -> Pairs:
    return {(place, source): mask for source, mask in find_affected(graph, spots).items()}


def _outcome(network: Network, found: Found) -> SnapshotOutcome:
    name = network.snapshots[found.snapshot].name
    return SnapshotOutcome(name, count(found.unsafe), count(found.unmet), count(found.endless))


def _liveness(prepared: Prepared, last: Found) -> Liveness:
    if not prepared.has_liveness:
        return Liveness.NONE
    if last.endless:
        return Liveness.VIOLATED
    if last.unmet:
        return Liveness.NOT_VERIFIED
    return Liveness.UNDETERMINED if last.unsafe else Liveness.VERIFIED


def _verdict(is_safe: bool, liveness: Liveness, *, final: bool, pairs: int) -> Verdict:
    if not pairs:
        return Verdict.VACUOUS
    if not is_safe or liveness is Liveness.VIOLATED or (final and liveness is Liveness.NOT_VERIFIED):
        return Verdict.VIOLATED
    if liveness is Liveness.NOT_VERIFIED:
        return Verdict.UNKNOWN
    return Verdict.HOLDS_BOUNDED if liveness is Liveness.VERIFIED and not final else Verdict.HOLDS


def _since(outcomes: tuple[SnapshotOutcome, ...]) -> int | None:
    """The snapshot from which on nothing is bad, up to the last."""
    since = None
    for number, outcome in enumerate(outcomes):
        if outcome.unsafe or outcome.unmet or outcome.endless:
            since = None
        elif since is None:
            since = number
    return since
