"""Leaves out rules that follow from others.

If every a is followed by b within v, and every b by c within w, then every a is followed by c within v + w. A rule is
redundant if others say the same at most a little later (`stretch`). Kept are the edges of a greedy spanner (Althöfer,
Das, Dobkin, Joseph and Soares 1993): shortest first, unless a path of kept ones is short enough.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from kubeproof.monitor.mining.observations import Pair

STRETCH = 1.1


def spanner(windows: dict[Pair, int], given: Iterable[tuple[Pair, int]] = (), stretch: float = STRETCH) -> list[Pair]:
    """The pairs to keep, in order of their windows; `given` are other rules that can be relied on."""
    graph: dict[str, list[tuple[str, int]]] = {}
    for (first, then), window in given:
        graph.setdefault(first, []).append((then, window))
    kept = []
    for pair in sorted(windows, key=lambda one: (windows[one], one)):
        if not _reaches(graph, *pair, int(windows[pair] * stretch)):
            kept.append(pair)
            graph.setdefault(pair[0], []).append((pair[1], windows[pair]))
    return kept


def _reaches(graph: dict[str, list[tuple[str, int]]], start: str, goal: str, bound: int) -> bool:
    """True if a path of at most this length leads to the goal."""
    best, queue = {start: 0}, [(0, start)]
    while queue:
        length, place = heapq.heappop(queue)
        if place == goal:
            return True
        for target, window in graph.get(place, ()):
            total = length + window
            if total <= bound and total < best.get(target, bound + 1):
                best[target] = total
                heapq.heappush(queue, (total, target))
    return False


def chain(pairs: list[Pair], windows: dict[Pair, int], longest_link_us: int) -> list[list[str]]:
    """The pairs as paths: each pair is in exactly one, and quick ones that follow each other are in the same."""
    following: dict[str, str] = {}
    taken: set[str] = set()
    for first, then in sorted(pairs, key=lambda one: (windows[one], one)):
        quick = windows[first, then] <= longest_link_us
        if quick and first not in following and then not in taken and not _leads(following, then, first):
            following[first] = then
            taken.add(then)
    paths = [_path(following, start) for start in sorted(following) if start not in taken]
    rest = [[first, then] for first, then in pairs if following.get(first) != then]
    return [*paths, *rest]


def _leads(following: dict[str, str], start: str, goal: str) -> bool:
    place: str | None = start
    while place is not None and place != goal:
        place = following.get(place)
    return place == goal


def _path(following: dict[str, str], start: str) -> list[str]:
    path = [start]
    while path[-1] in following:
        path.append(following[path[-1]])
    return path
