"""VerticalPodAutoscalers as they are read."""

from __future__ import annotations

import pytest

from kubeproof.cluster.steering.vertical import ContainerPolicy, VerticalPodAutoscaler
from kubeproof.errors import ManifestError, ScenarioError
from kubeproof.manifests.loaded import Loaded
from tests.unit.manifests.inputs import deployment, load_text, node, scenario

HEAD = "apiVersion: autoscaling.k8s.io/v1\nkind: VerticalPodAutoscaler\nmetadata: {name: web, namespace: shop}\n"


def loaded_with(spec: str) -> Loaded:
    text = f"{HEAD}spec: {{targetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}{spec}}}\n"
    return load_text(node("n1"), deployment("web"), text)


def test_by_default_pods_are_recreated_and_cpu_and_memory_controlled() -> None:
    loaded = loaded_with("")

    assert loaded.setup.verticals == (VerticalPodAutoscaler("shop", "web", "Deployment/shop/web"),)
    assert loaded.omissions == ()


def test_policies_are_read() -> None:
    loaded = loaded_with(
        """, updatePolicy: {updateMode: Initial, minReplicas: 1}, resourcePolicy: {containerPolicies: [
        {containerName: main, minAllowed: {cpu: 100m}, maxAllowed: {cpu: 1, memory: 1Gi},
         controlledResources: [cpu], controlledValues: RequestsOnly}, {containerName: "*", mode: "Off"}]}"""
    )
    (vpa,) = loaded.setup.verticals

    assert (vpa.mode, vpa.least_replicas) == ("Initial", 1)
    assert vpa.policies == (
        ContainerPolicy("main", False, (("cpu", 100),), (("cpu", 1000), ("memory", 2**30)), ("cpu",)),
        ContainerPolicy("*", is_off=True),
    )
    assert vpa.policy("main") == vpa.policies[0]
    assert vpa.policy("agent") == vpa.policies[1]
    assert loaded.omissions == ()


def test_what_is_not_modelled_is_listed() -> None:
    loaded = loaded_with(", recommenders: [{name: own}], updatePolicy: {updateMode: InPlaceOrRecreate}")

    assert [omission.what for omission in loaded.omissions] == [
        "field spec.updatePolicy.updateMode of VerticalPodAutoscaler/shop/web",
        "field spec.recommenders of VerticalPodAutoscaler/shop/web",
    ]


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (", updatePolicy: {updateMode: Always}", "updateMode is 'Always'"),
        (", updatePolicy: {minReplicas: 0}", "minReplicas is 0"),
        (", resourcePolicy: {containerPolicies: [{controlledResources: [disk]}]}", "controlledResources holds disk"),
        (
            ", resourcePolicy: {containerPolicies: [{minAllowed: {cpu: 2}, maxAllowed: {cpu: 1}}]}",
            "maxAllowed is below minAllowed for cpu",
        ),
    ],
)
def test_wrong_objects_are_refused(spec: str, problem: str) -> None:
    with pytest.raises(ManifestError) as refused:
        loaded_with(spec)

    assert problem in str(refused.value)


def test_margin_and_history_are_settings() -> None:
    loaded = load_text(node("n1"), deployment("web"), scenario("controllers: {vpa: {margin: 1.3, history: 168h}}"))

    assert (loaded.setup.settings.vpa_margin_permille, loaded.setup.settings.vpa_history_s) == (1300, 604_800)


@pytest.mark.parametrize("settings", ["{margin: 0.9}", "{history: 0s}", "{margins: 1.1}"])
def test_wrong_settings_are_refused(settings: str) -> None:
    with pytest.raises(ScenarioError):
        load_text(node("n1"), deployment("web"), scenario(f"controllers: {{vpa: {settings}}}"))
