"""Shares of time in the long run are those of continuous time, and several objectives are exact if they say so."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from kubeproof.quantify.clusters.options import LONG_RUN, ClusterOptions
from tests.unit.quantify.clusters import tiny
from tests.unit.quantify.programs import needs_storm

pytestmark = needs_storm
HOUR_S = 3600
BACK_OFF_S, START_S = 300, 5  # of a pod that crashes again and again
MISSED_S = (55, 50)  # a node is missed so long after its last sign of life


def share(loaded, **options):
    from kubeproof.quantify.clusters.run import quantify_cluster

    (found,) = quantify_cluster(loaded, ClusterOptions(questions=(LONG_RUN,), **options)).shortages
    return found.span


@pytest.mark.parametrize("seed", range(4))
def test_crashes_and_their_waits_take_the_share_that_renewal_theory_gives(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    probability, tick_s = chance.choice([0.01, 0.1, 0.25, 0.7]), chance.choice([1, 10, 60, 600])
    events = f"[{{podCrash: {{target: Deployment/web, max: unlimited, probability: {probability}}}}}]"
    loaded = tiny(tmp_path, events, quantify=f"{{tick: {tick_s}s}}")
    down_s, up_s = BACK_OFF_S + START_S, -tick_s / math.log1p(-probability)

    rounded, exact = share(loaded), share(loaded, exact=True)

    expected = down_s / (up_s + down_s)
    assert rounded.least.value == pytest.approx(expected, rel=1e-5)
    assert (rounded.least.guarantee, rounded.least.lower) == ("none", None)
    for value in (exact.least, exact.greatest):
        assert value.lower < expected < value.upper < value.lower + 1e-8
        assert value.guarantee == "interval"


@pytest.mark.parametrize(
    ("failures", "recoveries", "tick"), [(2, 20, "1m"), (2, 3, "10m"), (30, 60, "5s"), (1, 100, "1m")]
)
def test_a_node_that_fails_and_recovers_is_down_as_long_as_by_hand(
    tmp_path: Path, failures: int, recoveries: int, tick: str
) -> None:
    """A node fails and recovers in turn; its pod is not ready from when it is missed, if it is, until it recovers."""
    recovery = f"recovery: {{ratePerHour: {recoveries}}}"
    events = f"[{{nodeFailure: {{max: unlimited, ratePerHour: {failures}, {recovery}}}}}]"
    found = share(tiny(tmp_path, events, quantify=f"{{tick: {tick}}}"), exact=True)

    up_s, down_s = HOUR_S / failures, HOUR_S / recoveries
    for value, missed_s in zip((found.least, found.greatest), MISSED_S, strict=True):
        expected = math.exp(-missed_s / down_s) * down_s / (up_s + down_s)
        assert value.lower < expected < value.upper < value.lower + 1e-8


def test_without_a_proof_a_share_has_no_bounds(tmp_path: Path) -> None:
    """A load that changes while a pod starts does so at the beginning of the wait, which no bound covers."""
    load = "cpuChange: {target: Deployment/web, levels: ['20%', '80%'], transitions: [[0.9, 0.1], [0.2, 0.8]]}"
    events = f"[{{podCrash: {{target: Deployment/web, max: unlimited, probability: 0.25}}}}, {{{load}}}]"
    found = share(tiny(tmp_path, events), exact=True)

    assert (found.least.lower, found.least.upper, found.least.guarantee) == (None, None, "none")


def mixed(choices: list[tuple[Fraction, Fraction]], least: Fraction) -> Fraction:
    """The best first entry of a mixture of two choices, at most, whose second entry is large enough."""
    best = Fraction(0)
    for (one, two), (first, second) in product(choices, repeat=2):
        shares = {Fraction(0), Fraction(1)} | ({(least - second) / (two - second)} if two != second else set())
        for part in shares:
            if 0 <= part <= 1 and part * two + (1 - part) * second >= least:
                best = max(best, part * one + (1 - part) * first)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_several_objectives_are_exact_with_fractions(seed: int) -> None:
    from kubeproof.quantify.checking import check
    from kubeproof.quantify.prism.building import build
    from kubeproof.quantify.prism.programs import program, properties

    chance = random.Random(seed)
    parts = [[Fraction(chance.randrange(1, 30), 97) for _ in range(2)] for _ in range(4)]
    least = min(two for _, two in parts) + (max(two for _, two in parts) - min(two for _, two in parts)) * Fraction(
        3, 7
    )
    commands = "\n".join(f" [] s=0 -> {one}:(s'=1) + {two}:(s'=2) + {1 - one - two}:(s'=3);" for one, two in parts)
    text = f"mdp\nmodule m\n s : [0..3] init 0;\n{commands}\n [] s>0 -> true;\nendmodule\n"
    question = f"multi(Pmax=? [F s=1], P>={least} [F s=2])"
    given = program(text, file="x")
    (wanted,) = properties(question, given, file="x")
    model = build(given, (wanted,), exact=True)

    answer = check(model, wanted.formula)

    assert (answer.value, answer.guarantee) == (mixed([(one, two) for one, two in parts], least), "exact")
