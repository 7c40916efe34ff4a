"""Sweeps on random ranges: order, bounds, what is skipped, what is found first."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kubeproof.cluster.scale import Limit
from kubeproof.verify.resize import resize
from kubeproof.verify.run import verify
from kubeproof.verify.scaling.esc import Minimum, esc_of
from kubeproof.verify.scaling.fast_find import thin
from kubeproof.verify.scaling.setups import all_sizes, why_trivial
from tests.unit.verify.scaling.inputs import ONLY_FAST, grows

SMALL = st.integers(1, 3)
LIMITS = st.none() | st.builds(Limit, SMALL, SMALL)


def order(size):
    """By nodes in all, then by pods in all, then by the single numbers."""
    nodes, pods = tuple(count for _, count in size.nodes), tuple(count for _, count in size.pods)
    return size.node_total, size.pod_total, nodes, pods


@given(fast=SMALL, slow=SMALL, pods=st.integers(1, 9), limit=LIMITS)
def test_sizes_are_all_combinations_within_the_bounds_in_order(fast, slow, pods, limit):
    loaded = grows(fast=fast, slow=slow, pods=pods)

    sizes = all_sizes(loaded.scenario.scale, limit, loaded.setup)

    most = limit or Limit(99, 99)
    expected = {
        (a, b, p)
        for a in range(min(fast, most.nodes) + 1)
        for b in range(min(slow, most.nodes) + 1)
        for p in range(1, pods + 1)
        if a + b > 0 and p <= most.pods_per_node * (a + b)
    }
    assert {(*(count for _, count in size.nodes), size.pod_total) for size in sizes} == expected
    assert len(sizes) == len(expected) == len({size.key for size in sizes})
    assert list(sizes) == sorted(sizes, key=order)
    assert [(s.node_total, s.pod_total) for s in sizes] == sorted((s.node_total, s.pod_total) for s in sizes)


@settings(max_examples=15, deadline=None)
@given(cpu=st.integers(0, 2), fast=st.integers(0, 2), slow=st.integers(0, 1), pods=st.integers(1, 4))
def test_a_size_that_is_skipped_leaves_a_pod_without_a_node(cpu, fast, slow, pods):
    loaded = grows(cpu=cpu, fast=2, slow=1, pods=4)
    (size,) = [
        one
        for one in all_sizes(loaded.scenario.scale, None, loaded.setup)
        if (one.nodes, one.pod_total) == ((("fast", max(fast, 1 - slow)), ("slow", slow)), pods)
    ]
    sized = resize(loaded, loaded.scenario.scale, size)

    assert verify(sized).verdict == ("VIOLATED" if why_trivial(sized) else "HOLDS")


@given(fast=SMALL, slow=SMALL, pods=st.integers(1, 40))
def test_fast_find_keeps_order_and_both_ends(fast, slow, pods):
    loaded = grows(fast=fast, slow=slow, pods=pods, more=ONLY_FAST)
    sizes = all_sizes(loaded.scenario.scale, None, loaded.setup)

    kept = thin(sizes)

    assert [size for size in sizes if size in set(kept)] == list(kept)
    assert kept[-1] == sizes[-1]
    assert min(size.pod_total for size in kept) == 1


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 500)), min_size=1))
def test_every_smallest_cluster_is_within_half_of_the_esc(sizes):
    esc = esc_of([Minimum("case", nodes, pods) for nodes, pods in sizes])

    assert all(2 * nodes <= esc.nodes and 2 * pods <= esc.pods_per_node * nodes for nodes, pods in sizes)
    assert any(2 * nodes == esc.nodes for nodes, _ in sizes)
    assert any(2 * pods > (esc.pods_per_node - 1) * nodes for nodes, pods in sizes)
