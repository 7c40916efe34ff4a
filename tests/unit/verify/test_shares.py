"""Inputs that are too large as a whole: violations of one workload as runs of all, proofs whatever the others do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kubeproof.engine.stopped import StoppedBy, StopReason
from kubeproof.manifests.load import load_texts
from kubeproof.verdicts import Verdict
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify
from kubeproof.verify.strategies import parts
from tests.unit.verify.inputs import loaded, node, scenario, web

NODES = (node("n1", cpu="8"), node("n2", cpu="8"), node("n3", cpu="8"))
APART = """affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: front}}}]}}"""
FRONT = web(3, name="front", cpu="100m", more=APART)
PENDING = "{noPendingForever: {target: Deployment/shop/%s}}"
FAILURE = "{nodeFailure: {}}"
AUTOSCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: back, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: back}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
"""
FEW = Effort(max_at_first=5, max_looks=0)  # states of a whole, then its parts are looked at
USAGE = '{cpuChange: {target: Deployment/shop/back, levels: ["50%", "100%"]}}'


def answered(*documents: str, **options: object) -> VerifyResult:
    """The verdicts if no whole is small enough, not even when all else has been tried."""
    given = {"engine": "python", "max_states": 6, "effort": FEW, **options}
    return verify(loaded(*documents), VerifyOptions(**given))  # type: ignore[arg-type]


def verdicts(result: VerifyResult) -> list[str]:
    return [one.verdict for one in result.results]


def test_a_violation_of_one_workload_is_shown_as_a_run_of_all() -> None:
    result = answered(*NODES, FRONT, web(2, name="back"), scenario(PENDING % "front", events=FAILURE))

    (found,) = result.results
    assert found.verdict == Verdict.VIOLATED
    assert found.trace is not None
    assert "1 pod(s) of Deployment/shop/front without a node: front-4" in found.trace.final
    assert {"scheduler front", "scheduler back"} <= {step.actor for step in found.trace.steps}


def test_what_no_other_workload_can_prevent_is_proved() -> None:
    intents = (
        "{settles: {}}",
        PENDING % "back",
        "{minReady: {target: Deployment/shop/back, count: 2, when: eventuallyAlways}}",
    )
    result = answered(*NODES, FRONT, web(2, name="back"), scenario(*intents, events=FAILURE))

    assert verdicts(result) == [Verdict.HOLDS, Verdict.HOLDS, Verdict.HOLDS]
    assert [one.detail.split(":")[0] for one in result.results] == [
        "proved for each workload, whatever the others do",
        "proved for each pod, whatever the others do",
        "proved for each pod, whatever the others do",
    ]
    assert result.statistics.stopped_by is None
    assert result.statistics.reductions[-1] == parts.ONE_BY_ONE


def test_what_holds_alone_is_no_proof_where_others_may_take_the_room() -> None:
    others = web(18, name="crowd", cpu="1")
    result = answered(*NODES, web(2, name="back", cpu="4"), others, scenario(PENDING % "back", events=FAILURE))

    (found,) = result.results
    assert found.verdict == Verdict.UNKNOWN
    assert found.detail.endswith("it holds if Deployment/shop/back has all nodes to itself")


def test_room_is_counted_without_the_nodes_that_events_hit() -> None:
    # Sixteen pods of 1 CPU may fill two nodes of 8 for a pod of 1 CPU; one of three nodes may fail.
    others = web(15, name="crowd", cpu="1")
    documents = (*NODES, web(1, name="back", cpu="1"), others)

    assert verdicts(answered(*documents, scenario(PENDING % "back"))) == [Verdict.HOLDS]
    assert verdicts(answered(*documents, scenario(PENDING % "back", events=FAILURE))) == [Verdict.UNKNOWN]


def test_a_workload_that_needs_a_certain_node_needs_room_on_every_node() -> None:
    # Together 7 CPU fit on every node; 9 CPU do not, and the last node that is left for a third pod may be full.
    roomy = answered(*NODES, FRONT, web(6, name="crowd", cpu="1"), scenario(PENDING % "front"))
    crowded = answered(*NODES, FRONT, web(9, name="crowd", cpu="1"), scenario(PENDING % "front"))

    assert verdicts(roomy) == [Verdict.HOLDS]
    assert verdicts(crowded) == [Verdict.UNKNOWN]


def test_an_autoscaler_that_comes_to_rest_does_not_stand_in_the_way() -> None:
    documents = (*NODES, FRONT, web(1, name="back", cpu="100m"), AUTOSCALER)

    assert verdicts(answered(*documents, scenario(PENDING % "back"))) == [Verdict.HOLDS]
    assert verdicts(answered(*documents, scenario(PENDING % "back", events=USAGE))) == [Verdict.HOLDS]


def test_pods_that_an_autoscaler_may_add_and_let_end_count_as_taken_room() -> None:
    # 1 to 3 pods of 1 CPU, and up to two that end, beside one and the next: 7 CPU. After a rise none goes for a while.
    pods = (web(1, name="back"), web(1, name="front"), AUTOSCALER, scenario(PENDING % "front", events=USAGE))

    assert verdicts(answered(node("n1", cpu="7"), *pods)) == [Verdict.HOLDS]
    assert verdicts(answered(node("n1", cpu="6"), *pods)) == [Verdict.UNKNOWN]


def test_pods_that_an_autoscaler_without_a_window_lets_end_count_once_for_each_sync_of_a_grace_period() -> None:
    # The same with three rounds of two that end: 11 CPU.
    hasty = AUTOSCALER + "  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}\n"
    pods = (web(1, name="back"), web(1, name="front"), hasty, scenario(PENDING % "front", events=USAGE))

    assert verdicts(answered(node("n1", cpu="11"), *pods)) == [Verdict.HOLDS]
    assert verdicts(answered(node("n1", cpu="10"), *pods)) == [Verdict.UNKNOWN]


def test_a_port_of_the_node_stands_in_the_way_of_those_that_want_it_only() -> None:
    port = "containers: [{name: own, image: registry.example.com/own, ports: [{containerPort: 80, hostPort: 80}]}]"
    first, second = (
        web(2, name=name).replace("containers: [{name: main", port[:-1] + ", {name: main") for name in ("back", "last")
    )
    asked = scenario(PENDING % "front", PENDING % "back")

    assert verdicts(answered(*NODES, FRONT, first, asked)) == [Verdict.HOLDS, Verdict.HOLDS]
    assert verdicts(answered(*NODES, FRONT, first, second, asked)) == [Verdict.HOLDS, Verdict.VIOLATED]


def test_proofs_by_more_runs_can_be_switched_off() -> None:
    documents = (*NODES, FRONT, web(2, name="back"), scenario(PENDING % "back", events=FAILURE))

    assert verdicts(answered(*documents, without=("abstraction",))) == [Verdict.UNKNOWN]


def test_a_whole_that_is_small_enough_is_searched_as_one() -> None:
    result = answered(*NODES, FRONT, web(2, name="back"), scenario("{settles: {}}"), max_states=None)

    assert verdicts(result) == [Verdict.HOLDS]
    assert result.results[0].detail.startswith("proved for each workload")


def test_what_parts_cannot_decide_is_searched_as_a_whole_again() -> None:
    crowd = (*NODES, web(1, name="back", cpu="4"), web(5, name="crowd", cpu="4"), scenario(PENDING % "back"))

    assert verdicts(answered(*crowd, max_states=None)) == [Verdict.HOLDS]


def test_the_built_in_scenario_comes_to_an_end_by_itself() -> None:
    text = "---\n".join((*NODES, web(2, name="back", cpu="4"), web(4, name="crowd", cpu="4")))
    few = VerifyOptions(engine="python", effort=replace(FEW, max_at_last=30, max_alone=2_000))
    result = verify(load_texts([("in.yaml", text)]), few)

    assert result.statistics.stopped_by == StoppedBy(StopReason.STATES, 30)
    assert Verdict.UNKNOWN in verdicts(result)


COMING_BACK = "tolerations: [{key: node.kubernetes.io/%s, operator: Exists, effect: NoSchedule}]"
BLIND = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler, plugins: {multiPoint: {disabled: [{name: %s}]}}}]
"""
EXCLUSIVE = "{key: dedicated, value: storage, effect: NoSchedule}"


def test_pods_that_accept_drained_nodes_are_not_proved() -> None:
    # A drained node takes front's pod back, and evicts it, within one instant: no time passes in which back starts.
    eager = web(1, name="front", cpu="100m", more=COMING_BACK % "unschedulable")
    ready = "{minReady: {target: Deployment/shop/back, count: 1, when: eventuallyAlways}}"
    documents = (*NODES[:2], eager, web(1, name="back"))

    assert verdicts(answered(*documents, scenario(ready, events="{drain: {}}"))) == [Verdict.UNKNOWN]
    assert verdicts(answered(*documents, scenario(ready, events=FAILURE))) == [Verdict.HOLDS]


def test_a_cordoned_node_that_pods_accept_must_have_room_too() -> None:
    cordoned = node("n2", cpu="50m").replace("spec: {", "spec: {unschedulable: true, ")
    pods = web(2, name="front", cpu="100m", more=APART + "\n      " + COMING_BACK % "unschedulable")
    documents = (NODES[0], cordoned, pods, web(1, name="back"), scenario(PENDING % "front"))

    assert verdicts(answered(*documents)) == [Verdict.VIOLATED]


def test_a_node_whose_taints_no_scheduler_heeds_must_have_room_too() -> None:
    tainted = node("n2", cpu="50m", taints=EXCLUSIVE)
    pods = (web(2, name="front", cpu="100m", more=APART), web(1, name="back"), scenario(PENDING % "front"))

    assert verdicts(answered(NODES[0], tainted, *pods, BLIND % "TaintToleration")) == [Verdict.VIOLATED]


def test_a_loop_that_others_can_end_is_not_called_inevitable() -> None:
    # Alone, front always goes back to n1, which evicts it. With back on n1 both nodes score alike.
    nodes = (node("n1", taints="{key: old, value: hardware, effect: NoExecute}"), node("n2", cpu="1"))
    front = web(1, name="front", cpu="100m", more="terminationGracePeriodSeconds: 0")
    stays = "tolerations: [{key: old, operator: Exists}]\n      nodeSelector: {kubernetes.io/hostname: n1}"
    pods = (front, web(1, name="back", cpu="160m", more=stays), BLIND % "TaintToleration", scenario("{settles: {}}"))
    (found,) = answered(nodes[0], nodes[1].replace("8Gi", "4Gi"), *pods).results

    assert found.verdict == Verdict.VIOLATED
    assert found.trace is not None
    assert found.trace.loop_certainty == "possible"


def test_a_pod_that_fits_on_no_node_is_not_proved_to_find_room() -> None:
    result = answered(*NODES, FRONT, web(1, name="huge", cpu="9"), scenario(PENDING % "huge"))

    assert verdicts(result) == [Verdict.VIOLATED]


def test_parts_whose_start_is_too_large_decide_nothing() -> None:
    pods = (FRONT, web(2, name="back"), scenario(PENDING % "front", start="deployed", events=FAILURE))
    result = answered(*NODES, *pods, effort=replace(FEW, max_alone=1))

    assert verdicts(result) == [Verdict.UNKNOWN]
    assert result.statistics.reductions[-1] == parts.ONE_BY_ONE


@pytest.mark.parametrize(("after", "expected"), [("", Verdict.HOLDS), ("after: stable", Verdict.UNKNOWN)])
def test_drains_that_may_begin_at_once_are_proved_to_complete(after: str, expected: str) -> None:
    drain = f"{{drain: {{{after}}}}}"
    result = answered(*NODES, web(2, name="front"), web(2, name="back"), scenario("{drainCompletes: {}}", events=drain))

    assert verdicts(result) == [expected]


# -- kinds with pods and memories of their own --------------------------------------------------------

JOB = """apiVersion: batch/v1
kind: Job
metadata: {name: batch, namespace: shop}
spec:
  backoffLimit: 0
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: x}]}
"""
AGENT = """apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: main, image: x, resources: {requests: {cpu: 100m}}}]}
"""


def test_a_job_beside_a_deployment_is_told_from_it() -> None:
    events = "{podCrash: {target: Job/shop/batch}}, {drain: {}}"
    intents = ("{completes: {target: Job/shop/batch}}", "{noEviction: {target: Deployment/shop/front}}")
    documents = (*NODES[:2], JOB, web(1, name="front", cpu="100m"), scenario(*intents, events=events))
    result = answered(*documents, effort=replace(FEW, max_alone=3_000))

    assert verdicts(result) == [Verdict.VIOLATED, Verdict.VIOLATED]


def test_a_violation_is_not_lost_beside_a_daemon_set() -> None:
    ready = "{minReady: {target: Deployment/shop/front, count: 3, when: eventuallyAlways}}"
    result = answered(*NODES, AGENT, FRONT, scenario(PENDING % "front", ready, events=FAILURE))

    assert verdicts(result) == [Verdict.VIOLATED, Verdict.VIOLATED]
    traces = [one.trace for one in result.results if one.trace is not None]
    assert all("scheduler agent" in {step.actor for step in trace.steps} for trace in traces)
