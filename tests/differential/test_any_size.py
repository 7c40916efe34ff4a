"""What is proved for any size, against every run of the input at sizes one by one."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from kubeproof.cases.library import load_case
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.holds_for import HoldsFor
from kubeproof.verify.no_placement import NoPlacement
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.any_size.derive import prove_any_size
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.run import verify_intents
from kubeproof.verify.scaling.setups import why_trivial
from tests.differential.any_size_inputs import INPUTS

EXACT = VerifyOptions(without=("abstraction", "slicing"))
MOST_NODES, MOST_PODS = 5, 16
SMALL = 60  # sizes that are drawn from
PROVED = {
    "c2": {"never-below-the-minimum": "sizes-written"},
    "c3": {"schedulable Deployment/shop/web": "room"},
    "c6": {"at-most-one-missing": "budget"},
    "c8": {"noEvictionLoop Deployment/shop/web": "nobody-evicts"},
}


def find_input(name: str) -> Loaded:
    return INPUTS[name]() if name in INPUTS else load(load_case(name, "safe"))


def list_sizes(loaded: Loaded, proof: HoldsFor) -> list[Size]:
    """Small sizes that a proof is about, at the edges of its conditions and beside each other, in a fixed disorder."""
    kinds = [kind for kind, _ in proof.nodes]
    every = product(range(MOST_NODES + 1), repeat=len(kinds))
    sizes = [
        Size(tuple(zip(kinds, counts, strict=True)), ((proof.target, pods),))
        for counts in every
        for pods in range(1, MOST_PODS + 1)
        if (not kinds or 0 < sum(counts) <= MOST_NODES) and proof.admits(dict(zip(kinds, counts, strict=True)), pods)
    ]
    assert loaded.scenario.scale is not None
    told = [size for size in sizes if not why_trivial(resize(loaded, loaded.scenario.scale, size))]
    told.sort(key=lambda size: (size.node_total * size.pod_total, size.key))
    told = told[:SMALL]
    random.Random(21).shuffle(told)
    return told


def look_at(loaded: Loaded, name: str, size: Size, most_states: int) -> Verdict:
    """What every run says of one intent at one size."""
    assert loaded.scenario.scale is not None
    try:
        result = verify_intents(resize(loaded, loaded.scenario.scale, size), replace(EXACT, max_states=most_states))
    except NoPlacement:
        return Verdict.VACUOUS
    return next(one.verdict for one in result.results if one.intent == name)


def compare(name: str, wanted: int, most_states: int) -> int:
    """How many sizes were decided, up to so many for each intent; none may be violated."""
    loaded = find_input(name)
    done = 0
    for intent, proof in prove_any_size(loaded, VerifyOptions()).items():
        decided = 0
        for size in list_sizes(loaded, proof):
            verdict = look_at(loaded, intent, size, most_states)
            assert verdict in (Verdict.HOLDS, Verdict.VACUOUS, Verdict.UNKNOWN), (name, intent, size, verdict)
            decided += verdict != Verdict.UNKNOWN
            if decided == wanted:
                break
        done += decided
    return done


@pytest.mark.parametrize("name", [*PROVED, *INPUTS])
def test_no_size_refutes_what_is_proved_for_any(name: str) -> None:
    assert compare(name, 4, 1_000) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROVED, *INPUTS])
def test_no_one_of_forty_sizes_refutes_what_is_proved_for_any(name: str) -> None:
    assert compare(name, 40, 60_000) >= 40


@pytest.mark.parametrize("name", PROVED)
def test_shipped_cases_hold_for_any_size_by_these_arguments(name: str) -> None:
    found = prove_any_size(load(load_case(name, "safe")), VerifyOptions())

    assert {intent: proof.argument for intent, proof in found.items()} == PROVED[name]


@pytest.mark.parametrize("name", ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"])
def test_violating_variants_hold_for_no_size(name: str) -> None:
    assert prove_any_size(load(load_case(name, "violating")), VerifyOptions()) == {}
