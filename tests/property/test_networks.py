"""The product of forwarding graphs with automata against the enumeration of all paths."""

from __future__ import annotations

from random import Random

import pytest

from kubeproof.network.check import Checker
from kubeproof.network.findings import Pairs
from kubeproof.network.machine import prepare
from kubeproof.network.model import Network
from tests.property.networks import Bad, Pair, enumerated, random_network, random_property

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
