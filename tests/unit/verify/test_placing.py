"""What nodes hold and pods ask for, from manifest to verdict."""

from __future__ import annotations

import pytest

from kubeproof.report.verification.causes import findings
from kubeproof.verify.proofs.slicing import Inseparable, cut
from tests.unit.verify.inputs import loaded, only, scenario, verified, web

IMAGE = '{names: ["registry.example.com/main:latest"], sizeBytes: 3000000000}'
WEIGHTY = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 10}], disabled: [{name: ImageLocality}]}}}]
"""
BLIND = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {multiPoint: {disabled: [{name: ImageLocality}]}}}]
"""
SPREAD = "{spread: {target: Deployment/shop/web, topologyKey: kubernetes.io/hostname, domains: 2, when: stable}}"
SCHEDULABLE = "{schedulable: {target: Deployment/shop/web}}"


def node(name: str, *, images: str = "", cordoned: bool = False, labels: str = "") -> str:
    """A roomy node that lists images."""
    return f"""apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}{labels}}}}}
spec: {{unschedulable: {str(cordoned).lower()}}}
status:
  allocatable: {{cpu: "64", memory: 64Gi, pods: "110"}}
  images: [{images}]
"""


def listening(replicas: int, *, surge: int = 1, unavailable: int = 1) -> str:
    """A Deployment whose pods take port 80 of their node."""
    strategy = f"strategy: {{rollingUpdate: {{maxSurge: {surge}, maxUnavailable: {unavailable}}}}}\n  template:"
    ports = "containers: [{ports: [{containerPort: 80, hostPort: 80}], "
    return web(replicas).replace("template:", strategy).replace("containers: [{", ports)


@pytest.mark.parametrize(("images", "verdict"), [("", "HOLDS"), (IMAGE, "VIOLATED")])
def test_an_image_that_one_node_has_can_outweigh_spreading(images: str, verdict: str) -> None:
    result = verified(node("n1", images=images), node("n2"), node("n3"), web(2), WEIGHTY, scenario(SPREAD))

    assert only(result).verdict == verdict
    assert result.not_modelled == ()


@pytest.mark.parametrize(("profile", "verdict"), [(WEIGHTY, "VIOLATED"), (BLIND, "HOLDS")])
def test_a_pod_brings_its_image_along_and_draws_the_next_one_after_it(profile: str, verdict: str) -> None:
    nodes = node("n1"), node("n2"), node("n3", images=IMAGE, cordoned=True)
    apart = "{notColocated: {target: Deployment/shop/db, selector: {matchLabels: {app: web}}, topologyKey: %s}}"
    later = scenario(apart % "kubernetes.io/hostname", events="{create: {target: Deployment/shop/db, after: stable}}")

    assert only(verified(*nodes, web(1), web(1, name="db"), profile, later)).verdict == verdict


def test_as_many_pods_as_nodes_get_a_host_port() -> None:
    nodes = node("n1"), node("n2")

    assert only(verified(*nodes, listening(2), scenario(SCHEDULABLE))).verdict == "HOLDS"
    assert only(verified(*nodes, listening(3), scenario(SCHEDULABLE))).verdict == "VIOLATED"


@pytest.mark.parametrize(("surge", "unavailable", "verdict"), [(1, 0, "VIOLATED"), (0, 1, "HOLDS")])
def test_a_rollout_of_pods_with_a_host_port_needs_them_to_go_first(surge: int, unavailable: int, verdict: str) -> None:
    rollout = scenario(
        "{rolloutCompletes: {target: Deployment/shop/web}}",
        events="{rollout: {target: Deployment/shop/web}}",
        start="deployed",
    )

    result = verified(node("n1"), node("n2"), listening(2, surge=surge, unavailable=unavailable), rollout)

    assert only(result).verdict == verdict


def test_workloads_with_an_image_that_some_node_lacks_are_not_verified_apart() -> None:
    pools = node("n1", labels=", pool: a", images=IMAGE), node("n2", labels=", pool: b")
    parts = web(1, more="nodeSelector: {pool: a}"), web(1, name="db", more="nodeSelector: {pool: b}")
    named = web(1, name="db", more="nodeSelector: {pool: b}").replace("example.com/main", "example.com/db")

    assert isinstance(cut(loaded(*pools, *parts, scenario("{settles: {}}"))), Inseparable)
    assert len(cut(loaded(*pools, parts[0], named, scenario("{settles: {}}")))) == 2


QUOTA = """apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: shop}
spec: {hard: {requests.cpu: "%s"}}
"""
COMPLETE = scenario("{noPendingForever: {target: Deployment/shop/web}}")


@pytest.mark.parametrize(("cpu", "verdict"), [("2", "VIOLATED"), ("3", "HOLDS")])
def test_a_quota_lets_in_as_many_pods_as_it_has_room_for(cpu: str, verdict: str) -> None:
    result = only(verified(node("n1"), web(3), QUOTA % cpu, COMPLETE))

    assert result.verdict == verdict
    reason = (
        "1 pod(s) cannot be created: ResourceQuota small has 2000m of 2000m requests.cpu used, 1000m more asked for"
    )
    assert (result.trace is not None and reason in result.trace.final) is (verdict == "VIOLATED")


def test_what_one_quota_keeps_out_is_one_cause_whatever_the_numbers() -> None:
    quota, ask = QUOTA % "2", "{noPendingForever: {target: Deployment/shop/%s}}"
    found = [
        only(verified(node("n1"), web(size, name=name), quota, scenario(ask % name)))
        for name, size in (("web", 3), ("api", 4))
    ]

    assert all(fact.shape for one in found if one.trace for fact in one.trace.final)
    shapes = [{fact.shape for fact in one.trace.final} for one in found if one.trace]
    assert shapes[0] == shapes[1]
    assert "pods cannot be created: ResourceQuota small has no requests.cpu left" in shapes[0]
    assert len(findings(found)) == 1


def test_workloads_of_one_namespace_take_the_quota_from_each_other() -> None:
    rivals = scenario("{minReady: {target: Deployment/shop/web, count: 2, when: stable}}")

    assert only(verified(node("n1"), web(2), web(1, name="db"), QUOTA % "2", rivals)).verdict == "VIOLATED"
    assert only(verified(node("n1"), web(2), web(1, name="db", namespace="b"), QUOTA % "2", rivals)).verdict == "HOLDS"


@pytest.mark.parametrize(("cpu", "verdict"), [("2", "VIOLATED"), ("3", "HOLDS")])
def test_a_rollout_with_surge_only_needs_quota_for_one_pod_more(cpu: str, verdict: str) -> None:
    strategy = "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}\n  template:"
    rollout = scenario(
        "{rolloutCompletes: {target: Deployment/shop/web}}",
        events="{rollout: {target: Deployment/shop/web}}",
        start="deployed",
    )

    result = verified(node("n1"), web(2).replace("template:", strategy), QUOTA % cpu, rollout)

    assert only(result).verdict == verdict


def test_pods_that_a_limit_range_refuses_never_appear() -> None:
    bounds = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: b, namespace: shop}\n"
    bounds += "spec: {limits: [{type: Container, max: {cpu: 500m}}]}\n"

    result = only(verified(node("n1"), web(1), bounds, COMPLETE))

    assert result.trace is not None
    assert any("maximum cpu usage per Container" in line for line in result.trace.final)


def test_workloads_under_one_quota_are_not_verified_apart() -> None:
    pools = node("n1", labels=", pool: a"), node("n2", labels=", pool: b")
    parts = web(1, more="nodeSelector: {pool: a}"), web(1, name="db", more="nodeSelector: {pool: b}")

    assert isinstance(cut(loaded(*pools, *parts, QUOTA % "2", scenario("{settles: {}}"))), Inseparable)
    assert len(cut(loaded(*pools, *parts, (QUOTA % "2").replace("shop", "b"), scenario("{settles: {}}")))) == 2
