"""Large inputs, decided by following one pod: at which sizes, and what is left to other strategies."""

from __future__ import annotations

import pytest

from kubeproof.manifests.loaded import Loaded
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.run import verify
from tests.unit.verify.inputs import loaded, node, scenario, web

NODES = tuple(node(f"n{number}", cpu="4") for number in range(36))
PENDING, SETTLES = "{noPendingForever: {}}", "{settles: {}}"
READY = "{minReady: {target: Deployment/shop/web, count: %d, when: %s}}"
ALL = READY % (30, "eventuallyAlways")
LOST = "{nodeFailure: {}}"
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""
AUTOSCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 30
  maxReplicas: 50
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
"""
LEVELS = '{cpuChange: {target: Deployment/shop/web, levels: ["25%", "50%", "100%"], initial: "50%"}}'
ROLLOUT = "{rollout: {target: Deployment/shop/web}}"
QUICK = VerifyOptions(max_states=400, effort=Effort(max_at_first=200, max_alone=5_000))


def large(*documents: str, events: str, intents: tuple[str, ...] = (PENDING, SETTLES, ALL), pods: int = 30) -> Loaded:
    """Thirty-six nodes for four pods each, and a workload of thirty."""
    return loaded(*NODES, web(pods), *documents, scenario(*intents, events=events, start="deployed"))


def answers(given: Loaded) -> list[tuple[str, str]]:
    """Verdict and strategy of each intent."""
    found = verify(given, QUICK).results
    return [(one.verdict, one.strategy.name if one.strategy else "") for one in found]


@pytest.mark.parametrize(
    ("documents", "events"),
    [
        ((), LOST),
        ((AUTOSCALER,), LEVELS),
        ((AUTOSCALER,), f"{LEVELS}, {LOST}"),
        ((BUDGET,), f"{ROLLOUT}, {LOST}"),
        ((), f"{LOST}, {{podCrash: {{target: Deployment/shop/web}}}}, {{cordon: {{reversible: true}}}}"),
        ((), "{drain: {uncordon: true}}"),
        ((web(9, name="db"), BUDGET), "{nodeFailure: {recovers: false, max: 2}}"),
    ],
)
def test_large_inputs_are_decided_by_following_one_pod(documents: tuple[str, ...], events: str) -> None:
    assert answers(large(*documents, events=events)) == [(Verdict.HOLDS, "pod-by-pod")] * 3 + [
        (Verdict.HOLDS, "pod-by-pod") for name in documents if "name: db" in name
    ]


def test_a_rollout_is_proved_to_complete() -> None:
    asked = "{rolloutCompletes: {target: Deployment/shop/web}}"

    assert answers(large(events=f"{ROLLOUT}, {LOST}", intents=(asked,))) == [(Verdict.HOLDS, "pod-by-pod")]


@pytest.mark.parametrize(
    ("documents", "events", "intent"),
    [
        ((BUDGET,), "{drain: {}}", PENDING),  # whom the budget lets go depends on the others
        ((), LOST, READY % (30, "always")),  # how many are ready at once is no matter of single pods
        ((), LOST, READY % (31, "eventuallyAlways")),
        ((), "{scale: {target: Deployment/shop/web, replicas: [20]}}", ALL),
        ((), f"{ROLLOUT}, {{scale: {{target: Deployment/shop/web, replicas: [31]}}}}", PENDING),
        ((AUTOSCALER,), f"{ROLLOUT}, {LEVELS}", PENDING),
        ((), "{rollout: {target: Deployment/shop/web, max: 2}}", PENDING),
        ((), "{neverReady: {target: Deployment/shop/web}}", PENDING),
    ],
)
def test_what_single_pods_do_not_decide_is_left_to_others(documents: tuple[str, ...], events: str, intent: str) -> None:
    found = answers(large(*documents, events=events, intents=(intent,)))

    assert [name for _, name in found] != ["pod-by-pod"]


def test_pods_that_may_find_no_room_are_not_proved() -> None:
    found = answers(large(events=LOST, intents=(PENDING,), pods=143))

    assert [name for _, name in found] != ["pod-by-pod"]


def test_a_proof_tells_at_which_other_sizes_it_holds() -> None:
    result = verify(large(events=LOST, intents=(PENDING, ALL)), QUICK)

    assert [one.detail.partition("; so it is ")[2] for one in result.results] == [
        "on these nodes at any size from 1 to 105",
        "on these nodes at any size from 30 to 105",
    ]


def test_where_sizes_change_none_is_told() -> None:
    result = verify(large(AUTOSCALER, events=LEVELS, intents=(PENDING,)), QUICK)

    assert "at any size" not in result.results[0].detail


def test_small_inputs_are_looked_at_as_they_are() -> None:
    few = loaded(node("n1"), node("n2"), web(1), scenario(PENDING, events=LOST, start="deployed"))

    assert answers(few) == [(Verdict.HOLDS, "first-look")]
