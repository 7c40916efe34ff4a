"""Intents along a run: violated at a moment, sampled without a violation, or without anything to say."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kubeproof.simulate.control.planning import plan_input
from kubeproof.simulate.options import SimulateOptions
from kubeproof.simulate.outcome import IntentOutcome
from kubeproof.simulate.simulation import _outcome, simulate_cluster
from kubeproof.verdicts import Verdict
from tests.unit.manifests.inputs import deployment, load_text, node, scenario
from tests.unit.simulate.inputs import EXACT, WEB, cluster

HOST = "kubernetes.io/hostname"
DOWN = "workload: {faults: [{at: 100s, nodeFailure: {nodes: {names: [n1]}}}]}"


def judged(spec: str, *, nodes: int = 2, replicas: int = 2, runs: int = 1, duration_s: int = 600) -> IntentOutcome:
    loaded = cluster(spec, nodes=nodes, replicas=replicas)
    (found,) = simulate_cluster(loaded, SimulateOptions(duration_s=duration_s, runs=runs)).intents
    return found


def test_a_forbidden_state_is_violated_at_its_moment() -> None:
    found = judged(f"start: deployed\n{DOWN}\nintents: [{{minReady: {{target: {WEB}, count: 2, when: always}}}}]")

    assert (found.verdict, found.id, found.seed) == (Verdict.VIOLATED, "S001", 0)
    assert found.at_s is not None
    assert 150 <= found.at_s <= 155
    assert found.source.line > 1
    assert found.detail == "the state is forbidden: 1 ready, at least 2 wanted"


def test_what_is_never_broken_is_sampled() -> None:
    found = judged(f"{EXACT}\nintents: [{{maxReplicas: {{target: {WEB}, count: 2}}}}]")

    assert (found.verdict, found.at_s, found.violated_runs) == (Verdict.SAMPLED_OK, None, 0)


def test_a_stable_state_is_judged_when_the_cluster_rests() -> None:
    found = judged(f"{EXACT}\nintents: [{{schedulable: {{target: {WEB}}}}}]", nodes=1, replicas=9)

    assert found.detail.endswith(": 1 pod without a node")
    assert (found.verdict, found.at_s) == (Verdict.VIOLATED, 2)  # 8 pods fit on the node, and have started


def test_what_holds_in_the_end_is_judged_at_the_end() -> None:
    pending = judged(f"{EXACT}\nintents: [{{noPendingForever: {{target: {WEB}}}}}]", nodes=1, replicas=9)

    assert (pending.verdict, pending.at_s) == (Verdict.VIOLATED, 600)


@pytest.mark.parametrize(("least", "most", "percent"), [(1, 3, 10), (3, 3, 100), (1, 3, 100)])
def test_a_cluster_rests_whose_autoscaler_stands_at_a_bound(least: int, most: int, percent: int) -> None:
    autoscaler = f"""apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: shop}}
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  minReplicas: {least}
  maxReplicas: {most}
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 50}}}}}}]
"""
    spec = f"""start: deployed
events: [{{cpuChange: {{target: {WEB}, levels: ["{percent}%"]}}}}]
intents: [{{minReady: {{target: {WEB}, count: 4, when: eventuallyAlways}}}}]"""
    web = deployment("web", spec="replicas: 2,", container="resources: {requests: {cpu: 100m}},")
    loaded = load_text(node("n1"), web, autoscaler, scenario(spec))

    (found,) = simulate_cluster(loaded, SimulateOptions(duration_s=3600)).intents

    ready = least if percent < 50 else most
    assert (found.verdict, found.at_s) == (Verdict.VIOLATED, 3600)
    assert found.detail == f"the run ends at rest, and nothing will change it: {ready} ready, at least 4 wanted"


def test_a_forbidden_step_is_violated_when_it_is_taken() -> None:
    drain = "workload: {faults: [{at: 100s, drain: {nodes: {names: [n1]}}}]}"
    found = judged(f"start: deployed\n{drain}\nintents: [{{noEviction: {{target: {WEB}}}}}]")

    assert (found.verdict, found.at_s) == (Verdict.VIOLATED, 100)
    assert found.detail == "drain takes a step that is forbidden"


@pytest.mark.parametrize(
    ("intent", "told"),
    [
        ("maxReplicas: {target: TARGET, count: 5}", "6 pods, at most 5 wanted"),
        ("minReplicas: {target: TARGET, count: 7, when: stable}", "6 pods, at least 7 wanted"),
        ("maxPodObjects: {target: TARGET, count: 5}", "6 Pod objects, at most 5 wanted"),
        ("maxNodes: {count: 1}", "2 nodes, at most 1 wanted"),
        ("maxSkew: {target: TARGET, topologyKey: HOST, skew: 1}", "2 pods of difference, at most 1 wanted"),
    ],
)  # fmt: skip
def test_a_violation_tells_the_numbers(intent: str, told: str) -> None:
    pods = "start: {placement: {Deployment/shop/web: {n1: 4, n2: 2}}}"
    found = judged(f"{pods}\nintents: [{{{intent.replace('TARGET', WEB).replace('HOST', HOST)}}}]", replicas=6)

    assert found.verdict == Verdict.VIOLATED
    assert found.detail.endswith(f": {told}")


def test_a_state_that_comes_again_is_a_loop() -> None:
    tainted = node("n1", extra="spec: {taints: [{key: gpu, effect: NoExecute}]}")
    web = deployment("web", pod="nodeName: n1,")
    loaded = load_text(tainted, web, scenario("intents: [{settles: {}}]"))
    (found,) = simulate_cluster(loaded, SimulateOptions(duration_s=60)).intents

    assert found.verdict == Verdict.VIOLATED
    assert found.detail.startswith("the same state came again")


def test_a_formula_is_followed_letter_by_letter() -> None:
    spec = f"""
        start: deployed
        {DOWN}
        intents: [{{ltl: {{formula: "G up", where: {{up: "ready('{WEB}') >= 2"}}}}}}]
    """
    found = judged(spec)

    assert found.verdict == Verdict.VIOLATED
    assert found.at_s is not None
    assert 150 <= found.at_s <= 155


def test_a_formula_that_the_first_state_breaks_is_violated_where_nothing_ever_happens() -> None:
    formula = f"""{{ltl: {{formula: "G up", where: {{up: "ready('{WEB}') >= 3"}}}}}}"""
    found = judged(f"start: deployed\nintents: [{formula}]")

    assert (found.verdict, found.at_s) == (Verdict.VIOLATED, 0)


def test_an_intent_without_violation_tells_what_any_run_left_open() -> None:
    plan = plan_input(cluster(f"intents: [{{noPendingForever: {{target: {WEB}}}}}]"))
    silent, telling = (SimpleNamespace(verdicts=((Verdict.SAMPLED_OK, None, told),)) for told in ("", "not at rest"))

    assert _outcome(plan, 0, [silent, telling], 0).detail == "not at rest"  # type: ignore[list-item]


def test_what_never_mattered_is_vacuous_and_so_is_the_whole() -> None:
    result = simulate_cluster(cluster("intents: [{drainCompletes: {}}]"), SimulateOptions(duration_s=60))

    assert (result.intents[0].verdict, result.verdict) == (Verdict.VACUOUS, Verdict.VACUOUS)


def test_of_several_runs_the_first_violation_has_its_seed() -> None:
    spec = "start: deployed\nevents: [{nodeFailure: {ratePerHour: 2}}]\n"
    found = judged(
        spec + f"intents: [{{minReady: {{target: {WEB}, count: 2, when: always}}}}]", runs=12, duration_s=900
    )

    assert (found.verdict, found.run) == (Verdict.VIOLATED, found.seed)
    assert 0 < found.violated_runs < 12
    again = cluster(spec + f"intents: [{{minReady: {{target: {WEB}, count: 2, when: always}}}}]")
    (alone,) = simulate_cluster(again, SimulateOptions(duration_s=900, seed=found.seed or 0)).intents
    assert (alone.verdict, alone.at_s) == (Verdict.VIOLATED, found.at_s)


@pytest.mark.parametrize("when", ["stable", "eventually", "eventuallyAlways"])
def test_other_moments_of_an_intent(when: str) -> None:
    found = judged(f"{EXACT}\nintents: [{{minReady: {{target: {WEB}, count: 2, when: {when}}}}}]")

    assert found.verdict == Verdict.SAMPLED_OK
