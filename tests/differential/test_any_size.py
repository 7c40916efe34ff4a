"""What is proved for any size, against every run of the input at sizes one by one."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice, product

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
MOST_NODES, MOST_PODS = 8, 16
Proofs = Mapping[str, HoldsFor]
FEWER = {"a rollout and a failure": 20}  # of forty: larger ones have too many states
PROVED = {
    "c2": {"never-below-the-minimum": "sizes-written"},
    "c3": {"schedulable Deployment/shop/web": "room"},
    "c4": {"no-node-panics": "load-borne", "schedulable Deployment/shop/web": "room"},
    "c5": {"noEvictionLoop Deployment/shop/web": "even-spread"},
    "c6": {"at-most-one-missing": "budget"},
    "c7": {"no-create-and-evict-loop": "named-node", "settles": "named-node"},
    "c8": {"noEvictionLoop Deployment/shop/web": "nobody-evicts"},
}


def find_input(name: str) -> Loaded:
    return INPUTS[name]() if name in INPUTS else load(load_case(name, "safe"))


def list_sizes(loaded: Loaded, proofs: Proofs, among: int) -> list[Size]:
    """Of the smallest sizes that proofs are about, so many in a fixed disorder."""
    scale = loaded.scenario.scale
    assert scale is not None
    kinds = [node.like for node in scale.nodes]
    every = product(range(MOST_NODES + 1), repeat=len(kinds))
    sizes = (
        Size(tuple(zip(kinds, counts, strict=True)), ((scale.workloads[0].target, pods),))
        for counts in every
        for pods in range(1, MOST_PODS + 1)
        if 0 < sum(counts) <= MOST_NODES
    )
    told = sorted((one for one in sizes if find_meant(proofs, one)), key=weigh)
    found = list(islice((one for one in told if not why_trivial(resize(loaded, scale, one))), among))
    random.Random(21).shuffle(found)
    return found


def weigh(size: Size) -> tuple[int, str]:
    return (size.node_total * size.pod_total, size.key)


def find_meant(proofs: Proofs, size: Size) -> list[str]:
    """The intents that are proved at a size."""
    counts, ((_, pods),) = dict(size.nodes), size.pods
    return [name for name, proof in proofs.items() if proof.admits(counts, pods)]


def look_at(loaded: Loaded, size: Size, most_states: int) -> dict[str, Verdict]:
    """What every run says of the intents at one size."""
    assert loaded.scenario.scale is not None
    try:
        result = verify_intents(resize(loaded, loaded.scenario.scale, size), replace(EXACT, max_states=most_states))
    except NoPlacement:
        return {intent.name: Verdict.VACUOUS for intent in loaded.scenario.intents}
    return {one.intent: one.verdict for one in result.results}


def compare(name: str, wanted: int, most_states: int, among: int) -> int:
    """How many sizes were decided, up to so many; none may be violated."""
    loaded = find_input(name)
    proofs = prove_any_size(loaded, VerifyOptions())
    decided = 0
    for size in list_sizes(loaded, proofs, among):
        found = look_at(loaded, size, most_states)
        told = {intent: found[intent] for intent in find_meant(proofs, size)}
        assert not {Verdict.VIOLATED, Verdict.ERROR} & set(told.values()), (name, size, told)
        decided += Verdict.UNKNOWN not in told.values()
        if decided == wanted:
            break
    return decided


@pytest.mark.parametrize("name", [*PROVED, *INPUTS])
def test_no_size_refutes_what_is_proved_for_any(name: str) -> None:
    assert compare(name, 3, 2_000, 6) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROVED, *INPUTS])
def test_no_one_of_forty_sizes_refutes_what_is_proved_for_any(name: str) -> None:
    assert compare(name, 40, 50_000, 120) >= min(40, FEWER.get(name, 40))


@pytest.mark.parametrize("name", PROVED)
def test_shipped_cases_hold_for_any_size_by_these_arguments(name: str) -> None:
    found = prove_any_size(load(load_case(name, "safe")), VerifyOptions())

    assert {intent: proof.argument for intent, proof in found.items()} == PROVED[name]


@pytest.mark.parametrize("name", ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"])
def test_violating_variants_do_not_hold_at_the_size_of_the_case(name: str) -> None:
    loaded = load(load_case(name, "violating"))
    assert loaded.scenario.scale is not None
    kinds = {one.like: len(loaded.setup.nodes) for one in loaded.scenario.scale.nodes}
    pods = {workload.ref: workload.replicas for workload in loaded.setup.workloads}

    proofs = prove_any_size(loaded, VerifyOptions())

    assert not any(proof.admits(kinds, pods[proof.target]) for proof in proofs.values())
    assert set(proofs) == ({"no-node-panics", "schedulable Deployment/shop/web"} if name == "c4" else set())
