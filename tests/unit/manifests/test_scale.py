"""`spec.scale`: what grows, how far, which numbers follow."""

import pytest

from kubeproof.cluster.scale import Following, Limit, NodeScale, Scale, Term, WorkloadScale
from kubeproof.errors import ScenarioError
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded

OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: tool, namespace: shop}
spec: {containers: [{name: tool, image: tool}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 3
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
---
apiVersion: kubeproof.dev/v1alpha1
kind: Scenario
metadata: {name: grows}
spec:
  intents:
  - minReady: {name: enough, target: Deployment/shop/web, count: 2}
  - settles: {}
"""
WEB = "target: Deployment/shop/web, replicas: {min: 1, max: 9}"


def scaled(scale: str) -> Loaded:
    return load_texts([("all.yaml", f"{OBJECTS}  scale: {scale}\n")])


def test_without_it_the_sizes_in_the_manifests_are_verified() -> None:
    assert load_texts([("all.yaml", OBJECTS)]).scenario.scale is None


def test_nodes_and_workloads_have_ranges() -> None:
    scale = scaled(f"{{nodes: [{{like: node-a, count: {{max: 6}}}}], workloads: [{{{WEB}}}]}}").scenario.scale

    assert scale == Scale((NodeScale("node-a", 0, 6),), (WorkloadScale("Deployment/shop/web", 1, 9),), "declared")


@pytest.mark.parametrize(
    ("text", "limit"),
    [("esc", "esc"), ("none", "none"), ("{nodes: 6, podsPerNode: 4}", Limit(6, 4))],
)
def test_the_limit_is_a_word_or_two_numbers(text: str, limit: object) -> None:
    scale = scaled(f"{{workloads: [{{{WEB}}}], limit: {text}}}").scenario.scale

    assert scale is not None
    assert scale.limit == limit


@pytest.mark.parametrize(
    ("text", "terms", "at_five_and_two"),
    [
        ("P", (Term(1, 0, 0),), 5),
        ("7", (Term(0, 0, 7),), 7),
        ('"P-1"', (Term(1, 0, -1),), 4),
        ('"3P + 2"', (Term(3, 0, 2),), 17),
        ('"N"', (Term(0, 1, 0),), 2),
        ('"min(2P, 7N)"', (Term(2, 0, 0), Term(0, 7, 0)), 10),
        ('"min(2P-1, 3N)"', (Term(2, 0, -1), Term(0, 3, 0)), 6),
        ('"P-9"', (Term(1, 0, -9),), 0),
    ],
)
def test_a_number_follows_pods_and_nodes(text: str, terms: tuple[Term, ...], at_five_and_two: int) -> None:
    scale = scaled(f"{{workloads: [{{{WEB}, autoscaler: {{max: {text}}}}}]}}").scenario.scale

    assert scale is not None
    assert scale.workloads[0].autoscaler_max == Following(terms)
    assert Following(terms).of(5, 2) == at_five_and_two


@pytest.mark.parametrize(
    ("scale", "problem"),
    [
        ("{}", "spec.scale lets nothing grow"),
        ("{nodes: [{like: node-b, count: {max: 2}}]}", "like is 'node-b', which is not a node of the input. Did you"),
        ("{nodes: [{like: node-a}]}", "count is required"),
        ("{nodes: [{like: node-a, count: {max: 0}}]}", "count.max is 0. It is at least 1"),
        ("{nodes: [{like: node-a, count: {min: 3, max: 2}}]}", "count.max is 2. It is at least 3"),
        ("{nodes: [{like: node-a, count: 3}]}", "count is an integer. Write a mapping"),
        (
            "{nodes: [{like: node-a, count: {max: 2}}, {like: node-a, count: {max: 2}}]}",
            "spec.scale.nodes lists node-a twice",
        ),
        ("{nodes: [{like: node-a, count: {max: 2, step: 2}}]}", "unknown field spec.scale.nodes[0].count.step"),
        ("{workloads: [{target: Pod/shop/tool, replicas: {max: 2}}]}", "target is one pod"),
        ("{workloads: [{target: Deployment/shop/db, replicas: {max: 2}}]}", "is not a workload of the input"),
        (f"{{workloads: [{{{WEB}, autoscaler: {{max: 2Q}}}}]}}", "autoscaler.max is '2Q'. Write a number, P"),
        (f'{{workloads: [{{{WEB}, autoscaler: {{max: "min(P, )"}}}}]}}', "autoscaler.max is 'min(P, )'"),
        (
            f"{{workloads: [{{{WEB}, autoscaler: {{most: P}}}}]}}",
            "unknown field spec.scale.workloads[0].autoscaler.most",
        ),
        (
            f"{{workloads: [{{{WEB}, intents: {{enuogh: P}}}}]}}",
            "enuogh is not an intent with a count for this workload",
        ),
        (f"{{workloads: [{{{WEB}, events: {{go: P}}}}]}}", "events.go is not an apply event that sets replicas"),
        (f"{{workloads: [{{{WEB}}}], limit: all}}", "spec.scale.limit is 'all'"),
        (f"{{workloads: [{{{WEB}}}], limit: {{nodes: 6}}}}", "podsPerNode is required. Give nodes and podsPerNode"),
        (f"{{workloads: [{{{WEB}}}], bound: 6}}", "unknown field spec.scale.bound"),
    ],
)
def test_a_wrong_scale_is_refused_with_its_place(scale: str, problem: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scaled(scale)

    assert "all.yaml:" in str(refused.value)
    assert problem in str(refused.value)
