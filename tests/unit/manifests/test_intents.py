"""Intents: fields, targets, Kivi's names, refusals."""

from __future__ import annotations

import pytest

from kubeproof.cluster.labels import LabelSelector, Requirement
from kubeproof.errors import ScenarioError
from kubeproof.intents.catalogue import aliases, catalogue, entry
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.manifests.scenarios.intents.declared import own_reader
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

WEB, API = "Deployment/shop/web", "Deployment/shop/api"
POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: tool, namespace: shop}\n"
    "spec: {containers: [{name: tool, image: example/tool}]}\n"
)
AUTOSCALER = (
    "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\n"
    "spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 3, maxReplicas: 5}\n"
)


def intents_of(text: str) -> tuple[Intent, ...]:
    """The intents of a scenario on two Deployments, one of them autoscaled, and one bare Pod."""
    objects = (node("n1"), node("n2"), deployment("web"), deployment("api", spec="replicas: 2,"), POD, AUTOSCALER)
    return load_text(*objects, scenario(f"intents: [{text}]")).scenario.intents


def label(key: str, value: str) -> LabelSelector:
    return LabelSelector((Requirement(key, "In", (value,)),))


def test_every_field_of_every_intent_has_a_reader() -> None:
    for kind in catalogue():
        assert not kind.own_fields or callable(own_reader(kind))


def test_ids_are_unique_and_in_order_safety_first() -> None:
    ids = [one.id for one in catalogue()]

    assert ids == [f"S{n:03}" for n in range(1, 14)] + [f"L{n:03}" for n in range(1, 10)] + ["T001"]


def test_evictions_may_be_limited_to_one_evictor() -> None:
    assert intents_of("{noEviction: {target: Deployment/shop/web, by: descheduler}}") == (
        Intent(key="noEviction", name=f"noEviction {WEB}", target=WEB, by="descheduler"),
    )


def test_loops_of_replacement_speak_of_workloads_with_a_controller() -> None:
    assert [i.name for i in intents_of("{noEvictionLoop: {}}, {noCreateFailLoop: {}}, {noEviction: {}}")] == [
        f"noEvictionLoop {WEB}",
        f"noEvictionLoop {API}",
        f"noCreateFailLoop {WEB}",
        f"noCreateFailLoop {API}",
        f"noEviction {WEB}",
        f"noEviction {API}",
        "noEviction Pod/shop/tool",
    ]


def test_rollouts_concern_deployments_and_drains_the_cluster() -> None:
    assert [(i.name, i.target) for i in intents_of("{rolloutCompletes: {}}, {drainCompletes: {}}")] == [
        (f"rolloutCompletes {WEB}", WEB),
        (f"rolloutCompletes {API}", API),
        ("drainCompletes", None),
    ]


def test_numbers_of_nodes_and_pods_speak_of_the_cluster() -> None:
    nodes, pods, failed = intents_of(
        "{maxNodes: {count: 6, nodes: {matchLabels: {pool: web}}}}, {maxPodObjects: {count: 9}}, "
        "{maxPodObjects: {count: 4, phases: [Failed, Pending], target: Deployment/shop/web, when: stable}}"
    )

    assert (nodes.target, nodes.count, nodes.nodes) == (None, Amount(6), label("pool", "web"))
    assert (pods.target, pods.count, pods.phases) == (None, Amount(9), ())
    assert (failed.target, failed.phases, failed.when) == (WEB, ("Pending", "Failed"), "stable")


def test_topology_is_read() -> None:
    spread, apart, only, named = intents_of(
        "{spread: {target: Deployment/shop/web, topologyKey: zone, domains: 3}}, "
        "{notColocated: {target: Deployment/shop/web, selector: {matchLabels: {app: api}}}}, "
        "{onlyOn: {target: Deployment/shop/web, selector: {matchLabels: {pool: web}}}}, "
        "{onlyOn: {target: Deployment/shop/web, nodes: {names: [n2]}}}"
    )

    assert (spread.topology_key, spread.domains) == ("zone", 3)
    assert (apart.topology_key, apart.selector, apart.namespace) == (
        "kubernetes.io/hostname",
        label("app", "api"),
        None,
    )
    assert (only.nodes, only.selector) == (label("pool", "web"), None)
    assert named.node_names == ("n2",)


def test_spread_asks_for_two_domains_unless_told() -> None:
    (first, _, third) = intents_of("{spread: {topologyKey: zone}}")
    (counted,) = intents_of("{spread: {topologyKey: zone, count: 4, target: Pod/shop/tool}}")

    assert (first.domains, third.target, counted.domains) == (2, "Pod/shop/tool", 4)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("no_feasible_node: {}", "schedulable: {}"),
        ("no_feasiable_node: {}", "schedulable: {}"),
        ("kernel_panic: {}", "noEviction: {by: kernelPanic}"),
        ("checkOscillationReplicaNum: {}", "noOscillation: {of: replicas}"),
        ("checkOscillation: {}", "noOscillation: {of: replicas}"),
        ("checkExpReplicas: {expReplicas: 2}", "minReplicas: {count: 2}"),
        ("checkEvictionCycle: {target: Deployment/shop/api}", "noEvictionLoop: {target: Deployment/shop/api}"),
        ("checkBalanceNode: {}", "maxSkew: {topologyKey: kubernetes.io/hostname, skew: 2}"),
        ("checkBalanceNode: {maxSkew: 1}", "maxSkew: {topologyKey: kubernetes.io/hostname, skew: 1}"),
        ("checkMinReplicas: {count: 2}", "minReplicas: {count: 2}"),
    ],
)
def test_kivis_names_mean_ours(theirs: str, ours: str) -> None:
    assert intents_of(f"{{{theirs}}}") == intents_of(f"{{{ours}}}")


def test_kivis_minimum_is_the_autoscalers_or_the_replicas() -> None:
    found = intents_of("{checkMinReplicas: {}}")

    assert [(i.target, i.count) for i in found] == [
        (WEB, Amount(3)),
        (API, Amount(2)),
        ("Pod/shop/tool", Amount(1)),
    ]


def test_every_alias_is_told_in_the_text_of_its_entry() -> None:
    told = {name: name in entry(name).whole_text for name in aliases()}

    assert [name for name, is_told in told.items() if not is_told] == ["no_feasiable_node"]
    assert set(aliases().values()) == {
        "schedulable",
        "noEviction",
        "noOscillation",
        "minReplicas",
        "noEvictionLoop",
        "maxSkew",
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{noEviction: {by: deschedular}}", "Did you mean descheduler?"),
        ("{noEvictionLoop: {target: Pod/shop/tool}}", "noEvictionLoop does not apply to a Pod"),
        ("{rolloutCompletes: {target: Pod/shop/tool}}", "rolloutCompletes does not apply to a Pod"),
        ("{drainCompletes: {target: Deployment/shop/web}}", "unknown field spec.intents[0].drainCompletes.target"),
        ("{maxNodes: {}}", "count is required"),
        ('{maxNodes: {count: "50%"}}', "count is a string"),
        ("{maxNodes: {count: 1, nodes: {names: [n3]}}}", "holds 'n3', which is not a node"),
        ("{maxPodObjects: {count: 1, phases: [Faild]}}", "Did you mean Failed?"),
        ("{spread: {}}", "topologyKey is required"),
        ("{spread: {topologyKey: zone, domains: 0}}", "domains is 0"),
        ("{spread: {topologyKey: zone, domains: 2, count: 2}}", "count and domains say the same"),
        ("{notColocated: {}}", "selector is required"),
        ("{notColocated: {selector: {matchLabel: {a: b}}}}", "Did you mean matchLabels?"),
        ("{onlyOn: {}}", "needs either selector or nodes"),
        ("{checkExpReplicas: {}}", "expReplicas is required"),
        ("{checkEvictionCycel: {}}", "Did you mean checkEvictionCycle?"),
        ("{ltl: {}}", "formula is required"),
    ],
)
def test_a_wrong_intent_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        intents_of(text)

    assert problem in str(refused.value)
    assert refused.value.line > 30


def test_a_moment_that_an_intent_fixes_itself_is_listed() -> None:
    objects = (node("n1"), deployment("web"), scenario("intents: [{noEviction: {when: stable}}]"))
    loaded = load_text(*objects)

    assert [(o.what, o.why) for o in loaded.omissions] == [
        ("field spec.intents[0].noEviction.when of Scenario/test", "noEviction fixes its own moment")
    ]
