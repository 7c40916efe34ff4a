from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.engine.components import components, cyclic_components

Graph = Mapping[int, list[int]]


def sorted_components(graph: Graph) -> list[list[int]]:
    return sorted(sorted(component) for component in components(graph, graph.__getitem__))


def reached(graph: Graph, start: int) -> set[int]:
    """All nodes reached from `start` by at least one step."""
    found: set[int] = set()
    queue = list(graph[start])
    while queue:
        node = queue.pop()
        if node not in found:
            found.add(node)
            queue += graph[node]
    return found


def test_components_come_with_those_they_lead_to_first() -> None:
    graph = {0: [1], 1: [2], 2: [1, 3], 3: []}

    assert [sorted(component) for component in components(graph, graph.__getitem__)] == [[3], [1, 2], [0]]


def test_only_components_with_a_cycle_are_cyclic() -> None:
    graph = {0: [0, 1], 1: [2], 2: [3], 3: [2, 4], 4: []}

    assert sorted(sorted(found) for found in cyclic_components(graph, graph.__getitem__)) == [[0], [2, 3]]


def test_nodes_that_are_only_targets_take_part() -> None:
    graph = {0: [1], 1: [0]}

    assert [sorted(found) for found in cyclic_components([0], graph.__getitem__)] == [[0, 1]]


def test_a_long_path_needs_no_recursion() -> None:
    ring = {node: [(node + 1) % 50_000] for node in range(50_000)}

    assert [len(found) for found in cyclic_components(ring, ring.__getitem__)] == [50_000]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.lists(st.integers(0, 7), max_size=3), min_size=8, max_size=8))
def test_two_nodes_share_a_component_if_each_reaches_the_other(targets: list[list[int]]) -> None:
    graph = dict(enumerate(targets))
    reach = {node: reached(graph, node) for node in graph}
    expected = {tuple(sorted({node} | {other for other in reach[node] if node in reach[other]})) for node in graph}

    assert sorted_components(graph) == sorted(map(list, expected))
    assert sorted(sorted(found) for found in cyclic_components(graph, graph.__getitem__)) == sorted(
        list(component) for component in expected if component[0] in reach[component[0]]
    )
