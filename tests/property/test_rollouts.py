"""Rollouts against the enumeration of every interleaving; plans against replaying all of them."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from kubeproof.network.model import Network, Snapshot
from kubeproof.network.properties.automata import PathProperty, ltl_property
from kubeproof.network.properties.library import avoid, no_drop, reach
from kubeproof.network.properties.machine import Prepared, prepare
from kubeproof.network.rollouts.changes import UNITS, Course, course_of, find_changes
from kubeproof.network.rollouts.flight import PacketClass
from kubeproof.network.rollouts.plan import make_plan
from kubeproof.network.rollouts.verify import RolloutChecker, RolloutOptions, show_flight, verify_rollout
from kubeproof.verdicts import Verdict
from tests.property.networks import pairs, random_property
from tests.property.rollouts import (
    Bad,
    TooLong,
    enumerated,
    epochs_of,
    has_mixed_path,
    keeps,
    random_trees,
    random_update,
    some_order_keeps,
)

BLOCK = 50


def by_search(network: Network, course: Course, prepared: Prepared) -> Bad:
    checker = RolloutChecker(network, course)
    found: Bad = {}
    for pair in pairs(network):
        packets = PacketClass(network.traffic[pair[0]], (pair[1],), pair[2])
        flight = checker.follow(prepared, packets)
        assert not flight.is_cut
        found[pair] = None if flight.end is None else flight.cost
        if flight.end is not None:
            show_flight(network, course, packets, flight, prepared.property)
    return found


def random_question(seed: int) -> tuple[Network, Course, PathProperty]:
    random = Random(f"rollout/{seed}")
    if random.random() < 0.2:
        network, snapshots = random_trees(random, 4)
        return network, course_of(snapshots), random.choice((reach(), random_property(random)))
    network, snapshots = random_update(random)
    return network, course_of(snapshots, random.choice((*UNITS, "rule", "rule"))), random_property(random)


def check_rollout(seed: int) -> Counter[str]:
    network, course, one = random_question(seed)
    try:
        slow = enumerated(network, course, one)
    except TooLong:
        return Counter()
    found = by_search(network, course, prepare(one))

    assert {pair for pair in found if found[pair] is not None} == {pair for pair in slow if slow[pair] is not None}, (
        seed
    )
    for pair, steps in found.items():
        assert steps is None or steps <= slow[pair], (seed, pair)  # type: ignore[operator]
    mixed = {pair for pair in slow if has_mixed_path(network, course, pair)}
    answer = verify_rollout(network, course, (), RolloutOptions(per_packet=True)).answers[0]
    assert (answer.verdict is Verdict.VIOLATED) == bool(mixed), seed
    return Counter(networks=1, bad=sum(steps is not None for steps in slow.values()), all=len(slow), mixed=len(mixed))


def check_block(block: int) -> None:
    total = sum((check_rollout(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK)), Counter())

    assert 0 < total["bad"] < total["all"]
    assert total["mixed"]


@pytest.mark.parametrize("block", range(2))
def test_rollouts_violate_what_some_interleaving_violates(block: int) -> None:
    check_block(block)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2, 46))
def test_many_more_rollouts(block: int) -> None:
    check_block(block)


def pass_by(node: str) -> PathProperty:
    return ltl_property("!there W way", {"there": "DELIVERED", "way": f"CURRENT_NODE == {node}"})


GOALS = (
    reach(),
    no_drop(),
    avoid(["b"]),
    pass_by("b"),
    ltl_property("(F there) & G(far -> F way)", {"there": "DELIVERED", "far": "HOP_COUNT > 0", "way": "HOP_COUNT > 1"}),
)
TRIES = 60


def random_plan(random: Random) -> tuple[Network, tuple[Snapshot, ...], list[PathProperty]]:
    """An update between two configurations, both of which mostly keep a property."""
    is_tree = random.random() < 0.6
    for _ in range(TRIES):
        network, snapshots = (
            random_trees(random) if is_tree else random_update(random, changes=random.choice((2, 3, 4)))
        )
        wanted = (
            [reach(), *map(pass_by, random.sample("bcde", random.choice((1, 2, 2))))]
            if is_tree
            else random.sample(GOALS, random.choice((1, 1, 2)))
        )
        ends = (Course(snapshots[0], ()), Course(snapshots[-1], ()))
        if all(
            steps is None for end in ends for one in wanted for steps in by_search(network, end, prepare(one)).values()
        ):
            break
    return network, snapshots, wanted


def check_plan(seed: int) -> Counter[str]:
    """A plan is replayed in every interleaving; that there is none is compared with trying all orders."""
    network, snapshots, wanted = random_plan(Random(f"plan/{seed}"))
    result = make_plan(network, snapshots[0], snapshots[-1], wanted)
    changes = find_changes(snapshots[0], snapshots[-1])
    try:
        if result.verdict is Verdict.HOLDS:
            assert sorted(map(str, changes)) == sorted(str(one) for each in result.rounds for one in each.changes), seed
            assert all(keeps(network, course, wanted) for course in epochs_of(snapshots[0], result.rounds)), seed
        else:
            assert result.refusals, seed
            assert not some_order_keeps(network, snapshots[0], changes, wanted), seed
    except TooLong:
        return Counter()
    waits = sum(one.waits for one in result.rounds)
    is_deep = "itself" not in result.reason
    return Counter({"plans": 1, f"{result.verdict}": is_deep, "rounds": len(result.rounds) > 1, "waits": waits > 0})


def check_plans(block: int) -> None:
    total = sum((check_plan(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK)), Counter())

    assert total["plans"] > BLOCK // 2


def test_plans_survive_every_interleaving_and_refusals_every_order() -> None:
    check_plans(0)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(1, 46))
def test_many_more_plans(block: int) -> None:
    check_plans(block)
