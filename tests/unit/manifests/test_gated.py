"""Fields whose feature gate is off in a version: dropped and listed, or refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from kubeproof.cluster.api import versions
from kubeproof.cluster.api.versions import GATED, NOT_YET, OLDEST, OLDEST_DESCHEDULER, Rule, in_words
from kubeproof.errors import ManifestError
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.run import verify

Manifest = dict[str, Any]
LABELS = {"app": "web"}
NODE: Manifest = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
}


def deployment(spec: Manifest | None = None, **container: Any) -> Manifest:
    pod = {"containers": [{"name": "c", "image": "i:1", **container}], **(spec or {})}
    template = {"metadata": {"labels": LABELS}, "spec": pod}
    return owner("apps/v1", "Deployment", {"selector": {"matchLabels": LABELS}, "template": template})


def owner(version: str, kind: str, spec: Manifest) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "web"}, "spec": spec}


def spread(**more: Any) -> Manifest:
    rule = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return deployment({"topologySpreadConstraints": [{**rule, "labelSelector": {"matchLabels": LABELS}, **more}]})


def affinity(**more: Any) -> Manifest:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": LABELS}, **more}
    return deployment({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}})


def autoscaler(metric: Manifest, **more: Any) -> Manifest:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"scaleTargetRef": target, "maxReplicas": 3, "metrics": [metric], **more}
    return owner("autoscaling/v2", "HorizontalPodAutoscaler", spec)


def metric(kind: str, source: str, **more: Any) -> Manifest:
    return {"type": kind, source: {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}, **more}}


def scaling(**more: Any) -> Manifest:
    return autoscaler(metric("Resource", "resource"), behavior={"scaleUp": {"stabilizationWindowSeconds": 0, **more}})


def stateful(rolling: Manifest | None = None, **more: Any) -> Manifest:
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c"}]}}
    update = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, **(rolling or {})}}
    spec = {"selector": {"matchLabels": LABELS}, "template": template, "updateStrategy": update, **more}
    return owner("apps/v1", "StatefulSet", spec)


def job(**more: Any) -> Manifest:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}
    spec = {"template": template, "completionMode": "Indexed", "completions": 2, "backoffLimit": 1}
    return owner("batch/v1", "Job", {**spec, "podReplacementPolicy": "Failed", **more})


def cron_job(**more: Any) -> Manifest:
    spec = {"schedule": "0 3 * * *", "jobTemplate": {"spec": job()["spec"]}, **more}
    return owner("batch/v1", "CronJob", spec)


def policy(plugin: str, arguments: Manifest, **more: Any) -> Manifest:
    config = [{"name": plugin, "args": arguments}]
    profile = {"name": "p", "pluginConfig": config, "plugins": {"deschedule": {"enabled": ["PodLifeTime"]}}}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **more}


def init(**more: Any) -> Manifest:
    return deployment({"initContainers": [{"name": "i", "resources": {"requests": {"cpu": "1"}}, **more}]})


def handler(pre_stop: Manifest) -> Manifest:
    return deployment(lifecycle={"preStop": pre_stop} if pre_stop else {})


BUDGET = {"minAvailable": 1, "selector": {"matchLabels": LABELS}}
# Per field the object with it, and without.
SAMPLES: dict[tuple[str, str], tuple[Manifest, Manifest]] = {
    ("PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy"): (
        owner("policy/v1", "PodDisruptionBudget", {**BUDGET, "unhealthyPodEvictionPolicy": "AlwaysAllow"}),
        owner("policy/v1", "PodDisruptionBudget", BUDGET),
    ),
    ("TopologySpreadConstraint", "minDomains"): (spread(minDomains=2), spread()),
    ("TopologySpreadConstraint", "matchLabelKeys"): (spread(matchLabelKeys=["rev"]), spread()),
    ("TopologySpreadConstraint", "nodeAffinityPolicy"): (spread(nodeAffinityPolicy="Ignore"), spread()),
    ("TopologySpreadConstraint", "nodeTaintsPolicy"): (spread(nodeTaintsPolicy="Honor"), spread()),
    ("PodAffinityTerm", "matchLabelKeys"): (affinity(matchLabelKeys=["rev"]), affinity()),
    ("PodAffinityTerm", "mismatchLabelKeys"): (affinity(mismatchLabelKeys=["rev"]), affinity()),
    ("MetricSpec", "containerResource"): (
        autoscaler(metric("ContainerResource", "containerResource", container="c")),
        autoscaler(metric("Resource", "resource")),
    ),
    ("ScalingRules", "tolerance"): (scaling(tolerance="0.05"), scaling()),
    ("InitContainer", "restartPolicy"): (init(restartPolicy="Always"), init()),
    ("LifecycleHandler", "sleep"): (handler({"sleep": {"seconds": 5}}), handler({})),
    ("Volume", "image"): (
        deployment({"volumes": [{"name": "v", "image": {"reference": "m:1"}}]}),
        deployment({"volumes": [{"name": "v"}]}),
    ),
    ("StatefulSetSpec", "ordinals"): (stateful(ordinals={"start": 3}), stateful()),
    ("StatefulSetSpec", "persistentVolumeClaimRetentionPolicy"): (
        stateful(persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete"}),
        stateful(),
    ),
    ("StatefulSetRollingUpdate", "maxUnavailable"): (stateful({"maxUnavailable": 2}), stateful()),
    ("JobSpec", "podReplacementPolicy"): (job(), job(podReplacementPolicy=None)),
    ("JobSpec", "podFailurePolicy"): (job(podFailurePolicy={"rules": []}), job()),
    ("JobSpec", "backoffLimitPerIndex"): (job(backoffLimitPerIndex=1), job()),
    ("JobSpec", "maxFailedIndexes"): (job(maxFailedIndexes=1), job()),
    ("JobSpec", "successPolicy"): (job(successPolicy={"rules": []}), job()),
    ("JobSpec", "managedBy"): (job(managedBy="example.com/them"), job()),
    ("JobSpec", "scheduling"): (job(scheduling={}), job()),
    ("CronJobSpec", "timeZone"): (cron_job(timeZone="Etc/UTC"), cron_job()),
    ("PodSpec", "schedulingGates"): (deployment({"schedulingGates": [{"name": "g"}]}), deployment()),
    ("PodSpec", "resources"): (deployment({"resources": {"requests": {"cpu": "1"}}}), deployment()),
    ("PodSpec", "resourceClaims"): (deployment({"resourceClaims": [{"name": "r"}]}), deployment()),
    ("PodSpec", "schedulingGroup"): (deployment({"schedulingGroup": {"podGroupName": "g"}}), deployment()),
    ("PodSpec", "workloadRef"): (deployment({"workloadRef": {"name": "g"}}), deployment()),
    ("Container", "restartPolicyRules"): (deployment(restartPolicyRules=[{"action": "Restart"}]), deployment()),
    ("Lifecycle", "stopSignal"): (deployment(lifecycle={"stopSignal": "SIGUSR1"}), deployment(lifecycle={})),
    ("ServiceSpec", "trafficDistribution"): (
        owner("v1", "Service", {"selector": LABELS, "trafficDistribution": "PreferClose"}),
        owner("v1", "Service", {"selector": LABELS}),
    ),
    ("DeschedulerPolicy", "maxNoOfPodsToEvictTotal"): (
        policy("PodLifeTime", {}, maxNoOfPodsToEvictTotal=1),
        policy("PodLifeTime", {}),
    ),
    ("DefaultEvictor", "minReplicas"): (policy("DefaultEvictor", {"minReplicas": 2}), policy("DefaultEvictor", {})),
    ("DefaultEvictor", "evictDaemonSetPods"): (
        policy("DefaultEvictor", {"evictDaemonSetPods": True}),
        policy("DefaultEvictor", {}),
    ),
    ("DefaultEvictor", "minPodAge"): (policy("DefaultEvictor", {"minPodAge": "1h"}), policy("DefaultEvictor", {})),
    ("DefaultEvictor", "ignorePodsWithoutPDB"): (
        policy("DefaultEvictor", {"ignorePodsWithoutPDB": True}),
        policy("DefaultEvictor", {}),
    ),
    ("DefaultEvictor", "podProtections"): (
        policy("DefaultEvictor", {"podProtections": {"extraEnabled": ["PodsWithPVC"]}}),
        policy("DefaultEvictor", {}),
    ),
    ("DefaultEvictor", "noEvictionPolicy"): (
        policy("DefaultEvictor", {"noEvictionPolicy": "Mandatory"}),
        policy("DefaultEvictor", {}),
    ),
    ("RemovePodsViolatingTopologySpreadConstraint", "constraints"): (
        policy("RemovePodsViolatingTopologySpreadConstraint", {"constraints": ["DoNotSchedule"]}),
        policy("RemovePodsViolatingTopologySpreadConstraint", {}),
    ),
    ("RemovePodsViolatingNodeTaints", "includedTaints"): (
        policy("RemovePodsViolatingNodeTaints", {"includedTaints": ["k"]}),
        policy("RemovePodsViolatingNodeTaints", {}),
    ),
}


def load_in(version: tuple[int, int], manifest: Manifest, *events: Manifest) -> Loaded:
    key = "kubernetesVersion" if version >= OLDEST else "deschedulerVersion"
    scenario = {
        "apiVersion": "kubeproof.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {key: in_words(version), "events": list(events), "intents": [{"settles": {}}]},
    }
    return load_texts([("input.yaml", yaml.safe_dump_all([NODE, manifest, scenario]))])


def below(rule: Rule) -> tuple[int, int]:
    return versions.NEWEST if rule.since == NOT_YET else rule.newest_without


def oldest(rule: Rule) -> tuple[int, int]:
    return OLDEST if rule.component == "Kubernetes" else OLDEST_DESCHEDULER


CROSSED = [field for field, rule in GATED.items() if rule.since > oldest(rule)]


def told(loaded: Loaded, field: str) -> list[str]:
    return [o.why for o in loaded.omissions if o.what.split()[1].rpartition(".")[2] == field]


def test_every_gated_field_has_a_sample() -> None:
    assert set(SAMPLES) == set(GATED)


@pytest.mark.parametrize("field", CROSSED, ids=".".join)
def test_a_field_is_dropped_and_listed_with_its_gate_below_its_version(field: tuple[str, str]) -> None:
    rule, (written, plain) = GATED[field], SAMPLES[field]
    if rule.refuses:
        with pytest.raises(ManifestError, match=f"refused by Kubernetes .*{rule.gate} is off before"):
            load_in(below(rule), written)
        return

    found, without = load_in(below(rule), written), load_in(below(rule), plain)

    (why,) = told(found, field[1])
    assert why.startswith("dropped, ")
    assert rule.gate in why
    assert rule.component == "descheduler" or found.setup == without.setup


@pytest.mark.parametrize("field", [f for f in GATED if GATED[f].since != NOT_YET], ids=".".join)
def test_a_field_counts_from_its_version_on_or_is_listed_as_not_modelled(field: tuple[str, str]) -> None:
    rule, (written, plain) = GATED[field], SAMPLES[field]

    found, without = load_in(rule.since, written), load_in(rule.since, plain)

    assert not any(why.startswith("dropped") for why in told(found, field[1]))
    assert bool(told(found, field[1])) == (found.setup == without.setup)


def test_a_budget_that_an_event_applies_is_dropped_from_too() -> None:
    budget = SAMPLES["PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy"][0]
    applied = replace_name(budget, "later")
    events = {"apply": {"manifest": applied}}

    policies = [load_in(version, deployment(), events).scenario.events[0] for version in ((1, 26), (1, 27))]

    assert [event.content.unhealthy_policy for event in policies] == ["IfHealthyBudget", "AlwaysAllow"]  # type: ignore[attr-defined]


def replace_name(manifest: Manifest, name: str) -> Manifest:
    return {**manifest, "metadata": {"name": name}}


def test_a_workload_that_an_event_applies_is_dropped_from_too() -> None:
    events = {"apply": {"manifest": replace_name(init(restartPolicy="Always"), "later")}}

    found = [load_in(version, deployment(), events).scenario.events[0] for version in ((1, 28), (1, 29))]

    assert [e.workload.template.init_containers[0].restartable_init for e in found] == [False, True]  # type: ignore[attr-defined]


def test_a_pod_failure_policy_brings_no_replacement_policy_before_that_exists() -> None:
    """Its default comes with its gate: without, a Job replaces pods that terminate."""
    written = job(podReplacementPolicy=None, podFailurePolicy={"rules": []})

    assert [load_in(v, written).setup.workloads[0].job.only_failed for v in ((1, 28), (1, 29))] == [False, True]


def test_what_is_dropped_leaves_the_rest_of_the_object_alone() -> None:
    found = load_in((1, 26), spread(minDomains=2, maxSkew=3))

    (constraint,) = found.setup.workloads[0].template.spread
    assert constraint == replace(constraint, max_skew=3, min_domains=1)


def test_an_unhealthy_pod_blocks_a_drain_where_the_policy_of_its_budget_is_dropped() -> None:
    """In 1.26 the pod that never becomes ready is held back by its budget, whatever the manifest says."""
    budget = SAMPLES["PodDisruptionBudgetSpec", "unhealthyPodEvictionPolicy"][0]
    drain = [{"neverReady": {"target": "Deployment/default/web"}}, {"drain": {"max": 1}}]

    assert [drained(version, budget, drain) for version in ((1, 26), (1, 27))] == ["VIOLATED", "HOLDS"]


def drained(version: tuple[int, int], budget: Manifest, events: list[Manifest]) -> str:
    scenario = {
        "apiVersion": "kubeproof.dev/v1alpha1",
        "kind": "Scenario",
        "metadata": {"name": "s"},
        "spec": {
            "kubernetesVersion": in_words(version),
            "start": "deployed",
            "events": events,
            "intents": [{"drainCompletes": {}}],
        },
    }
    nodes = [NODE, replace_name(NODE, "b")]
    texts = [("input.yaml", yaml.safe_dump_all([*nodes, deployment(), budget, scenario]))]
    return verify(load_texts(texts)).results[0].verdict
