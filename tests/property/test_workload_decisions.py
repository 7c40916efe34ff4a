"""Invariants of rollouts, victims, taint clocks and budgets on the inputs of the recorded corpora."""

from __future__ import annotations

from itertools import islice, pairwise
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from kubeproof.cluster.state import NEVER
from kubeproof.controllers.evictions.taint_eviction import clock_after, seconds_tolerated
from kubeproof.controllers.workloads.victims import Tier, choices
from tests.conformance.corpus import Case
from tests.conformance.decide import evictions, victims, workloads
from tests.conformance.inputs import evictions as eviction_inputs
from tests.conformance.inputs import workloads as workload_inputs

SEEDS = st.integers(0, 2**32)


@given(SEEDS.map(lambda seed: workload_inputs.rollout(Random(seed))))
def test_a_rollout_left_alone_ends_with_nothing_to_write(case: Case) -> None:
    writes, deleted, _ = workloads.rollout(case, "kubernetes-1.37")[-1]

    assert (writes, deleted) == ([], [])


@given(SEEDS.map(lambda seed: workload_inputs.rollout(Random(seed))))
def test_no_write_makes_a_size_negative(case: Case) -> None:
    for writes, _, _ in workloads.rollout(case, "kubernetes-1.37"):
        assert all(size >= 0 for _, size, _, _ in writes)


@given(SEEDS.map(lambda seed: workload_inputs.scale_down(Random(seed))))
def test_victims_are_among_the_choices_that_the_model_explores(case: Case) -> None:
    """The model keeps no ages: it takes rules 1 to 5 as tiers, and every choice within one."""
    chosen = victims.victims(case, "kubernetes-1.37")
    ranked = victims.candidates(case)
    keys = {pod.uid: (pod.assigned, pod.phase, pod.ready, pod.deletion_cost, -pod.rank) for pod in ranked}
    tiers = [Tier(tuple(map(int, key)), key, list(keys.values()).count(key), 1) for key in set(keys.values())]
    (losses,) = islice(choices(tiers, case["count"]), 2)
    explored = {tier.owner: sum(parts) for tier, parts in losses}
    taken = [keys[uid] for uid in chosen]

    assert explored == {key: taken.count(key) for key in set(taken)}


@given(SEEDS.map(lambda seed: eviction_inputs.taint_history(Random(seed))))
def test_further_taints_never_prolong_a_clock_that_runs(case: Case) -> None:
    tolerations = evictions.tolerations_of(case["pods"][0])
    changes = [evictions.taints_of(event["taints"]) for event in case["events"] if "taints" in event]
    clocks = [NEVER]
    for taints in changes:
        clocks.append(clock_after(clocks[-1], tolerations, taints))

    for (before, after), taints in zip(pairwise(clocks), changes, strict=True):
        assert after in (before, 0, NEVER, seconds_tolerated(tolerations, taints))
        assert after <= before or before == NEVER


@given(SEEDS.map(lambda seed: eviction_inputs.budget_status(Random(seed))))
def test_allowed_evictions_leave_the_desired_number_healthy(case: Case) -> None:
    _, desired, healthy, allowed, failed, _, _ = evictions.budget_status(case, "kubernetes-1.37")

    assert allowed == 0 if failed else healthy - allowed >= min(healthy, desired)
