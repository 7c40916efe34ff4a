"""Autoscalers, scheduler configuration and descheduler policies in detail."""

from __future__ import annotations

import pytest

from kubeproof.cluster.labels import NodeTerm, Requirement
from kubeproof.cluster.objects import SchedulerProfile, SpreadConstraint
from kubeproof.cluster.steering.policies import Metric, ScalingPolicy, ScalingRules
from kubeproof.errors import ManifestError
from tests.unit.manifests.inputs import load_text


def autoscaler(spec: str) -> str:
    return (
        "apiVersion: autoscaling/v2\n"
        "kind: HorizontalPodAutoscaler\n"
        "metadata: {name: web, namespace: shop}\n"
        f"spec: {{scaleTargetRef: {{kind: Deployment, name: web}}, {spec}}}\n"
    )


def profile(text: str) -> SchedulerProfile:
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    return load_text(f"{head}profiles: [{{{text}}}]\n").setup.profiles[0]


def test_every_kind_of_metric_is_read() -> None:
    metrics = (
        "{type: Resource, resource: {name: memory, target: {type: AverageValue, averageValue: 1500m}}}, "
        "{type: ContainerResource, containerResource: {name: cpu, container: main, "
        "target: {type: Utilization, averageUtilization: 70}}}, "
        "{type: Pods, pods: {metric: {name: rps}, target: {type: AverageValue, averageValue: 10}}}, "
        "{type: External, external: {metric: {name: queue}, target: {type: Value, value: 1k}}}"
    )
    found = load_text(autoscaler(f"maxReplicas: 5, metrics: [{metrics}]")).setup.autoscalers[0]

    assert found.metrics == (
        Metric("Resource", "memory", "AverageValue", 1500),
        Metric("ContainerResource", "cpu", "Utilization", 70, "main"),
        Metric("Pods", "rps", "AverageValue", 10_000),
        Metric("External", "queue", "Value", 1_000_000),
    )


def test_scaling_policies_are_read() -> None:
    policies = "[{type: Pods, value: 2, periodSeconds: 30}]"
    behavior = f"{{scaleUp: {{stabilizationWindowSeconds: 60, tolerance: 0.05, policies: {policies}}}}}"
    found = load_text(autoscaler(f"maxReplicas: 5, behavior: {behavior}")).setup.autoscalers[0]

    assert found.scale_up == ScalingRules((ScalingPolicy("Pods", 2, 30),), "Max", 60, 50)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("minReplicas: 3", "maxReplicas must be given"),
        ("maxReplicas: 2, behavior: {scaleUp: {tolerance: much}}", "tolerance is 'much'"),
        ("maxReplicas: 2, behavior: {scaleUp: {tolerance: -0.1}}", "tolerance is '-0.1'"),
        ("minReplicas: 3, maxReplicas: 2", "at least minReplicas"),
        ("maxReplicas: 2, metrics: [{type: Disk}]", "type is 'Disk'"),
        ("maxReplicas: 2, metrics: [{type: Resource}]", "resource is required"),
        (
            "maxReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization}}}]",
            "averageUtilization is required",
        ),
        (
            "maxReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, "
            "target: {type: AverageValue, averageValue: 0}}}]",
            "averageValue is '0'",
        ),
        (
            "maxReplicas: 2, metrics: [{type: Resource, resource: {name: cpu, "
            "target: {type: AverageValue, averageValue: lots}}}]",
            "not a quantity",
        ),
        (
            "maxReplicas: 2, behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 1801}]}}",
            "periodSeconds is 1801",
        ),
        (
            "maxReplicas: 2, behavior: {scaleUp: {policies: [{type: Pods, value: 1}]}}",
            "periodSeconds is required",
        ),
    ],
)
def test_a_wrong_autoscaler_is_refused(spec: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        load_text(autoscaler(spec))


def test_a_plugin_without_filter_and_score_is_off_everywhere() -> None:
    found = profile(
        "plugins: {filter: {disabled: [{name: NodeAffinity}, {name: NodeName}]}, "
        "score: {disabled: [{name: NodeAffinity}]}}"
    )

    assert found.disabled == frozenset({"NodeAffinity", "NodeName"})
    assert found.disabled_score == frozenset()


def test_a_plugin_off_at_one_point_only_is_listed() -> None:
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    loaded = load_text(head + "profiles: [{plugins: {filter: {disabled: [{name: NodeAffinity}]}}}]\n")

    assert loaded.omissions[0].why == "switched off there only: NodeAffinity"
    assert loaded.setup.profiles[0].disabled == frozenset()


def test_multipoint_switches_plugins_off_and_sets_weights() -> None:
    found = profile(
        "plugins: {multiPoint: {disabled: [{name: ImageLocality}], enabled: [{name: NodeAffinity, weight: 5}]}}"
    )

    assert (found.disabled, found.weights) == (frozenset({"ImageLocality"}), (("NodeAffinity", 5),))


def test_plugin_arguments_are_read() -> None:
    found = profile(
        "schedulerName: packer, pluginConfig: ["
        "{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, "
        "requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}}}}, "
        "{name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu, weight: 1}]}}, "
        "{name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: "
        "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}, "
        "{name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
        "{nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}}]"
    )

    assert (found.name, found.fit_strategy) == ("packer", "RequestedToCapacityRatio")
    assert found.fit_shape == ((0, 0), (100, 10))
    assert found.balanced_resources == ("cpu",)
    assert found.default_spread == (SpreadConstraint("zone", 1, False),)
    assert found.added_affinity == (NodeTerm((Requirement("a", "Exists"),)),)


@pytest.mark.parametrize(
    ("args", "weight", "ignores"),
    [
        ("", 1, False),
        ("hardPodAffinityWeight: 0", 0, False),
        ("hardPodAffinityWeight: 7, ignorePreferredTermsOfExistingPods: true", 7, True),
    ],
)
def test_arguments_of_inter_pod_affinity_are_read(args: str, weight: int, ignores: bool) -> None:
    found = profile(f"pluginConfig: [{{name: InterPodAffinity, args: {{{args}}}}}]")

    assert (found.hard_pod_affinity_weight, found.ignore_preferred_of_existing) == (weight, ignores)


def test_what_the_scheduler_model_does_not_know_is_listed() -> None:
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "percentageOfNodesToScore: 50\n"
        "profiles: [{plugins: {score: {enabled: [{name: Custom}]}}, "
        "pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 60}}]}]\n"
    )
    listed = [o.what for o in load_text(text).omissions if o.source.line]

    assert listed == [
        "scheduler plugin Custom of KubeSchedulerConfiguration",
        "arguments of scheduler plugin VolumeBinding of KubeSchedulerConfiguration",
        "field percentageOfNodesToScore of KubeSchedulerConfiguration",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("}, {", "schedulerName is 'default-scheduler' again"),
        (
            "pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio}}}]",
            "needs a shape",
        ),
        (
            "pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {requestedToCapacityRatio: "
            "{shape: [{utilization: 5}, {utilization: 5}]}}}}]",
            "does not rise",
        ),
        (
            "pluginConfig: [{name: PodTopologySpread, args: {defaultConstraints: "
            "[{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}}]",
            "needs defaultingType: List",
        ),
        (
            "pluginConfig: [{name: PodTopologySpread, args: {defaultingType: List, "
            "defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, "
            "labelSelector: {}}]}}]",
            "must have no labelSelector",
        ),
    ],
)
def test_a_wrong_scheduler_configuration_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        profile(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[{name: p, plugins: {blance: {enabled: [A]}}}]", "is not an extension point"),
        ("[{name: p, pluginConfig: [{name: A}, {name: A}]}]", "is 'A' again"),
        ("[{plugins: {}}]", "name is required"),
    ],
)
def test_a_wrong_descheduler_policy_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ManifestError, match=problem):
        load_text(f"apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: {text}\n")
