"""Smaller rules of objects and scenarios, one by one."""

from __future__ import annotations

import pytest

from kubeproof.cluster.objects import Strategy
from kubeproof.errors import KubeproofError, ScenarioError
from kubeproof.events.declarations import Scale
from kubeproof.manifests.yaml.tree import ScalarKind, kind_of
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec: {containers: [{name: c}]}\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ScalarKind.NULL),
        ("~", ScalarKind.NULL),
        ("yes", ScalarKind.BOOLEAN),
        ("OFF", ScalarKind.BOOLEAN),
        ("yES", ScalarKind.STRING),
        ("-12", ScalarKind.INTEGER),
        ("010", ScalarKind.ODD_NUMBER),
        ("0x1F", ScalarKind.ODD_NUMBER),
        ("1_000", ScalarKind.ODD_NUMBER),
        ("1.30", ScalarKind.FLOAT),
        ("1e3", ScalarKind.FLOAT),
        ("12:30:45", ScalarKind.STRING),
        ("2026-13-45", ScalarKind.STRING),
        ("1Gi", ScalarKind.STRING),
    ],
)
def test_plain_scalars_are_taken_for_what_kubectl_takes_them(text: str, kind: ScalarKind) -> None:
    assert kind_of(text) is kind


def test_a_replica_set_is_a_workload() -> None:
    text = deployment(spec="replicas: 2, minReadySeconds: 5,").replace("kind: Deployment", "kind: ReplicaSet")
    found = load_text(text).setup.workloads[0]

    assert (found.ref, found.replicas, found.min_ready_s) == ("ReplicaSet/shop/web", 2, 5)


def test_percentages_and_counts_of_the_strategy_are_kept_apart() -> None:
    text = deployment(spec='strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: "50%"}},')

    assert load_text(text).setup.workloads[0].strategy == Strategy(True, 2, False, 50, True)


@pytest.mark.parametrize(
    ("replicas", "strategy", "missing"),
    [
        (1, Strategy(), 0),
        (4, Strategy(), 1),
        (10, Strategy(), 2),
        (3, Strategy(True, 0, False, 10, True), 1),
        (2, Strategy(True, 1, False, 5, False), 2),
        (4, Strategy(rolling=False), 0),
    ],
)
def test_unavailable_pods_are_resolved_as_upstream(replicas: int, strategy: Strategy, missing: int) -> None:
    assert strategy.unavailable_of(replicas) == missing


def test_a_merge_key_adds_what_the_mapping_does_not_set() -> None:
    text = deployment(
        container="resources: {limits: &l {cpu: 2, memory: 1Gi}, requests: {<<: *l, cpu: 1}},",
    )
    container = load_text(text).setup.workloads[0].template.containers[0]

    assert (container.cpu_milli, container.memory_bytes) == (1000, 2**30)


def test_a_finished_pod_is_left_out() -> None:
    loaded = load_text(POD + "status: {phase: Succeeded}\n")

    assert loaded.setup.workloads == ()
    assert loaded.omissions[0].why == "it has already finished"


def test_a_pod_whose_owner_is_elsewhere_stays_and_is_noted() -> None:
    owner = "ownerReferences: [{kind: DaemonSet, name: d, controller: true}]}"
    loaded = load_text(POD.replace("namespace: shop}", f"namespace: shop, {owner}"))

    assert [w.ref for w in loaded.setup.workloads] == ["Pod/shop/p"]
    assert loaded.omissions[0].what == "owner of Pod/shop/p"


def test_a_kind_of_the_same_name_in_another_group_is_another_kind() -> None:
    text = deployment().replace("apps/v1", "example.com/v1")

    assert load_text(text).omissions[0].what == "kind Deployment shop/web"


def test_scaling_every_workload_makes_one_event_each_and_skips_pods() -> None:
    loaded = load_text(deployment("a"), deployment("b"), POD, scenario("events: [{scale: {replicas: [0, 3]}}]"))

    assert loaded.scenario.events == (
        Scale(name="scale-1 Deployment/shop/a", max=2, target="Deployment/shop/a", replicas=(0, 3)),
        Scale(name="scale-1 Deployment/shop/b", max=2, target="Deployment/shop/b", replicas=(0, 3)),
    )


def test_equal_intents_are_told_apart_by_a_number() -> None:
    loaded = load_text(deployment(), scenario("intents: [{minReady: {count: 1}}, {minReady: {count: 0}}]"))

    assert [i.name for i in loaded.scenario.intents] == [
        "minReady Deployment/shop/web",
        "minReady Deployment/shop/web #2",
    ]


def test_a_moment_that_an_intent_fixes_itself_is_noted() -> None:
    loaded = load_text(deployment(), scenario("intents: [{noPendingForever: {when: stable}}]"))

    assert loaded.omissions[0].why == "noPendingForever fixes its own moment"


def test_max_skew_by_selector_has_no_target() -> None:
    loaded = load_text(scenario("intents: [{maxSkew: {topologyKey: z, selector: {matchLabels: {a: b}}}}]"))

    assert (loaded.scenario.intents[0].target, loaded.scenario.intents[0].namespace) == (None, "default")


def test_a_pod_is_placed_at_most_once() -> None:
    with pytest.raises(ScenarioError, match="is one pod"):
        load_text(node("n1"), POD, scenario("start: {placement: {Pod/shop/p: {n1: 2}}}"))


def test_a_pod_that_names_its_node_is_placed_there_and_nowhere_else() -> None:
    bound = POD.replace("spec: {", "spec: {nodeName: n1, ", 1)

    loaded = load_text(node("n1"), node("n2"), bound, scenario("start: {placement: {Pod/shop/p: {n1: 1}}}"))
    assert loaded.scenario.start.placement == (("Pod/shop/p", (("n1", 1),)),)
    with pytest.raises(ScenarioError, match="names its node, n1, itself"):
        load_text(node("n1"), node("n2"), bound, scenario("start: {placement: {Pod/shop/p: {n2: 1}}}"))


@pytest.mark.parametrize(
    ("documents", "problem"),
    [
        ((POD, scenario("events: [{scale: {target: Pod/shop/p, replicas: [1]}}]")), "has no replicas"),
        ((deployment(), scenario("events: [{scale: {replicas: [x]}}]")), "is not an integer"),
        ((deployment(), scenario("events: [{scale: {replicas: [-1]}}]")), "[0] is -1"),
        (
            (deployment("a"), deployment("b"), scenario("events: [{scale: {name: s, replicas: [1]}}]")),
            "would name 2 events",
        ),
        ((scenario("intents: [{maxSkew: {topologyKey: z, selector: {matchLabel: {}}}}]"),), "matchLabels"),
        ((deployment(), scenario("intents: [{minReady: {count: '5 %'}}]")), "count is '5 %'"),
        ((deployment(spec="minReadySeconds: 600,"),), "must exceed minReadySeconds"),
        ((deployment(spec="strategy: {rollingUpdate: {maxSurge: half}},"),), "maxSurge is 'half'"),
        ((deployment(spec="paused: 1,"),), "spec.paused is an integer"),
        ((deployment(spec="strategy: 1,"),), "spec.strategy is an integer"),
        ((deployment(pod="tolerations: {},"),), "tolerations is a mapping"),
        ((deployment(pod="tolerations: [1],"),), "tolerations[0] is an integer"),
        ((deployment(pod="nodeSelector: {a: []},"),), "is a list"),
        ((deployment(pod="nodeSelector: {'-': x},"),), "is not a label key"),
        ((deployment(pod="nodeSelector: {a: 'x y'},"),), "not a label value"),
        ((deployment(pod="nodeName: A,"),), "not a node name"),
        (
            (deployment(pod="containers2: [],").replace("containers: [{", "other: [{"),),
            "containers is required",
        ),
        ((deployment(container="resources: {requests: {cpu: true}},"),), "cpu is a boolean"),
        ((deployment(pod="initContainers: [{name: a, restartPolicy: Never}],"),), "take Always or nothing"),
        ((deployment(pod="initContainers: [{name: a}, {name: a}],"),), "is 'a' again"),
        (
            (node(extra="spec: {taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]}\n"),),
            "again",
        ),
        (
            (
                node().replace("name: n1,", "name: n1, namespace: 7,", 1),
                deployment("a.b"),
                POD + "status: 1\n",
            ),
            "status",
        ),
    ],
)
def test_a_broken_rule_is_refused(documents: tuple[str, ...], problem: str) -> None:
    with pytest.raises(KubeproofError) as refused:
        load_text(*documents)

    assert problem in str(refused.value)
