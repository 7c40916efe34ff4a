"""The nodes of a plan: in places, with those that are interchangeable."""

from __future__ import annotations

from kubeproof.cluster.loops.footprint import ON_NODES, Writes
from kubeproof.cluster.loops.mentions import Mentions
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.events.declarations import Event, find_writes_of
from kubeproof.model.layout import (
    MOST_SPLIT,
    MOST_SPLIT_AT_WORK,
    find_unread,
    make_layout,
    mentions,
    split_small,
    symmetric_domains,
)
from kubeproof.model.planning.given import Given
from kubeproof.named_tuples import NamedTuple

RESIZING = Writes.SIZES | Writes.TEMPLATES | Writes.REMOVALS  # after which a ReplicaSet may have to choose victims


class Ground(NamedTuple):
    """Where pods run."""

    layout: Layout
    domains: tuple[tuple[tuple[int, ...], ...], ...]  # families of interchangeable blocks of places
    classes: int  # kinds of nodes that something tells apart
    joined: int  # the same with nodes of nearly the same size as one
    unread: tuple[str, ...]  # labels and resources of nodes that nothing reads
    mentions: Mentions


def lay_out(given: Given) -> Ground:
    """The nodes of an input that was expanded."""
    setup, events = given.setup, given.events
    names = [node for _, spots in given.placement for node, _ in spots]
    names += [one.node for one in given.running if one.node]
    found = mentions(setup, events, given.intents, names, given.told_apart)
    for mention in given.also:
        mention(found, setup)
    found.numeric_keys |= {key for loop in given.own for key in loop.labels}
    layout = make_layout(setup, found, merge=given.merge, told_by=given.told_by)
    classes = len(layout.places)
    may_join = given.may_merge and given.told_by is None and _may_join(setup)
    joined = len(make_layout(setup, found, told_by=()).places) if may_join else classes
    most = MOST_SPLIT_AT_WORK if _works_on_nodes(setup, events) else MOST_SPLIT
    layout, domains = split_small(layout, symmetric_domains(layout, found), most) if given.merge else (layout, ())
    layout = layout.restrict_to(found.labels) if given.is_checked else layout
    return Ground(layout, domains, classes, joined, find_unread(setup, found), found)


def _may_join(setup: Setup) -> bool:
    """True if nodes differ in size and everybody who reads sizes asks for all that a class has."""
    sizes = {(node.cpu_milli, node.memory_bytes, node.others) for node in setup.nodes}
    return len(sizes) > 1 and setup.cluster_autoscaler is None


def _works_on_nodes(setup: Setup, events: tuple[Event, ...]) -> bool:
    """True if something happens to single nodes, and no size falls: victims are chosen place by place."""
    written = find_writes_of(events)
    return not setup.autoscalers and not written & RESIZING and bool(written & ON_NODES & ~Writes.ARRIVALS)
