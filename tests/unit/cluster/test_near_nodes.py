"""Which nodes nearly equal each other, and what becomes of answers that depend on their size."""

from __future__ import annotations

import pytest

from kubeproof.cluster.nodes.near_nodes import NodeSizeMatters, agree, agree_monotone, join_near, smallest
from kubeproof.cluster.objects import Node

KIB = 1024


def node(memory_kib: int = 16_000_000, cpu: int = 4000, disk: int = 80_000, **more: int) -> Node:
    others = (("ephemeral-storage", disk),)
    return Node("n", cpu_milli=cpu, memory_bytes=memory_kib * KIB, others=others, **more)


def amounts(one: Node) -> list[int]:
    """The memory of all sizes, in kibibytes."""
    return [size.memory_bytes // KIB for size in one.sizes]


def test_nodes_that_differ_by_a_few_kibibytes_are_joined() -> None:
    joined = join_near([node(16_000_100), node(), node(16_000_004), node()], None, ())

    assert [amounts(one) for one in joined] == [[16_000_000, 16_000_000, 16_000_004, 16_000_100, 16_000_100]] * 4
    assert [one.memory_bytes for one in joined] == [n * KIB for n in (16_000_100, 16_000_000, 16_000_004, 16_000_000)]


def test_equal_nodes_have_one_size() -> None:
    assert join_near([node(), node()], None, ()) == (node(), node())


@pytest.mark.parametrize(
    "other",
    [node(16_090_000), node(cpu=3000), node(disk=70_000), node(pods=58)],
    ids=["memory", "cpu", "disk", "pods"],
)
def test_other_machines_are_not_joined(other: Node) -> None:
    assert [one.sizes for one in join_near([node(), other], None, ())] == [(), ()]


def test_resources_that_nobody_reads_make_no_other_machine() -> None:
    joined = join_near([node(), node(disk=70_000)], frozenset(), ())

    assert [one.sizes for one in joined] == [(), ()]
    assert join_near([node(), node(16_000_004, disk=70_000)], frozenset(), ())[0].sizes != ()


def test_the_bounds_have_the_least_and_the_most_of_everything() -> None:
    first, *_, last = join_near([node(16_000_004, 4000), node(16_000_000, 4010)], None, ())[0].sizes

    assert (first.memory_bytes // KIB, first.cpu_milli) == (16_000_000, 4000)
    assert (last.memory_bytes // KIB, last.cpu_milli) == (16_000_004, 4010)


def test_an_answer_tells_nodes_apart() -> None:
    nodes = [node(), node(16_000_004), node(16_000_008)]
    joined = join_near(nodes, None, (lambda one: one.memory_bytes > 16_000_004 * KIB,))

    assert [len(one.sizes) for one in joined] == [4, 4, 0]


def test_an_answer_that_all_sizes_share_is_the_answer() -> None:
    one, _ = join_near([node(), node(16_000_004)], None, ())

    assert agree(one, lambda size: size.cpu_milli) == agree_monotone(one, lambda size: size.cpu_milli) == 4000
    assert agree(node(), lambda size: size.memory_bytes) == 16_000_000 * KIB


@pytest.mark.parametrize("ask", [agree, agree_monotone])
def test_an_answer_that_depends_on_the_size_is_told(ask) -> None:  # type: ignore[no-untyped-def]
    one, _ = join_near([node(), node(16_000_004)], None, ())

    with pytest.raises(NodeSizeMatters) as told:
        ask(one, lambda size: size.memory_bytes)
    assert told.value.tells(node()) == 16_000_000 * KIB


def test_sizes_that_do_not_exist_decide_nothing() -> None:
    one, _ = join_near([node(16_000_004, 4000), node(16_000_000, 4010)], None, ())

    assert agree_monotone(one, lambda size: size.memory_bytes > 16_000_000 * KIB or size.cpu_milli > 4000)


def test_the_smallest_node_of_a_class_has_the_least_of_everything() -> None:
    one, _ = join_near([node(16_000_004, 4000), node(16_000_000, 4010)], None, ())

    assert smallest(one) == node(16_000_000, 4000)
    assert smallest(node()) == node()
