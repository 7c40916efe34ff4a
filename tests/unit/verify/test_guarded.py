"""minReady proved from a budget: worked numbers, and what the proof needs."""

from __future__ import annotations

import pytest

from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.bounds import BY_BUDGET, prove_by_bounds
from kubeproof.verify.run import plan_of
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web

WEB = "Deployment/shop/web"
DRAIN = "{maintenance: {max: 2, after: stable}}"
NODES = (node("a", cpu="9"), node("b", cpu="9"))


def budget(amount: str, *, name: str = "web", labels: str = "app: web") -> str:
    """A PodDisruptionBudget."""
    return f"""apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}, namespace: shop}}
spec: {{{amount}, selector: {{matchLabels: {{{labels}}}}}}}
"""


def min_ready(count: int | str) -> str:
    """An intent."""
    return f"{{minReady: {{target: {WEB}, count: {count}}}}}"


def is_held(
    *documents: str, intent: str, events: str = DRAIN, start: str = f"{{placement: {{{WEB}: {{a: 4}}}}}}"
) -> bool:
    """Whether the only intent follows from a budget, four pods of web running on a."""
    plan = plan_of(loaded(*NODES, *documents, scenario(intent, events=events, start=start)), VerifyOptions())
    return prove_by_bounds(plan, ()) == {0: BY_BUDGET}


@pytest.mark.parametrize(
    ("amount", "count", "held"),
    [
        ("maxUnavailable: 1", 3, True),
        ("maxUnavailable: 1", 4, False),
        ("maxUnavailable: 2", 3, False),
        ("minAvailable: 3", 3, True),
        ("minAvailable: 2", 3, False),
        ('maxUnavailable: "30%"', 2, True),  # 1.2 pods round up to 2 that may be missing
        ('maxUnavailable: "30%"', 3, False),
        ('minAvailable: "51%"', 3, True),  # 2.04 pods round up to 3
        ("maxUnavailable: 0", 4, True),
    ],
)
def test_evictions_leave_as_many_ready_pods_as_the_budget_demands(amount: str, count: int, held: bool) -> None:
    assert is_held(web(4), budget(amount), intent=min_ready(count)) is held


def test_a_count_in_percent_is_one_of_the_size() -> None:
    assert is_held(web(4), budget("maxUnavailable: 1"), intent=min_ready('"75%"'))
    assert not is_held(web(4), budget("maxUnavailable: 1"), intent=min_ready('"76%"'))


@pytest.mark.parametrize(
    "events",
    [
        "{nodeFailure: {}}",
        f"{{scale: {{target: {WEB}, replicas: [2]}}}}",
        f"{{rollout: {{target: {WEB}}}}}",
        f"{{delete: {{target: {WEB}}}}}",
        f"{{podCrash: {{target: {WEB}}}}}",
    ],
)
def test_pods_that_no_eviction_takes_away_are_not_guarded(events: str) -> None:
    assert not is_held(web(4), budget("maxUnavailable: 1"), intent=min_ready(3), events=events)


@pytest.mark.parametrize(
    "documents",
    [
        (web(4),),
        (web(4), budget("maxUnavailable: 1"), budget("maxUnavailable: 3", name="other")),
        (web(4), budget("minAvailable: 3", labels="tier: front")),
        (web(4, more="nodeName: a"), budget("maxUnavailable: 1")),
    ],
    ids=["no budget", "two budgets", "of other pods", "pods that name their node"],
)
def test_a_proof_needs_one_budget_and_pods_that_only_evictions_take(documents: tuple[str, ...]) -> None:
    assert not is_held(*documents, intent=min_ready(3))


def test_a_budget_that_counts_pods_of_others_guards_nobody() -> None:
    shared = "selector: {matchExpressions: [{key: app, operator: In, values: [web, db]}]}"
    common = budget("maxUnavailable: 1").replace("selector: {matchLabels: {app: web}}", shared)

    assert not is_held(web(4), web(4, name="db"), common, intent=min_ready(3))


def test_more_pods_than_wanted_at_the_start_are_deleted_by_their_owner() -> None:
    start = f"{{placement: {{{WEB}: {{a: 5}}}}}}"

    assert not is_held(web(4), budget("maxUnavailable: 1"), intent=min_ready(3), start=start)


def test_a_guarded_intent_holds_without_a_search_and_with_one() -> None:
    documents = (*NODES, web(3), budget("maxUnavailable: 1"), scenario(min_ready(2), events=DRAIN, start="deployed"))

    quick, slow = only(verified(*documents)), only(verified(*documents, without=frozenset({"abstraction"})))

    assert (quick.verdict, slow.verdict) == (Verdict.HOLDS, Verdict.HOLDS)
    assert quick.detail.startswith("proved from the budget that every eviction asks: ")


def test_taints_that_the_scheduler_does_not_heed_evict_without_asking_the_budget() -> None:
    tainted = node("c", taints="{key: old, value: hardware, effect: NoExecute}")
    config = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler, plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}}]
"""
    documents = (web(4), budget("maxUnavailable: 1"), tainted)

    assert is_held(*documents, intent=min_ready(3))
    assert not is_held(*documents, config, intent=min_ready(3))
