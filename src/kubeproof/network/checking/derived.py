"""Facts about a whole snapshot that properties compare positions with: shared queues, loads, overlapping paths."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kubeproof.engine.components import cyclic_components
from kubeproof.network.checking.concrete import Packet, choices
from kubeproof.network.forwarding import Forwarding
from kubeproof.network.model import Network, Rule, Snapshot
from kubeproof.network.properties.patterns import NodeSet, matches

Place = tuple[str, str | None]  # a node and where packets came from
Queue = tuple[str, str, str]  # node, neighbour, queue


def overlapping(network: Network, forwarding: Forwarding, destinations: NodeSet, source: str) -> dict[str, int]:
    """By node, the destinations to which two different paths from the source share it.

    Counted are nodes between the source and the destination that are not the only neighbour of either: an access
    switch is on every path whatever anybody does. Two paths share such a node if and only if somewhere
    two arrows enter or leave one, because otherwise they form disjoint chains.
    """
    entered: dict[str, dict[str, int]] = {}
    left: dict[str, dict[str, int]] = {}
    for node, to, mask in _arrows(forwarding, destinations, source):
        _add(entered.setdefault(to, {}), node, mask)
        _add(left.setdefault(node, {}), to, mask)
    at_ends = _at_ends(network, destinations)
    twice: dict[str, int] = {}
    for node in {*entered, *left} - _ends(network, source):
        mask = (_twice(entered.get(node, {})) | _twice(left.get(node, {}))) & ~at_ends.get(node, 0)
        if mask:
            twice[node] = mask
    return twice


def overlap_of(network: Network, snapshot: Snapshot, packet: Packet) -> set[str]:
    """The same for one packet."""
    entered: dict[str, set[str]] = {}
    left: dict[str, set[str]] = {}
    for node, to, _ in _steps(network, snapshot, packet):
        entered.setdefault(to, set()).add(node)
        left.setdefault(node, set()).add(to)
    ends = _ends(network, packet.source) | _ends(network, packet.destination)
    return {node for found in (entered, left) for node, others in found.items() if len(others) > 1} - ends


def _arrows(forwarding: Forwarding, destinations: NodeSet, source: str) -> Iterator[tuple[str, str, int]]:
    """Every arrow that packets of the source take, with the destinations they have."""
    reached: dict[Place, int] = {}
    pending: list[tuple[Place, int]] = [((source, None), destinations.everything & ~destinations.bit.get(source, 0))]
    while pending:
        (node, port), mask = pending.pop()
        new = mask & ~reached.get((node, port), 0)
        reached[node, port] = reached.get((node, port), 0) | new
        for move in forwarding.moves(node, port) if new else ():
            part = new & move.mask
            if part and move.to is not None:
                yield node, move.to, part
                pending.append(((move.to, forwarding.port(move.to, node)), part))


def _add(masks: dict[str, int], name: str, mask: int) -> None:
    masks[name] = masks.get(name, 0) | mask


def _twice(masks: dict[str, int]) -> int:
    once = more = 0
    for mask in masks.values():
        more |= once & mask
        once |= mask
    return more


def _ends(network: Network, name: str) -> set[str]:
    """A node, and its neighbour if it has only one."""
    beside = network.neighbours[name]
    return {name, *beside} if len(beside) == 1 else {name}


def _at_ends(network: Network, destinations: NodeSet) -> dict[str, int]:
    """By node, the destinations that it is, or whose only neighbour it is."""
    found: dict[str, int] = {}
    for name, bit in destinations.bit.items():
        for end in _ends(network, name):
            _add(found, end, bit)
    return found


def find_shared_queues(network: Network, snapshot: Snapshot) -> frozenset[Queue]:
    """The queues through which packets of more than one process leave."""
    users: dict[Queue, set[str]] = {}
    for traffic in network.traffic:
        for source in traffic.sources:
            for destination in traffic.destinations:
                packet = Packet(source, destination, traffic)
                for node, to, rule in _steps(network, snapshot, packet) if source != destination else ():
                    users.setdefault((node, to, rule.queue), set()).add(traffic.process)
    return frozenset(queue for queue, processes in users.items() if len(processes) > 1)


def _steps(network: Network, snapshot: Snapshot, packet: Packet) -> Iterator[tuple[str, str, Rule]]:
    for (node, _), out in _places(network, snapshot, packet).items():
        for to, rule in out:
            if to is not None and rule is not None:
                yield node, to, rule


def _places(network: Network, snapshot: Snapshot, packet: Packet) -> dict[Place, list[tuple[str | None, Rule | None]]]:
    """Where one packet can be, and what can happen to it there."""
    start: Place = (packet.source, None)
    found: dict[Place, list[tuple[str | None, Rule | None]]] = {}
    pending = [start]
    while pending:
        place = pending.pop()
        if place in found:
            continue
        here = [] if place[0] == packet.destination else choices(network, snapshot, packet, *place)
        found[place] = [(choice.to, choice.rule) for choice in here]
        pending += [(choice.to, place[0]) for choice in here if choice.to is not None]
    return found


def find_skewed_nodes(network: Network, snapshot: Snapshot, over: tuple[str, ...], tolerance: float) -> frozenset[str]:
    """The nodes whose load differs from the mean by more than the tolerance, a share of the mean.

    Every pair of a source and a destination sends one unit; where a packet may go several ways, equal shares go each
    way. Compared are the nodes in use among those that `over` covers. The load of a node on a forwarding loop has no
    bound, so it counts as skewed.
    """
    loads: dict[str, Fraction] = {}
    endless: set[str] = set()
    for traffic in network.traffic:
        for source in traffic.sources:
            for destination in traffic.destinations:
                if source != destination:
                    _add_load(network, snapshot, Packet(source, destination, traffic), loads, endless)
    used = {node: load for node, load in loads.items() if _counts(network, node, over)}
    mean = sum(used.values(), Fraction()) / max(len(used), 1)
    bound = mean * Fraction(str(tolerance))
    uneven = {node for node, load in used.items() if abs(load - mean) > bound}
    return frozenset(uneven | {node for node in endless if _counts(network, node, over)})


def _counts(network: Network, node: str, over: tuple[str, ...]) -> bool:
    if over:
        return any(matches(pattern, node, network.addresses[node]) for pattern in over)
    return not any(node in (*traffic.sources, *traffic.destinations) for traffic in network.traffic)


def _add_load(
    network: Network, snapshot: Snapshot, packet: Packet, loads: dict[str, Fraction], endless: set[str]
) -> None:
    places = _places(network, snapshot, packet)
    after: dict[Place, list[Place]] = {
        place: [(to, place[0]) for to, _ in out if to is not None] for place, out in places.items()
    }
    rounds = cyclic_components(after, lambda place: after[place])
    if rounds:
        endless |= {node for part in rounds for node, _ in part}
        return
    shares: dict[Place, Fraction] = {(packet.source, None): Fraction(1)}
    for place in _in_order(after, (packet.source, None)):
        share = shares[place]
        loads[place[0]] = loads.get(place[0], Fraction()) + share
        for target in after[place]:
            shares[target] = shares.get(target, Fraction()) + share / len(places[place])


def _in_order(after: dict[Place, list[Place]], start: Place) -> list[Place]:
    """The places such that each comes before those it leads to."""
    waiting: dict[Place, int] = {}
    for out in after.values():
        for target in out:
            waiting[target] = waiting.get(target, 0) + 1
    order = [start]
    for place in order:
        for target in after[place]:
            waiting[target] -= 1
            if not waiting[target]:
                order.append(target)
    return order
