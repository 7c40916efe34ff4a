"""Answers kept while rules change against answers worked out from scratch, after every update."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from kubeproof.network.check import Checker
from kubeproof.network.model import Network, Snapshot
from kubeproof.network.properties.automata import PathProperty
from kubeproof.network.properties.library import load_balance, no_drop, reach, resilience, waypoint
from kubeproof.network.properties.machine import prepare
from kubeproof.network.updates.incremental import KINDS, Pair, Update, Watch
from tests.property.networks import random_network, random_property, random_rule
from tests.property.test_networks import named

UPDATES = 20  # of one network
BLOCK = 10


def random_change(random: Random, network: Network, snapshot: Snapshot) -> Update:
    links = sorted(network.links, key=sorted)
    if links and random.random() < 0.15:
        link = random.choice(links)
        return Update("up" if link in snapshot.down else "down", link=link)
    node = random.choice(network.nodes).name
    rules = snapshot.tables.get(node, ())
    if rules and random.random() < 0.5:
        return Update("remove", node, random.choice(rules))
    return Update("add", node, random_rule(random, list(network.neighbours[node])))


def from_scratch(network: Network, snapshot: Snapshot, one: PathProperty) -> dict[Pair, str]:
    checker = Checker(replace(network, snapshots=(snapshot,)), prepare(one))
    found = checker.snapshot(0)
    return {pair: how for how in KINDS for pair in named(checker, getattr(found, how))}


def check_updates(seed: int) -> int:
    random = Random(f"updates/{seed}")
    network = random_network(random)
    usual = (reach(), no_drop(), waypoint(["b"]), resilience(), load_balance())
    one = random.choice((random_property(random), *usual))
    watch = Watch(network, network.snapshots[0], [prepare(one)], final=True)
    known = watch.answers[0].pairs
    changed = 0
    for _ in range(UPDATES):
        update = random_change(random, network, watch.snapshot())
        deltas = watch.apply(update)
        now = from_scratch(network, watch.snapshot(), one)
        assert watch.answers[0].pairs == now, (seed, update)
        for delta in deltas:
            known = {pair: how for pair, how in known.items() if pair not in delta.better} | dict(delta.worse)
            assert delta.bad == len(now)
        assert known == now, seed
        changed += bool(deltas)
    return changed


def check_block(block: int) -> None:
    assert sum(check_updates(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK))


@pytest.mark.parametrize("block", range(4))
def test_answers_after_each_update_are_those_from_scratch(block: int) -> None:
    check_block(block)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4, 55))
def test_many_more_updates(block: int) -> None:
    check_block(block)
