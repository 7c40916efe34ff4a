"""Our autoscaler on the recorded cases: what runs use, with both parts of a sync in one call."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from kubeproof.cluster.objects import PodTemplate
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler, Metric
from kubeproof.controllers.hpa.calculator import Computed, Failure
from kubeproof.controllers.hpa.combine import combine
from kubeproof.controllers.hpa.decide import ScaleDecision, proposals
from kubeproof.controllers.hpa.history import FRESH, later
from kubeproof.controllers.hpa.samples import PodFacts, Sample, group, pod_request
from kubeproof.controllers.hpa.settings import AutoscalerSettings
from tests.conformance.corpus import Case, compact, version_of
from tests.conformance.objects import read
from tests.oracles.hpa_sync import decide

Json = dict[str, Any]

WEB = {"name": "web", "namespace": "shop"}
HOUR_S = 3600
UNKNOWN = Failure("the metric cannot be had")


def settings_of(upstream: str) -> AutoscalerSettings:
    """The flags' defaults in that version."""
    return AutoscalerSettings(version=version_of(upstream))


def decide_metrics(case: Case, upstream: str) -> list[Json]:
    """For each autoscaler: replicas and measured value of each metric, and replicas of all together."""
    settings = settings_of(upstream)._replace(sample_window_s=case["window"])
    templates = [template_of(spec) for spec in case["specs"]]
    return [_decided(case, each, templates, settings) for each in case["autoscalers"]]


def _decided(case: Case, asked: Json, templates: list[PodTemplate], settings: AutoscalerSettings) -> Json:
    autoscaler = autoscaler_of(asked["spec"])
    samples = tuple(_samples(case, metric, templates, settings) for metric in autoscaler.metrics)
    computed = proposals(autoscaler, asked["replicas"], samples, settings)
    replicas = combine(asked["replicas"], [_replicas(each) for each in computed])
    return {"m": [_told(each) for each in computed], "r": None if isinstance(replicas, Failure) else replicas}


def _replicas(computed: Computed | Failure) -> int | Failure:
    return computed if isinstance(computed, Failure) else computed.replicas


def _told(computed: Computed | Failure) -> list[int] | None:
    return None if isinstance(computed, Failure) else [computed.replicas, computed.measured]


def _samples(
    case: Case, metric: Metric, templates: list[PodTemplate], settings: AutoscalerSettings
) -> tuple[Sample, ...] | Failure:
    values = case["samples"].get(f"{metric.name}/{metric.container}" if metric.container else metric.name)
    if values is None:
        return UNKNOWN
    resource = "" if metric.type == "Pods" else metric.name
    requests = [pod_request(each, metric.name, metric.container, settings.version) for each in templates]
    found = []
    for pods, value in zip(case["pods"], values, strict=True):
        usage = None if value is None else value[0]
        facts, request = _facts(pods, value), requests[pods["spec"]]
        found.append(group(facts, usage, request, resource=resource, settings=settings))
    return tuple(found)


def _facts(pods: Json, value: list[int] | None) -> PodFacts:
    """Upstream asks only whether Ready is False: an unknown one counts as ready."""
    ready = pods.get("ready", "")
    return PodFacts(
        pods["count"],
        is_deleted=pods.get("deleted", False),
        is_failed=pods["phase"] == "Failed",
        is_pending=pods["phase"] == "Pending",
        has_metric=value is not None,
        is_ready=None if ready == "" else ready != "False",
        age_s=pods.get("age"),
        ready_changed_s=pods.get("changed", 0),
        sample_age_s=0 if value is None else value[1],
    )


def decide_series(case: Case, upstream: str) -> Json:
    """Replicas after each sync, and a letter for each of the two conditions that it sets.

    The replicas come from the bounded memory that runs keep, the conditions' letters from the unbounded one.
    """
    settings, autoscaler = settings_of(upstream), autoscaler_of(case["spec"])
    template = template_of(case["pod"])
    current, history, unbounded = case["replicas"], FRESH, FRESH
    told: Json = {"n": [], "able": "", "limited": ""}
    for sync, seconds in enumerate(case["after"]):
        current = case.get("others", {}).get(str(sync), current)
        metrics = tuple(_shared(case, sync, current, metric, template, settings) for metric in autoscaler.metrics)
        reasoned = decide(autoscaler, current, metrics, later(unbounded, seconds), settings, is_bounded=False)
        told["able"] += _able(reasoned, current)
        told["limited"] += _limited(reasoned)
        outcome = decide(autoscaler, current, metrics, later(history, seconds), settings)
        told["n"].append(outcome.replicas)
        current, history, unbounded = outcome.replicas, outcome.history, reasoned.history
    return told


def _shared(
    case: Case, sync: int, count: int, metric: Metric, template: PodTemplate, settings: AutoscalerSettings
) -> tuple[Sample, ...] | Failure:
    """Samples of pods that wait, run without metrics, or share the load."""
    load = case["load"][metric.name][sync]
    if load is None:
        return UNKNOWN
    pending = min(case.get("pending", {}).get(str(sync), 0), count)
    missing = min(case.get("missing", {}).get(str(sync), 0), count - pending)
    running = count - pending - missing
    old = PodFacts(running, age_s=HOUR_S, ready_changed_s=HOUR_S)
    request = pod_request(template, metric.name, metric.container, settings.version)
    looks = (PodFacts(pending, is_pending=True), old._replace(pods=missing, has_metric=False), old)
    usage = load // max(running, 1)
    return tuple(group(look, usage, request, resource=metric.name, settings=settings) for look in looks if look.pods)


# What our reasons say, as letters for the reasons of upstream's conditions.
_STABILISED = {"the highest recommendation": "d", "the lowest recommendation": "u"}
_LIMITS = {
    "limited to maxReplicas": "M",
    "raised to minReplicas": "F",
    "twice the current": "U",
    "scaleUp": "U",
    "scaleDown": "D",
}
_NOT_COMPUTED = ("disabled: ", "stays at ")
_FORCED = ("are above maxReplicas", "are below minReplicas")


def _able(outcome: ScaleDecision, before: int) -> str:
    if outcome.replicas != before:
        return "s"
    said = outcome.reasons[-1]
    if said.startswith(_NOT_COMPUTED):
        return "g"
    return _letter(outcome, _STABILISED) or "r"


def _limited(outcome: ScaleDecision) -> str:
    said = outcome.reasons[-1]
    if said.startswith(_NOT_COMPUTED) or any(words in said for words in _FORCED):
        return "-"
    return _letter(outcome, _LIMITS) or "."


def _letter(outcome: ScaleDecision, letters: dict[str, str]) -> str:
    return next((letter for text, letter in letters.items() for said in outcome.reasons if text in said), "")


# -- readers ------------------------------------------------------------------------------------


def autoscaler_of(spec: Json) -> HorizontalPodAutoscaler:
    """The autoscaler with this spec, as the product reads it."""
    return _autoscaler(compact(spec))


def template_of(spec: Json) -> PodTemplate:
    """The pods with this spec, as the product reads them."""
    return _template(compact(spec))


@cache
def _autoscaler(spec: str) -> HorizontalPodAutoscaler:
    target = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
    body = {"metadata": WEB, "spec": json.loads(spec) | target}
    return read({"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", **body}).autoscalers[0]


@cache
def _template(spec: str) -> PodTemplate:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": WEB, "spec": json.loads(spec)}
    return read(pod).workloads[0].workload.template
