"""Devices with interfaces, routes, tunnels and chains of rules, and sets of headers as boxes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass

FIELDS = ("src", "dst", "proto", "sport", "dport")
SRC, DST, PROTO, SPORT, DPORT = range(5)
Range = tuple[int, int]  # first and last
Box = tuple[Range, ...]  # one range for each field
EVERYTHING: Box = ((0, 2**32 - 1), (0, 2**32 - 1), (0, 255), (0, 65535), (0, 65535))
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "sctp": 132}
TUNNELS = {"ipip": (4, 0), "gre": (47, 0), "vxlan": (17, 4789)}  # protocol and port of the outer header

ACCEPT, DROP, RETURN, JUMP, REWRITE = "accept", "drop", "return", "jump", "rewrite"
PREROUTING, INPUT, FORWARD, OUTPUT, POSTROUTING = (
    "nat/PREROUTING",
    "filter/INPUT",
    "filter/FORWARD",
    "filter/OUTPUT",
    "nat/POSTROUTING",
)
OWN_ADDRESS = -1  # in a rewrite: the address of the interface that the packet leaves by


@dataclass(frozen=True, slots=True)
class Interface:
    """A way in and out, with an address in a network."""

    name: str
    address: int
    length: int

    @property
    def network(self) -> Range:
        return prefix(self.address, self.length)


@dataclass(frozen=True, slots=True)
class Tunnel:
    """Wraps packets that leave by it, and unwraps what comes from the other end."""

    name: str
    local: int
    remote: int
    kind: str

    @property
    def outer(self) -> tuple[int, ...]:
        """The header of wrapped packets; the port that they come from is left at 0."""
        protocol, port = TUNNELS[self.kind]
        return self.local, self.remote, protocol, 0, port


@dataclass(frozen=True, slots=True)
class Route:
    """Where packets to some addresses go; of those that match the longest prefix counts, then the lowest metric."""

    to: Range
    length: int
    interface: str = ""  # empty: they are dropped
    via: int | None = None
    metric: int = 0
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to packets in one of some disjoint boxes; `sets` are fields that a rewrite gives a value."""

    boxes: tuple[Box, ...]
    verdict: str
    chain: str = ""  # of a jump
    sets: tuple[tuple[int, int], ...] = ()
    comes_by: str = ""  # interface; ends with + for all that begin so
    leaves_by: str = ""
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Chain:
    """Rules, the first of which that decides counts; then the policy, and for chains of one's own none: they return."""

    rules: tuple[Rule, ...] = ()
    policy: str = ACCEPT


@dataclass(frozen=True, slots=True)
class Device:
    """A host or router."""

    name: str
    interfaces: tuple[Interface, ...]
    routes: tuple[Route, ...] = ()
    tunnels: tuple[Tunnel, ...] = ()
    chains: dict[str, Chain] = field(default_factory=dict)
    source: Source = field(default=Source(), compare=False)

    def address_of(self, interface: str) -> int:
        """The address of an interface; the near end of a tunnel."""
        for one in self.interfaces:
            if one.name == interface:
                return one.address
        return next(tunnel.local for tunnel in self.tunnels if tunnel.name == interface)

    def table(self) -> tuple[Route, ...]:
        """All routes, those to the networks of its interfaces included, the strongest first."""
        own = (Route(one.network, one.length, one.name) for one in self.interfaces)
        return tuple(sorted((*self.routes, *own), key=lambda route: (-route.length, route.metric)))


@dataclass(frozen=True, slots=True)
class Devices:
    """Everything that packets meet; devices whose interfaces have addresses in one network are linked by it."""

    name: str
    devices: tuple[Device, ...]

    def find(self, name: str) -> Device | None:
        return next((one for one in self.devices if one.name == name), None)

    def owner(self, address: int, near: Device) -> tuple[Device, str] | None:
        """Another device that has the address, and its interface."""
        for device in self.devices:
            for one in device.interfaces:
                if one.address == address and device is not near:
                    return device, one.name
        return None


def prefix(address: int, length: int) -> Range:
    """The first and the last address of a prefix."""
    free = 32 - length
    first = address >> free << free
    return first, first + (1 << free) - 1


def fits(pattern: str, interface: str) -> bool:
    """True if a rule's pattern of interfaces covers one."""
    if pattern.endswith("+"):
        return interface.startswith(pattern[:-1])
    return not pattern or pattern == interface


def show_address(number: int) -> str:
    """An address as people write it."""
    return ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))


def show_box(box: Box) -> str:
    """A set of headers for people: what is restricted."""
    return ", ".join(_show_fields(box)) or "any packet"


def _show_fields(box: Box) -> Iterator[str]:
    names = {number: name for name, number in PROTOCOLS.items()}
    for place, name in enumerate(FIELDS):
        first, last = box[place]
        if (first, last) == EVERYTHING[place]:
            continue
        if place in (SRC, DST):
            yield f"{name} {show_range(first, last)}"
        elif place == PROTO and first == last:
            yield names.get(first, f"protocol {first}")
        else:
            yield f"{name} {first}" if first == last else f"{name} {first}-{last}"


def show_range(first: int, last: int) -> str:
    """Addresses as a prefix if they are one."""
    size = last - first + 1
    if size & (size - 1) == 0 and first % size == 0:
        return show_address(first) + ("" if size == 1 else f"/{33 - size.bit_length()}")
    return f"{show_address(first)}-{show_address(last)}"
