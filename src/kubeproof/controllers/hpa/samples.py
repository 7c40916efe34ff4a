"""What the autoscaler sees of pods, and in which of four groups each pod falls for a metric.

Mirrors `groupPods` of `replica_calculator.go`; equal pods are one sample with a count.
"""

from __future__ import annotations

from kubeproof.cluster.api import versions
from kubeproof.cluster.objects import Container, PodTemplate
from kubeproof.cluster.usage import containers_of
from kubeproof.controllers.hpa.settings import NEWEST, AutoscalerSettings, Version
from kubeproof.named_tuples import NamedTuple

READY = "ready"  # its metric counts
UNREADY = "unready"  # its metric is not trusted yet; counts as idle on a scale-up
MISSING = "missing"  # has no metric; a value is assumed against the direction of the change
IGNORED = "ignored"  # terminating or failed

CPU = "cpu"
MEMORY = "memory"

CONTAINER_MISSED_SINCE = versions.CONTAINER_MISSED.since
CONTAINER_REQUIRED_SINCE = versions.CONTAINER_REQUIRED.since


class Sample(NamedTuple):
    """`pods` equal pods: usage and request of each in thousandths; usage is None unless `state` is READY."""

    pods: int
    usage: int | None
    request: int | None  # None: some container omits it
    state: str


class PodFacts(NamedTuple):
    """What decides the group of `pods` equal pods; all durations count back from now."""

    pods: int
    is_deleted: bool = False  # deletionTimestamp is set
    is_failed: bool = False
    is_pending: bool = False
    has_metric: bool = True
    is_ready: bool | None = True  # None: there is no Ready condition
    age_s: int | None = 0  # since status.startTime; None: not set
    ready_changed_s: int = 0  # since the Ready condition's last transition
    sample_age_s: int = 0  # since the metric was taken


def group(
    facts: PodFacts,
    usage: int | None,
    request: int | None,
    *,
    resource: str,
    settings: AutoscalerSettings = AutoscalerSettings(),
) -> Sample:
    """The pods as a sample of the metric `resource`; only "cpu" distrusts pods that are not ready."""
    state = state_of(facts, is_cpu=resource == CPU, settings=settings)
    return Sample(facts.pods, usage if state == READY else None, request, state)


def state_of(facts: PodFacts, *, is_cpu: bool, settings: AutoscalerSettings = AutoscalerSettings()) -> str:
    """The group, decided in upstream's order; a Succeeded pod has no metric and lands among the missing."""
    if facts.is_deleted or facts.is_failed:
        return IGNORED
    if facts.is_pending:
        return UNREADY
    if not facts.has_metric:
        return MISSING
    if is_cpu and _is_distrusted(facts, settings):
        return UNREADY
    return READY


def _is_distrusted(facts: PodFacts, settings: AutoscalerSettings) -> bool:
    """True while a pod's CPU metric may still show its start-up."""
    if facts.is_ready is None or facts.age_s is None:
        return True
    if facts.age_s < settings.cpu_initialization_s:
        since_change_s = facts.ready_changed_s - facts.sample_age_s
        return not facts.is_ready or since_change_s < settings.sample_window_s
    never_was_ready = facts.age_s - facts.ready_changed_s < settings.readiness_delay_s
    return not facts.is_ready and never_was_ready


def pod_request(template: PodTemplate, resource: str, container: str = "", version: Version = NEWEST) -> int | None:
    """The request that usage is compared with, in thousandths; None if a container omits it.

    With a container name (ContainerResource) only that one counts, and since 1.35 it must be there. Sidecars count
    since 1.29. Unlike the scheduler's sum, neither init containers nor overhead take part.
    """
    counted = [c for c in containers_of(template, version) if container in ("", c.name)]
    requests = [_request(c, resource) for c in counted]
    known = [request for request in requests if request is not None]
    if container and not counted and version >= CONTAINER_REQUIRED_SINCE:
        return None
    return sum(known) if len(known) == len(requests) else None


def find_without_request(
    template: PodTemplate, resource: str, container: str = "", version: Version = NEWEST
) -> tuple[str, ...]:
    """The containers because of which `pod_request` has no answer."""
    counted = (c for c in containers_of(template, version) if container in ("", c.name))
    return tuple(c.name for c in counted if _request(c, resource) is None)


def has_container(template: PodTemplate, name: str, version: Version = NEWEST) -> bool:
    """True if the metrics of a running pod name the container."""
    return any(container.name == name for container in containers_of(template, version))


def _request(container: Container, resource: str) -> int | None:
    if resource == CPU:
        return container.cpu_milli
    units = container.memory_bytes if resource == MEMORY else dict(container.others).get(resource)
    return None if units is None else 1000 * units
