"""Which pods of too large domains are marked for eviction: every choice that upstream's sorting leaves open.

Within a domain pods are taken by rank (evictable ones first, those without node selector or affinity first, since
0.34 first of all those that fit a node of a small domain). Pods of one rank are in no order that we could know:

* Up to 0.27 they are listed by name, so any mixture of nodes is possible. Since 0.28 they are listed node by node,
  nodes in any order, and taken in that order.
* Every constraint sorts the same list, so what two constraints take from one node overlaps as far as it can.
* A list of more than 12 pods of one rank is shuffled by Go's sort since 0.33, because equal pods compare as
  smaller both ways (before, and for pods of different ranks, the sort is not stable either). Then any pods may be
  taken, and the overlap is anything between none and full: more outcomes than upstream can have, never fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubeproof.cluster.api import versions
from kubeproof.controllers.descheduler.choices import Takes, any_takes, block_takes, check_limit, share_out
from kubeproof.controllers.descheduler.ledger import NodeState
from kubeproof.controllers.descheduler.values import Version
from kubeproof.named_tuples import NamedTuple

INSERTION_SORT_UP_TO = 12  # pods; Go sorts such lists without changing the order of equals, or by reversing it
LISTED_BY_NODE_SINCE = versions.LISTED_BY_NODE.since
EQUALS_SHUFFLED_SINCE = versions.EQUALS_SHUFFLED.since


class Mark(NamedTuple):
    """`pods` of these groups of a node were taken; nothing tells which groups they belong to."""

    groups: tuple[int, ...]
    marked: tuple[int, ...]  # the groups whose pods are to be evicted; others fit nowhere and were only counted
    pods: int
    in_order: bool  # they are the first of the node's list


class MarkedNode(NamedTuple):
    """A node with what earlier constraints marked there."""

    state: NodeState
    marks: tuple[Mark, ...]


class Rank(NamedTuple):
    """Pods of a node that sort alike: groups, which of them are marked when taken, and how many pods they have."""

    order: tuple[int, ...]  # lower is taken first
    groups: tuple[int, ...]
    marked: tuple[int, ...]
    pods: int


Ranks = Callable[[MarkedNode], tuple[Rank, ...]]
Domain = tuple[tuple[MarkedNode, int], ...]  # the nodes of a domain, with their numbers


def after_loss(domain: Domain, loss: int, ranks: Ranks, version: Version) -> set[Domain]:
    """The domain with `loss` pods taken and marked, for every choice."""
    orders = sorted({rank.order for node, _ in domain for rank in ranks(node)})
    sizes = {order: sum(_of(ranks(node), order).pods * count for node, count in domain) for order in orders}
    in_order = _keeps_order(sum(sizes.values()), len(orders), version)
    ends: set[tuple[tuple[MarkedNode, MarkedNode, int], ...]] = {tuple((node, node, count) for node, count in domain)}
    for order in orders:
        taken = min(loss, sizes[order])
        loss -= taken
        if taken:
            ends = {after for before in ends for after in _take(before, order, taken, ranks, in_order, version)}
    return {_merge((now, count) for _, now, count in end) for end in ends}


def _keeps_order(pods: int, ranks: int, version: Version) -> bool:
    """True if sorting keeps or reverses the order of equals."""
    return pods <= INSERTION_SORT_UP_TO or (ranks == 1 and version < EQUALS_SHUFFLED_SINCE)


Split = tuple[tuple[MarkedNode, MarkedNode, int], ...]  # nodes before and after, with their numbers


def _take(
    split: Split, order: tuple[int, ...], taken: int, ranks: Ranks, in_order: bool, version: Version
) -> set[Split]:
    """The nodes after `taken` pods of one rank are gone, for every distribution over nodes."""
    sizes = [(_of(ranks(node), order).pods, count) for node, _, count in split]
    by_node = in_order and version >= LISTED_BY_NODE_SINCE
    ways: Iterator[tuple[Takes, ...]] = block_takes(sizes, taken) if by_node else any_takes(sizes, taken)
    ends: set[Split] = set()
    for way in ways:
        partial: set[Split] = {()}
        for (node, now, count), takes in zip(split, way, strict=True):
            rank = _of(ranks(node), order)
            pieces = _pieces(node, now, count, takes, rank, in_order)
            partial = {(*before, *piece) for before in partial for piece in pieces}
        ends |= partial
        check_limit(len(ends))
    return ends


def _pieces(node: MarkedNode, now: MarkedNode, count: int, takes: Takes, rank: Rank, in_order: bool) -> list[Split]:
    """Equal nodes after some of them lost pods."""
    untouched = count - sum(times for _, times in takes)
    results: list[Split] = [((node, now, untouched),) if untouched else ()]
    for take, times in takes:
        mark = Mark(rank.groups, rank.marked, take, in_order)
        marked = list(_mark(now, mark, rank.pods)) if rank.marked else [now]
        pieces = [tuple((node, after, share) for after, share in shares) for shares in share_out(times, marked)]
        results = [(*before, *piece) for before in results for piece in pieces]
        check_limit(len(results))
    return results


def _mark(node: MarkedNode, mark: Mark, most: int) -> Iterator[MarkedNode]:
    """The node with one more mark, joined with an earlier one on the same groups for every possible overlap."""
    others = tuple(old for old in node.marks if old[:2] != mark[:2])
    for old in node.marks:
        if old[:2] == mark[:2]:
            largest, in_order = max(old.pods, mark.pods), old.in_order and mark.in_order
            united = range(largest, largest + 1 if in_order else min(old.pods + mark.pods, most) + 1)
            for pods in united:
                yield MarkedNode(node.state, tuple(sorted((*others, Mark(mark.groups, mark.marked, pods, in_order)))))
            return
    yield MarkedNode(node.state, tuple(sorted((*others, mark))))


def _of(ranks: tuple[Rank, ...], order: tuple[int, ...]) -> Rank:
    return next((rank for rank in ranks if rank.order == order), Rank(order, (), (), 0))


def _merge(nodes: Iterator[tuple[MarkedNode, int]]) -> Domain:
    counts: dict[MarkedNode, int] = {}
    for node, count in nodes:
        counts[node] = counts.get(node, 0) + count
    return tuple(sorted(counts.items()))
