"""Which nodes nobody can tell apart: the cone of influence, places, and interchangeable domains.

Only labels that some selector, constraint, event or property reads take part. Nodes that agree in those, in taints,
cordon and allocatable resources share a place, unless something names one of them. A key whose value is different on
every node (host names) makes every node a domain of its own and so does not tell nodes apart. If exactly one other
topology key is in use, domains with equal nodes are interchangeable as wholes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.footprint import UNKNOWN, Writes, footprint_of
from kubeproof.cluster.loops.mentions import BASIC, Mention, Mentions, mention_everything, mention_nothing, mention_of
from kubeproof.cluster.nodes.images import image_sizes
from kubeproof.cluster.nodes.near_nodes import Tells, join_near
from kubeproof.cluster.nodes.places import Layout, Place
from kubeproof.cluster.objects import Node, Setup, Workload
from kubeproof.controllers.guard import Guarded
from kubeproof.controllers.node_lifecycle import mention_zones
from kubeproof.controllers.scheduler.mentions import mention_scheduling
from kubeproof.events.declarations import Event, NodeChoice, find_writes_of
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import mention_nodes
from kubeproof.values import replace


def mentions(
    setup: Setup,
    events: Iterable[Event],
    intents: Iterable[Intent],
    names: Iterable[str],
    told_apart: Iterable[NodeChoice] = (),
) -> Mentions:
    """Everything about nodes that can influence a controller, an event, a property or a bill."""
    found = Mentions(names=set(names))
    for mention in _usual(setup, events):
        mention(found, setup)
    for event in events:
        mention_event(found, setup, event)
    for choice in told_apart:
        choice.mention(found)
    for intent in intents:
        mention_nodes(found, intent, setup)
    return found


def _usual(setup: Setup, events: Iterable[Event]) -> Iterator[Mention]:
    """What loops of the cluster mention that may do something; `find_left_out` finds those that are missing here."""
    yield mention_scheduling
    if setup.descheduler is not None:
        from kubeproof.controllers.descheduler.mentions import mention_policy

        yield mention_policy
    if setup.cluster_autoscaler is not None:
        from kubeproof.controllers.cluster_autoscaler.round import mention_groups

        yield mention_groups
    if find_writes_of(events) & Writes.FAILURES:
        yield mention_zones


def mention_event(found: Mentions, setup: Setup, event: Event) -> None:
    """Adds what an event reads of nodes: everything if it says nothing of itself."""
    event.mention_nodes(found)
    if footprint_of(event) == UNKNOWN:
        mention_everything(found, setup)


def find_left_out(found: Mentions, setup: Setup, events: Iterable[Event], loops: Iterable[Loop]) -> tuple[Mention, ...]:
    """What loops mention that was not asked for when the nodes were sorted.

    Zones decide about taints of nodes that fail, and are asked for if some may.
    """
    known = {mention_nothing, mention_zones, *_usual(setup, events)}
    kinds = {type(loop.inner if isinstance(loop, Guarded) else loop) for loop in loops}
    own = {mention for kind in kinds if (mention := mention_of(kind)) not in known}
    return tuple(mention for mention in own if not found.covers(_collect_mentions(mention, setup)))


def _collect_mentions(mention: Mention, setup: Setup) -> Mentions:
    found = Mentions()
    mention(found, setup)
    return found


def settle_arrived(setup: Setup, targeted: Container[str]) -> Setup:
    """The setup in which bare Pods that already run do not ask for a node any more: nobody creates them again."""

    def settle(workload: Workload) -> Workload:
        runs = workload.rules.is_pod and workload.bound_to is not None and workload.ref not in targeted
        return replace(workload, template=replace(workload.template, node_name=None)) if runs else workload

    return replace(setup, workloads=tuple(settle(workload) for workload in setup.workloads))


def alike(setup: Setup, targeted: Container[str]) -> tuple[int, ...]:
    """Per workload the first one that nobody can tell from it: itself, or for bare Pods that already run an equal one.

    Where such a pod runs is content of its node. `targeted` are those that an event, a property or a placement names.
    """
    first: dict[Workload, int] = {}
    found = []
    for index, workload in enumerate(setup.workloads):
        runs = workload.rules.is_pod and workload.bound_to is not None and workload.ref not in targeted
        found.append(first.setdefault(replace(workload, name="", bound_to=""), index) if runs else index)
    return tuple(found)


def find_unread(setup: Setup, found: Mentions) -> tuple[str, ...]:
    """What of the nodes nothing in the input reads: keys of labels, names of resources."""
    labels = {key for node in setup.nodes for key, _ in node.labels} - found.labels
    resources = {name for node in setup.nodes for name, _ in node.others}
    left = () if found.every_resource else sorted(resources - found.resources)
    return (*(f"label {key}" for key in sorted(labels)), *(f"resource {name}" for name in left))


def _resources_read(found: Mentions) -> frozenset[str] | None:
    """Resources beyond CPU, memory and the number of pods that somebody reads; None: perhaps all."""
    return None if found.every_resource else frozenset(found.resources - BASIC)


def unique_keys(setup: Setup, found: Mentions) -> frozenset[str]:
    """Topology keys whose value no two nodes share."""
    return frozenset(key for key in found.topology if _is_unique(setup, key))


def _is_unique(setup: Setup, key: str) -> bool:
    values = [dict(node.labels)[key] for node in setup.nodes if key in dict(node.labels)]
    return bool(values) and len(values) == len(set(values))


def make_layout(setup: Setup, found: Mentions, *, merge: bool = True, told_by: Sequence[Tells] | None = None) -> Layout:
    """Sorts the nodes into places; with `merge` off every node is a place of its own and no key counts as unique.

    With `told_by`, nodes of nearly the same size share a place unless one of its answers tells them apart.
    """
    unique = unique_keys(setup, found) if merge else frozenset()
    kept = _resources_read(found)
    images = frozenset(image_sizes(setup))
    groups: dict[object, list[int]] = {}
    nodes = setup.nodes if told_by is None else join_near(setup.nodes, kept, told_by)
    for index, node in enumerate(nodes):
        signature = _signature(node, found, unique, None, kept, images) if merge else index
        groups.setdefault(signature, []).append(index)
    places = tuple(Place(nodes[members[0]], tuple(members)) for members in groups.values())
    return Layout(setup, places, unique)


def _signature(
    node: Node,
    found: Mentions,
    unique: frozenset[str],
    without: str | None,
    kept: frozenset[str] | None,
    images: frozenset[str],
) -> tuple[object, ...]:
    """What tells this node from others; `without` leaves out the value of one topology key unless it is mentioned."""
    labels = tuple(_label_facts(dict(node.labels), found, unique, without))
    name = node.name if node.name in found.names else ""
    others = tuple((n, amount) for n, amount in node.others if kept is None or n in kept)
    resources = (node.sizes or (node.cpu_milli, node.memory_bytes, node.pods, others), node.held)
    listed = tuple((image, size) for image, size in node.images if image in images)
    return labels, node.taints, node.unschedulable, resources, name, listed, node.group, node.keeps


def _label_facts(
    labels: dict[str, str], found: Mentions, unique: frozenset[str], without: str | None
) -> Iterator[tuple[str, str | None]]:
    for key in sorted(found.labels):
        value = labels.get(key)
        hidden = key in found.topology and (key in unique or key == without) and key not in found.numeric_keys
        unread = hidden or (key not in found.topology and key not in found.numeric_keys)
        if value is not None and unread and (key, value) not in found.values:
            value = "*"  # present, its value read by nobody
        yield key, value


def symmetric_domains(layout: Layout, found: Mentions) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Families of interchangeable domains, each a tuple of places in matching order.

    Empty unless exactly one topology key with shared values is in use.
    """
    nodes = layout.setup.nodes
    shared = {key for key in found.topology - layout.unique_keys if any(key in dict(n.labels) for n in nodes)}
    if len(shared) != 1:
        return ()
    (key,) = shared
    kept, images = _resources_read(found), frozenset(image_sizes(layout.setup))
    domains: dict[str, list[tuple[str, int]]] = {}
    for index, place in enumerate(layout.places):
        value = dict(place.sample.labels).get(key)
        if value is not None:
            signature = repr((_signature(place.sample, found, layout.unique_keys, key, kept, images), place.size))
            domains.setdefault(value, []).append((signature, index))
    families: dict[tuple[str, ...], list[tuple[int, ...]]] = {}
    for members in domains.values():
        members.sort()
        profile = tuple(signature for signature, _ in members)
        families.setdefault(profile, []).append(tuple(index for _, index in members))
    return tuple(tuple(blocks) for blocks in families.values() if len(blocks) > 1)


Families = tuple[tuple[tuple[int, ...], ...], ...]
MOST_SPLIT = 3  # nodes up to which a place is split; larger ones stay multisets
MOST_SPLIT_AT_WORK = 8  # the same where single nodes fail or are drained, and their contents differ for long


def split_small(layout: Layout, domains: Families, most: int = MOST_SPLIT) -> tuple[Layout, Families]:
    """Small places as one place per node, with the nodes of each as an interchangeable family.

    Both forms forget the same names. One cell per node is remembered far more often than one cell per combination of
    contents; one cell for a thousand nodes keeps the state small. Families of nodes come first, families of whole
    domains after them, so that sorting in this order gives one form to all permutations.
    """
    places: list[Place] = []
    parts: list[tuple[int, ...]] = []
    for place in layout.places:
        pieces = [(node,) for node in place.nodes] if place.size <= most else [place.nodes]
        first = len(places)
        sizes = place.sample.sizes
        places += [Place(replace(layout.setup.nodes[piece[0]], sizes=sizes), piece) for piece in pieces]
        parts.append(tuple(range(first, first + len(pieces))))
    nodes = tuple(tuple((place,) for place in part) for part in parts if len(part) > 1)
    wholes = tuple(tuple(tuple(p for old in block for p in parts[old]) for block in family) for family in domains)
    return Layout(layout.setup, tuple(places), layout.unique_keys), nodes + wholes
