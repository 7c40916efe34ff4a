"""A second, naive account of topology spreading: single pods, every order of lists and of equal domains tried out.

It follows upstream step by step on lists of named pods (at most 12 per domain) and knows nothing of groups. Pods
have no node affinity and fit everywhere.
"""

import math
from collections import Counter
from itertools import permutations, product


def insertion_sorted(items, less):
    """Go's sort of short lists, with whatever the comparison says of equals."""
    items = list(items)
    for end in range(1, len(items)):
        at = end
        while at > 0 and less(items[at], items[at - 1]):
            items[at], items[at - 1] = items[at - 1], items[at]
            at -= 1
    return items


def taken(domains, skew, sort):
    """The pods that one constraint marks, given its domains in one order."""
    domains = sorted(([sort(pods), name] for name, pods in domains), key=lambda domain: len(domain[0]))
    lists = [pods for pods, _ in domains]
    ideal = sum(map(len, lists)) / len(lists)
    marked, i, j = set(), 0, len(lists) - 1
    while i < j:
        if len(lists[j]) <= ideal:
            j -= 1
        difference = len(lists[j]) - len(lists[i])
        if difference <= skew:
            i += 1
            continue
        move = min(
            math.ceil(len(lists[j]) - ideal),
            math.ceil(ideal - len(lists[i])),
            math.ceil((difference - skew) / 2),
        )
        if move <= 0:
            i += 1
            continue
        gone = lists[j][-move:]
        marked |= set(gone)
        lists[j] = lists[j][:-move]
        lists[i] = lists[i] + gone
    return marked


def outcomes(placement, labels, constraints, version):
    """Sets of losses by node and kind of pod.

    `placement` has kinds of pods by node, `labels` domains by node and key, `constraints` pairs of key and skew.
    """
    pods = [(node, kind, number) for node, kinds in placement.items() for number, kind in enumerate(kinds)]
    reverses = version >= (0, 33)
    results = set()
    for listed in _lists(pods, version):
        per_constraint = []
        for key, skew in constraints:
            values = sorted({labels[node][key] for node in placement})
            members = {value: [pod for pod in listed if labels[pod[0]][key] == value] for value in values}
            sizes = [len(members[value]) for value in values]
            if max(sizes) - min(sizes) <= skew:
                continue
            per_constraint.append(
                {
                    frozenset(
                        taken(
                            [(value, members[value]) for value in order],
                            skew,
                            lambda some: insertion_sorted(some, lambda a, b: reverses),
                        )
                    )
                    for order in permutations(values)
                }
            )
        for choice in product(*per_constraint):
            marked = frozenset().union(*choice)
            results.add(frozenset(Counter((node, kind) for node, kind, _ in marked).items()))
    return results


def _lists(pods, version):
    """The orders in which pods are listed: by name up to 0.27, node by node since."""
    if version < (0, 28):
        yield from permutations(pods)
        return
    nodes = sorted({node for node, _, _ in pods})
    per_node = {node: list(permutations([pod for pod in pods if pod[0] == node])) for node in nodes}
    for order in permutations(nodes):
        for lists in product(*(per_node[node] for node in order)):
            yield [pod for listed in lists for pod in listed]
