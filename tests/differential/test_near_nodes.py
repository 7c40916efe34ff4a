"""Nodes that differ a little as one class, against a class for each: the same verdicts, and runs of the real nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kubeproof.cluster.objects import Node, Setup
from kubeproof.engine.search import Search, find_compiled_kernel
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.plan import Plan
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import lift
from kubeproof.verify.counterexamples.replayer import replay
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.near_nodes import search_joined
from tests.differential.comparison import search, verdicts_of
from tests.differential.test_mixed import compare_answers
from tests.differential.test_reductions import FAMILIES, FURTHER
from tests.property.mixed import mixed_inputs
from tests.property.strategies import Case

MOST_STATES = 600
OPTIONS = VerifyOptions(max_states=MOST_STATES)
PATIENT = settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    deadline=None,
    database=None,
    phases=(Phase.generate,),
)
UNEVEN = st.sampled_from(
    (
        ((0, 0), (0, -3), (0, 1), (0, -3)),
        ((0, 0), (-1, 0), (0, 0), (1, 0)),
        ((0, 1), (1, 0), (0, 0), (-1, -3)),
    )
)
Differences = tuple[tuple[int, int], ...]  # per node in CPU, in thousandths, and in memory, in kibibytes
ALL = {**FAMILIES, **FURTHER}
OFTEN_JOINED = (
    "spread",
    "scale",
    "failure",
    "direct",
    "daemon",
    "stateful",
    "deschedule",
    "storage",
    "removal",
    "ending",
)
OFTEN_TOLD_APART = ("scale", "failure", "daemon", "stateful", "storage", "ending")
ONE_CLASS, TOLD_APART = "one class", "told apart"


def uneven(setup: Setup, differences: Differences) -> Setup:
    """The setup with nodes that differ a little."""
    return replace(
        setup,
        nodes=tuple(_changed(node, *one) for node, one in zip(setup.nodes, 3 * differences, strict=False)),
    )


def _changed(node: Node, milli: int, kibibytes: int) -> Node:
    return replace(node, cpu_milli=node.cpu_milli + milli, memory_bytes=node.memory_bytes + 1024 * kibibytes)


def compare_sizes(case: Case) -> str:
    """Asserts that joining nodes changes no verdict; returns what became of their classes."""
    plan = case.plan()
    if plan.near is None:
        return "nothing to join"
    full = search(plan, max_states=MOST_STATES)
    used, found = search_joined(plan, OPTIONS, lambda near, _: (near, search(near, max_states=MOST_STATES)))
    if not full.stopped_by:
        assert not found.stopped_by
        assert verdicts_of(found) == verdicts_of(full)
        assert len(found.store) <= len(full.store)
    if find_compiled_kernel() is not None:
        _, plain = search_joined(plan, OPTIONS, lambda near, _: (near, search(near, "python", MOST_STATES)))
        assert plain.findings == found.findings
    _replay_all(plan, used, found)
    return ONE_CLASS if used.classes == plan.near.classes else TOLD_APART


def _replay_all(plan: Plan, used: Plan, found: Search) -> None:
    """Every violation is one of the real nodes: they score as in a plan that has a class for each of them."""
    model, namer = IndividualModel(plan), RepresentativeModel(used)
    (start,) = namer.initial()
    for number, finding in enumerate(found.findings):
        if finding.verdict == Verdict.VIOLATED:
            path = lift(namer, start, found, finding)
            recorded = [(step.controller, step.concrete) for step in path.steps]
            replay(model, start, recorded, loop_start=path.loop_start, monitor_number=number)


def compare_many(family: str, examples: int) -> Counter[str]:
    """Compares so many random clusters of a family."""
    met: Counter[str] = Counter()

    @seed(7)
    @settings(PATIENT, max_examples=examples)
    @given(ALL[family](), UNEVEN)
    def check(case: Case, differences: Differences) -> None:
        met[compare_sizes(replace(case, setup=uneven(case.setup, differences)))] += 1

    check()
    return met


@pytest.mark.parametrize("family", OFTEN_JOINED)
def test_nodes_that_nothing_tells_apart_give_the_same_verdicts(family: str) -> None:
    met = compare_many(family, 40)

    assert met[ONE_CLASS] > 0
    assert bool(met[TOLD_APART]) == (family in OFTEN_TOLD_APART)


@pytest.mark.slow
@pytest.mark.parametrize("family", ALL)
def test_nodes_that_nothing_tells_apart_give_the_same_verdicts_on_many_more(family: str) -> None:
    assert compare_many(family, 1000).total() > 0


def compare_mixed(number: int, examples: int) -> Counter[str]:
    """Compares all ways to answer on so many random inputs whose nodes differ a little."""
    found: Counter[str] = Counter()

    @seed(number)
    @settings(PATIENT, max_examples=examples)
    @given(mixed_inputs(), UNEVEN)
    def check(loaded: Loaded, differences: Differences) -> None:
        found.update(compare_answers(replace(loaded, setup=uneven(loaded.setup, differences))))

    check()
    return found


def test_all_ways_to_answer_agree_on_mixed_clusters_of_uneven_nodes() -> None:
    found = compare_mixed(1, 60)

    assert found["VIOLATED"] > 0
    assert found["HOLDS"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_all_ways_to_answer_agree_on_many_more_mixed_clusters_of_uneven_nodes(number: int) -> None:
    assert compare_mixed(1000 + number, 100).total() > 0
