"""Cutting an input into parts: what keeps workloads together, what keeps the input whole, what is told."""

from __future__ import annotations

import pytest

from kubeproof.verdicts import Verdict
from kubeproof.verify.options import Effort, VerifyOptions
from kubeproof.verify.proofs.slicing import Inseparable, cut
from kubeproof.verify.run import verify
from tests.unit.verify.inputs import loaded, scenario

SETTLES = "{settles: {}}"


def node(name: str, team: str, *, taints: str = "") -> str:
    """A Node of a team."""
    return f"""apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}, team: {team}}}}}
spec: {{taints: [{taints}]}}
status: {{allocatable: {{cpu: "2", memory: 8Gi, pods: "110"}}}}
"""


def app(name: str, team: str, *, replicas: int = 1, namespace: str = "shop", more: str = "") -> str:
    """A Deployment for the nodes of a team; `more` goes into the pod spec."""
    return f"""apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: {namespace}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}, tier: web}}}}
    spec:
      nodeSelector: {{team: {team}}}
      {more}
      containers: [{{name: main, image: registry.example.com/main, resources: {{requests: {{cpu: "1"}}}}}}]
"""


TWO_TEAMS = (node("a1", "a"), node("b1", "b"), app("one", "a"), app("two", "b"))
BUDGET = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: both, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {tier: web}}}
"""
POLICY = """apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  plugins: {balance: {enabled: [RemoveDuplicates]}}
"""
SPREAD = """topologySpreadConstraints:
      - {topologyKey: team, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {tier: web}}}"""
APART = """affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: team, labelSelector: {matchLabels: {app: two}}}]}}"""


def parts(*documents: str, intents: str = SETTLES, events: str = "", start: str = "empty") -> list[tuple[str, ...]]:
    """The workloads of each part; a single empty one if the input stays whole."""
    found = cut(loaded(*documents, scenario(intents, events=events, start=start)))
    return [()] if isinstance(found, Inseparable) else [part.workloads for part in found]


def test_workloads_of_different_nodes_are_parts_of_their_own() -> None:
    assert parts(*TWO_TEAMS) == [("Deployment/shop/one",), ("Deployment/shop/two",)]


def test_taints_keep_workloads_apart_as_selectors_do() -> None:
    dedicated = node("b1", "b", taints="{key: dedicated, value: b, effect: NoSchedule}")
    tolerant = app("two", "b", more="tolerations: [{key: dedicated, operator: Exists}]")

    assert len(parts(node("a1", "a"), dedicated, app("one", "a"), tolerant)) == 2


@pytest.mark.parametrize(
    "documents",
    [
        (node("a1", "a"), app("one", "a"), app("two", "a")),  # a node for both
        (*TWO_TEAMS, BUDGET),
        (*TWO_TEAMS[:3], app("two", "b", more=SPREAD)),
        (node("a1", "a"), node("b1", "b"), app("one", "a", more=APART), app("two", "b")),
    ],
)
def test_whatever_relates_workloads_keeps_them_together(documents: tuple[str, ...]) -> None:
    assert parts(*documents) == [()]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ("{nodeFailure: {max: 2}}", "events may disturb several parts at once"),
        (
            "{nodeFailure: {after: stable}}, {cordon: {after: stable}}",
            "events may disturb several parts at once",
        ),
        (
            "{nodeFailure: {max: 2, together: true, recovers: false, after: stable}}",
            "one event may disturb several parts",
        ),
        ("{kernelPanic: {}}", "a panic of any node counts for all"),
        (
            "{cordon: {name: first, after: stable}}, {delete: {target: Deployment/shop/one, after: first}}",
            "an event waits for one that may hit any node",
        ),
    ],
)
def test_events_that_several_parts_feel_keep_the_input_whole(events: str, reason: str) -> None:
    assert cut(loaded(*TWO_TEAMS, scenario(SETTLES, events=events))) == Inseparable(reason)


def test_the_descheduler_sees_all_pods() -> None:
    assert cut(loaded(*TWO_TEAMS, POLICY, scenario(SETTLES))) == Inseparable("the descheduler sees all pods")


def test_a_count_over_all_workloads_keeps_the_input_whole() -> None:
    assert parts(*TWO_TEAMS, intents="{maxPodObjects: {count: 9}}") == [()]


def test_every_part_keeps_all_nodes_and_its_own_intents() -> None:
    intents = f"{SETTLES}, {{schedulable: {{target: Deployment/shop/two}}}}"
    found = cut(loaded(*TWO_TEAMS, scenario(intents)))

    assert not isinstance(found, Inseparable)
    assert [len(part.loaded.setup.nodes) for part in found] == [2, 2]
    assert [part.intents for part in found] == [(0,), (0, 1)]


def test_the_report_tells_the_parts_and_what_was_left_out() -> None:
    result = verify(loaded(*TWO_TEAMS, scenario("{schedulable: {target: Deployment/shop/two}}")))

    told = dict(result.scope)
    assert told["slices"] == "1 verified on its own: Deployment/shop/two"
    assert told["workloads left out"].startswith("Deployment/shop/one: no intent reads them")


def test_nothing_is_cut_without_slicing() -> None:
    result = verify(loaded(*TWO_TEAMS, scenario(SETTLES)), VerifyOptions(without=("slicing",)))

    assert "slices" not in dict(result.scope)


def test_parts_that_move_at_the_same_time_are_searched_together() -> None:
    probed = app("two", "b").replace("resources:", "readinessProbe: {tcpSocket: {port: 80}}, resources:")

    result = verify(loaded(*TWO_TEAMS[:3], probed, scenario(SETTLES)))

    assert "slices" not in dict(result.scope)


def test_parts_of_which_nothing_is_known_yet_do_not_count_as_resting() -> None:
    result = verify(loaded(*TWO_TEAMS, scenario(SETTLES, events="{cordon: {}}")), VerifyOptions(max_states=1))

    assert "slices" not in dict(result.scope)


@pytest.mark.parametrize(
    "ordered",
    [
        app("two", "b").replace("Deployment", "StatefulSet").replace("replicas: 1", "replicas: 2\n  serviceName: two"),
        "---\n".join((app("two", "b"), app("three", "b", more="priorityClassName: system-cluster-critical"))),
    ],
)
def test_parts_whose_pods_wait_for_each_other_or_preempt_are_searched_together(ordered: str) -> None:
    documents = (node("a1", "a"), node("b1", "b"), app("one", "a"), ordered)
    result = verify(loaded(*documents, scenario(SETTLES)))

    assert len(parts(*documents)) == 2
    assert "slices" not in dict(result.scope)


@pytest.mark.parametrize("effort", [Effort(max_repeated=1), Effort()])
def test_a_violation_of_a_part_is_shown_as_a_run_of_the_whole(effort: Effort) -> None:
    documents = (node("a1", "a"), node("b1", "b"), app("one", "a", replicas=2), app("two", "b", replicas=2))
    intent = "{minReady: {target: Deployment/shop/two, count: 2}}"

    drained = scenario(intent, events="{drain: {after: stable}}", start="deployed")
    result = verify(loaded(*documents, drained), VerifyOptions(effort=effort))

    (found,) = result.results
    assert (found.verdict, found.pods, "slices" in dict(result.scope)) == (Verdict.VIOLATED, 4, True)
    assert found.trace is not None
    actors = {step.actor for step in found.trace.steps[: found.trace.deployed_steps]}
    assert {"scheduler one", "scheduler two"} <= actors


@pytest.mark.parametrize("plugin", ["NodeAffinity", "TaintToleration"])
def test_nodes_are_shared_where_the_scheduler_does_not_ask_what_keeps_them_apart(plugin: str) -> None:
    config = f"""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{{schedulerName: default-scheduler, plugins: {{multiPoint: {{disabled: [{{name: {plugin}}}]}}}}}}]
"""
    by_label = TWO_TEAMS
    by_taint = (
        *(node(f"{team}1", "any", taints=f"{{key: {team}, value: only, effect: NoSchedule}}") for team in "ab"),
        *(app(f"of-{team}", "any", more=f"tolerations: [{{key: {team}, operator: Exists}}]") for team in "ab"),
    )
    documents = by_label if plugin == "NodeAffinity" else by_taint

    assert len(cut(loaded(*documents, scenario(SETTLES)))) == 2
    assert cut(loaded(*documents, config, scenario(SETTLES))) == Inseparable("every workload can influence every other")
