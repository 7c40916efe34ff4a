"""The smallest breaking sets against trying every set of failures, without symmetry and pruning."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from kubeproof.network.check import Checker
from kubeproof.network.failures.scene import Element, Failed
from kubeproof.network.failures.search import FailureOptions, find_breaking
from kubeproof.network.failures.twins import find_twins, images
from kubeproof.network.files.generate import DEDICATED, fat_tree
from kubeproof.network.model import Network, Rule, Snapshot
from kubeproof.network.properties.automata import PathProperty
from kubeproof.network.properties.library import avoid, no_drop, reach, waypoint
from kubeproof.network.properties.machine import prepare
from kubeproof.verdicts import Verdict
from tests.property.networks import random_network, random_property
from tests.property.test_networks import named

BLOCK = 40


def with_failures(network: Network, failed: Failed, reroutes: bool) -> Network:
    """Links that have failed carry nothing; nodes that reroute know that of their own ones."""
    down = {link for link in network.links if any(one == link or one in link for one in failed)}
    base = network.snapshots[0]
    tables: dict[str, tuple[Rule, ...]] = {}
    for node, rules in base.tables.items():
        kept = []
        for rule in rules:
            to = tuple(name for name in rule.to if frozenset((node, name)) not in down | base.down)
            if not reroutes:
                kept.append(rule)
            elif to or not rule.to:
                kept.append(replace(rule, to=to))
        tables[node] = tuple(kept)
    return replace(network, snapshots=(Snapshot("t", tables, base.down | down),))


def bad_pairs(network: Network, one: PathProperty) -> frozenset[object]:
    checker = Checker(network, prepare(one))
    found = checker.snapshot(0)
    return named(checker, found.unsafe) | named(checker, found.unmet) | named(checker, found.endless)


def by_trying_all(
    network: Network, one: PathProperty, elements: tuple[Element, ...], most: int, reroutes: bool
) -> set[Failed]:
    base = bad_pairs(with_failures(network, frozenset(), reroutes), one)
    broken: set[Failed] = set()
    for size in range(1, most + 1):
        for chosen in map(frozenset, combinations(elements, size)):
            is_new = not any(smaller < chosen for smaller in broken)
            if is_new and bad_pairs(with_failures(network, chosen, reroutes), one) - base:
                broken.add(chosen)
    return broken


def check_failures(seed: int) -> int:
    random = Random(f"failures/{seed}")
    network = random_network(random)
    network = replace(network, snapshots=network.snapshots[:1])
    usual = (reach(), no_drop(), avoid(["b"]), waypoint(["b"]))
    one = random.choice((random_property(random), *usual))
    options = FailureOptions(
        random.choice((1, 2, 2, 3)), random.choice(("links", "nodes", "both")), random.random() < 0.5
    )
    result = find_breaking(network, network.snapshots[0], [prepare(one)], options)
    ends = {name for traffic in network.traffic for name in (*traffic.sources, *traffic.destinations)}
    links: tuple[Element, ...] = tuple(sorted(network.links - network.snapshots[0].down, key=sorted))
    nodes: tuple[Element, ...] = tuple(node.name for node in network.nodes if node.name not in ends)
    elements = {"links": links, "nodes": nodes, "both": (*links, *nodes)}[options.what]
    expected = by_trying_all(network, one, elements, options.most, options.reroutes)
    twins = find_twins(network, network.snapshots[0], [prepare(one)])
    (survival,) = result.survivals

    assert {image for each in survival.breaking for image in images(frozenset(each.failed), twins)} == expected, seed
    assert sum(each.alike for each in survival.breaking) == len(expected), seed
    assert [len(each.failed) for each in survival.breaking] == sorted(len(each.failed) for each in survival.breaking)
    return len(expected)


def check_block(block: int) -> None:
    assert sum(check_failures(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK))


@pytest.mark.parametrize("block", range(4))
def test_the_smallest_breaking_sets_are_those_that_trying_all_finds(block: int) -> None:
    check_block(block)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4, 50))
def test_many_more_failures(block: int) -> None:
    check_block(block)


def test_hosts_at_one_switch_are_twins_in_a_fat_tree() -> None:
    network, one = fat_tree(4, 1), waypoint([DEDICATED])
    plain = find_breaking(network, network.snapshots[0], [prepare(one)])
    (survival,) = plain.survivals
    links: tuple[Element, ...] = tuple(sorted(network.links, key=sorted))

    assert len(find_twins(network, network.snapshots[0], [prepare(one)])) == 8
    assert (plain.sets, plain.skipped, plain.elements) == (29, 8, 48)
    assert (len(survival.breaking), sum(each.alike for each in survival.breaking)) == (28, 36)
    assert len(by_trying_all(network, one, links, 1, False)) == 36


def test_a_property_that_names_one_host_tells_twins_apart() -> None:
    network = fat_tree(4, 1)

    assert len(find_twins(network, network.snapshots[0], [prepare(avoid(["host-0-0-0"]))])) == 7
    assert len(find_twins(network, network.snapshots[0], [prepare(avoid(["host-0-0-*"]))])) == 8


def test_limits_leave_answers_open() -> None:
    network = fat_tree(4, 1)
    result = find_breaking(network, network.snapshots[0], [prepare(avoid(["core-0-1"]))], FailureOptions(most_sets=3))

    assert (result.verdict, result.survivals[0].survives) == (Verdict.UNKNOWN, 0)
    assert "more than 3 sets" in result.reason
