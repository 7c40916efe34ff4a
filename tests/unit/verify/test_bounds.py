"""Proofs from the sizes that are ever written: worked numbers, and what they need."""

from __future__ import annotations

import pytest

from kubeproof.verdicts import Verdict
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.proofs.bounds import BY_SIZES, prove_by_bounds
from kubeproof.verify.run import plan_of
from tests.unit.verify.inputs import loaded, node, only, scenario, verified, web

WEB = "Deployment/shop/web"
BY_HOST = (
    "topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule, "
    "labelSelector: {matchLabels: {app: web}}}]"
)


def scale(*sizes: int) -> str:
    """A user who writes these sizes."""
    return f"{{scale: {{target: {WEB}, replicas: {list(sizes)}, max: {len(sizes)}, after: stable}}}}"


def is_held(*documents: str, intent: str, events: str = "") -> bool:
    """Whether the only intent follows from sizes, the pods of web running on a."""
    start = f"{{placement: {{{WEB}: {{a: 2}}}}}}"
    plan = plan_of(loaded(*documents, scenario(intent, events=events, start=start)), VerifyOptions())
    return prove_by_bounds(plan, ()) == {0: BY_SIZES}


@pytest.mark.parametrize(
    ("intent", "sizes", "held"),
    [
        (f"{{minReplicas: {{target: {WEB}, count: 2}}}}", (2, 3), True),
        (f"{{minReplicas: {{target: {WEB}, count: 2}}}}", (1, 3), False),
        (f"{{maxReplicas: {{target: {WEB}, count: 3}}}}", (2, 3), True),
        (f"{{maxReplicas: {{target: {WEB}, count: 3}}}}", (4,), False),
        (f'{{minReplicas: {{target: {WEB}, count: "50%"}}}}', (4,), True),  # 2 pods of 4 wanted
        (f'{{minReplicas: {{target: {WEB}, count: "51%"}}}}', (4,), False),  # 3 of 4, and two are there at first
    ],
)
def test_the_least_and_the_largest_size_written_bound_the_pods(intent: str, sizes: tuple[int, ...], held: bool) -> None:
    assert is_held(node("a", cpu="9"), web(2), intent=intent, events=scale(*sizes)) is held


@pytest.mark.parametrize("events", ["{drain: {}}", "{nodeFailure: {}}", f"{{delete: {{target: {WEB}}}}}"])
def test_pods_that_somebody_else_takes_away_are_not_bounded(events: str) -> None:
    intent = f"{{minReplicas: {{target: {WEB}, count: 1}}}}"

    assert not is_held(node("a", cpu="9"), web(2), intent=intent, events=events)


@pytest.mark.parametrize(
    ("cpus", "most", "held"),
    [
        (("3", "3"), 6, True),  # five pods are there at most: some node holds two
        (("3", "3"), 7, False),  # six may be there: both nodes may hold three
        (("4", "2"), 6, False),  # the small node may be the one with the even share
    ],
)
def test_a_pod_fits_if_it_fits_beside_the_even_share_of_its_own(cpus: tuple[str, str], most: int, held: bool) -> None:
    nodes = (node("a", cpu=cpus[0]), node("b", cpu=cpus[1]))

    assert is_held(*nodes, web(2), intent=f"{{schedulable: {{target: {WEB}}}}}", events=scale(most)) is held


@pytest.mark.parametrize(("others", "held"), [(3, True), (4, False)])
def test_all_other_pods_are_taken_to_be_on_every_node(others: int, held: bool) -> None:
    documents = (node("a", cpu="4"), node("b", cpu="4"), web(2), web(others, name="db"))

    assert is_held(*documents, intent=f"{{schedulable: {{target: {WEB}}}}}") is held


def test_the_node_with_the_fewest_pods_keeps_to_a_spread_by_host() -> None:
    schedulable = f"{{schedulable: {{target: {WEB}}}}}"
    nodes = (node("a", cpu="3"), node("b", cpu="3"))

    assert is_held(*nodes, web(2, more=BY_HOST), intent=schedulable, events=scale(6))
    assert not is_held(*nodes, web(2, more=BY_HOST), intent=schedulable, events=scale(7))
    tainted = node("c", cpu="3", taints="{key: k, effect: NoSchedule}")  # counts as an empty domain for ever
    assert not is_held(*nodes, tainted, web(2, more=BY_HOST), intent=schedulable, events=scale(6))


def test_pods_that_keep_others_away_are_left_to_the_search() -> None:
    apart = (
        "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
        "kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"
    )
    documents = (node("a", cpu="9"), node("b", cpu="9"), web(2), web(1, name="db", more=apart))

    assert not is_held(*documents, intent=f"{{schedulable: {{target: {WEB}}}}}")


def test_the_report_says_that_no_search_was_needed() -> None:
    documents = (node("a", cpu="9"), web(2), scenario(f"{{maxReplicas: {{target: {WEB}, count: 2}}}}"))

    result = verified(*documents)

    assert (only(result).verdict, only(result).states) == (Verdict.HOLDS, 0)
    assert only(result).detail.startswith("proved from the sizes that are ever written: ")
    assert result.statistics.reductions == ("proved from the sizes that are ever written",)
    assert dict(result.scope)["explored"].startswith("nothing: what the results were proved from")
    assert only(verified(*documents, without=("abstraction",))).states > 0


def test_hard_default_constraints_of_a_profile_are_left_to_the_search() -> None:
    profile = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]
"""
    zones = tuple(
        node(name, cpu="9").replace("labels: {", f"labels: {{zone: {name}, ").replace("spec: {", f"spec: {{{more}")
        for name, more in (("a", ""), ("b", "unschedulable: true, "))
    )
    schedulable = f"{{schedulable: {{target: {WEB}}}}}"

    found = verified(*zones, web(2), profile, scenario(schedulable))  # the second pod must not join the first one

    assert not is_held(*zones, web(2), profile, intent=schedulable)
    assert only(found).verdict == Verdict.VIOLATED
