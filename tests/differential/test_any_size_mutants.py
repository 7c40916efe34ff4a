"""Every obligation of the proofs for any size is needed: without it, some size that they cover is violated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import product
from typing import Any, NamedTuple

import pytest

from kubeproof.cases.library import load_case
from kubeproof.intents.declarations import Amount
from kubeproof.manifests.load import load
from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.any_size.derive import prove_any_size
from kubeproof.verify.resize import Size, resize
from kubeproof.verify.scaling.setups import why_trivial
from tests.differential.any_size_inputs import INPUTS, OTHERS, ROLLOUT, happens
from tests.differential.test_any_size import Proofs, find_meant, look_at, weigh
from tests.unit.verify.scaling.inputs import grows

ROOM = "kubeproof.verify.proofs.any_size."
MOST_NODES, MOST_PODS, MOST_STATES, MOST_SIZES = 3, 30, 1_000, 12
LOST = "nodeFailure: {max: 1, recovers: false}"
FITS = "schedulable: {target: Deployment/shop/web}"


def violating(case: str) -> Loaded:
    return load(load_case(case, "violating"))


def tight_budget() -> Loaded:
    """A budget that allows one missing pod of three, of which three are asked for."""
    loaded = load(load_case("c6", "safe"))
    (intent,) = loaded.scenario.intents
    asked = replace(intent, count=Amount(3))
    return replace(loaded, scenario=replace(loaded.scenario, intents=(asked,)))


class Mutant(NamedTuple):
    """A function of the proofs, what takes its place, and an input that then gets a wrong proof."""

    module: str
    function: str
    instead: Callable[..., Any] | int
    input: Callable[[], Loaded]


MUTANTS = {
    "sizes may pass the room": Mutant("by_sizes", "at_most", lambda *_, **__: (), INPUTS["room on one kind of two"]),
    "others take no room": Mutant(
        "by_sizes", "_most_of_others", lambda *_: (), partial(grows, fast=9, slow=9, pods=99, objects=OTHERS)
    ),
    "somebody writes another size": Mutant("by_sizes", "_are_all_told", lambda *_: True, partial(violating, "c2")),
    "more than sizes decide": Mutant(
        "by_sizes", "only_sizes_decide", lambda *_: True, partial(happens, LOST, intent=FITS)
    ),
    "a node bears any number": Mutant("by_load", "_count_borne", lambda *_: 99, partial(violating, "c4")),
    "loads have no ties": Mutant("derive", "find_ties_of_load", lambda *_: (), partial(violating, "c4")),
    "budgets demand enough": Mutant("by_budget", "at_most", lambda *_, **__: (), tight_budget),
    "there is room for all": Mutant("by_pods", "_find_room", lambda *_: (), partial(happens, ROLLOUT)),
    "a node is never full": Mutant("by_pods", "_count_to_fill", lambda *_: 99, partial(happens, ROLLOUT)),
    "policies evict nobody": Mutant("by_rest", "_find_deschedulers", lambda *_: [], partial(violating, "c5")),
}


def list_new_sizes(loaded: Loaded, proofs: Proofs, known: Proofs) -> Iterator[Size]:
    """The smallest sizes of which a mutant proves more."""
    scale = loaded.scenario.scale
    assert scale is not None
    kinds, target = [node.like for node in scale.nodes], scale.workloads[0].target
    sizes = (
        Size(tuple(zip(kinds, counts, strict=True)), ((target, pods),))
        for counts in product(range(MOST_NODES + 1), repeat=len(kinds))
        for pods in range(1, MOST_PODS + 1)
        if 0 < sum(counts) <= MOST_NODES
    )
    more = sorted((one for one in sizes if set(find_meant(proofs, one)) - set(find_meant(known, one))), key=weigh)
    return (one for one in more[:MOST_SIZES] if not why_trivial(resize(loaded, scale, one)))


@pytest.mark.parametrize("name", MUTANTS)
def test_some_size_refutes_proofs_that_forget_an_obligation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, function, instead, make = MUTANTS[name]
    loaded = make()
    known = prove_any_size(loaded, VerifyOptions())
    monkeypatch.setattr(import_module(ROOM + module), function, instead)

    proofs = prove_any_size(loaded, VerifyOptions())

    assert any(
        look_at(loaded, size, MOST_STATES)[intent] == Verdict.VIOLATED
        for size in list_new_sizes(loaded, proofs, known)
        for intent in find_meant(proofs, size)
    )
