"""Following all headers at once against walking single packets through random devices with filters, NAT and tunnels."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from kubeproof.network.headers.classes import Fate, follow
from kubeproof.network.headers.model import (
    EVERYTHING,
    OWN_ADDRESS,
    TUNNELS,
    Box,
    Chain,
    Device,
    Devices,
    Interface,
    Route,
    Rule,
    Tunnel,
    prefix,
)
from kubeproof.network.headers.walk import walk

BLOCK = 40
PACKETS = 40  # of one network
BASE = 10 << 24


def random_devices(random: Random) -> Devices:
    """Three to five routers on a few shared networks, with whatever rules."""
    count = random.randint(3, 5)
    networks = [BASE | number << 8 for number in range(count)]
    devices = []
    for place in range(count):
        joined = sorted({place, (place + 1) % count, *random.sample(range(count), 1)})
        interfaces = tuple(Interface(f"eth{i}", networks[number] | place + 1, 24) for i, number in enumerate(joined))
        devices.append((f"r{place}", interfaces))
    return Devices("random", tuple(random_device(random, *one, devices) for one in devices))


def random_device(
    random: Random, name: str, interfaces: tuple[Interface, ...], everybody: list[tuple[str, tuple[Interface, ...]]]
) -> Device:
    addresses = [one.address for _, listed in everybody for one in listed]
    others = [one.address for other, listed in everybody if other != name for one in listed]
    tunnels = tuple(
        Tunnel(f"tun{i}", random.choice(interfaces).address, random.choice(others), random.choice(list(TUNNELS)))
        for i in range(random.choice((0, 0, 1, 1, 2)))
    )
    ways = [one.name for one in (*interfaces, *tunnels)]
    routes = tuple(random_route(random, interfaces, ways, others) for _ in range(random.randint(1, 5)))
    own = {
        f"filter/own{i}": Chain(random_rules(random, addresses, ways, ()), "") for i in range(random.choice((0, 1, 2)))
    }
    chains = dict(own)
    for hook in ("filter/INPUT", "filter/FORWARD", "filter/OUTPUT"):
        if random.random() < 0.5:
            policy = random.choice(("accept", "accept", "drop"))
            chains[hook] = Chain(random_rules(random, addresses, ways, tuple(own)), policy)
    for hook, places in (("nat/PREROUTING", (1, 4)), ("nat/POSTROUTING", (0, 3))):
        if random.random() < 0.5:
            rules = tuple(random_nat(random, addresses, ways, places) for _ in range(random.choice((1, 2))))
            chains[hook] = Chain(rules)
    return Device(name, interfaces, routes, tunnels, chains)


def random_route(random: Random, interfaces: tuple[Interface, ...], ways: list[str], others: list[int]) -> Route:
    length = random.choice((0, 8, 16, 24, 24, 30, 32))
    to = prefix(random.choice(others), length)
    way = random.choice([*ways, ""]) if random.random() < 0.5 else random.choice(interfaces).name
    near = [a for a in others for one in interfaces if one.name == way and one.network[0] <= a <= one.network[1]]
    via = random.choice(near) if near and random.random() < 0.9 else None
    return Route(to, length, way, via, random.choice((0, 0, 10)))


def random_boxes(random: Random, addresses: list[int]) -> tuple[Box, ...]:
    box = list(EVERYTHING)
    for place in (0, 1):
        if random.random() < 0.4:
            box[place] = prefix(random.choice(addresses), random.choice((16, 24, 30, 32)))
    if random.random() < 0.4:
        box[2] = (random.choice((6, 17)),) * 2
    if random.random() < 0.4:
        first = random.choice((22, 80, 443))
        box[4] = (first, first + random.choice((0, 1, 400)))
    if random.random() < 0.2:  # a negation: two boxes
        low, high = box[4]
        return (*box[:4], (0, max(low - 1, 0))), (*box[:4], (min(high + 1, 65535), 65535))
    return (tuple(box),)


def random_rules(random: Random, addresses: list[int], ways: list[str], own: tuple[str, ...]) -> tuple[Rule, ...]:
    found = []
    for _ in range(random.randint(0, 3)):
        verdict = random.choice(("accept", "drop", "return", *(("jump",) if own else ())))
        found.append(
            Rule(
                random_boxes(random, addresses),
                verdict,
                chain=random.choice(own) if verdict == "jump" else "",
                comes_by=random.choice(("", "", "", *ways, "eth+")),
                leaves_by=random.choice(("", "", "", *ways, "tun+")),
            )
        )
    return tuple(found)


def random_nat(random: Random, addresses: list[int], ways: list[str], places: tuple[int, int]) -> Rule:
    address, port = places
    value = OWN_ADDRESS if address == 0 and random.random() < 0.5 else random.choice(addresses)
    sets = ((address, value), *(((port, random.choice((80, 8080))),) if random.random() < 0.4 else ()))
    return Rule(
        random_boxes(random, addresses),
        "rewrite",
        sets=sets,
        comes_by=random.choice(("", "", *ways)) if address else "",
    )


def random_packet(random: Random, addresses: list[int]) -> tuple[int, ...]:
    ends = [random.choice([*addresses, BASE | random.getrandbits(11)]) for _ in range(2)]
    return (
        *ends,
        random.choice((1, 6, 17, 4)),
        random.getrandbits(16),
        random.choice((0, 22, 80, 81, 443, 4789, 8080)),
    )


def has(box: Box, packet: tuple[int, ...]) -> bool:
    return all(low <= value <= high for value, (low, high) in zip(packet, box, strict=True))


def headers_of(fate: Fate, packet: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(packet[place] if value is None else value for place, value in enumerate(frame))
        for frame in fate.packets.frames
    )


def check_devices(seed: int) -> Counter[str]:
    random = Random(f"headers/{seed}")
    devices = random_devices(random)
    start = random.choice(devices.devices)
    fates = follow(devices, start, EVERYTHING)
    addresses = [one.address for device in devices.devices for one in device.interfaces]
    seen: Counter[str] = Counter()
    for _ in range(PACKETS):
        packet = random_packet(random, addresses)
        (fate,) = [one for one in fates if has(one.packets.origin, packet)]
        end = walk(devices, start.name, packet)
        assert fate.how == end.how, (seed, packet)
        if fate.how != "loop":
            assert (fate.device, headers_of(fate, packet)) == (end.device, end.headers), (seed, packet)
        seen[end.how] += 1
        seen["wrapped"] += any("wraps" in hop.text for hop in fate.hops)
        seen["rewritten"] += any("rewrites" in hop.text for hop in fate.hops)
    return seen


def check_block(block: int) -> None:
    total = sum((check_devices(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK)), Counter[str]())

    assert {"delivered", "dropped", "left", "wrapped", "rewritten"} <= set(total)


@pytest.mark.parametrize("block", range(2))
def test_every_packet_has_one_class_that_ends_as_it_does(block: int) -> None:
    check_block(block)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2, 40))
def test_many_more_devices(block: int) -> None:
    check_block(block)
