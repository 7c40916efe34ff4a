"""Random networks and properties, and the slow twin of the network checker: every path of every packet, one by one.

The twin shares the automata with the product but none of its code: rules are matched, paths walked and predicates
evaluated here once more, as plainly as possible.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import combinations
from operator import eq, ge, gt, le, lt, ne
from random import Random
from typing import NamedTuple

from kubeproof.logic.automata.operations import closure
from kubeproof.logic.lasso import Lasso
from kubeproof.network.model import Match, Network, Node, Rule, Snapshot, Traffic
from kubeproof.network.properties.automata import Letter, PathProperty, ltl_property, path_automaton
from kubeproof.network.properties.predicates import Both, Constant, Either, Flag, Not, OneOf, Order, Predicate, Same
from tests.property.automata import random_formula

ORDERS = {"==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
VISITS = 2  # of one place on one path

Pair = tuple[int, str, str]  # number of the traffic, source, destination


class Bad(NamedTuple):
    """The pairs for which a snapshot is bad."""

    unsafe: frozenset[Pair]
    unmet: frozenset[Pair]
    endless: frozenset[Pair]


class Place(NamedTuple):
    """Where a packet is on its path, as far as anything can depend on it."""

    node: str
    came_from: str | None
    hop: int
    path: int


def covers(pattern: str, name: str, addresses: dict[str, str]) -> bool:
    if "/" in pattern:
        address = addresses.get(name)
        return bool(address) and ipaddress.ip_address(address) in ipaddress.ip_network(pattern)
    return fnmatchcase(name, pattern)


def options(network: Network, snapshot: Snapshot, traffic: Traffic, pair: Pair, place: Place) -> list[str | None]:
    """Where the packet may go next; None: dropped."""
    addresses = network.addresses
    fitting = []
    for rule in snapshot.tables.get(place.node, ()):
        match = rule.match
        if (
            covers(match.source, pair[1], addresses)
            and covers(match.destination, pair[2], addresses)
            and (
                match.in_port == "*"
                or (place.came_from is not None and covers(match.in_port, place.came_from, addresses))
            )
            and match.protocol in ("*", traffic.protocol)
            and match.group in ("*", traffic.group)
        ):
            fitting.append(rule)
    highest = [rule for rule in fitting if rule.priority == max(other.priority for other in fitting)]
    nearest = [rule for rule in highest if rule.metric == min(other.metric for other in highest)]
    found: list[str | None] = []
    for rule in nearest:
        for target in rule.to or (None,):
            lost = target is None or frozenset((place.node, target)) in snapshot.down
            found += [to for to in [None if lost else target] if to not in found]
    return found or [None]


def truth(predicate: Predicate, network: Network, traffic: Traffic, pair: Pair, place: Place, dropped: bool) -> bool:
    """What a predicate says of one packet."""
    values = {
        "CURRENT_NODE": place.node,
        "SOURCE": pair[1],
        "DESTINATION": pair[2],
        "DROP_NODE": place.node if dropped else None,
        "PROCESS_ID": traffic.process,
    }
    match predicate:
        case Constant(value):
            return value
        case Flag():
            return dropped
        case OneOf(name, patterns):
            value = values[name]
            return value is not None and any(covers(pattern, value, network.addresses) for pattern in patterns)
        case Same(left, right):
            return values[left] == values[right]
        case Order(name, operator, number):
            value = place.hop if name == "HOP_COUNT" else place.path
            return bool(ORDERS[operator](value, number))
        case Not(part):
            return not truth(part, network, traffic, pair, place, dropped)
        case Both(parts):
            return all(truth(part, network, traffic, pair, place, dropped) for part in parts)
        case Either(parts):
            return any(truth(part, network, traffic, pair, place, dropped) for part in parts)


def letter(one: PathProperty, network: Network, traffic: Traffic, pair: Pair, place: Place, dropped: bool) -> int:
    if one.cases:
        return next(c.letters[0] for c in one.cases if truth(c.condition, network, traffic, pair, place, dropped))
    true = [truth(p, network, traffic, pair, place, dropped) for p in one.propositions]
    return sum(1 << number for number, value in enumerate(true) if value)


def words(network: Network, snapshot: Snapshot, pair: Pair, one: PathProperty) -> Iterator[tuple[str, Lasso[int]]]:
    """The words of all paths of one packet class, with how each ends."""
    traffic = network.traffic[pair[0]]
    most_hops, most_paths = one.most_hops, one.most_paths
    pending = [[Place(pair[1], None, 0, 0)]]
    while pending:
        path = pending.pop()
        here = path[-1]
        read = tuple(letter(one, network, traffic, pair, place, False) for place in path)
        if here.node == pair[2]:
            yield "ends", Lasso(read, (read[-1] if one.stutter is None else one.stutter,))
            continue
        found = options(network, snapshot, traffic, pair, here)
        for number, to in enumerate(found):
            if to is None:
                lost = letter(one, network, traffic, pair, here, True)
                yield "ends", Lasso((*read, lost), (lost,))
                continue
            chosen = number + 1 if len(found) > 1 and here.path == 0 else here.path
            after = Place(to, here.node, min(here.hop + 1, most_hops), min(chosen, most_paths))
            for first in (number for number, place in enumerate(path) if place == after):
                yield "loops", Lasso(read[:first], read[first:])
            if path.count(after) < VISITS:
                pending.append([*path, after])


def pairs(network: Network) -> list[Pair]:
    return [
        (number, source, destination)
        for number, traffic in enumerate(network.traffic)
        for source in traffic.sources
        for destination in traffic.destinations
        if source != destination
    ]


def enumerated(network: Network, one: PathProperty) -> list[Bad]:
    """What the checker must find, snapshot by snapshot."""
    closed = closure(one.automaton)
    found = []
    for snapshot in network.snapshots:
        unsafe, unmet, endless = set(), set(), set()
        for pair in pairs(network):
            for how, word in words(network, snapshot, pair, one):
                if not closed.accepts(word):
                    unsafe.add(pair)
                elif not one.automaton.accepts(word):
                    (unmet if how == "ends" else endless).add(pair)
        endless -= unsafe
        found.append(Bad(frozenset(unsafe), frozenset(unmet - unsafe - endless), frozenset(endless)))
    return found


# Random input

NODES = ("a", "b", "ab", "c", "bc")
ADDRESSES = {"a": "10.0.0.1", "b": "10.0.0.2", "ab": "10.0.1.1", "c": "10.1.0.1", "bc": ""}
PATTERNS = ("*", "*", "*", "a*", "?", "*b*", "10.0.0.0/24", "10.0.0.0/15", "a", "b", "c")


def random_network(random: Random) -> Network:
    """Five nodes at most; in every third network nodes forward whatever no rule matches, so that there are loops."""
    names = NODES[: random.randint(3, 5)]
    is_loopy = random.random() < 0.35
    names = names[:4] if is_loopy else names
    links = frozenset(
        frozenset((one, other))
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if random.random() < 0.7
    )
    return Network(
        nodes=tuple(Node(name, ADDRESSES[name]) for name in names),
        links=links,
        traffic=tuple(random_traffic(random, names) for _ in range(random.choice((1, 1, 2)))),
        snapshots=tuple(
            random_snapshot(random, names, links, number, is_loopy=is_loopy) for number in range(random.choice((1, 2)))
        ),
    )


def random_traffic(random: Random, names: tuple[str, ...]) -> Traffic:
    return Traffic(
        sources=tuple(random.sample(names, random.randint(1, len(names)))),
        destinations=tuple(random.sample(names, random.randint(1, len(names)))),
        protocol=random.choice(("", "tcp")),
        group=random.choice(("", "gold")),
        process=random.choice(("", "p1")),
    )


def random_snapshot(
    random: Random, names: tuple[str, ...], links: frozenset[frozenset[str]], number: int, *, is_loopy: bool
) -> Snapshot:
    tables = {}
    two_ways = random.choice(names)
    for name in names:
        beside = sorted(other for other in names if frozenset((name, other)) in links)
        rules = [random_rule(random, beside) for _ in range(random.choice((0, 1) if is_loopy else (0, 1, 2, 3, 3)))]
        if is_loopy:
            ways = min(len(beside), 2 if name == two_ways else 1)
            rules.append(Rule(Match(), tuple(random.sample(beside, ways)), metric=3))
        tables[name] = tuple(rules)
    down = frozenset(link for link in links if random.random() < 0.05)
    return Snapshot(f"t{number}", tables, down)


def random_rule(random: Random, beside: list[str]) -> Rule:
    match = Match(
        source=random.choice(PATTERNS),
        destination=random.choice(PATTERNS),
        in_port=random.choice(("*", "*", "*", *PATTERNS)),
        protocol=random.choice(("*", "*", "*", "tcp")),
        group=random.choice(("*", "*", "*", "gold")),
    )
    count = min(len(beside), random.choice((0, 1, 1, 1, 1, 2)))
    to = tuple(random.sample(beside, count))
    return Rule(match, to, priority=random.choice((0, 0, 1)), metric=random.choice((1, 1, 2)))


PREDICATES = (
    "CURRENT_NODE == a",
    "CURRENT_NODE matches *b*",
    "CURRENT_NODE == SOURCE",
    "CURRENT_NODE == DESTINATION",
    "SOURCE in [a, b]",
    "DESTINATION matches 10.0.0.0/24",
    "HOP_COUNT == 0",
    "HOP_COUNT >= 2",
    "PATH_ID == 2",
    "PROCESS_ID == p1",
    "DROPPED",
    "DROP_NODE == b",
    "DROP_NODE == SOURCE",
    "not DROPPED and CURRENT_NODE != c",
    "DROPPED or SOURCE == a and HOP_COUNT > 1",
)


LATER = (
    "F a",
    "G F a",
    "F G a",
    "G(a -> F b)",
    "G F a -> G F b",
    "a U b",
    "(F G a) | (G F b)",
    "G F(a & X b)",
    "F(a & X F b)",
)


def random_property(random: Random) -> PathProperty:
    """A formula over three predicates, or an automaton over four letters, often nondeterministic."""
    if random.random() < 0.3:
        chosen = random.sample(PREDICATES, 3)
        return ltl_property(random.choice(LATER), dict(zip("abc", chosen, strict=True)))
    if random.random() < 0.6:
        chosen = random.sample(PREDICATES, 3)
        return ltl_property(
            str(random_formula(random, random.choice((1, 2, 3)))), dict(zip("abc", chosen, strict=True))
        )
    letters = [Letter(name, text) for name, text in zip("xyz", random.sample(PREDICATES, 3), strict=True)]
    states = ("p", "q", "r")[: random.randint(1, 3)]
    transitions = [
        (state, name, target) for state in states for name in "xyzo" for target in states if random.random() < 0.4
    ]
    return path_automaton(
        letters=[*letters, Letter("o")],
        transitions=transitions,
        initial=[states[0]],
        accepting=[state for state in states if random.random() < 0.5],
        stutter=random.choice((None, "o", "x")),
    )


def paths(network: Network, snapshot: Snapshot, pair: Pair) -> list[tuple[str, ...]] | None:
    """The nodes of every path of one packet class; None if some path never ends."""
    traffic = network.traffic[pair[0]]
    found, pending = [], [[Place(pair[1], None, 0, 0)]]
    while pending:
        path = pending.pop()
        here = path[-1]
        ways = [] if here.node == pair[2] else options(network, snapshot, traffic, pair, here)
        onward = [Place(to, here.node, 0, 0) for to in ways if to is not None]
        if any(after.node in [place.node for place in path] for after in onward):
            return None
        found += [] if onward else [tuple(place.node for place in path)]
        pending += [[*path, after] for after in onward]
    return found


def share_a_node(network: Network, pair: Pair, found: list[tuple[str, ...]]) -> bool:
    """True if two paths have a node in common that is neither an end nor the only neighbour of one."""
    only = [network.neighbours[name] for name in pair[1:] if len(network.neighbours[name]) == 1]
    ends = {*pair[1:], *(names[0] for names in only)}
    return any(set(one) & set(other) - ends for one, other in combinations(found, 2))
