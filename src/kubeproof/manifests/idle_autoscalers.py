"""Autoscalers that can never compute a metric: a utilization is a share of the request, and a container has none.

Upstream (pkg/controller/podautoscaler, `calculatePodRequests`) fails with FailedGetResourceMetric, "missing request for
cpu in container ...", as long as one container of one pod that the target's selector matches states no request.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kubeproof.cluster.counted import foreign_to
from kubeproof.cluster.objects import Workload
from kubeproof.cluster.policies import HorizontalPodAutoscaler, Metric
from kubeproof.cluster.vertical import OFF
from kubeproof.controllers.hpa.samples import pod_request
from kubeproof.events.declarations import Apply
from kubeproof.manifests.loaded import Loaded, Omission

_OF_REQUESTS = ("Resource", "ContainerResource")


def with_idle_autoscalers(loaded: Loaded) -> Loaded:
    """The input, with what its autoscalers cannot do among what is left out."""
    found = tuple(_found(loaded))
    return replace(loaded, omissions=(*loaded.omissions, *found)) if found else loaded


def _found(loaded: Loaded) -> Iterator[Omission]:
    workloads = {workload.ref: workload for workload in loaded.setup.workloads}
    changed = {vertical.target for vertical in loaded.setup.verticals if vertical.mode != OFF}
    changed |= {event.workload.ref for event in loaded.scenario.events if isinstance(event, Apply)}
    for autoscaler in loaded.setup.autoscalers:
        target = workloads.get(autoscaler.target)
        if target is None or target.ref in changed:  # requests may come later
            continue
        for metric in autoscaler.metrics:
            if _is_idle(metric, target, loaded):
                yield _omission(autoscaler, metric)
            else:
                yield from _hindered(autoscaler, metric, loaded, changed)


def _hindered(
    autoscaler: HorizontalPodAutoscaler, metric: Metric, loaded: Loaded, changed: set[str]
) -> Iterator[Omission]:
    """What a metric cannot do because of pods of others that the target's selector matches, too."""
    for number in foreign_to(loaded.setup, autoscaler):
        other = loaded.setup.workloads[number]
        if other.ref not in changed and _is_idle(metric, other, loaded):
            what = f"HorizontalPodAutoscaler {autoscaler.namespace}/{autoscaler.name}"
            why = f"does not scale by {metric.name} utilization while pods of {other.ref} exist"
            reason = "its target's selector matches them, and a container has no request"
            yield Omission(what, autoscaler.source, f"{why}: {reason} (FailedGetResourceMetric)")


def _is_idle(metric: Metric, target: Workload, loaded: Loaded) -> bool:
    if metric.type not in _OF_REQUESTS or metric.target_type != "Utilization":
        return False
    version = loaded.setup.settings.kubernetes_version
    return pod_request(target.template, metric.name, metric.container, version) is None


def _omission(autoscaler: HorizontalPodAutoscaler, metric: Metric) -> Omission:
    what = f"HorizontalPodAutoscaler {autoscaler.namespace}/{autoscaler.name}"
    why = f"never scales by {metric.name} utilization, a container of {autoscaler.target} has no request for it"
    return Omission(what, autoscaler.source, f"{why} (FailedGetResourceMetric)")
