"""The product of forwarding graphs with automata against the enumeration of all paths."""

from __future__ import annotations

from random import Random

import pytest

from kubeproof.network.check import Checker
from kubeproof.network.checking.findings import Pairs
from kubeproof.network.model import Network
from kubeproof.network.properties.library import resilience
from kubeproof.network.properties.machine import prepare
from tests.property.networks import Bad, Pair, enumerated, pairs, paths, random_network, random_property, share_a_node

BLOCK = 100


def named(checker: Checker, pairs: Pairs) -> frozenset[Pair]:
    return frozenset(
        (place, source, name) for (place, source), mask in pairs.items() for name in checker.sets[place].members(mask)
    )


def by_product(network: Network, checker: Checker) -> list[Bad]:
    found = [checker.snapshot(number) for number in range(len(network.snapshots))]
    return [Bad(*(named(checker, pairs) for pairs in (one.unsafe, one.unmet, one.endless))) for one in found]


def check_network(seed: int) -> None:
    random = Random(f"network/{seed}")
    network, one = random_network(random), random_property(random)
    checker = Checker(network, prepare(one))

    assert by_product(network, checker) == enumerated(network, one), seed


@pytest.mark.parametrize("block", range(6))
def test_the_product_finds_the_pairs_that_enumerating_all_paths_finds(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check_network(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(6, 200))
def test_many_more_networks(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check_network(seed)


def check_overlaps(seed: int) -> int:
    """Resilience against all pairs of paths, where every path ends; returns how many pairs share a node."""
    random = Random(f"overlap/{seed}")
    network = random_network(random)
    checker = Checker(network, prepare(resilience()))
    shared = 0
    for number, snapshot in enumerate(network.snapshots):
        unsafe = named(checker, checker.snapshot(number).unsafe)
        for pair in pairs(network):
            found = paths(network, snapshot, pair)
            if found is not None:
                assert (pair in unsafe) is share_a_node(network, pair, found), (seed, pair)
                shared += pair in unsafe
    return shared


def test_overlaps_are_those_of_pairs_of_paths() -> None:
    assert sum(check_overlaps(seed) for seed in range(1_000)) > 20
