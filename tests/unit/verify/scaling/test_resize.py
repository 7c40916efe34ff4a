"""An input at another size: nodes copied, numbers following."""

from kubeproof.cases.library import load_case
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.events.declarations import Apply, Scale
from kubeproof.manifests.load import load
from kubeproof.verify.resize import Size, resize
from tests.unit.verify.scaling.inputs import grows

WEB = "Deployment/shop/web"
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: shop}}
spec: {{{amount}, selector: {{matchLabels: {{app: web}}}}}}
---"""


def at(loaded, nodes, pods):
    return resize(loaded, loaded.scenario.scale, Size(tuple(nodes.items()), ((WEB, pods),)))


def budget_at_five(amount: str) -> PodDisruptionBudget:
    (budget,) = at(grows(objects=BUDGET.format(amount=amount)), {"fast": 1, "slow": 0}, 5).setup.budgets
    return budget


def test_nodes_are_copied_with_a_hostname_of_their_own():
    nodes = at(grows(), {"fast": 3, "slow": 0}, 1).setup.nodes

    assert [(node.name, dict(node.labels)["kubernetes.io/hostname"]) for node in nodes] == [
        ("fast", "fast"),
        ("fast-copy2", "fast-copy2"),
        ("fast-copy3", "fast-copy3"),
    ]
    assert {dict(node.labels)["disk"] for node in nodes} == {"fast"}


def test_pods_that_run_on_a_node_are_copied_with_it():
    loaded = load(load_case("c5", "violating"))

    sized = at(loaded, {"node-1": 2, "node-3": 1}, 2).setup

    assert [(w.name, w.bound_to) for w in sized.workloads if w.kind == "Pod"] == [
        ("other-1", "node-1"),
        ("other-1-copy2", "node-1-copy2"),
    ]


def test_counts_keep_their_distance_from_the_replicas():
    loaded = grows(intent="minReady: {target: Deployment/shop/web, count: 2}")

    assert [at(loaded, {"fast": 1, "slow": 0}, pods).scenario.intents[0].count.number for pods in (1, 3, 7)] == [
        0,
        2,
        6,
    ]


def test_percentages_stay():
    loaded = grows(intent='minReady: {target: Deployment/shop/web, count: "50%"}')

    assert at(loaded, {"fast": 1, "slow": 0}, 7).scenario.intents == loaded.scenario.intents


def test_counts_of_nodes_stay():
    loaded = grows(intent="maxNodes: {count: 2}")

    assert at(loaded, {"fast": 1, "slow": 0}, 7).scenario.intents == loaded.scenario.intents


def test_a_bound_on_the_whole_cluster_follows_all_workloads():
    loaded = grows(intent="maxPodObjects: {count: 4}")

    assert at(loaded, {"fast": 1, "slow": 0}, 5).scenario.intents[0].count.number == 6


def test_min_available_follows_and_max_unavailable_stays():
    assert budget_at_five("minAvailable: 2").min_available == (4, False)
    assert budget_at_five('minAvailable: "50%"').min_available == (50, True)
    assert budget_at_five("maxUnavailable: 1").max_unavailable == (1, False)


def test_an_autoscaler_follows_by_its_rule_and_keeps_its_bounds_in_order():
    loaded = load(load_case("c3", "safe"))

    def bounds(nodes, pods):
        (autoscaler,) = at(loaded, {"node-a1": nodes, "node-b1": 0}, pods).setup.autoscalers
        return autoscaler.min_replicas, autoscaler.max_replicas

    assert [bounds(1, 1), bounds(1, 3), bounds(1, 6), bounds(1, 9)] == [(1, 2), (3, 6), (6, 7), (9, 9)]


def test_what_an_apply_writes_follows_unless_it_leaves_the_number_out():
    def applied(variant):
        events = at(load(load_case("c2", variant)), {"node-1": 1}, 5).scenario.events
        return next(event.workload.replicas for event in events if isinstance(event, Apply))

    assert (applied("safe"), applied("violating")) == (5, 1)


def test_what_a_user_scales_to_keeps_its_distance():
    loaded = grows(intent="settles: {}\n  events: [{scale: {target: Deployment/shop/web, replicas: [1, 2, 6]}}]")

    (event,) = at(loaded, {"fast": 1, "slow": 0}, 1).scenario.events

    assert isinstance(event, Scale)
    assert event.replicas == (0, 4)


def test_an_exact_placement_becomes_any_stable_one():
    assert at(load(load_case("c3", "safe")), {"node-a1": 2, "node-b1": 1}, 5).scenario.start.mode == "deployed"
