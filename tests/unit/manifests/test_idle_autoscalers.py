"""Autoscalers that can never compute their metric are told."""

from __future__ import annotations

import pytest

from kubeproof.manifests.loaded import Omission
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

AUTOSCALER = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 3
  metrics: [METRIC]
"""
UTILIZATION = "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}"
AVERAGE = "{type: Resource, resource: {name: cpu, target: {type: AverageValue, averageValue: 100m}}}"
OF_MAIN = (
    "{type: ContainerResource, containerResource: "
    "{name: cpu, container: main, target: {type: Utilization, averageUtilization: 50}}}"
)
REQUEST = "resources: {requests: {cpu: 100m}},"
MEMORY_ONLY = "resources: {requests: {memory: 64Mi}},"
DEFAULTS = """\
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: shop}
spec: {limits: [{type: Container, defaultRequest: {cpu: 100m}}]}
"""
VERTICAL = """\
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
"""


def told(container: str, metric: str, *others: str) -> list[Omission]:
    autoscaler = AUTOSCALER.replace("METRIC", metric)
    loaded = load_text(node(), deployment("web", container=container), autoscaler, *others)
    return [omission for omission in loaded.omissions if "never scales" in omission.why]


@pytest.mark.parametrize("metric", [UTILIZATION, OF_MAIN])
@pytest.mark.parametrize("container", ["", MEMORY_ONLY])
def test_a_share_of_a_request_that_is_missing_can_never_be_computed(container: str, metric: str) -> None:
    (one,) = told(container, metric)

    assert one.what == "HorizontalPodAutoscaler shop/web"
    assert one.why == (
        "never scales by cpu utilization, a container of Deployment/shop/web has no request for it "
        "(FailedGetResourceMetric)"
    )
    assert one.source.line > 1


@pytest.mark.parametrize(
    ("container", "metric", "others"),
    [
        (REQUEST, UTILIZATION, ()),
        ("resources: {limits: {cpu: 1}},", UTILIZATION, ()),  # the request is that of the limit
        ("", AVERAGE, ()),
        ("", UTILIZATION, (DEFAULTS,)),
        ("", UTILIZATION, (VERTICAL,)),
    ],
    ids=["request", "limit", "average value", "limit range", "vertical autoscaler"],
)
def test_what_can_be_computed_is_not_told(container: str, metric: str, others: tuple[str, ...]) -> None:
    assert told(container, metric, *others) == []


def test_requests_that_come_with_an_event_count() -> None:
    applied = "events: [{apply: {manifest: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: a, resources: {requests: {cpu: 1}}}]}}}}}}]"  # noqa: E501 - one event
    assert told("", UTILIZATION, scenario(applied)) == []


def test_foreign_pods_without_a_request_under_the_selector_are_told() -> None:
    other = deployment("tool", container=MEMORY_ONLY).replace("app: tool}", "app: tool, part: web}")
    autoscaler = AUTOSCALER.replace("METRIC", UTILIZATION)
    shared = deployment("web", container=REQUEST).replace("app: web}", "part: web}")
    found = [one.why for one in load_text(node(), shared, autoscaler, other).omissions if "does not scale" in one.why]

    assert found == [
        "does not scale by cpu utilization while pods of Deployment/shop/tool exist: its target's selector matches "
        "them, and a container has no request (FailedGetResourceMetric)"
    ]
