"""Counting choices: complete, without repetition, bounded."""

import pytest

from kubeproof.controllers.descheduler.choices import (
    any_takes,
    assignments,
    block_takes,
    check_limit,
    selections,
    share_out,
)
from kubeproof.errors import LimitReached


def test_selections_take_all_or_what_there_is():
    assert list(selections((2, 1), 2)) == [(1, 1), (2, 0)]
    assert list(selections((1, 1), 5)) == [(1, 1)]
    assert list(selections((), 0)) == [()]


def test_shares_of_equal_things():
    assert list(share_out(2, "ab")) == [(("b", 2),), (("a", 1), ("b", 1)), (("a", 2),)]
    assert list(share_out(500, "a")) == [(("a", 500),)]
    assert len(list(share_out(1, range(2000)))) == 2000
    with pytest.raises(LimitReached):
        list(share_out(2, range(2000)))


def test_any_takes_split_freely_over_equal_nodes():
    assert sorted(any_takes(((2, 2),), 2)) == [(((1, 2),),), (((2, 1),),)]
    assert sorted(any_takes(((2, 1), (2, 1)), 2)) == [((), ((2, 1),)), (((1, 1),), ((1, 1),)), (((2, 1),), ())]


def test_block_takes_empty_a_node_before_the_next():
    assert sorted(block_takes(((2, 2),), 3)) == [(((2, 1), (1, 1)),)]
    assert sorted(block_takes(((2, 1), (3, 1)), 2)) == [((), ((2, 1),)), (((2, 1),), ())]
    assert sorted(block_takes(((2, 1), (3, 1)), 4)) == [(((1, 1),), ((3, 1),)), (((2, 1),), ((2, 1),))]
    assert list(block_takes(((0, 3),), 0)) == [((),)]


def test_a_thousand_kinds_of_nodes_are_no_problem():
    assert len(list(block_takes(tuple((2, 1) for _ in range(1200)), 1))) == 1200


def test_values_are_handed_out_in_every_way():
    assert sorted(map(str, assignments([0, 1], [1, 1]))) == ["({0: 1}, {1: 1})", "({1: 1}, {0: 1})"]
    assert list(assignments([2, 2], [2])) == [({2: 2},)]


def test_the_limit_is_20000():
    check_limit(20_000)
    with pytest.raises(LimitReached, match="E302"):
        check_limit(20_001)
