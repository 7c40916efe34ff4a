"""Networks to measure and to learn with: the home network and fat trees, with faults on request."""

from __future__ import annotations

from dataclasses import replace

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
