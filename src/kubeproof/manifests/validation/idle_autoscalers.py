"""Autoscalers that can never compute a metric: a utilization is a share of the request, and a container has none.

Upstream (pkg/controller/podautoscaler, `calculatePodRequests`) fails with FailedGetResourceMetric, "missing request for
cpu in container ...", as long as one container of one pod that the target's selector matches states no request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.objects import Workload
from kubeproof.cluster.steering.counted import foreign_to
from kubeproof.cluster.steering.policies import SAMPLED_METRICS, HorizontalPodAutoscaler, Metric
from kubeproof.cluster.steering.vertical import OFF
from kubeproof.controllers.hpa.samples import pod_request
from kubeproof.events.declarations import Apply
from kubeproof.manifests.loaded import Loaded, Omission
from kubeproof.named_tuples import NamedTuple


class IdleMetric(NamedTuple):
    """A metric that cannot be computed because of pods of an owner, the autoscaler's target or another workload."""

    autoscaler: HorizontalPodAutoscaler
    metric: Metric
    owner: Workload


def idle_metrics(loaded: Loaded) -> Iterator[IdleMetric]:
    """Every such metric; of other workloads only where the target itself is no reason."""
    workloads = {workload.ref: workload for workload in loaded.setup.workloads}
    changed = {vertical.target for vertical in loaded.setup.verticals if vertical.mode != OFF}
    changed |= {event.workload.ref for event in loaded.scenario.events if isinstance(event, Apply)}
    for autoscaler in loaded.setup.autoscalers:
        target = workloads.get(autoscaler.target)
        if target is None or target.ref in changed:  # requests may come later
            continue
        others = [loaded.setup.workloads[number] for number in foreign_to(loaded.setup, autoscaler)]
        for metric in autoscaler.metrics:
            if _is_idle(metric, target, loaded):
                yield IdleMetric(autoscaler, metric, target)
                continue
            hindering = (one for one in others if one.ref not in changed and _is_idle(metric, one, loaded))
            yield from (IdleMetric(autoscaler, metric, one) for one in hindering)


def _is_idle(metric: Metric, target: Workload, loaded: Loaded) -> bool:
    if metric.type not in SAMPLED_METRICS or metric.target_type != "Utilization":
        return False
    version = loaded.setup.settings.kubernetes_version
    return pod_request(target.template, metric.name, metric.container, version) is None


def with_idle_autoscalers(loaded: Loaded) -> Loaded:
    """The input, with what its autoscalers cannot do among what is left out."""
    found = tuple(_omission(*idle) for idle in idle_metrics(loaded))
    return replace(loaded, omissions=(*loaded.omissions, *found)) if found else loaded


def _omission(autoscaler: HorizontalPodAutoscaler, metric: Metric, owner: Workload) -> Omission:
    what = f"HorizontalPodAutoscaler {autoscaler.namespace}/{autoscaler.name}"
    why = f"never scales by {metric.name} utilization, a container of {autoscaler.target} has no request for it"
    if owner.ref != autoscaler.target:
        why = f"does not scale by {metric.name} utilization while pods of {owner.ref} exist: "
        why += "its target's selector matches them, and a container has no request"
    return Omission(what, autoscaler.source, f"{why} (FailedGetResourceMetric)", is_checked=True)
