"""Networks to measure and to learn with: the home network and fat trees, with faults on request."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address, ip_network
from random import Random

from kubeproof.errors import UsageError
from kubeproof.network.model import Match, Network, Node, Rule, Snapshot, Traffic

LARGEST_K = 254  # addresses are 10.pod.switch.host


def home(snapshots: int = 4) -> Network:
    """Seven nodes in a star: three devices, access point, router, gateway, internet.

    Devices send to the internet; the router sends what comes from a device to the access point first.
    """
    devices = ("dev1", "dev2", "dev3")
    names = (*devices, "ap", "router", "gateway", "internet")
    links = {frozenset((name, "router")) for name in (*devices, "ap", "gateway")} | {frozenset(("internet", "gateway"))}
    tables: dict[str, tuple[Rule, ...]] = {name: (_to_internet("router"),) for name in (*devices, "ap")}
    tables["router"] = (_to_internet("ap", "dev*"), _to_internet("gateway", "ap"))
    tables["gateway"] = (_to_internet("internet"),)
    return Network(
        nodes=tuple(Node(name) for name in names),
        links=frozenset(links),
        traffic=(Traffic(devices, ("internet",)),),
        snapshots=tuple(Snapshot(f"t{number}", tables) for number in range(snapshots)),
        name="home",
    )


def _to_internet(to: str, in_port: str = "*") -> Rule:
    return Rule(Match(destination="internet", in_port=in_port), (to,))


def fat_tree(k: int, snapshots: int = 6) -> Network:
    """A k-ary fat tree whose background traffic crosses from the first half of the pods to the second.

    Core j of group i is linked to aggregation switch i of every pod; the first core of every group is dedicated to the
    traffic, which therefore goes edge, aggregation, dedicated core, aggregation, edge. From snapshot to snapshot the
    edge switches move on to the next aggregation switch.
    """
    if k < 2 or k % 2 or k > LARGEST_K:
        raise UsageError(f"k is {k}", f"Give an even number from 2 to {LARGEST_K}.")
    half = k // 2
    hosts = [[[host(p, e, h) for h in range(half)] for e in range(half)] for p in range(k)]
    return Network(
        nodes=_nodes(k),
        links=_links(k),
        traffic=(
            Traffic(
                sources=tuple(name for pod in hosts[:half] for edge in pod for name in edge),
                destinations=tuple(name for pod in hosts[half:] for edge in pod for name in edge),
                group="background",
            ),
        ),
        snapshots=_fat_tree_snapshots(k, snapshots),
        name=f"fat tree k={k}",
    )


def host(pod: int, edge: int, number: int) -> str:
    """The name of a host."""
    return f"host-{pod}-{edge}-{number}"


def edge_switch(pod: int, number: int) -> str:
    """The name of an edge switch."""
    return f"edge-{pod}-{number}"


def aggregation(pod: int, number: int) -> str:
    """The name of an aggregation switch."""
    return f"agg-{pod}-{number}"


def core(group: int, number: int) -> str:
    """The name of a core switch; number 0 of each group is dedicated."""
    return f"core-{group}-{number}"


DEDICATED = "core-*-0"


def _nodes(k: int) -> tuple[Node, ...]:
    half = k // 2
    hosts = [Node(host(p, e, h), f"10.{p}.{e}.{h + 2}") for p in range(k) for e in range(half) for h in range(half)]
    edges = [Node(edge_switch(p, e), f"10.{p}.{e}.1") for p in range(k) for e in range(half)]
    aggregations = [Node(aggregation(p, a), f"10.{p}.{half + a}.1") for p in range(k) for a in range(half)]
    cores = [Node(core(i, j), f"10.{k}.{i}.{j + 1}") for i in range(half) for j in range(half)]
    return (*hosts, *edges, *aggregations, *cores)


def _links(k: int) -> frozenset[frozenset[str]]:
    half = k // 2
    links = []
    for p in range(k):
        for e in range(half):
            links += [frozenset((host(p, e, h), edge_switch(p, e))) for h in range(half)]
            links += [frozenset((edge_switch(p, e), aggregation(p, a))) for a in range(half)]
        for a in range(half):
            links += [frozenset((aggregation(p, a), core(a, j))) for j in range(half)]
    return frozenset(links)


def _fat_tree_snapshots(k: int, count: int) -> tuple[Snapshot, ...]:
    """Tables that do not change are the same objects in every snapshot."""
    half = k // 2
    fixed: dict[str, tuple[Rule, ...]] = {}
    for p in range(k):
        for e in range(half):
            fixed.update({host(p, e, h): (_up("*", edge_switch(p, e)),) for h in range(half)})
        down = [_down(f"10.{p}.{e}.0/24", edge_switch(p, e)) for e in range(half)]
        fixed.update({aggregation(p, a): (*down, _up("10.0.0.0/8", core(a, 0))) for a in range(half)})
    for i in range(half):
        table = tuple(_down(f"10.{p}.0.0/16", aggregation(p, i)) for p in range(k))
        fixed.update({core(i, j): table for j in range(half)})
    below = {
        edge_switch(p, e): tuple(_down(host(p, e, h), host(p, e, h)) for h in range(half))
        for p in range(k)
        for e in range(half)
    }
    found = []
    for number in range(count):
        edges = {
            edge_switch(p, e): (*below[edge_switch(p, e)], _up("10.0.0.0/8", aggregation(p, (e + number) % half)))
            for p in range(k)
            for e in range(half)
        }
        found.append(Snapshot(f"t{number}", {**fixed, **edges}))
    return tuple(found)


def _up(destination: str, to: str) -> Rule:
    return Rule(Match(destination=destination, group="background"), (to,))


def _down(destination: str, to: str) -> Rule:
    return Rule(Match(destination=destination, group="background"), (to,), priority=10)


def fib(routers: int = 20, rules: int = 100_000, seed: int = 1) -> Network:
    """Routers in a ring with chords that know the way to prefixes, as routing tables on the internet look: most of them
    /24, some within shorter ones that lead elsewhere, the longest match first.

    Behind every prefix is one node, `net-N`, at one router; every router sends to all of them along a shortest way.
    """
    if routers < 3 or rules < routers:
        raise UsageError(f"{rules} rules at {routers} routers", "Give at least 3 routers and a rule for each.")
    random = Random(seed)
    names = [f"r{number}" for number in range(routers)]
    links = {frozenset((names[number], names[(number + 1) % routers])) for number in range(routers)}
    while len(links) < routers + routers // 2:
        links.add(frozenset(random.sample(names, 2)))
    prefixes = _prefixes(random, rules // routers)
    homes = [random.choice(names) for _ in prefixes]
    nets = [f"net-{number}" for number in range(len(prefixes))]
    onward = {home: _next_hops(names, links, home) for home in names}
    tables = {
        name: tuple(
            Rule(Match(destination=prefix), (net if home == name else onward[home][name],), priority=_length(prefix))
            for prefix, home, net in zip(prefixes, homes, nets, strict=True)
        )
        for name in names
    }
    behind = {frozenset(pair) for pair in zip(nets, homes, strict=True)}
    addresses = _addresses(random, prefixes)
    addressed = [Node(net, address) for net, address in zip(nets, addresses, strict=True)]
    return Network(
        nodes=(*(Node(name) for name in names), *addressed),
        links=frozenset(links | behind),
        traffic=(Traffic(tuple(names), tuple(nets)),),
        snapshots=(Snapshot("now", tables),),
        name=f"{routers} routers",
    )


_LENGTHS = ((24, 60), (23, 10), (22, 12), (21, 5), (20, 5), (19, 3), (18, 2), (16, 3))  # in percent, roughly as routed


def _prefixes(random: Random, count: int) -> list[str]:
    found: dict[str, None] = {}
    shorter: list[tuple[int, int]] = []
    lengths, weights = zip(*_LENGTHS, strict=True)
    while len(found) < count:
        length = random.choices(lengths, weights)[0]
        first = random.getrandbits(length) << (32 - length)
        if shorter and random.random() < 0.3:  # within one that is known
            base, known = random.choice(shorter)
            if known < length:
                first = base | random.getrandbits(length - known) << (32 - length)
        if length < 24:
            shorter.append((first, length))
        found[f"{ip_address(first)}/{length}"] = None
    return list(found)


def _addresses(random: Random, prefixes: list[str]) -> list[str]:
    """An address within each prefix that no longer one has, if a few tries find one."""
    longest = max(map(_length, prefixes))
    taken = {(_first(prefix) >> 32 - _length(prefix), _length(prefix)) for prefix in prefixes}
    found = []
    for prefix in prefixes:
        length = _length(prefix)
        base = _first(prefix)
        for _ in range(20):
            number = base | random.getrandbits(32 - length)
            if not any((number >> 32 - more, more) in taken for more in range(length + 1, longest + 1)):
                break
        found.append(str(ip_address(number)))
    return found


def _first(prefix: str) -> int:
    return int(ip_network(prefix).network_address)


def _length(prefix: str) -> int:
    return int(prefix.rpartition("/")[2])


def _next_hops(names: list[str], links: set[frozenset[str]], goal: str) -> dict[str, str]:
    """Where every router sends what is for one of them."""
    beside = {name: sorted(other for link in links if name in link for other in link - {name}) for name in names}
    found = {goal: goal}
    queue = [goal]
    for name in queue:
        for other in beside[name]:
            if other not in found:
                found[other] = name
                queue.append(other)
    return found


FAULTS = ("bypass", "blackhole", "loop", "link-down")


def with_fault(network: Network, kind: str, node: str, *, first: int, last: int, to: str = "") -> Network:
    """The network with a fault at a node in the snapshots `first` to `last` (from 0, both included).

    bypass: everything goes to `to`, past whatever should come in between; blackhole: everything is dropped;
    loop: everything goes back to where it came from, which is `to`; link-down: the link to `to` carries nothing.
    """
    _check_fault(network, kind, node, to)
    changed = [
        _break(snapshot, kind, node, to) if first <= number <= last else snapshot
        for number, snapshot in enumerate(network.snapshots)
    ]
    return replace(network, snapshots=tuple(changed))


def _check_fault(network: Network, kind: str, node: str, to: str) -> None:
    if kind not in FAULTS:
        raise UsageError(f"no fault {kind!r}", f"There are: {', '.join(FAULTS)}.")
    if node not in network.addresses:
        raise UsageError(f"no node {node!r}", "Name a node of the network.")
    if kind != "blackhole" and to not in network.neighbours[node]:
        raise UsageError(f"{node} has no link to {to!r}", f"Neighbours: {', '.join(network.neighbours[node])}.")


def _break(snapshot: Snapshot, kind: str, node: str, to: str) -> Snapshot:
    if kind == "link-down":
        return replace(snapshot, down=snapshot.down | {frozenset((node, to))})
    targets = () if kind == "blackhole" else (to,)
    strongest = max((rule.priority for rule in snapshot.tables.get(node, ())), default=0)
    table = (Rule(Match(), targets, priority=strongest + 1), *snapshot.tables.get(node, ()))
    return replace(snapshot, tables={**snapshot.tables, node: table})
