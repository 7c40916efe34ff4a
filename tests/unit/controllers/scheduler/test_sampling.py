from __future__ import annotations

import pytest

from kubeproof.controllers.scheduler.sampling import first_in_heap_order, num_feasible_nodes_to_find


@pytest.mark.parametrize(("nodes", "expected"), [(99, 99), (100, 100), (1000, 420), (5000, 500), (6000, 300)])
def test_example_13_number_of_feasible_nodes_to_find(nodes: int, expected: int) -> None:
    assert num_feasible_nodes_to_find(nodes) == expected


def test_explicit_percentage_is_used_but_never_below_100_nodes() -> None:
    assert num_feasible_nodes_to_find(1000, 70) == 700
    assert num_feasible_nodes_to_find(1000, 3) == 100
    assert num_feasible_nodes_to_find(1000, 100) == 1000


def test_example_16_first_maximal_total_in_heap_order() -> None:
    assert first_in_heap_order([5, 7, 7, 5, 7]) == 1
    assert first_in_heap_order([5, 5, 7, 5, 7]) == 4
    assert first_in_heap_order([1, 1, 1, 1, 1, 9, 9]) == 5
    assert first_in_heap_order([3, 3, 3]) == 0


def test_heap_order_needs_totals() -> None:
    with pytest.raises(ValueError, match="empty"):
        first_in_heap_order([])
