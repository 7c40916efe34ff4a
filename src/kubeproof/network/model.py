"""A network: nodes, links, traffic, and a sequence of snapshots of its match-action rules."""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass

ANY = "*"


@dataclass(frozen=True, slots=True)
class Node:
    """A host, switch or gateway; the address is what prefixes in rules are compared with."""

    name: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """What a rule asks of a packet.

    A pattern is a name, a name with `*` and `?`, or an address prefix such as 10.1.0.0/16.
    """

    source: str = ANY
    destination: str = ANY
    in_port: str = ANY  # the neighbour it comes from; nothing but * matches a packet that starts here
    protocol: str = ANY
    group: str = ANY  # the priority group of the traffic


@dataclass(frozen=True, slots=True)
class Rule:
    """Where a node sends what matches: to one of `to`, or nowhere if that is empty.

    Of the rules that match a packet those of the highest priority count, of these the ones with the lowest metric;
    if several are left, any of them may be taken.
    """

    match: Match = Match()
    to: tuple[str, ...] = ()
    priority: int = 0
    metric: int = 1
    queue: str = ""
    source: Source = field(default=Source(), compare=False)
    note: str = field(default="", compare=False)  # why, for people

    @property
    def is_drop(self) -> bool:
        return not self.to


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a process (an update, a tenant) does in a snapshot."""

    process: str
    kind: str  # request, begin, commit, grant, release
    resource: str = ""
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rules of all nodes at one time; a node without rules drops what is not for it."""

    name: str
    tables: dict[str, tuple[Rule, ...]]
    down: frozenset[frozenset[str]] = frozenset()  # links that carry nothing
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Traffic:
    """Packets of one kind: every source sends to every destination but itself."""

    sources: tuple[str, ...]
    destinations: tuple[str, ...]
    protocol: str = ""
    group: str = ""
    process: str = ""
    name: str = ""
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True)
class Network:
    """Everything that is checked, apart from the properties."""

    nodes: tuple[Node, ...]
    links: frozenset[frozenset[str]]
    traffic: tuple[Traffic, ...]
    snapshots: tuple[Snapshot, ...]
    name: str = "network"

    @cached_property
    def addresses(self) -> dict[str, str]:
        """The address of each node, empty if it has none."""
        return {node.name: node.address for node in self.nodes}

    def narrow(self, traffic: tuple[Traffic, ...], snapshots: tuple[Snapshot, ...]) -> Network:
        """The same nodes and links with other traffic and snapshots; what was worked out of them is kept."""
        found = Network(self.nodes, self.links, traffic, snapshots, self.name)
        vars(found)["addresses"] = self.addresses
        if "neighbours" in vars(self):
            vars(found)["neighbours"] = self.neighbours
        return found

    @cached_property
    def neighbours(self) -> dict[str, tuple[str, ...]]:
        """The nodes at the other ends of each node's links, sorted."""
        found: dict[str, set[str]] = {node.name: set() for node in self.nodes}
        for link in self.links:
            for end in link:
                found[end] |= link - {end}
        return {name: tuple(sorted(others)) for name, others in found.items()}
