"""Upstream's sampling of large clusters and its order among ties, as documented helpers.

The model scores all nodes and branches over all ties, so neither is used for a verdict. They say how far a
real scheduler may deviate: in clusters of 100 nodes or more it looks at some of them only.
"""

from __future__ import annotations

from collections.abc import Sequence

MIN_FEASIBLE_NODES = 100
MIN_PERCENTAGE = 5


def num_feasible_nodes_to_find(nodes: int, percentage: int = 0) -> int:
    """How many feasible nodes upstream collects before it scores.

    `percentage` is percentageOfNodesToScore; 0, the default, adapts to the size of the cluster.
    """
    if nodes < MIN_FEASIBLE_NODES or percentage >= 100:
        return nodes
    share = percentage or max(MIN_PERCENTAGE, 50 - nodes // 125)
    return max(MIN_FEASIBLE_NODES, nodes * share // 100)


def first_in_heap_order(totals: Sequence[int]) -> int:
    """The index that 1.35 and later choose, given the totals in the order of upstream's feasible list.

    It is the first maximal total in pre-order of the implicit binary heap; earlier versions draw at random.
    That list itself is in order of completion, so a model must still branch over all ties.
    """
    best = max(totals)
    waiting = [0]
    while totals[waiting[-1]] != best:
        index = waiting.pop()
        waiting += (child for child in (2 * index + 2, 2 * index + 1) if child < len(totals))
    return waiting[-1]
