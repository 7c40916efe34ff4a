"""Follows all headers at once: sets of packets are split where devices treat them differently.

A class is a box of headers that packets had where they started, and for every header that they carry now, innermost
first, which fields were given a value since. A field without one still is as it started. So what was rewritten is
known exactly, and a class never stands for packets that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kubeproof.named_tuples import NamedTuple
from kubeproof.network.headers.model import (
    ACCEPT,
    DROP,
    DST,
    FORWARD,
    INPUT,
    JUMP,
    OUTPUT,
    OWN_ADDRESS,
    POSTROUTING,
    PREROUTING,
    RETURN,
    REWRITE,
    Box,
    Device,
    Devices,
    Route,
    Rule,
    fits,
    show_address,
)
from kubeproof.values import dataclass

Frame = tuple[int | None, ...]  # values that fields were given; None: as it started
BARE: Frame = (None,) * 5
DELIVERED, LEFT, LOST, ROUND = "delivered", "left", "dropped", "loop"
MOST_FRAMES = 4
MOST_CLASSES = 100_000
MOST_JUMPS = 32


class TooManyClasses(Exception):
    """Packets fall apart into more classes than are followed."""


class Class(NamedTuple):
    """Packets that everything so far treated alike."""

    origin: Box
    frames: tuple[Frame, ...] = (BARE,)  # the last one is the outermost header


@dataclass(frozen=True, slots=True)
class Hop:
    """Something that happened on the way."""

    device: str
    text: str
    rule: Rule | Route | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a class."""

    how: str
    device: str
    packets: Class
    hops: tuple[Hop, ...]


def follow(devices: Devices, start: Device, box: Box, *, most: int = MOST_CLASSES) -> list[Fate]:
    """What becomes of every packet in a box that a device sends; the boxes of the classes are disjoint."""
    return _Follower(devices, most).run(start, Class(box))


def split(packets: Class, boxes: Iterable[Box]) -> tuple[list[Class], list[Class]]:
    """The packets whose outermost header is in one of some disjoint boxes, and the others."""
    inside, rest = [], [packets]
    for box in boxes:
        kept = []
        for one in rest:
            hit, missed = _split_box(one, box)
            inside += hit
            kept += missed
        rest = kept
    return inside, rest


def _split_box(packets: Class, box: Box) -> tuple[list[Class], list[Class]]:
    frame = packets.frames[-1]
    if any(value is not None and not box[place][0] <= value <= box[place][1] for place, value in enumerate(frame)):
        return [], [packets]
    origin = list(packets.origin)
    missed = []
    for place, value in enumerate(frame):
        if value is not None:
            continue
        (first, last), (begin, end) = origin[place], box[place]
        if last < begin or end < first:
            return [], [packets]
        if first < begin:
            missed.append(_with_range(origin, place, (first, begin - 1), packets))
        if last > end:
            missed.append(_with_range(origin, place, (end + 1, last), packets))
        origin[place] = (max(first, begin), min(last, end))
    return [packets._replace(origin=tuple(origin))], missed


def _with_range(origin: list[tuple[int, int]], place: int, values: tuple[int, int], packets: Class) -> Class:
    return packets._replace(origin=(*origin[:place], values, *origin[place + 1 :]))


def rewrite(packets: Class, sets: Iterable[tuple[int, int]]) -> Class:
    """The packets with some fields of the outermost header given a value."""
    frame = list(packets.frames[-1])
    for place, value in sets:
        frame[place] = value
    return packets._replace(frames=(*packets.frames[:-1], tuple(frame)))


class _Follower:
    """Follows classes through devices, the oldest first."""

    def __init__(self, devices: Devices, most: int) -> None:
        self._devices = devices
        self._most = most
        self._fates: list[Fate] = []
        self._steps = 0
        self._pending: list[Callable[[], None]] = []

    def run(self, start: Device, packets: Class) -> list[Fate]:
        self._send(start, packets, (), frozenset())
        while self._pending:
            self._pending.pop()()
        return self._fates

    def _end(self, how: str, device: Device, packets: Class, hops: tuple[Hop, ...]) -> None:
        self._fates.append(Fate(how, device.name, packets, hops))
        self._count()

    def _count(self) -> None:
        self._steps += 1
        if self._steps > self._most:
            raise TooManyClasses

    def _send(self, device: Device, packets: Class, hops: tuple[Hop, ...], seen: frozenset[object]) -> None:
        """What the device itself sends."""
        for kind, one, rule in self._chain(device, OUTPUT, packets, "", ""):
            if kind == DROP:
                self._end(LOST, device, one, (*hops, Hop(device.name, "drops what it sends itself", rule)))
            else:
                self._route(device, one, "", hops, seen)

    def _arrive(
        self, device: Device, interface: str, packets: Class, hops: tuple[Hop, ...], seen: frozenset[object]
    ) -> None:
        """What comes in at an interface."""
        self._count()
        place = (device.name, interface, packets.frames)
        if place in seen:
            self._end(ROUND, device, packets, (*hops, Hop(device.name, f"has had it at {interface} before")))
            return
        seen |= {place}
        for _, one, rule in self._chain(device, PREROUTING, packets, interface, ""):
            told = hops if one.frames == packets.frames else (*hops, _told_rewrite(device, packets, one, rule))
            self._take(device, interface, one, told, seen)

    def _take(
        self, device: Device, interface: str, packets: Class, hops: tuple[Hop, ...], seen: frozenset[object]
    ) -> None:
        """Keeps what is for the device, forwards the rest."""
        rest = [packets]
        for address in dict.fromkeys((*(i.address for i in device.interfaces), *(t.local for t in device.tunnels))):
            inside, rest = _split_all(rest, _to(address, address))
            for one in inside:
                self._keep(device, interface, one, address, hops, seen)
        for one in rest:
            self._route(device, one, interface, hops, seen)

    def _keep(
        self, device: Device, interface: str, packets: Class, address: int, hops: tuple[Hop, ...],
        seen: frozenset[object],
    ) -> None:  # fmt: skip
        for kind, one, rule in self._chain(device, INPUT, packets, interface, ""):
            if kind == DROP:
                self._end(LOST, device, one, (*hops, Hop(device.name, "drops what is for it", rule)))
                continue
            rest = [one]
            for tunnel in device.tunnels:
                local, remote, protocol, _, port = tunnel.outer
                ports = (port, port) if port else (0, 65535)
                box: Box = ((remote, remote), (local, local), (protocol, protocol), (0, 65535), ports)
                inside, rest = _split_all(rest, (box,))
                for each in inside:
                    self._unwrap(device, tunnel.name, each, hops, seen)
            for each in rest:
                self._end(DELIVERED, device, each, (*hops, Hop(device.name, f"takes it at {show_address(address)}")))

    def _unwrap(
        self, device: Device, tunnel: str, packets: Class, hops: tuple[Hop, ...], seen: frozenset[object]
    ) -> None:
        if len(packets.frames) == 1:
            self._end(LOST, device, packets, (*hops, Hop(device.name, f"finds nothing wrapped for {tunnel}")))
            return
        inner = packets._replace(frames=packets.frames[:-1])
        told = (*hops, Hop(device.name, f"unwraps it from {tunnel}"))
        self._pending.append(lambda: self._arrive(device, tunnel, inner, told, seen))

    def _route(
        self, device: Device, packets: Class, interface: str, hops: tuple[Hop, ...], seen: frozenset[object]
    ) -> None:
        """Sends packets where routes tell; `interface` is where they came in, empty for what it sends itself."""
        rest = [packets]
        for route in device.table():
            inside, rest = _split_all(rest, _to(*route.to))
            for one in inside:
                if not route.interface:
                    self._end(LOST, device, one, (*hops, Hop(device.name, "routes it nowhere", route)))
                else:
                    self._forward(device, one, interface, route, hops, seen)
        for one in rest:
            self._end(LOST, device, one, (*hops, Hop(device.name, "has no route for it")))

    def _forward(
        self, device: Device, packets: Class, interface: str, route: Route, hops: tuple[Hop, ...],
        seen: frozenset[object],
    ) -> None:  # fmt: skip
        filtered = (
            self._chain(device, FORWARD, packets, interface, route.interface)
            if interface
            else [(ACCEPT, packets, None)]
        )
        for kind, one, rule in filtered:
            if kind == DROP:
                self._end(LOST, device, one, (*hops, Hop(device.name, "does not forward it", rule)))
                continue
            for _, each, nat in self._chain(device, POSTROUTING, one, interface, route.interface):
                told = hops if each.frames == one.frames else (*hops, _told_rewrite(device, one, each, nat))
                self._leave(device, each, route, told, seen)

    def _leave(
        self, device: Device, packets: Class, route: Route, hops: tuple[Hop, ...], seen: frozenset[object]
    ) -> None:
        tunnel = next((one for one in device.tunnels if one.name == route.interface), None)
        if tunnel is not None:
            told = (*hops, Hop(device.name, f"wraps it into {tunnel.name}", route))
            if len(packets.frames) == MOST_FRAMES:
                self._end(LOST, device, packets, (*told, Hop(device.name, "would wrap it too often")))
                return
            place = (device.name, tunnel.name, "wraps", packets.frames)
            if place in seen:
                self._end(
                    ROUND, device, packets, (*told, Hop(device.name, f"has wrapped it into {tunnel.name} before"))
                )
                return
            wrapped = packets._replace(frames=(*packets.frames, tunnel.outer))
            onward = seen | {place}
            self._pending.append(lambda: self._send(device, wrapped, told, onward))
            return
        if route.via is not None:
            self._hand_over(device, packets, route, route.via, hops, seen)
            return
        rest = [packets]
        for other in self._devices.devices:
            for one in other.interfaces if other is not device else ():
                if route.to[0] <= one.address <= route.to[1]:
                    inside, rest = _split_all(rest, _to(one.address, one.address))
                    for each in inside:
                        self._hand_over(device, each, route, one.address, hops, seen)
        for each in rest:
            self._end(LEFT, device, each, (*hops, Hop(device.name, f"sends it out of {route.interface}", route)))

    def _hand_over(
        self, device: Device, packets: Class, route: Route, address: int, hops: tuple[Hop, ...],
        seen: frozenset[object],
    ) -> None:  # fmt: skip
        owner = self._devices.owner(address, device)
        told = f"sends it out of {route.interface} to {show_address(address)}"
        hops = (*hops, Hop(device.name, told, route))
        if owner is None:
            self._end(LEFT, device, packets, hops)
            return
        other, interface = owner
        self._pending.append(lambda: self._arrive(other, interface, packets, hops, seen))

    # Chains of rules

    def _chain(
        self, device: Device, name: str, packets: Class, comes_by: str, leaves_by: str
    ) -> list[tuple[str, Class, Rule | None]]:
        """What a chain decides: accept or drop, the packets as they are then, and the rule that decided."""
        chain = device.chains.get(name)
        if chain is None:
            return [(ACCEPT, packets, None)]
        found: list[tuple[str, Class, Rule | None]] = []
        rest = self._run(device, name, [packets], comes_by, leaves_by, found, 0)
        return [*found, *((chain.policy, one, None) for one in rest)]

    def _run(
        self, device: Device, name: str, packets: list[Class], comes_by: str, leaves_by: str,
        found: list[tuple[str, Class, Rule | None]], depth: int,
    ) -> list[Class]:  # fmt: skip
        """The packets that a chain returns; what is decided goes to `found`."""
        if depth > MOST_JUMPS:
            raise TooManyClasses
        returned: list[Class] = []
        for rule in device.chains[name].rules:
            if not fits(rule.comes_by, comes_by) or not fits(rule.leaves_by, leaves_by):
                continue
            inside, packets = _split_all(packets, rule.boxes)
            self._steps += len(inside)
            self._count()
            if rule.verdict in (ACCEPT, DROP):
                found += [(rule.verdict, one, rule) for one in inside]
            elif rule.verdict == REWRITE:
                sets = [(place, device.address_of(leaves_by) if v == OWN_ADDRESS else v) for place, v in rule.sets]
                found += [(ACCEPT, rewrite(one, sets), rule) for one in inside]
            elif rule.verdict == JUMP:
                back = self._run(device, rule.chain, inside, comes_by, leaves_by, found, depth + 1) if inside else []
                packets = [*packets, *back]
            elif rule.verdict == RETURN:
                returned += inside
        return [*returned, *packets]


def _split_all(many: list[Class], boxes: Iterable[Box]) -> tuple[list[Class], list[Class]]:
    kept = tuple(boxes)
    inside, rest = [], []
    for one in many:
        hit, missed = split(one, kept)
        inside += hit
        rest += missed
    return inside, rest


def _to(first: int, last: int) -> tuple[Box, ...]:
    return (((0, 2**32 - 1), (first, last), (0, 255), (0, 65535), (0, 65535)),)


def _told_rewrite(device: Device, before: Class, after: Class, rule: Rule | None) -> Hop:
    old, new = before.frames[-1], after.frames[-1]
    changed = [place for place in range(5) if old[place] != new[place]]
    texts = (_told_value(place, new[place]) for place in changed)
    return Hop(device.name, f"rewrites {', '.join(texts)}", rule)


def _told_value(place: int, value: int | None) -> str:
    name = ("source", "destination", "protocol", "source port", "destination port")[place]
    assert value is not None
    return f"{name} to {show_address(value) if place <= DST else value}"
